package timeline

import (
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	s := Span{10, 20}
	f := func(u Span, want time.Duration) {
		t.Helper()
		if got := s.Overlap(u); got != want {
			t.Errorf("%v.Overlap(%v) = %d, want %d", s, u, got, want)
		}
		if got := u.Overlap(s); got != want {
			t.Errorf("%v.Overlap(%v) = %d, want %d", u, s, got, want)
		}
	}
	f(Span{0, 10}, 0)
	f(Span{0, 11}, 1)
	f(Span{12, 15}, 3)
	f(Span{20, 30}, 0)
	f(Span{19, 5}, 0)
	if s.Contains(20) || !s.Contains(10) {
		t.Errorf("%v is not half-open", s)
	}
	if got := (Span{20, 10}).Len(); got != 0 {
		t.Errorf("an inverted span has length %d, want 0", got)
	}
}

func TestClock(t *testing.T) {
	if got := (Clock{}).At(42); got != 42 {
		t.Errorf("the zero clock maps 42 to %d", got)
	}
	if got := (Clock{Offset: 100, Drift: 0.5}).At(10); got != 115 {
		t.Errorf("got %d, want 115", got)
	}
	for _, c := range []Clock{{}, {Offset: -7}, {Offset: 1 << 40, Drift: 2e-5}, {Offset: -1 << 60, Drift: -1e-4}} {
		for _, own := range []int64{0, 1, -5, 1e9, 3600e9} {
			if got := c.Own(c.At(own)); got < own-1 || got > own+1 {
				t.Errorf("%+v maps %d to the axis and back to %d", c, own, got)
			}
		}
	}
}

func TestSeriesIn(t *testing.T) {
	var s Series
	for i := range 10 {
		s.Append(Time(i*10), float64(i))
	}
	got := s.In(Span{20, 50})
	if len(got.Values) != 3 || got.Values[0] != 2 || got.Values[2] != 4 {
		t.Errorf("In(20,50) = %v, want values 2 3 4", got)
	}
	if n := len(s.In(Span{50, 20}).Times); n != 0 {
		t.Errorf("an inverted span selects %d values, want 0", n)
	}
}

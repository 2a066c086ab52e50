package loadlog

import (
	"testing"
	"time"

	"loupe/value/timeline"
)

// TestSlices: every request falls into the stretch in which it ended, also one
// that ends with the run.
func TestSlices(t *testing.T) {
	ms := timeline.Time(time.Millisecond)
	h := header()
	h.Elapsed, h.Open = 2500*time.Millisecond, true
	l := New(h, []Request{
		{Begin: 0, Service: 999 * time.Millisecond},
		{Begin: 500 * ms, Late: 5 * time.Millisecond, Service: 600 * time.Millisecond},
		{Begin: 2000 * ms, Service: 100 * time.Millisecond, Error: 1},
		{Begin: 2000 * ms, Service: 500 * time.Millisecond},
	})
	s := l.Slices(time.Second)
	if len(s) != 3 || s[2].Span.Len() != 500*time.Millisecond {
		t.Fatalf("%d slices, the last %v", len(s), s[len(s)-1].Span)
	}
	if s[0].Latency.Count() != 1 || s[1].Latency.Count() != 1 || s[1].Late != 5*time.Millisecond || s[2].Failed != 1 || s[2].Latency.Count() != 1 || s[2].Rate() != 2 {
		t.Errorf("slices are %+v", s)
	}
	if s := l.Slices(0); len(s) > maxSlices {
		t.Errorf("%d slices", len(s))
	}
	if s := (&Log{}).Slices(time.Second); len(s) != 1 || s[0].Rate() != 0 {
		t.Errorf("an empty log has %+v", s)
	}
}

package sched

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestHistogramClasses(t *testing.T) {
	last := -1
	for _, d := range []time.Duration{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 100, 1e3, 1e6, 1e9, 1e12, 1<<63 - 1} {
		c := classOf(d)
		if c < last || c >= 256 {
			t.Errorf("%d is in class %d behind %d", d, c, last)
		}
		last = c
		if lower(c) > d || d < 1<<62 && d >= lower(c+1) {
			t.Errorf("%d is in class %d, which is from %d to %d", d, c, lower(c), lower(c+1))
		}
	}
}

func TestHistogramQuantiles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var h Histogram
	var all []time.Duration
	for range 10_000 {
		d := time.Duration(rnd.ExpFloat64() * 1e6)
		h.Add(d)
		all = append(all, d)
	}
	slices.Sort(all)
	for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 0.999} {
		got, want := h.Quantile(q), all[int(q*float64(len(all)))]
		if r := float64(got) / float64(want); r < 0.8 || r > 1.25 {
			t.Errorf("quantile %v is %v, want about %v", q, got, want)
		}
	}
	if h.Quantile(1) != h.Max || h.Max != all[len(all)-1] || h.Count != 10_000 {
		t.Errorf("the longest is %v of %d, want %v", h.Quantile(1), h.Count, all[len(all)-1])
	}
	var none Histogram
	if none.Quantile(0.5) != 0 || none.Mean() != 0 || none.Below(time.Second) != 0 {
		t.Error("an empty histogram has figures")
	}
	var sum int
	h.Classes()(func(from, to time.Duration, n int) bool {
		if from >= to {
			t.Errorf("class from %v to %v", from, to)
		}
		sum += n
		return true
	})
	if sum != 10_000 {
		t.Errorf("%d in all classes", sum)
	}
}

// TestQuantilesOfFew: of one or two durations quantiles are those durations, and no
// quantile is outside of them or below a lower one.
func TestQuantilesOfFew(t *testing.T) {
	few := func(want50, want99 time.Duration, all ...time.Duration) {
		t.Helper()
		var h, merged, empty Histogram
		for _, d := range all {
			h.Add(d)
		}
		merged.Merge(&empty)
		merged.Merge(&h)
		merged.Merge(&empty)
		if merged != h {
			t.Errorf("%v, merged with nothing, is from %v to %v", all, merged.Min, merged.Max)
		}
		if p50, p99 := h.Quantile(0.5), h.Quantile(0.99); p50 != want50 || p99 != want99 {
			t.Errorf("of %v p50 is %v, p99 %v, want %v and %v", all, p50, p99, want50, want99)
		}
		last := h.Min
		for q := 0.0; q <= 1; q += 0.01 {
			if d := h.Quantile(q); d < last || d > h.Max {
				t.Errorf("of %v p%.0f is %v, behind %v", all, 100*q, d, last)
			} else {
				last = d
			}
		}
	}
	few(5*time.Second, 5*time.Second, 5*time.Second)
	few(7*time.Second, 7*time.Second, 5*time.Second, 7*time.Second)
	few(5*time.Second, 5*time.Second, 5*time.Second, 5*time.Second, 5*time.Second)
	few(5100*time.Millisecond, 5100*time.Millisecond, 5050*time.Millisecond, 5100*time.Millisecond)
}

func TestCourse(t *testing.T) {
	var c Course
	c.begin(0)
	for i := range 10_000 { // one for the first half of each ms, three for the rest
		at := time.Duration(i) * time.Millisecond
		c.add(timelineOf(at), timelineOf(at+500*time.Microsecond), 1)
		c.add(timelineOf(at+500*time.Microsecond), timelineOf(at+time.Millisecond), 3)
	}
	v := c.Values()
	if len(v) > maxStretches+1 || len(v) < maxStretches/2-1 {
		t.Errorf("%d stretches of %v", len(v), c.Width)
	}
	for i, x := range v[:len(v)-1] {
		if x < 1.9 || x > 2.1 {
			t.Errorf("stretch %d has %v, want 2", i, x)
			break
		}
	}
}

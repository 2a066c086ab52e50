package insight

import (
	"math"
	"testing"
	"time"

	"loupe/value/timeline"
)

// TestCountsLevel: a series that is longer than the trace, and does not grow as the trace says,
// says that what came goes again.
func TestCountsLevel(t *testing.T) {
	series := func(n int, at func(i int) float64) counts {
		c := counts{what: "goroutines"}
		for i := range n {
			c.times, c.values = append(c.times, timeline.Time(time.Duration(i)*time.Second)), append(c.values, at(i))
		}
		return c
	}
	wave := func(i int) float64 { return 2000 + 800*math.Sin(float64(i)) }
	for _, c := range []struct {
		name  string
		c     counts
		rate  float64
		trace time.Duration
		want  bool
	}{
		{"up and down", series(9, wave), 300, 2 * time.Second, true},
		{"down", series(8, func(i int) float64 { return 3800 - 300*float64(i) }), 300, 2 * time.Second, true},
		{"as the trace says", series(9, func(i int) float64 { return 300 * float64(i) }), 300, 2 * time.Second, false},
		{"half as fast", series(9, func(i int) float64 { return 1000 + 150*float64(i) }), 300, 2 * time.Second, false},
		{"slowly, but more and more", series(9, func(i int) float64 { return 1000 + 20*float64(i) }), 300, 2 * time.Second, false},
		{"too little to be seen in it", series(9, wave), 60, 2 * time.Second, false},
		{"no longer than the trace", series(9, wave), 300, 6 * time.Second, false},
		{"few samples", series(5, wave), 300, time.Second, false},
		{"none", counts{}, 300, time.Second, false},
	} {
		if got := c.c.level(c.rate, c.trace); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

package leak

import (
	"math"
	"testing"
)

// TestJudge: what becomes of a quantity is told by its whole course.
func TestJudge(t *testing.T) {
	f := func(name string, want Shape, q Quantity) {
		t.Helper()
		if got := judge(q, 10); got.Shape != want {
			t.Errorf("%s: %s (%s), want %s", name, got.Shape, got.Why, want)
		}
	}
	// over makes n values of a function, a second apart, with some noise of which the sign alternates.
	over := func(n int, noise float64, v func(s float64) float64) Quantity {
		q := Quantity{Least: 4}
		for i := range n {
			q.Times = append(q.Times, float64(i))
			q.Values = append(q.Values, v(float64(i))+noise*float64(1-2*(i%2)))
		}
		return q
	}
	line := func(s float64) float64 { return 10 + s }
	f("a line", Grows, over(30, 0, line))
	f("a line with noise", Grows, over(60, 3, line))
	f("a line of ten looks", Grows, over(11, 0.1, line))
	f("a slow line", Slight, over(60, 0, func(s float64) float64 { return 50 + s/20 }))
	f("flat", Steady, over(60, 3, func(float64) float64 { return 50 }))
	f("too little to count", Steady, over(60, 0, func(s float64) float64 { return 50 + s/70 }))
	f("a cache that is full after a third", Levelled, over(60, 1, func(s float64) float64 { return min(s, 20) * 5 }))
	f("a cache that is full after two thirds", Levelled, over(60, 1, func(s float64) float64 { return min(s, 40) * 5 }))
	f("data loaded at once", Levelled, over(60, 1, func(s float64) float64 { return map[bool]float64{true: 100}[s > 5] }))
	f("random keys fill a cache", Levelled, over(100, 0.2, func(s float64) float64 { return 100 * (1 - math.Exp(-s/15)) }))
	f("and are still at it", Slowing, over(100, 0.2, func(s float64) float64 { return 100 * (1 - math.Exp(-s/55)) }))
	// A buffer that doubles when it is full, filled evenly: flat for longest in the end.
	buffer := func(s float64) float64 { return 10 + math.Exp2(math.Ceil(math.Log2(8+s))) }
	f("a buffer that doubles, between two steps", Stepped, over(56, 0, buffer))
	f("the same in ten looks", Stepped, over(11, 0, func(s float64) float64 { return buffer(5.6 * s) }))
	f("one step, as far as it was watched", Stepped, over(20, 0, func(s float64) float64 { return buffer(16 + s) }))
	f("a buffer that has stopped long ago", Levelled, over(100, 0, func(s float64) float64 { return buffer(min(s, 20)) }))
	f("a cache that is full after a third, in ten looks", Levelled, over(11, 0.1, func(s float64) float64 { return min(s, 3) * 5 }))
	f("a rush that is over", Returned, over(60, 1, func(s float64) float64 { return 100 - math.Abs(s-25)*3 }))
	f("one step late", Late, over(60, 1, func(s float64) float64 { return map[bool]float64{true: 100}[s > 50] }))
	f("loaded, and leaking since", Grows, over(100, 0.2, func(s float64) float64 { return min(s, 5)*40 + s }))
	f("five measurements", Short, over(5, 0, line))
	f("nine seconds", Short, over(9, 0, line))

	rush := over(60, 1, line)
	for _, s := range rush.Times {
		rush.Load = append(rush.Load, 100*(10+s))
	}
	f("as much as the load", WithLoad, rush)
	for i := range rush.Load {
		rush.Load[i] = 1000
	}
	f("under an even load", Grows, rush)

	dumps := over(8, 0, line)
	dumps.Untimed = true
	f("dumps without a time", Grows, dumps)
	f("nothing", Short, Quantity{})

	// A long series is judged by the medians of parts of its time.
	f("many collections", Grows, over(20_000, 3, func(s float64) float64 { return s / 100 }))
}

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
	f("less all the time", Falls, over(20, 0, func(s float64) float64 { return 2000 - 100*s }))
	f("less all the time, with noise", Falls, over(60, 6, func(s float64) float64 { return 2000 - 30*s }))
	f("a plain fall at once", Falls, over(60, 0, func(s float64) float64 { return map[bool]float64{true: 10, false: 100}[s > 5] }))
	f("up and down by little of what there is", Steady, over(60, 25, func(float64) float64 { return 1000 }))
	f("a rush before a fall", Returned, over(60, 0, func(s float64) float64 { return map[bool]float64{true: 300, false: 50}[s > 10 && s < 30] }))
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

// TestOrdered: of looks whose order nobody knows, only that is said which holds in any order.
func TestOrdered(t *testing.T) {
	f := func(was, want Shape, o Order, values ...float64) {
		t.Helper()
		l := &Looked{Judgement: Judgement{Shape: was}}
		if l.ordered(o, Quantity{Values: values, Least: 20}); l.Shape != want {
			t.Errorf("%s, %+v of %v: %s, want %s", was, o, values, l.Shape, want)
		}
	}
	unknown, against := Order{By: "x"}, Order{By: "x", Against: "y"}
	f(Falls, Unordered, unknown, 100, 50, 10)
	f(Returned, Unordered, unknown, 10, 100, 10)
	f(Levelled, Unordered, unknown, 10, 100, 100)
	f(Steady, Unordered, unknown, 10, 100, 11)
	f(Steady, Steady, unknown, 100, 105, 101)
	f(Steady, Steady, against, 100, 105, 101)
	f(Grows, Grows, unknown, 10, 50, 100)
	f(Grows, Unordered, against, 10, 50, 100)
	f(Falls, Falls, Order{By: "x", Known: true}, 100, 50, 10)
	f(Short, Short, unknown, 100, 50)
}

// TestVerb: one verdict is a sentence, of things and of a mass.
func TestVerb(t *testing.T) {
	for _, c := range []struct {
		what Matter
		s    Shape
		want string
	}{{Goroutines, Falls, "fall"}, {Heap, Falls, "falls"}, {Goroutines, Steady, "are steady"}, {Heap, Steady, "is steady"}, {Files, Returned, "rose and came back"}, {Heap, Levelled, "levelled off"}} {
		if got := verb(c.what, c.s); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.what, c.s, got, c.want)
		}
	}
}

// TestToTheEnd: with few measurements nothing is said of how fast it is at the end.
func TestToTheEnd(t *testing.T) {
	f := func(want string, all ...Judgement) {
		t.Helper()
		d := &decider{v: &Verdict{}}
		for _, j := range all {
			d.v.Looked = append(d.v.Looked, &Looked{Judgement: j})
		}
		if got := d.toTheEnd(); got != want {
			t.Errorf("%+v: %q, want %q", all, got, want)
		}
	}
	f(", as fast at the end as before", Judgement{Shape: Grows, Points: 8})
	f("", Judgement{Shape: Grows, Points: 7})
	f("", Judgement{Shape: Grows, Points: 40}, Judgement{Shape: Grows, Points: 6})
	f(", evenly since a quick start", Judgement{Shape: Grows, Points: 40, Why: sinceStart})
	f("", Judgement{Shape: Steady, Points: 40})
}

// TestCountOf: one goroutine is one, and more than any counter holds is no negative number.
func TestCountOf(t *testing.T) {
	for n, want := range map[float64]string{1: "1 goroutine", 2: "2 goroutines", 0: "0 goroutines", 12345: "12,345 goroutines", 1 << 63: "9.22e+18 goroutines"} {
		if got := countOf(n, "goroutine"); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}

package leak

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// pool are looks at workers that are started until a share of the time, and then stay, with
// noise of so many that come and go; leak more are kept from the first look to the last.
func pool(r *rand.Rand, looks int, until, workers, noise, leak float64) Quantity {
	q := Quantity{Least: leastGoroutines, Same: true}
	for i := range looks {
		share := float64(i) / float64(looks-1)
		v := 5 + workers*min(1, share/until) + leak*share + noise*(2*r.Float64()-1)
		q.Times, q.Values = append(q.Times, 60*share), append(q.Values, float64(int(v)))
	}
	return q
}

// TestBoundedPool: workers that are started up to a bound are no leak, and what leaks slowly
// beside them is one.
func TestBoundedPool(t *testing.T) {
	const runs = 400
	f := func(name string, most, least int, make func(r *rand.Rand) Quantity) {
		t.Helper()
		grows := 0
		for seed := range uint64(runs) {
			if judge(make(rand.New(rand.NewPCG(seed, 1))), 10).Shape == Grows {
				grows++
			}
		}
		if grows > most || grows < least {
			t.Errorf("%s: %d of %d grow, want %d to %d", name, grows, runs, least, most)
		}
	}
	for _, looks := range []int{10, 30, 120} {
		f("a pool that is full after two thirds", 0, 0, func(r *rand.Rand) Quantity { return pool(r, looks, 2.0/3, 40+400*r.Float64(), 3, 0) })
		f("a pool that is full early", runs/100, 0, func(r *rand.Rand) Quantity { return pool(r, looks, 0.1+0.5*r.Float64(), 40+400*r.Float64(), 3, 0) })
		f("a busy pool that is full early", runs/50, 0, func(r *rand.Rand) Quantity { return pool(r, looks, 0.1+0.5*r.Float64(), 200, 40, 0) })
	}
	// As many as can be told from those that come and go.
	f("a slow leak beside a pool that is full early", runs, runs*95/100, func(r *rand.Rand) Quantity { return pool(r, 60, 0.2, 200, 3, 60) })
	f("a slow leak beside a pool that fills for half of the time", runs, runs*95/100, func(r *rand.Rand) Quantity { return pool(r, 60, 0.5, 200, 1, 80) })
}

// TestRestartedProcess: goroutines of two processes are not joined into one series.
func TestRestartedProcess(t *testing.T) {
	// groups are looks half a minute apart at goroutines of one line, of processes whose addresses
	// are known, or not.
	groups := func(known bool, counts ...int) *facts.Growth {
		g := &facts.Growth{}
		s := &facts.GrowingSite{At: stack.Frame{Func: "main.wait", File: "/src/main.go", Line: 21}, User: true, Frames: []stack.Frame{{Func: "main.wait"}}}
		place, last := 0, -1
		for i, n := range counts {
			if n < last {
				place++
			}
			last = n
			look := facts.Taken{Collections: -1, Allocated: math.NaN(), Freed: math.NaN(), Program: "a"}
			if known {
				look.Placed = string(rune('a' + place))
			}
			g.Looks = append(g.Looks, look)
			g.Times, g.Totals, s.Values = append(g.Times, 30*float64(i)), append(g.Totals, float64(n)), append(s.Values, float64(n))
		}
		g.Sites = []*facts.GrowingSite{s}
		return g
	}
	judged := func(g *facts.Growth) (all []*Looked) {
		d := &gatherer{least: 10}
		d.judgeParts(g, Goroutines, "goroutine profile", leastGoroutines, nil)
		return d.all
	}
	shapes := func(name string, g *facts.Growth, want ...Shape) {
		t.Helper()
		all := judged(g)
		if len(all) != len(want) {
			t.Fatalf("%s: %d parts, want %d", name, len(all), len(want))
		}
		for i, l := range all {
			if l.Shape != want[i] {
				t.Errorf("%s: part %d: %s (%s), want %s", name, i+1, l.Shape, l.Why, want[i])
			}
		}
	}
	leak := []int{10, 20, 30, 40, 50, 60, 70, 80, 10, 20, 30, 40, 50, 60, 70, 80, 90}
	shapes("a leak before and after", groups(true, leak...), Grows, Grows)
	shapes("a larger pool after the restart", groups(true, 90, 90, 90, 90, 90, 90, 90, 10, 150, 150, 150, 150, 150, 150, 150), Steady, Levelled)
	shapes("restarted again and again", groups(true, 10, 40, 70, 10, 40, 70, 10, 40, 70), Short, Short, Short)
	shapes("nobody knows the processes", groups(false, leak...), Late)
	if l := judged(groups(false, leak...)); len(l) == 1 && !strings.Contains(l[0].Why, "started anew") {
		t.Error(l[0].Why)
	}
}

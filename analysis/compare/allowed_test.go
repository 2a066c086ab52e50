package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"loupe/analysis/compare"
	"loupe/analysis/gc"
	"loupe/value/stats"
)

// heldTo makes a benchmark whose rounds have these figures of a unit, and a limit of it.
func heldTo(unit string, share float64, before, after []float64) compare.Held {
	m := compare.Measured{Name: "BenchmarkX", Looks: stats.Looks{At: []int{len(before)}, Error: 0.05}}
	for i := range before {
		m.Blocks = append(m.Blocks, compare.Block{Before: map[string]float64{unit: before[i]}, After: map[string]float64{unit: after[i]}})
	}
	return compare.Held{Measured: m, Allowed: compare.Allowance{unit: share}}
}

// around are n values about one, with a spread of a share.
func around(n int, value, spread float64, seed uint64) (out []float64) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range n {
		out = append(out, value*(1+spread*r.NormFloat64()))
	}
	return out
}

func constant(n int, v float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// TestLimits: a limit is another question than whether there is a change.
func TestLimits(t *testing.T) {
	f := func(name string, h compare.Held, want compare.Standing) compare.Limited {
		t.Helper()
		got := compare.Limits([]compare.Held{h})[0]
		if got.Standing != want {
			t.Errorf("%s: %s, want %s (%s, %v … %v)", name, got.Standing, want, got.Verdict, got.Low, got.High)
		}
		if settled := h.Settled(1); settled != (want != compare.Open) {
			t.Errorf("%s: settled is %v", name, settled)
		}
		return got
	}
	base := around(40, 1000, 0.01, 1)
	f("twice the time, 5% allowed", heldTo("ns/op", 0.05, base, around(40, 2000, 0.01, 2)), compare.Beyond)
	f("+3% proven, 5% allowed", heldTo("ns/op", 0.05, base, around(40, 1030, 0.01, 2)), compare.Within)
	f("+3% proven, none allowed", heldTo("ns/op", 0, base, around(40, 1030, 0.01, 2)), compare.Beyond)
	f("proven, and as large as what is allowed", heldTo("ns/op", 0.05, base, around(40, 1050, 0.01, 2)), compare.Open)
	f("beyond all doubt", heldTo("ns/op", 0.05, around(160, 1000, 0.01, 1), around(160, 2000, 0.01, 2)), compare.Beyond)
	f("half of the time", heldTo("ns/op", 0, base, around(40, 500, 0.01, 2)), compare.Within)
	// A metric that loupe knows nothing of: it is the limit that says which way is better.
	f("hits fall, they may not", heldTo("hits", -0.02, base, around(40, 900, 0.01, 2)), compare.Beyond)
	f("hits fall, by less than they may", heldTo("hits", -0.2, base, around(40, 900, 0.01, 2)), compare.Within)
	f("hits rise", heldTo("hits", -0.02, base, around(40, 1500, 0.01, 2)), compare.Within)
	f("hits have gone", heldTo("hits", -0.02, base, constant(40, 0)), compare.Beyond)
	f("hits come from nothing", heldTo("hits", -0.02, constant(40, 0), base), compare.Within)
	f("misses rise", heldTo("misses", 0.02, base, around(40, 1100, 0.01, 2)), compare.Beyond)
	f("misses fall", heldTo("misses", 0.02, base, around(40, 900, 0.01, 2)), compare.Within)
	f("no share of hits may go", heldTo("hits", math.Copysign(0, -1), base, around(40, 900, 0.01, 2)), compare.Beyond)
	f("what has no verdict", heldTo("MB/s", -0.02, base, around(40, 500, 0.01, 2)), compare.Unheld)
	if l := f("too loud to tell", heldTo("ns/op", 0.05, around(10, 1000, 0.2, 1), around(10, 1000, 0.2, 2)), compare.Open); l.More == 0 {
		t.Error("it is not told how many more rounds would tell")
	}
	if l := f("four rounds", heldTo("ns/op", 0.05, constant(4, 1000), constant(4, 2000)), compare.Open); l.More != 1 {
		t.Errorf("four rounds want %d more", l.More)
	}
	f("one allocation more", heldTo("allocs/op", 0, constant(10, 4), constant(10, 5)), compare.Beyond)
	f("one allocation more, from none", heldTo("allocs/op", 0.5, constant(10, 0), constant(10, 1)), compare.Beyond)
	f("exactly as much as is allowed", heldTo("B/op", 0.01, constant(10, 1000), constant(10, 1010)), compare.Within)
	f("a byte more than that", heldTo("B/op", 0.01, constant(10, 1000), constant(10, 1011)), compare.Beyond)
	f("fewer", heldTo("B/op", 0, constant(10, 1000), constant(10, 900)), compare.Within)
	if got := compare.Limits([]compare.Held{{Measured: heldTo("ns/op", 0, base, around(40, 2000, 0.01, 2)).Measured}})[0]; got.Standing != compare.Unheld || got.Verdict != compare.Slower {
		t.Errorf("what is held to nothing is %s and %s", got.Standing, got.Verdict)
	}
}

// TestLimitsTogether: rows that keep their limits do not make it easier for another one to
// be beyond it, and among many rows that are at their limit one in twenty comparisons, not
// each, is beyond.
func TestLimitsTogether(t *testing.T) {
	const trials, rows = 200, 20
	alarms := 0
	for trial := range trials {
		var all []compare.Held
		for i := range rows {
			seed := uint64(trial*rows + i)
			h := heldTo("ns/op", 0.05, around(20, 1000, 0.03, 2*seed), around(20, 1050, 0.03, 2*seed+1))
			if i > 0 && i%2 == 0 { // far within
				h = heldTo("ns/op", 0.05, around(20, 1000, 0.03, 2*seed), around(20, 800, 0.03, 2*seed+1))
			}
			h.Name = fmt.Sprint(i)
			all = append(all, h)
		}
		for _, l := range compare.Limits(all) {
			if l.Standing == compare.Beyond {
				alarms++
				break
			}
		}
	}
	// Two-sided at 5 %, and only one side is an alarm: 5 of 200 are expected, 12 are more than
	// chance makes of that in 999 of 1000 trials.
	if alarms > 12 {
		t.Errorf("%d of %d comparisons of what is at its limit are beyond", alarms, trials)
	}
}

// TestApart: rounds that were measured at another time share no noise, so that what they have
// in common by chance proves nothing.
func TestApart(t *testing.T) {
	h := heldTo("ns/op", 0, around(20, 1000, 0.01, 1), around(20, 1000, 0.01, 2))
	h.Apart = true
	if got := compare.Limits([]compare.Held{h})[0]; got.Method != stats.ByRanks {
		t.Errorf("they are compared by %s", got.Method)
	}
}

// TestStand: the figures of loads, some of which more is better of.
func TestStand(t *testing.T) {
	f := func(v compare.Verdict, low, high float64, better compare.Better, allowed float64, want compare.Standing) {
		t.Helper()
		c := compare.Change{Verdict: v, Low: gc.Figure(low), High: gc.Figure(high)}
		if got := c.Stand(better, allowed); got != want {
			t.Errorf("%s %v … %v, %v allowed: %s, want %s", v, low, high, allowed, got, want)
		}
	}
	f(compare.Regressed, 1.06, 1.2, compare.Lower, 0.05, compare.Beyond)
	f(compare.Regressed, 1.02, 1.2, compare.Lower, 0.05, compare.Open)
	f(compare.Regressed, 1.02, 1.04, compare.Lower, 0.05, compare.Within)
	f(compare.Undecided, 0.9, 1.04, compare.Lower, 0.05, compare.Within)
	f(compare.Undecided, 0.9, 1.06, compare.Lower, 0.05, compare.Open)
	f(compare.Regressed, 0.7, 0.8, compare.Higher, 0.1, compare.Beyond)
	f(compare.Regressed, 0.85, 0.95, compare.Higher, 0.1, compare.Open)
	f(compare.Regressed, 0.92, 0.98, compare.Higher, 0.1, compare.Within)
	f(compare.Improved, 1.1, 1.2, compare.Higher, 0, compare.Within)
	unknown := float64(gc.Unknown())
	f(compare.Regressed, unknown, unknown, compare.Lower, 0.05, compare.Beyond)
	f(compare.NoVerdict, unknown, unknown, compare.Lower, 0.05, compare.Open)
	f(compare.Changed, 2, 3, compare.Neither, 0.05, compare.Unheld)
}

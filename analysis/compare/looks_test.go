package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/value/stats"
)

// TestLooks: of rounds that may have been ended at a look, each row is held to what that look has of
// the error. The same rounds of a fixed number, with a p between that and 0.05, are decided.
func TestLooks(t *testing.T) {
	between := 0
	for seed := range uint64(12) {
		noise := rand.New(rand.NewPCG(seed, 1))
		a, b := inTurns(stats.Order{Seed: 3}, 10, func(place, side int) float64 {
			return 1000 * math.Exp(-0.035*float64(side)+0.03*noise.NormFloat64())
		})
		fixed := rowOf(t, Compare(a, b), "requests_per_sec").Changes[0]
		a.Manifest.Looks, b.Manifest.Looks = stats.UsualLooks().At, stats.UsualLooks().At
		looked := rowOf(t, Compare(a, b), "requests_per_sec").Changes[0]
		if looked.P != fixed.P {
			t.Fatalf("seed %d: the looks have changed p from %v to %v", seed, fixed.P, looked.P)
		}
		if decided(looked.Verdict) && stats.UsualLooks().Overall(looked.P) >= 1-Confidence {
			t.Fatalf("seed %d: p %v is %s", seed, looked.P, looked.Verdict)
		}
		if decided(fixed.Verdict) && looked.Verdict == Undecided {
			between++
			if fixed.Low.Known() && looked.High-looked.Low <= fixed.High-fixed.Low {
				t.Errorf("seed %d: the interval at a look, %v to %v, is no wider than that of a fixed number, %v to %v", seed, looked.Low, looked.High, fixed.Low, fixed.High)
			}
		}
	}
	if between == 0 {
		t.Error("no comparison was decided by a fixed number of rounds and undecided at a look")
	}
}

// TestTableDecided: rows that are named, or the key rows, keep the rounds going, and a key row that is
// undecided says what it needs.
func TestTableDecided(t *testing.T) {
	noise := rand.New(rand.NewPCG(1, 1))
	a, b := inTurns(stats.Order{Seed: 3}, 10, func(place, side int) float64 {
		return 1000 * math.Exp(-0.02*float64(side)+0.05*noise.NormFloat64())
	})
	table := Compare(a, b)
	c := rowOf(t, table, "requests_per_sec").Changes[0]
	if table.Decided() || table.Decided("requests_per_sec") || !table.Decided("lock_wait") || c.Verdict != Undecided {
		t.Errorf("%s is decided", c.Verdict)
	}
	want := "undecided: Requests/sec; needs " + Needs(c.Needs, 20*time.Second)
	if !slices.Contains(table.Notes, want) {
		t.Errorf("notes %q have no %q", table.Notes, want)
	}
	a, b = inTurns(stats.Order{Seed: 3}, 10, func(place, side int) float64 { return 1000 * float64(1+side) })
	if !Compare(a, b).Decided() {
		t.Error("twice as many requests are undecided")
	}
	a.Manifest.Target.Build, b.Manifest.Target.Build = "one", "one"
	if table := Compare(a, b); !table.Decided() || !table.Closed() {
		t.Error("more rounds would decide between two of the same build")
	}
}

// TestNeedsText has what is said of how many pairs decide.
func TestNeedsText(t *testing.T) {
	f := func(pairs int, each time.Duration, want string) {
		t.Helper()
		if got := Needs(pairs, each); got != want {
			t.Errorf("%d pairs of %v: %q, want %q", pairs, each, got, want)
		}
	}
	f(1, 0, "about 1 more pair")
	f(23, 21*time.Second, "about 23 more pairs, 8m3s")
	f(82_253, time.Second, "more than 1,000 more pairs")
}

// TestRegressedBy: a regression that is no larger than a share is none.
func TestRegressedBy(t *testing.T) {
	f := func(factor, share float64, want bool) {
		t.Helper()
		a, b := inTurns(stats.Order{Seed: 3}, 10, func(place, side int) float64 {
			return (1000 + float64(place%3)/10) * math.Pow(factor, -float64(side))
		})
		if got := Compare(a, b).RegressedBy(share); got != want {
			t.Errorf("slower by a factor of %v is a regression of more than %v: %v", factor, share, got)
		}
	}
	f(1.1, 0, true)
	f(1.1, 0.05, true)
	f(1.1, 0.2, false)
	f(0.9, 0, false)
	if notes := strings.Join(Compare(loaded("a", 1, 1, 1, 1, 1), loaded("b", 2, 2, 2, 2, 2)).Notes, ""); strings.Contains(notes, "needs") {
		t.Errorf("what is decided needs more: %s", notes)
	}
}

package compare

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stats"
)

// ticking makes rounds of a program that ends by itself, whose CPU time is read in ticks
// when it is.
func ticking(title string, r *rand.Rand, n int, mean float64, tick time.Duration) *facts.Facts {
	f := loaded(title, make([]float64, n)...)
	for i := range f.Rounds {
		used := time.Duration(mean * math.Exp(0.02*r.NormFloat64()))
		begin := time.Duration(r.Int64N(int64(tick))) // within its first tick
		f.Rounds[i].Load, f.Rounds[i].Ended, f.Rounds[i].Duration = nil, true, 2*time.Second
		f.Rounds[i].CPU = (used + begin) / tick * tick
	}
	return f
}

// TestTicks: CPU times of ten ticks tell +5 % in forty rounds, which half of the comparisons
// miss that take the ticks as they are; and they do not invent a change.
func TestTicks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	const trials = 100
	found, wrong, inside := 0, 0, 0
	for range trials {
		a, b, again := ticking("a", r, 40, 100e6, clockTick), ticking("b", r, 40, 105e6, clockTick), ticking("c", r, 40, 100e6, clockTick)
		row := rowOf(t, Compare(a, later(b, time.Hour), later(again, 2*time.Hour)), "cpu")
		if row.Changes[0].Verdict == Regressed {
			found++
		}
		if row.Changes[1].P < 0.05 {
			wrong++
		}
		if c := row.Changes[0]; c.Low <= 1.05 && 1.05 <= c.High {
			inside++
		}
		if v := row.Cells[0].Rounds[0]; math.Mod(v, float64(clockTick)) != 0 {
			t.Fatalf("what is shown is %v, which nobody has read", v)
		}
	}
	if found < 80 || wrong > 16 || inside < 84 {
		t.Errorf("of %d comparisons %d find +5 %%, %d intervals hold it, %d call equal programs different", trials, found, inside, wrong)
	}
	a, b := ticking("a", r, 5, 300e6, clockTick), ticking("b", r, 5, 300e6, clockTick)
	if notes := strings.Join(Compare(a, b).Notes, "\n"); !strings.Contains(notes, "read in ticks of 10.0 ms, which is ") {
		t.Errorf("notes: %s", notes)
	}
	a, b = ticking("a", r, 5, 300e6, 1), ticking("b", r, 5, 300e6, 1)
	if notes := strings.Join(Compare(a, b).Notes, "\n"); strings.Contains(notes, "ticks") {
		t.Errorf("of a clock in ns: %s", notes)
	}
	first := rowOf(t, Compare(a, b), "cpu")
	if again := rowOf(t, Compare(a, b), "cpu"); first.Changes[0] != again.Changes[0] || first.Changes[0].Method != stats.ByRanks {
		t.Errorf("%+v, and again %+v", first.Changes, again.Changes)
	}
}

// TestTicksOfOneRound: what fills in a tick by chance turns no change around that is shown.
func TestTicksOfOneRound(t *testing.T) {
	one := func(title string, ticks int) *facts.Facts {
		f := ticking(title, rand.New(rand.NewPCG(1, 1)), 1, 1, clockTick)
		f.Rounds[0].CPU = time.Duration(ticks) * clockTick
		return f
	}
	for ticks := range 8 {
		a, b := one("a", ticks+2), one("b", ticks+1)
		for _, later := range []time.Duration{0, time.Hour} {
			b.Manifest.Start = b.Manifest.Start.Add(later)
			if c := rowOf(t, Compare(a, b), "cpu").Changes[0]; c.Ratio > 1 {
				t.Errorf("%d ticks and %d: %+v", ticks+2, ticks+1, c)
			}
		}
	}
}

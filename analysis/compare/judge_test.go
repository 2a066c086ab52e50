package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stats"
)

// inTurns makes two recordings whose rounds took turns in the order drawn, of values that
// are given by the place of a round in the whole sequence and by its side.
func inTurns(order stats.Order, rounds int, value func(place, side int) float64) (a, b *facts.Facts) {
	var rates [2][]float64
	var starts [2][]time.Duration
	for block := range rounds {
		for at, side := range order.Block(block, 2) {
			place := 2*block + at
			rates[side] = append(rates[side], value(place, side))
			starts[side] = append(starts[side], time.Duration(place)*10*time.Second)
		}
	}
	a, b = loaded("a", rates[0]...), loaded("b", rates[1]...)
	for side, f := range []*facts.Facts{a, b} {
		f.Manifest.Turns, f.Manifest.Start = &order, time.Unix(1e9, 0)
		for i := range f.Rounds {
			f.Rounds[i].Phase.Span.Start = recording.Phase{}.Span.Start.Add(starts[side][i])
			f.Rounds[i].Duration = 10 * time.Second
		}
	}
	return a, b
}

// TestDrift: a machine that gets slower by 1 % a round hides 5 % from the ranks of all
// rounds, and not from pairs of rounds that followed each other.
func TestDrift(t *testing.T) {
	noise := rand.New(rand.NewPCG(1, 1))
	drifting := func(place, side int) float64 {
		return 1000 * math.Exp(-0.01*float64(place)-0.05*float64(side)+0.01*noise.NormFloat64())
	}
	a, b := inTurns(stats.Order{Seed: 3}, 10, drifting)
	c := rowOf(t, Compare(a, b), "requests_per_sec").Changes[0]
	if c.Verdict != Regressed || c.Method != stats.ByPairs || math.Abs(float64(c.Ratio)-math.Exp(-0.05)) > 0.01 {
		t.Errorf("in turns: %+v", c)
	}
	alone := rowOf(t, Compare(a, later(b, time.Hour)), "requests_per_sec").Changes[0]
	if alone.Method != stats.ByRanks || alone.Verdict != Undecided || alone.Needs == 0 {
		t.Errorf("one after the other: %+v", alone)
	}
}

// TestFixedOrder: an order that was not drawn is told.
func TestFixedOrder(t *testing.T) {
	f := func(what string, first func(block int) int, drawn *stats.Order, want bool) {
		t.Helper()
		a, b := loaded("a", make([]float64, 8)...), loaded("b", make([]float64, 8)...)
		for side, x := range []*facts.Facts{a, b} {
			x.Manifest.Turns = drawn
			for i := range x.Rounds {
				place := 2 * i
				if first(i) != side {
					place++
				}
				x.Rounds[i].Phase.Span.Start = recording.Phase{}.Span.Start.Add(time.Duration(place) * time.Second)
			}
		}
		if got := strings.Contains(strings.Join(Compare(a, b).Notes, "\n"), "in a fixed order"); got != want {
			t.Errorf("%s: told %v, want %v", what, got, want)
		}
	}
	f("AB AB", func(int) int { return 0 }, nil, true)
	f("AB BA", func(block int) int { return block % 2 }, nil, true)
	f("AB BA, drawn so", func(block int) int { return block % 2 }, &stats.Order{}, false)
	f("another", func(block int) int { return block / 3 % 2 }, nil, false)
}

// TestExplainingRows: of the rows that explain, one in twenty is wrong, not one in every
// comparison.
func TestExplainingRows(t *testing.T) {
	table := &Table{}
	for i := range 20 {
		p := 0.5
		if i == 0 {
			p = 0.03
		}
		table.Rows = append(table.Rows, Row{Name: fmt.Sprint("row ", i), Changes: []Change{{P: p, Verdict: Changed}}})
	}
	if table.settle(0); table.Rows[0].Changes[0].Verdict != Undecided {
		t.Error("the least p of twenty rows is 0.03 and calls a change")
	}
	if notes := strings.Join(table.Notes, "\n"); !strings.Contains(notes, "undecided among this many rows: row 0, row 1, ") {
		t.Errorf("nothing says why: %q", notes)
	}
	table.Rows[0].Changes[0] = Change{P: 0.002, Verdict: Changed}
	if table.settle(0); table.Rows[0].Changes[0].Verdict != Changed {
		t.Error("0.002 among twenty rows calls no change")
	}
}

// TestGoroutines: a program that leaks goroutines has more of them at the end.
func TestGoroutines(t *testing.T) {
	of := func(title string, n ...int64) *facts.Facts {
		f := loaded(title, make([]float64, len(n))...)
		for i := range n {
			f.Rounds[i].Goroutines = n[i]
		}
		return f
	}
	row := rowOf(t, Compare(of("a", 5, 6, 5, 7, 6), of("b", 500, 510, 490, 505, 495)), "goroutines")
	if row.Cells[1].Median != 500 || row.Changes[0].Verdict != Changed {
		t.Errorf("%+v", row)
	}
	if _, ok := Compare(of("a", 0), of("b", 0)).Row("goroutines"); ok {
		t.Error("there is a row of goroutines that nobody has counted")
	}
}

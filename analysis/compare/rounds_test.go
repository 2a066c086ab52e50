package compare

import (
	"fmt"
	"testing"

	"loupe/value/stats"
)

// roundsOf are rounds of one unit, of the same number on both sides.
func roundsOf(unit string, before, after []float64) (out []Block) {
	for i := range before {
		out = append(out, Block{Before: map[string]float64{unit: before[i]}, After: map[string]float64{unit: after[i]}})
	}
	return out
}

// around are ten figures around a center, by thousandths.
func around(center, spread float64) (out []float64) {
	for i := range 10 {
		out = append(out, center*(1+spread*float64((i*7)%10-5)/1000))
	}
	return out
}

func once() stats.Looks { return stats.Looks{At: []int{10}, Error: 0.05} }

// TestRounds: what figures of a unit come to.
func TestRounds(t *testing.T) {
	f := func(unit string, before, after []float64, want Verdict, exact, worse bool) {
		t.Helper()
		rows := Rounds([]Measured{{Name: "A", Looks: once(), Blocks: roundsOf(unit, before, after)}})
		if len(rows) != 1 || rows[0].Verdict != want || rows[0].Exact != exact || rows[0].Worse != worse {
			t.Errorf("%s: %+v", unit, rows)
		}
	}
	const n = 10
	all := func(v float64) (out []float64) {
		for range n {
			out = append(out, v)
		}
		return out
	}
	f("ns/op", around(100, 1), around(120, 1), Slower, false, true)
	f("cpu-ns/op", around(120, 1), around(100, 1), Faster, false, false)
	f("ns/op", around(100, 1), around(100, 1), Same, false, false)
	f("ns/op", around(100, 50), around(101, 40), Undecided, false, false)
	f("ns/op", around(100, 1)[:4], around(120, 1)[:4], NoVerdict, false, false)
	// Bytes and allocations that do not vary are exact, however small the change.
	f("B/op", all(1000), all(1001), More, true, true)
	f("allocs/op", all(3), all(2), Less, true, false)
	f("allocs/op", all(0), all(0), Same, true, false)
	f("allocs/op", all(0), all(1), More, true, true)
	f("allocs/op", all(3)[:4], all(2)[:4], NoVerdict, false, false)
	f("B/op", around(1000, 1), all(1200), More, false, true)
	// The runtime allocates for itself now and then.
	stray := func(v, other float64, times int) []float64 {
		out := all(v)
		for i := range times {
			out[2*i+1] = other
		}
		return out
	}
	f("B/op", stray(0, 15, 1), all(0), Same, false, false)
	f("B/op", stray(0, 15, 2), stray(0, 9, 1), Same, false, false)
	f("B/op", stray(0, 15, 3), all(0), Undecided, false, false)
	f("B/op", stray(1000, 1500, 1), stray(1200, 1500, 1), More, false, true)
	// A figure of the program's own has more and less, and is no regression.
	f("widgets/op", around(100, 1), around(120, 1), More, false, false)
	f("gc-cycles/op", around(1, 1), around(2, 1), More, false, false)
	f("peak-rss-B", around(1e6, 1), around(2e6, 1), More, false, true)
	// What follows from others has no verdict.
	f("MB/s", around(100, 1), around(120, 1), NoVerdict, false, false)
	f("user-ns/op", around(100, 1), around(120, 1), NoVerdict, false, false)
}

// TestRoundsTogether: among many rows one that may be chance is not called a difference,
// and does not end a measurement early.
func TestRoundsTogether(t *testing.T) {
	doubtful := Measured{Name: "A", Looks: once(), Blocks: roundsOf("ns/op", []float64{100, 101, 102, 103, 104, 105, 106, 107, 108, 109}, []float64{111, 104, 112, 105, 113, 106, 114, 107, 115, 108})}
	alone := Rounds([]Measured{doubtful})[0]
	if alone.P < 0.001 || alone.P > 0.05 || alone.Verdict != Slower {
		t.Fatalf("%+v", alone)
	}
	all := []Measured{doubtful}
	for i := range 99 {
		all = append(all, Measured{Name: fmt.Sprint(i), Looks: once(), Blocks: roundsOf("ns/op", around(100, 50), around(100, 40))})
	}
	if r := Rounds(all)[0]; r.Verdict != Undecided || r.Worse {
		t.Errorf("%+v", r)
	}
	if doubtful.Decided(100) || !doubtful.Decided(1) {
		t.Error("decided among 100, or not alone")
	}
	// A change that cannot be chance stays one: ten rounds could not tell it among 100.
	clear := roundsOf("ns/op", around(100, 1), around(120, 1))
	all[0] = Measured{Name: "A", Looks: stats.Looks{At: []int{20}, Error: 0.05}, Blocks: append(clear, clear...)}
	if r := Rounds(all)[0]; r.Verdict != Slower {
		t.Errorf("%+v", r)
	}
}

// TestDecided: a case goes on until its times and allocations have a verdict; other
// figures do not keep it.
func TestDecided(t *testing.T) {
	m := func(unit string, before, after []float64) Measured {
		return Measured{Looks: once(), Blocks: roundsOf(unit, before, after)}
	}
	if !m("ns/op", around(100, 1), around(100, 1)).Decided(1) || m("ns/op", around(100, 50), around(101, 40)).Decided(1) ||
		!m("widgets/op", around(100, 50), around(101, 40)).Decided(1) || m("ns/op", around(100, 1)[:4], around(100, 1)[:4]).Decided(1) {
		t.Error("wrong")
	}
}

// TestBeyond: a regression has to be proven and larger than what is let pass; of one from
// nothing there is no share.
func TestBeyond(t *testing.T) {
	of := func(unit string, before, after []float64) *Figure {
		return &Rounds([]Measured{{Looks: once(), Blocks: roundsOf(unit, before, after)}})[0]
	}
	zero, one := make([]float64, 10), []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	slower := of("ns/op", around(100, 1), around(120, 1))
	if !slower.Beyond(0) || !slower.Beyond(0.1) || slower.Beyond(0.3) {
		t.Errorf("%+v", slower)
	}
	if !of("allocs/op", zero, one).Beyond(10) || of("allocs/op", one, zero).Beyond(0) || of("ns/op", around(120, 1), around(100, 1)).Beyond(0) {
		t.Error("wrong")
	}
}

// TestUnits: rows stand in the order of the format, figures of the program's own behind,
// and a unit of one side alone has none.
func TestUnits(t *testing.T) {
	m := Measured{Blocks: []Block{{
		Before: map[string]float64{"x": 1, "B/op": 1, "ns/op": 1, "a": 1, "cpu-ns/op": 1, "old": 1},
		After:  map[string]float64{"x": 1, "B/op": 1, "ns/op": 1, "a": 1, "cpu-ns/op": 1, "new": 1},
	}}}
	if got := fmt.Sprint(m.units()); got != "[ns/op cpu-ns/op B/op a x]" {
		t.Error(got)
	}
}

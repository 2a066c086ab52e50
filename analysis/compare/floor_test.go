package compare

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"loupe/value/stats"
)

// floored are rounds of one unit with those of a second build of the base.
func floored(unit string, before, after, again []float64) []Block {
	out := roundsOf(unit, before, after)
	for i := range out {
		out[i].Again = map[string]float64{unit: again[i]}
	}
	return out
}

// TestFloor: what a change comes to beside what two builds of the base differ by.
func TestFloor(t *testing.T) {
	f := func(unit string, after, again float64, want Verdict, within bool) {
		t.Helper()
		rows := Rounds([]Measured{{Name: "A", Looks: once(), Blocks: floored(unit, around(100, 1), around(after, 1), around(again, 1))}})
		if len(rows) != 1 || rows[0].Verdict != want || rows[0].WithinFloor != within || rows[0].Floor == nil {
			t.Errorf("%s %v beside %v: %+v", unit, after, again, rows)
		}
		if within && rows[0].Beyond(0) {
			t.Errorf("%s %v beside %v is a regression", unit, after, again)
		}
	}
	f("ns/op", 105, 100, Slower, false)
	f("ns/op", 105, 103, Slower, false)
	f("ns/op", 105, 107, Undecided, true)
	f("ns/op", 105, 93, Undecided, true) // the floor is as far on either side
	f("ns/op", 95, 107, Undecided, true)
	f("ns/op", 90, 107, Faster, false)
	f("ns/op", 100, 107, Same, false)
	f("ns/op", 101.5, 100, Slower, false)

	// Bytes that do not vary, of builds that do.
	all := func(v float64) []float64 {
		out := make([]float64, 10)
		for i := range out {
			out[i] = v
		}
		return out
	}
	bytes := func(after, again float64, want Verdict, exact bool) {
		t.Helper()
		rows := Rounds([]Measured{{Name: "A", Looks: once(), Blocks: floored("B/op", all(100), all(after), all(again))}})
		if rows[0].Verdict != want || rows[0].Exact != exact {
			t.Errorf("%v bytes beside %v: %+v", after, again, rows[0])
		}
	}
	bytes(110, 100, More, true)
	bytes(110, 104, More, true)
	bytes(110, 110, Undecided, false)
	bytes(100, 110, Same, true)
	zero := Rounds([]Measured{{Name: "A", Looks: once(), Blocks: floored("B/op", all(0), all(5), all(0))}})
	if zero[0].Verdict != More || !zero[0].Exact {
		t.Errorf("from no bytes to five: %+v", zero[0])
	}
}

// TestFloorLow: beside a floor that is lower than 1% a change of less than that counts, where
// not all of its interval lies within 1%.
func TestFloorLow(t *testing.T) {
	blocks := floored("cpu-ns/op", around(100, 0.3), around(100.9, 0.3), around(100.1, 0.3))
	for i := range blocks {
		blocks[i].After["cpu-ns/op"] += 0.4 * float64(i%2)
	}
	m := []Measured{{Name: "A", Looks: once(), Blocks: blocks}}
	if got := Rounds(m)[0]; got.Verdict != Slower || got.Floor.High > 1+leastFloor {
		t.Errorf("with a floor: %+v %+v", got.Change, got.Floor)
	}
	for i := range blocks {
		blocks[i].After["cpu-ns/op"] = blocks[i].Again["cpu-ns/op"] * 1.003
	}
	if got := Rounds(m)[0]; got.Verdict != Same {
		t.Errorf("0.3%% beyond the second build: %+v %+v", got.Change, got.Floor)
	}
}

var floorTrials = flag.Int("floor-trials", 200, "comparisons of each spread of builds in TestFloorLayout")

// TestFloorLayout: builds of the same code that differ by chance are called different less often
// where a floor was measured, and a change far beyond what they differ by is still found. The
// figures of docs/statistics.md are of -floor-trials 2000.
func TestFloorLayout(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 2))
	for _, spread := range []float64{0, 0.01, 0.02, 0.04} {
		wrong, floored, found := 0, 0, 0
		for range *floorTrials {
			build := func(effect float64) []float64 {
				layout := math.Exp(spread*random.NormFloat64()) * (1 + effect)
				out := make([]float64, 20)
				for i := range out {
					out[i] = 1000 * layout * math.Exp(0.01*random.NormFloat64())
				}
				return out
			}
			decide := func(before, after, again []float64) bool {
				blocks := roundsOf("ns/op", before, after)
				for i := range blocks {
					if again != nil {
						blocks[i].Again = map[string]float64{"ns/op": again[i]}
					}
				}
				m := Measured{Blocks: blocks, Looks: stats.Looks{At: []int{20}, Error: 0.05}}
				v := Rounds([]Measured{m})[0].Verdict
				return v == Faster || v == Slower
			}
			a, again, b, slow := build(0), build(0), build(0), build(0.25)
			if decide(a, b, nil) {
				wrong++
			}
			if decide(a, b, again) {
				floored++
			}
			if decide(a, slow, again) {
				found++
			}
		}
		share := func(n int) float64 { return 100 * float64(n) / float64(*floorTrials) }
		t.Logf("builds differ by %.0f %%: wrong %.1f, with a floor %.1f; +25 %% is found in %.1f", 100*spread, share(wrong), share(floored), share(found))
		if floored > wrong && share(floored) > 7 || spread > 0 && floored > 3*wrong/4 || found < *floorTrials*8/10 {
			t.Errorf("builds differ by %v: %d wrong, %d with a floor, %d found", spread, wrong, floored, found)
		}
	}
}

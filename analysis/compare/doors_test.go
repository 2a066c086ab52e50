package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/analysis/gc"
	"loupe/format/benchmark"
	"loupe/format/loadlog"
	"loupe/recording"
	"loupe/value/stats"
	"loupe/value/timeline"
)

// measured are rounds of two sides in the order in which they were taken: the values, when
// each round began, and the blocks, nil where the rounds did not take turns.
type measured struct {
	values [2][]float64
	starts [2][]time.Time
	blocks [2][]int
}

// take measures rounds by a function of their place in the whole and their side.
func take(rounds int, inTurns bool, value func(place, side int) float64) (m measured) {
	order := stats.Order{Seed: 11}
	add := func(place, side, block int) {
		m.values[side] = append(m.values[side], value(place, side))
		m.starts[side] = append(m.starts[side], time.Unix(1e9+int64(place)*10, 0))
		if inTurns {
			m.blocks[side] = append(m.blocks[side], block)
		}
	}
	for place := range 2 * rounds {
		if inTurns {
			add(place, order.Block(place/2, 2)[place%2], place/2)
		} else {
			add(place, place/rounds, 0)
		}
	}
	return m
}

// text are the rounds of a side as a program of benchmarks prints them.
func (m measured) text(side int, unit string) string {
	var text strings.Builder
	for k, v := range m.values[side] {
		if m.blocks[side] != nil {
			fmt.Fprintln(&text, benchmark.BlockLine(m.blocks[side][k]))
		}
		fmt.Fprintln(&text, "BenchmarkX 1", v, unit)
	}
	return text.String()
}

// fromText is the change that the text of two sides has.
func fromText(t *testing.T, before, after string) compare.Change {
	t.Helper()
	files := []benchmark.File{{Name: "0", Data: []byte(before)}, {Name: "1", Data: []byte(after)}}
	r, err := benchmark.Tabulate(files, benchmark.Everything())
	if err != nil || len(r.Tables) != 1 || len(r.Problems) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	return *compare.Benchmarks(r.Tables[0])[0][1]
}

// theDoors are the ways by which numbers come to be compared: as rates, of which more is
// better.
var theDoors = map[string]func(t *testing.T, m measured) compare.Change{
	"recordings": func(t *testing.T, m measured) compare.Change {
		var sides [2]*facts.Facts
		for i := range sides {
			sides[i] = &facts.Facts{Title: "x", Manifest: &recording.Manifest{Start: m.starts[i][0]}}
			for k, v := range m.values[i] {
				phase := recording.Phase{Span: timeline.Span{Start: timeline.Time(m.starts[i][k].Sub(m.starts[i][0]))}}
				sides[i].Rounds = append(sides[i].Rounds, facts.Round{Phase: phase, Load: &loadlog.Summary{RPS: v}, Duration: 10 * time.Second, AllocRate: math.NaN(), Collections: math.NaN()})
			}
		}
		return changeOf(t, compare.Compare(sides[0], sides[1]))
	},
	"loads": func(t *testing.T, m measured) compare.Change {
		var sides []compare.LoadSide
		for i := range m.values {
			s := compare.LoadSide{Title: "x", Starts: m.starts[i]}
			for _, v := range m.values[i] {
				s.Runs = append(s.Runs, &loadlog.Summary{RPS: v})
			}
			sides = append(sides, s)
		}
		return changeOf(t, compare.Loads(sides, m.blocks[0] != nil))
	},
	"benchmarks": func(t *testing.T, m measured) compare.Change {
		better := "Unit req/s better=higher\n"
		return fromText(t, better+m.text(0, "req/s"), better+m.text(1, "req/s"))
	},
}

func changeOf(t *testing.T, table *compare.Table) compare.Change {
	t.Helper()
	row, ok := table.Row("requests_per_sec")
	if !ok {
		t.Fatal("there is no row of rates")
	}
	return row.Changes[0]
}

// TestDoors: the same numbers, measured in the same order, have the same verdict by every
// door.
func TestDoors(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 4))
	noise := func(spread float64) float64 { return math.Exp(spread * rnd.NormFloat64()) }
	seen := map[compare.Verdict]bool{}
	methods := map[stats.Method]bool{}
	f := func(what string, rounds int, inTurns bool, value func(place, side int) float64) {
		t.Helper()
		m := take(rounds, inTurns, value)
		want := compare.Judge(stats.Side{Values: m.values[0], Blocks: m.blocks[0]}, stats.Side{Values: m.values[1], Blocks: m.blocks[1]}, compare.Higher)
		seen[want.Verdict], methods[want.Method] = true, true
		for name, door := range theDoors {
			// As text, since what is unknown does not equal itself.
			if got := door(t, m); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s, by %s:\n%+v, want\n%+v", what, name, got, want)
			}
		}
	}
	for _, rounds := range []int{3, 5, 6, 7, 10, 20} {
		for _, inTurns := range []bool{false, true} {
			f("alike", rounds, inTurns, func(int, int) float64 { return 1000 * noise(0.02) })
			f("alike, little noise", rounds, inTurns, func(int, int) float64 { return 1000 * noise(0.001) })
			f("slower", rounds, inTurns, func(_, side int) float64 { return (1000 - 100*float64(side)) * noise(0.01) })
			f("faster", rounds, inTurns, func(_, side int) float64 { return (1000 + 50*float64(side)) * noise(0.01) })
			f("drifting", rounds, inTurns, func(place, side int) float64 {
				return (1000 + 50*float64(side)) * math.Exp(-0.01*float64(place)) * noise(0.01)
			})
			f("equal", rounds, inTurns, func(int, int) float64 { return 5 })
			f("zero", rounds, inTurns, func(place, side int) float64 { return float64(side * place) })
		}
	}
	if len(seen) != 5 || len(methods) != 3 {
		t.Errorf("the verdicts are %v and the methods %v: others are not tried", seen, methods)
	}
}

// TestBenchDoors: what `loupe bench` says of its rounds is what is said of the text that it
// keeps, in the words of benchmarks.
func TestBenchDoors(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	noise := func(spread float64) float64 { return math.Exp(spread * rnd.NormFloat64()) }
	const exact = 0
	words := map[compare.Verdict]compare.Verdict{compare.Faster: compare.Improved, compare.Slower: compare.Regressed, compare.Less: compare.Improved, compare.More: compare.Regressed}
	seen := map[compare.Verdict]bool{}
	f := func(unit string, rounds int, factor, spread float64) {
		t.Helper()
		m := take(rounds, true, func(_, side int) float64 {
			return math.Round(1e6 * math.Pow(factor, float64(side)) * noise(spread))
		})
		of := compare.Measured{Name: "X", Looks: stats.Looks{At: []int{rounds}, Error: 0.05}}
		for k := range rounds {
			of.Blocks = append(of.Blocks, compare.Block{Before: map[string]float64{unit: m.values[0][k]}, After: map[string]float64{unit: m.values[1][k]}})
		}
		got := compare.Rounds([]compare.Measured{of})[0]
		const better = "Unit cpu-ns/op better=lower\n" // as loupe bench has it
		want := fromText(t, better+m.text(0, unit), better+m.text(1, unit))
		seen[got.Verdict] = true
		verdict := got.Verdict
		if plain, ok := words[verdict]; ok {
			verdict = plain
		}
		near := func(a, b gc.Figure) bool {
			return !a.Known() && !b.Known() || math.Abs(float64(a-b)) < 1e-6
		}
		if verdict != want.Verdict || got.Exact != want.Exact || !near(got.Ratio, want.Ratio) || spread != exact && (!near(got.Low, want.Low) || !near(got.High, want.High) || got.P != want.P) {
			t.Errorf("%s, %d rounds, by a factor of %g: %+v, want %+v", unit, rounds, factor, got, want)
		}
	}
	for _, rounds := range []int{6, 10, 20} {
		for _, unit := range []string{"ns/op", "cpu-ns/op", "B/op", "allocs/op"} {
			for _, factor := range []float64{1, 1.001, 1.05, 0.9} {
				for _, spread := range []float64{exact, 0.0005, 0.03} {
					f(unit, rounds, factor, spread)
				}
			}
		}
	}
	for _, v := range []compare.Verdict{compare.Faster, compare.Slower, compare.Less, compare.More, compare.Same, compare.Undecided} {
		if !seen[v] {
			t.Errorf("nothing is %s", v)
		}
	}
}

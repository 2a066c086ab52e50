package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// independent are the kinds of noise whose values do not depend on those before them.
var independent = []string{"independent, normal", "independent, log-normal", "heavy tails", "bimodal", "ticks"}

// trends are series that change by and by: so much from run to run.
var trends = []float64{0.002, 0.005}

// courses are the kinds of noise of series, and trends.
func courses() (all []kindOfSeries) {
	for _, n := range noises {
		all = append(all, kindOfSeries{n.name, n.make})
	}
	for _, slope := range trends {
		all = append(all, kindOfSeries{fmt.Sprintf("trend of %.1f %% a run", 100*slope), func(r *rand.Rand, n int) []float64 {
			return series(n, func(i int) float64 { return slope*float64(i) + 0.03*r.NormFloat64() })
		}})
	}
	return all
}

type kindOfSeries struct {
	name string
	make func(r *rand.Rand, n int) []float64
}

// planted is a change in a series: of a size, from one value on, up to another.
type planted struct {
	name     string
	size     float64
	from, to func(n int) int
}

var plants = []planted{
	{"+5 % in the middle", 0.05, half, all},
	{"+10 % in the middle", 0.10, half, all},
	{"+5 % in the newest five", 0.05, newest, all},
	{"+10 % in the newest five", 0.10, newest, all},
	{"+10 % for a sixth", 0.10, half, func(n int) int { return half(n) + n/6 }},
}

func half(n int) int   { return n / 2 }
func all(n int) int    { return n }
func newest(n int) int { return n - 5 }

// in makes values of logarithms, with the change in them.
func (p planted) in(logs []float64) []float64 {
	out := make([]float64, len(logs))
	for i, x := range logs {
		out[i] = math.Exp(x)
		if p.size > 0 && i >= p.from(len(logs)) && i < p.to(len(logs)) {
			out[i] *= 1 + p.size
		}
	}
	return out
}

// told is how often a series was said to have something, in percent.
type told struct{ any, step, gradual, either, unsure float64 }

// tell counts what was said of a series.
func (o *told) tell(c Course, one float64) {
	var seen [4]bool
	for _, m := range c.Moves {
		switch {
		case m.Wanders:
			seen[3] = true
		default:
			seen[m.Shape] = true
		}
	}
	for i, to := range []*float64{&o.step, &o.gradual, &o.either, &o.unsure} {
		if seen[i] {
			*to += one
		}
	}
	if len(c.Moves) > 0 {
		o.any += one
	}
}

// hit is how often a planted change was found, in percent: at all, and sure that it came at
// once; at the very value; with the value among the possible ones; and how many those are.
type hit struct{ found, sure, exactly, held, width, further float64 }

// find looks for a planted change among those that were found.
func (h *hit) find(c Course, at int, one float64) {
	for _, m := range c.Moves {
		if m.Shape == Gradual || m.From > at+3 || m.To < at-3 {
			continue
		}
		h.found += one
		h.width += float64(m.To - m.From + 1)
		if !m.Wanders && m.Shape == Step {
			h.sure += one
		}
		if m.At == at {
			h.exactly += one
		}
		if m.From <= at && at <= m.To {
			h.held += one
		}
		break
	}
	if len(c.Moves) > 1 {
		h.further += one
	}
}

// TestCourse: series without a change are said to have one no more often than promised where
// their values are independent, whatever they are like; what is planted is found, and where it
// is. What drifts is seldom called a step. With -v it prints the tables of docs/statistics.md:
//
//	go test ./value/stats -run TestCourse -v -trials 2000 -timeout 1h
func TestCourse(t *testing.T) {
	asked := *trials
	trials, sizes := max(60, asked/4), []int{40}
	if asked >= 1000 {
		sizes = []int{10, 20, 40, 80}
	}
	finds := map[string]float64{"independent, normal": 95, "heavy tails": 95} // of +10 % in the middle of 40
	search := ChangeSearch{Shuffles: 1999}
	one := 100 / float64(trials)
	slack := 500 * math.Sqrt(0.05*0.95/float64(trials))
	for _, n := range sizes {
		for _, kind := range courses() {
			r := rand.New(rand.NewPCG(17, uint64(n)))
			var none told
			hits := make([]hit, len(plants))
			for range trials {
				logs := kind.make(r, n)
				none.tell(search.Course(planted{}.in(logs), 0.05), one)
				for i, p := range plants {
					hits[i].find(search.Course(p.in(logs), 0.05), p.from(n), one)
				}
			}
			t.Logf("%d runs | %s | nothing planted: any %.1f, at once %.1f, gradually %.1f, either %.1f, unsure %.1f", n, kind.name, none.any, none.step, none.gradual, none.either, none.unsure)
			for i, h := range hits {
				t.Logf("%d runs | %s | %s: found %.0f, sure %.0f, exactly there %.0f, held %.1f of the found, %.1f possible, further ones %.1f", n, kind.name, plants[i].name, h.found, h.sure, h.exactly, 100*h.held/h.found, h.width*one/h.found, h.further)
			}
			switch {
			case slices.Contains(independent, kind.name):
				if none.any > 5+slack {
					t.Errorf("%d runs, %s: %.1f of 100 are said to have changed", n, kind.name, none.any)
				}
				if h := hits[1]; n >= 40 && h.found < finds[kind.name] {
					t.Errorf("%d runs, %s: +10 %% is found in %.0f of 100", n, kind.name, h.found)
				}
			case n >= 40 && none.step > 15+slack && kind.name != "AR(1), 0.9":
				t.Errorf("%d runs, %s: %.1f of 100 are said to have changed at once", n, kind.name, none.step)
			}
		}
	}
}

// TestFewestValues: a change can be found in as many values as are said, and in no fewer.
func TestFewestValues(t *testing.T) {
	var search ChangeSearch
	for n := 2 * ShortStretch; n <= FewestValues; n++ {
		least := 1.0
		for at := ShortStretch; at <= n-ShortStretch; at++ {
			least = min(least, search.Steady(series(n, func(i int) float64 {
				if i < at {
					return float64(i) + 1
				}
				return float64(i) + 100
			})))
		}
		if found := least < 0.05; found != (n == FewestValues) {
			t.Errorf("%d values: the clearest step has p = %.3f", n, least)
		}
	}
}

// TestChangePoints: plain cases.
func TestChangePoints(t *testing.T) {
	f := func(name string, values []float64, want ...int) {
		t.Helper()
		var search ChangeSearch
		var at []int
		for _, c := range search.ChangePoints(values, 0.05) {
			at = append(at, c.At)
			if c.From > c.At || c.To < c.At || c.P >= 0.05 {
				t.Errorf("%s: %+v", name, c)
			}
		}
		if !slices.Equal(at, want) {
			t.Errorf("%s: changes at %v, want %v", name, at, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 9))
	levels := func(sizes []int, level []float64) (out []float64) {
		for i, n := range sizes {
			for range n {
				out = append(out, level[i]+r.NormFloat64())
			}
		}
		return out
	}
	f("nothing", nil)
	f("one", []float64{1})
	f("constant", make([]float64, 50))
	f("few", []float64{1, 2, 3, 101, 102, 103})
	f("step", levels([]int{15, 15}, []float64{100, 120}), 15)
	f("there and back", levels([]int{30, 8, 30}, []float64{100, 120, 100}), 30, 38)
	f("three levels", levels([]int{12, 12, 12}, []float64{100, 120, 90}), 12, 24)
	f("one outlier", append(levels([]int{40}, []float64{100}), 900))
	f("two values", slices.Concat(slices.Repeat([]float64{7, 8, 7}, 6), slices.Repeat([]float64{9, 8, 9}, 6)), 18)
	f("zeros, then none", append(make([]float64, 12), slices.Repeat([]float64{3}, 12)...), 12)
	f("infinite", append(slices.Repeat([]float64{1}, 12), slices.Repeat([]float64{math.Inf(1)}, 12)...), 12)
	f("not a number", append(slices.Repeat([]float64{1}, 12), slices.Repeat([]float64{math.NaN()}, 12)...))
	// The same each time, and whatever was asked before.
	values := levels([]int{20, 20}, []float64{100, 102})
	var first, second ChangeSearch
	second.Steady(levels([]int{40}, []float64{1}))
	if a, b := first.Steady(values), second.Steady(values); a != b {
		t.Errorf("p is %v, and then %v", a, b)
	}
}

// TestShapes: what is plain is called what it is.
func TestShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	f := func(name string, want Shape, at func(i int) float64) {
		t.Helper()
		var search ChangeSearch
		c := search.Course(series(40, func(i int) float64 { return at(i) + 0.5*r.NormFloat64() }), 0.05)
		if len(c.Moves) != 1 || c.Moves[0].Shape != want || c.Moves[0].Wanders {
			t.Errorf("%s: %+v", name, c)
		}
	}
	f("step", Step, func(i int) float64 { return 100 + 10*float64(i/20) })
	f("trend", Gradual, func(i int) float64 { return 100 + 0.3*float64(i) })
	f("falling trend", Gradual, func(i int) float64 { return 100 - 0.3*float64(i) })
	f("late step", Step, func(i int) float64 { return 100 + 10*float64(i/33) })
}

// BenchmarkCourse is a series of a hundred runs with a change in it.
func BenchmarkCourse(b *testing.B) {
	r := rand.New(rand.NewPCG(17, 4))
	values := series(100, func(i int) float64 { return 100 + float64(i/50) + r.NormFloat64() })
	var search ChangeSearch
	for b.Loop() {
		search.Course(values, 0.05)
	}
}

func ExampleChangeSearch_ChangePoints() {
	runs := []float64{101, 99, 100, 102, 98, 101, 112, 111, 113, 110, 112, 114}
	var search ChangeSearch
	for _, c := range search.ChangePoints(runs, 0.05) {
		fmt.Printf("from run %d on, p=%.3f\n", c.At, c.P)
	}
	// Output: from run 6 on, p=0.003
}

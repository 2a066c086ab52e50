package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/value/stats"
)

// recorder makes cases that tell in which order they ran.
type recorder struct{ ran []string }

func (r *recorder) cases(names []string, sides int, fails func(name string, side, times int) error) (all []*Case) {
	for _, name := range names {
		c := &Case{Name: name}
		for side := range sides {
			times := 0
			c.Sides = append(c.Sides, Side{run: func(context.Context) (Result, error) {
				r.ran = append(r.ran, fmt.Sprint(name, side))
				times++
				if fails != nil {
					if err := fails(name, side, times); err != nil {
						return Result{}, err
					}
				}
				return Result{Iterations: 1, Values: []Value{{"ns/op", float64(side)}}}, nil
			}})
		}
		all = append(all, c)
	}
	return all
}

func plan(rounds int) Plan {
	return Plan{Rounds: rounds, Progress: func(string, ...any) {}, Order: stats.Order{Seed: 1}}
}

// TestMeasure: every round has each side of each case once, the sides of a case follow each
// other, and the orders change.
func TestMeasure(t *testing.T) {
	var r recorder
	cases := r.cases([]string{"a", "b", "c"}, 2, nil)
	if err := Measure(context.Background(), plan(20), cases); err != nil {
		t.Fatal(err)
	}
	first, order := map[string]int{}, map[string]int{}
	for round := range 20 {
		ran := r.ran[6*round : 6*round+6]
		order[fmt.Sprint(ran[0][:1], ran[2][:1], ran[4][:1])]++
		for i := 0; i < 6; i += 2 {
			if ran[i][:1] != ran[i+1][:1] || ran[i] == ran[i+1] {
				t.Fatalf("round %d: %v", round+1, ran)
			}
			first[ran[i]]++
		}
		if sorted := slices.Sorted(slices.Values(ran)); fmt.Sprint(sorted) != "[a0 a1 b0 b1 c0 c1]" {
			t.Fatalf("round %d: %v", round+1, ran)
		}
	}
	if len(first) != 6 || len(order) < 4 {
		t.Errorf("first of their blocks: %v, orders: %v", first, order)
	}
	for _, c := range cases {
		for side, s := range c.Sides {
			if len(s.Results) != 20 || s.Results[19].Round != 20 || s.Results[19].Values[0].Number != float64(side) || s.Results[0].Order+c.Sides[1-side].Results[0].Order != 3 {
				t.Errorf("%s side %d: %+v", c.Name, side, s.Results)
			}
		}
	}
}

// TestMeasureFails: a round of which a side is missing does not count, and what fails is
// left out from there on.
func TestMeasureFails(t *testing.T) {
	var r recorder
	cases := r.cases([]string{"a", "b"}, 2, func(name string, side, times int) error {
		if name == "a" && side == 1 && times == 3 {
			return errors.New("broken")
		}
		return nil
	})
	if err := Measure(context.Background(), plan(5), cases); err != nil {
		t.Fatal(err)
	}
	if cases[0].Rounds() != 2 || len(cases[0].Sides[0].Results) != 2 || cases[0].Failed == nil || cases[0].Failed.Error() != "round 3: broken" {
		t.Errorf("%+v", cases[0])
	}
	if cases[1].Rounds() != 5 || cases[1].Failed != nil {
		t.Errorf("%+v", cases[1])
	}
}

// TestMeasureStops: a case that is decided at a look rests, an interrupt ends all and
// keeps whole rounds, and a budget that is spent lets the first round be.
func TestMeasureStops(t *testing.T) {
	var r recorder
	cases := r.cases([]string{"a", "b"}, 2, nil)
	p := plan(9)
	p.Look = func(round int) bool { return round == 4 }
	p.Decided = func(c *Case) bool { return c.Name == "a" }
	if err := Measure(context.Background(), p, cases); err != nil || cases[0].Rounds() != 4 || !cases[0].Stopped || cases[1].Rounds() != 9 {
		t.Error(err, cases[0].Rounds(), cases[1].Rounds())
	}

	ctx, cancel := context.WithCancel(context.Background())
	cases = r.cases([]string{"a"}, 2, func(name string, side, times int) error {
		if times == 3 {
			cancel()
		}
		return nil
	})
	if err := Measure(ctx, plan(9), cases); !errors.Is(err, context.Canceled) || cases[0].Rounds() != 2 || cases[0].Failed != nil {
		t.Error(err, cases[0].Rounds(), cases[0].Failed)
	}

	cases = r.cases([]string{"a"}, 1, nil)
	p = plan(9)
	p.Budget = time.Nanosecond
	if err := Measure(context.Background(), p, cases); err != nil || cases[0].Rounds() != 1 {
		t.Error(err, cases[0].Rounds())
	}

	full := errors.New("no space left")
	cases = r.cases([]string{"a"}, 1, nil)
	p = plan(9)
	p.Done = func(*Case) error { return full }
	if err := Measure(context.Background(), p, cases); !errors.Is(err, full) || cases[0].Rounds() != 1 {
		t.Error(err, cases[0].Rounds())
	}
}

// TestWriter: the base comes first whatever ran first, and lines of configuration stand
// where they change.
func TestWriter(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b, []string{"before", "after"})
	c := &Case{Package: "p", Name: "BenchmarkA-2", Config: []string{"goos: linux"}, Sides: []Side{
		{Results: []Result{{Round: 1, Order: 2, Iterations: 10, Values: []Value{{"ns/op", 1.5}, {CPU, 2}}}}},
		{Results: []Result{{Round: 1, Order: 1, Iterations: 10, Values: []Value{{"ns/op", 3}, {CPU, 4}}, Noise: Noise{Other: 1, Throttled: time.Second}}}},
	}}
	for range 2 {
		if err := w.Round(c); err != nil {
			t.Fatal(err)
		}
	}
	const before = "# round 1, run 2 of 2: others used 0.00 CPUs, steal 0.00 CPUs, load 0.00\n# loupe block 1\nBenchmarkA-2\t      10\t       1.5 ns/op\t         2 cpu-ns/op\n"
	const after = "side: after\n# round 1, run 1 of 2: others used 1.00 CPUs, steal 0.00 CPUs, load 0.00, throttled for 1.00 s\n# loupe block 1\nBenchmarkA-2\t      10\t         3 ns/op\t         4 cpu-ns/op\n"
	want := "Unit cpu-ns/op better=lower\ngoos: linux\npkg: p\nside: before\n" + before + after + "side: before\n" + before + after
	if got := b.String(); got != want {
		t.Errorf("%s\n\n%s", got, want)
	}
	if err := w.Comment("one\n%s", "two"); err != nil || !strings.HasSuffix(b.String(), "# one two\n") {
		t.Error(err, b.String())
	}
}

// TestTimes: the faster side takes the time that was asked for, unless the slower one
// would take more than ten times that.
func TestTimes(t *testing.T) {
	f := func(r *Runner, want int64, perOp ...float64) {
		t.Helper()
		var sides []found
		for _, ns := range perOp {
			sides = append(sides, found{perOp: ns})
		}
		if got := r.times(sides); got != want {
			t.Errorf("%v: %d, want %d", perOp, got, want)
		}
	}
	r := &Runner{For: 100 * time.Millisecond}
	f(r, 1000, 1e5)
	f(r, 1000, 1e5, 2e5)
	f(r, 500, 1e5, 2e6)
	f(r, 1, 1e9)
	f(r, 1e9, 1e-6)
	f(r, 0, 0, 1e5) // nobody knows
	f(&Runner{Times: 7}, 7, 1e5)
}

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"loupe/analysis/compare"
	"loupe/capture/bench"
	"loupe/internal/cli/command"
	"loupe/report"
	"loupe/value/stats"
)

// measurement is what is measured, and what came of it.
type measurement struct {
	flags *flags
	cases []*bench.Case
	// sides are what the sides are called, short in files, and long in tables.
	sides, titles []string
	// again is the number of the side that is a second build of the first, 0 without one.
	again int
	// base is the version of the first side; mine, where that is a binary, the package that it
	// is of.
	base   bench.Tree
	mine   *bench.Package
	looks  stats.Looks
	notes  []string
	failed error
	// same tells that both sides are the same build.
	same bool
	// causes are what profiles say of the changes, recordings where they are.
	causes     []*report.MeasuredCause
	recordings []string
	// bisected is what a walk through revisions has found, of which this is the last step.
	bisected *report.Bisected
}

// againSide is what the second build of the base is called in files.
const againSide = "again"

// several tells that sides are compared.
func (m *measurement) several() bool { return len(m.titles) > 1 }

// plan says how many rounds there are, and when they are looked at.
func (m *measurement) plan(e *command.Env) bench.Plan {
	f := m.flags
	p := bench.Plan{
		Rounds: f.count, Budget: f.allowed, Progress: e.Progress(f.quiet), Order: stats.Order{Seed: rand.Uint64()},
	}
	m.looks = stats.Looks{At: []int{f.count}, Error: 1 - compare.Confidence}
	if f.count > 0 {
		return p
	}
	if !m.several() {
		p.Rounds = usualCount
		return p
	}
	m.looks = stats.UsualLooks()
	p.Rounds = m.looks.At[len(m.looks.At)-1]
	if p.Budget == 0 {
		p.Budget = usualBudget
	}
	p.Look = func(round int) bool { due, _ := m.looks.Due(round); return due }
	p.Decided = func(c *bench.Case) bool {
		for side := 1; side < len(m.titles); side++ {
			if !m.measured(c, side).Decided(len(m.cases)) {
				return false
			}
		}
		return true
	}
	return p
}

// take measures all, and writes the results as they come: into the file, and to live.
func (m *measurement) take(e *command.Env, file *os.File, live io.Writer) error {
	defer e.Keeps()()
	var writers []*bench.Writer
	plan := m.plan(e)
	begun := false
	if file != nil {
		defer file.Close()
		writers = append(writers, bench.NewWriter(file, m.names()))
	}
	if live != nil {
		writers = append(writers, bench.NewWriter(live, m.names()))
	}
	plan.Done = func(c *bench.Case) (err error) {
		if !begun && file != nil {
			if info, serr := file.Stat(); serr == nil && info.Mode().IsRegular() {
				err = file.Truncate(0)
			}
		}
		for _, w := range writers {
			if !begun {
				err = errors.Join(err, m.head(w))
			}
			err = errors.Join(err, w.Round(c))
		}
		begun = true
		return err
	}
	err := bench.Measure(e.Ctx, plan, m.cases)
	if errors.Is(err, context.Canceled) {
		err = nil
		m.notes = append(m.notes, "The measurement was interrupted: these are the results up to then.")
	}
	for _, c := range m.cases {
		if c.Failed != nil {
			m.failed = errors.Join(m.failed, fmt.Errorf("%s%s: %w", packagePrefix(c), c.Name, c.Failed))
		}
	}
	m.failed = errors.Join(m.failed, err)
	return nil
}

func packagePrefix(c *bench.Case) string {
	if c.Package == "" {
		return ""
	}
	return c.Package + ": "
}

// names are those of the sides in a file, nil where there is one.
func (m *measurement) names() []string {
	if m.several() {
		return m.sides
	}
	return nil
}

// head begins a file.
func (m *measurement) head(w *bench.Writer) error {
	err := w.Comment("loupe bench %s, %s", command.Version(), time.Now().UTC().Format(time.RFC3339))
	for i, title := range m.titles {
		if title != "" {
			err = errors.Join(err, w.Comment("side %s: %s", m.sides[i], title))
		}
	}
	if m.again > 0 {
		err = errors.Join(err, w.Comment("side %s: %s", againSide, m.againTitle()))
	}
	return err
}

// againTitle is what the second build of the base is called in tables.
func (m *measurement) againTitle() string { return m.titles[0] + ", again" }

// measured is a case with a side held against the first.
func (m *measurement) measured(c *bench.Case, side int) compare.Measured {
	out := compare.Measured{Package: c.Package, Name: c.Name, Looks: m.looks}
	for i := range c.Rounds() {
		b := compare.Block{Before: byUnit(c.Sides[0].Results[i]), After: byUnit(c.Sides[side].Results[i])}
		if m.again > 0 {
			b.Again = byUnit(c.Sides[m.again].Results[i])
		}
		out.Blocks = append(out.Blocks, b)
	}
	return out
}

func byUnit(r bench.Result) map[string]float64 {
	out := map[string]float64{}
	for _, v := range r.Values {
		out[v.Unit] = v.Number
	}
	return out
}

// figures are the verdicts on a side, of all cases that have rounds.
func (m *measurement) figures(side int) []compare.Figure {
	var all []compare.Measured
	for _, c := range m.cases {
		if c.Rounds() > 0 {
			all = append(all, m.measured(c, side))
		}
	}
	out := compare.Rounds(all)
	for i := range out {
		if m.same {
			out[i].Verdict, out[i].Worse, out[i].Exact = sameBuild, false, false
		}
	}
	return out
}

// sameBuild stands where a verdict would: only chance differs.
const sameBuild compare.Verdict = "same build"

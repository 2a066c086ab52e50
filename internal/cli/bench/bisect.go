package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/capture/bench"
	"loupe/capture/collect"
	"loupe/internal/cli/command"
	"loupe/internal/cli/record"
	"loupe/report"
	"loupe/value/stats"
)

// bisection walks revisions until the one is found that changed a benchmark.
type bisection struct {
	flags     *flags
	env       *command.Env
	runner    *bench.Runner
	dir, temp string
	patterns  []string
	row       []collect.Revision
	search    *bench.Search
	built     map[int][]*bench.Package
	trees     map[int]string
	// unit is the figure that is looked at, grown tells that the bad one has more.
	unit  string
	grown bool
	tried []report.TriedRevision
}

// errLike tells that a revision is neither like the good one nor like the bad one.
var errLike = errors.New("it is between both, or too little is known")

// runBisect is loupe bench -bisect.
func (f *flags) runBisect(e *command.Env, args []string) error {
	good, bad, ok := strings.Cut(f.bisect, "..")
	if !ok || good == "" {
		return command.Usagef("-bisect: want GOOD..BAD, not %q", f.bisect)
	}
	if bad == "" {
		bad = "HEAD"
	}
	patterns, err := f.benchmarkOf(args)
	if err != nil {
		return err
	}
	if f.recording != "" {
		if err := record.CheckPlace(f.recording); err != nil {
			return err
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	row, err := collect.Revisions(e.Ctx, dir, good, bad)
	if err != nil {
		return err
	}
	return e.WithTemp(func(temp string) error {
		b := &bisection{
			flags: f, env: e, dir: dir, temp: temp, patterns: patterns, row: row, search: bench.NewSearch(len(row)),
			built: map[int][]*bench.Package{}, trees: map[int]string{},
			runner: &bench.Runner{Bench: f.pattern, For: f.length, Times: f.times, Timeout: f.limit, Progress: e.Progress(f.quiet)},
		}
		defer b.runner.Close()
		return b.run()
	})
}

// benchmarkOf takes the name of a benchmark out of the arguments, where it is one of them.
func (f *flags) benchmarkOf(args []string) (patterns []string, err error) {
	for _, name := range []string{"vs", "fail", "o", "keep"} {
		if f.set.Given(name) {
			return nil, command.Usagef("-%s and -bisect do not go together", name)
		}
	}
	if len(args) > 0 && strings.HasPrefix(args[0], "Benchmark") {
		if _, serr := os.Stat(args[0]); serr != nil {
			if f.set.Given("bench") {
				return nil, command.Usagef("%s and -bench both say which benchmark is meant", args[0])
			}
			if f.pattern, err = bench.ParsePattern(bench.Exactly(args[0])); err != nil {
				return nil, err
			}
			args = args[1:]
		}
	}
	if len(args) == 0 {
		args = []string{"."}
	}
	return args, nil
}

// run searches, and tells what it found.
func (b *bisection) run() error {
	last := len(b.row) - 1
	b.progress("%d revisions from %s to %s", len(b.row), b.row[0].Short(), b.row[last].Short())
	ends, err := b.compare(0, last)
	if err != nil {
		return err
	}
	if err := b.choose(ends.figures(1)); err != nil {
		return err
	}
	undecided := 0
	for undecided < mostUndecided && b.env.Ctx.Err() == nil {
		i, ok := b.search.Next()
		if !ok {
			break
		}
		standing, rounds, why := b.stand(i)
		if b.env.Ctx.Err() != nil {
			break
		}
		if errors.Is(why, errLike) {
			undecided++
		}
		b.search.Tell(i, standing)
		b.note(i, standing, rounds, why)
	}
	return b.conclude()
}

// mostUndecided is how many revisions may be between the good and the bad one until the
// search ends: the change has come in steps, or is too small for the noise.
const mostUndecided = 2

func (b *bisection) progress(format string, args ...any) {
	b.env.Progress(b.flags.quiet)(format, args...)
}

// note keeps what was found out about a revision.
func (b *bisection) note(i int, standing bench.Standing, rounds int, why error) {
	one := report.TriedRevision{Hash: b.row[i].Hash, Subject: b.row[i].Subject, Rounds: rounds}
	switch {
	case standing == bench.Good:
		one.Standing = "like " + b.row[0].Short()
	case standing == bench.Bad:
		one.Standing = "like " + b.row[len(b.row)-1].Short()
	default:
		one.Standing = "skipped"
		if errors.Is(why, errLike) {
			one.Standing = "undecided"
		}
		one.Why, _, _ = strings.Cut(why.Error(), "\n")
		one.Why = strings.TrimSuffix(one.Why, ":")
	}
	b.tried = append(b.tried, one)
	b.progress("%s %s: %s %s", b.row[i].Short(), b.row[i].Subject, one.Standing, one.Why)
}

// packages builds those of a revision.
func (b *bisection) packages(i int) ([]*bench.Package, error) {
	if p, ok := b.built[i]; ok {
		return p, nil
	}
	rev := b.row[i]
	temp := filepath.Join(b.temp, rev.Short())
	there, _, err := collect.Checkout(b.env.Ctx, b.dir, ".", rev.Hash, filepath.Join(temp, "tree"))
	if err != nil {
		return nil, err
	}
	b.progress("building %s", rev.Short())
	p, err := bench.Build(b.env.Ctx, bench.Tree{Name: rev.Short(), Dir: there}, bench.BuildOptions{
		Patterns: b.patterns, Flags: record.SplitFlags(b.flags.build), Temp: filepath.Join(temp, "build"),
		Progress: func(string, ...any) {},
	})
	if err != nil {
		return nil, err
	}
	b.built[i] = p
	return p, nil
}

// cases finds the one benchmark in some revisions.
func (b *bisection) cases(revisions ...int) (*bench.Case, error) {
	var sides [][]*bench.Package
	for _, i := range revisions {
		p, err := b.packages(i)
		if err != nil {
			return nil, err
		}
		sides = append(sides, p)
	}
	cases, _, err := b.runner.Discover(b.env.Ctx, sides)
	switch {
	case err != nil:
		return nil, err
	case len(cases) == 0:
		return nil, fmt.Errorf("%s: no such benchmark", b.without(revisions, sides))
	case len(cases) > 1:
		var names []string
		for _, c := range cases {
			names = append(names, c.Name)
		}
		return nil, command.Usagef("-bisect follows one benchmark, and %d match: name one of %s", len(cases), strings.Join(names, ", "))
	}
	return cases[0], nil
}

// without names the revisions that do not have the benchmark at all, or all of them where
// each has one, but not the same.
func (b *bisection) without(revisions []int, sides [][]*bench.Package) string {
	var lack, all []string
	for k, i := range revisions {
		all = append(all, b.row[i].Short())
		if cases, _, err := b.runner.Discover(b.env.Ctx, sides[k:k+1]); err == nil && len(cases) == 0 {
			lack = append(lack, b.row[i].Short())
		}
	}
	if len(lack) == 0 {
		return strings.Join(all, ", ") + " together"
	}
	return strings.Join(lack, " and ")
}

// compare measures two revisions against each other.
func (b *bisection) compare(before, after int) (*measurement, error) {
	c, err := b.cases(before, after)
	if err != nil {
		return nil, err
	}
	m := &measurement{flags: b.flags, sides: []string{"before", "after"}, cases: []*bench.Case{c}}
	m.titles = []string{b.row[before].Short(), b.row[after].Short()}
	if err := m.take(b.env, nil, nil); err != nil {
		return nil, err
	}
	return m, m.failed
}

// choose decides which figure is followed: the one that was asked for, or the first that
// has changed, times before what is allocated.
func (b *bisection) choose(figures []compare.Figure) error {
	units := []string{"cpu-ns/op", "process-cpu-ns/op", "ns/op", "B/op", "allocs/op"}
	if unit := b.flags.unit; unit != "" {
		if !slices.ContainsFunc(figures, func(f compare.Figure) bool { return f.Unit == unit }) {
			return command.Usagef("-unit %s: the benchmark has no such figure; it has %s", unit, strings.Join(unitsOf(figures), ", "))
		}
		units = []string{unit}
	}
	for _, unit := range units {
		i := slices.IndexFunc(figures, func(f compare.Figure) bool { return f.Unit == unit })
		if i >= 0 && changed(figures[i].Verdict) {
			b.unit = unit
			b.grown = figures[i].Verdict == compare.Slower || figures[i].Verdict == compare.More
			b.progress("%s: %s between %s and %s", unit, inWords(&figures[i]), b.row[0].Short(), b.row[len(b.row)-1].Short())
			return nil
		}
	}
	if b.env.Ctx.Err() != nil {
		return b.env.Ctx.Err()
	}
	return command.Nothingf("undecided: none of %s can be shown to have changed from %s to %s (a longer -budget, or -unit, may help)",
		strings.Join(units, ", "), b.row[0].Short(), b.row[len(b.row)-1].Short())
}

// unitsOf are the units that figures have, each once.
func unitsOf(figures []compare.Figure) (units []string) {
	for i := range figures {
		if !slices.Contains(units, figures[i].Unit) {
			units = append(units, figures[i].Unit)
		}
	}
	return units
}

// stand tells which of the ends a revision is like: all three are measured in turn, and the
// figure is held against the middle of both ends in the same round.
func (b *bisection) stand(i int) (standing bench.Standing, rounds int, why error) {
	last := len(b.row) - 1
	c, err := b.cases(0, i, last)
	if err != nil {
		return bench.Skipped, 0, err
	}
	m := &measurement{flags: b.flags, sides: []string{"good", "middle", "bad"}, titles: []string{"", "", ""}, cases: []*bench.Case{c}}
	plan := m.plan(b.env)
	plan.Order = stats.Order{Seed: rand.Uint64()}
	if plan.Look != nil {
		plan.Decided = func(c *bench.Case) bool { return b.nearer(m, c) != bench.Skipped }
	}
	err = bench.Measure(b.env.Ctx, plan, m.cases)
	switch {
	case errors.Is(err, context.Canceled):
		return bench.Unknown, 0, err
	case err != nil:
		return bench.Skipped, c.Rounds(), err
	case c.Failed != nil:
		return bench.Skipped, c.Rounds(), c.Failed
	}
	if standing = b.nearer(m, c); standing == bench.Skipped {
		return standing, c.Rounds(), errLike
	}
	return standing, c.Rounds(), nil
}

// nearer is which end the revision in the middle is nearer to, beyond doubt; Skipped where
// there is some.
func (b *bisection) nearer(m *measurement, c *bench.Case) bench.Standing {
	of := compare.Measured{Package: c.Package, Name: c.Name, Looks: m.looks}
	for i := range c.Rounds() {
		good, ok := c.Sides[0].Results[i].Value(b.unit)
		mid, ok2 := c.Sides[1].Results[i].Value(b.unit)
		bad, ok3 := c.Sides[2].Results[i].Value(b.unit)
		if ok && ok2 && ok3 {
			of.Blocks = append(of.Blocks, compare.Block{
				Before: map[string]float64{b.unit: (good + bad) / 2}, After: map[string]float64{b.unit: mid},
			})
		}
	}
	if len(of.Blocks) == 0 {
		return bench.Skipped
	}
	f := compare.Rounds([]compare.Measured{of})[0]
	more := false
	switch {
	case f.Verdict == compare.NoVerdict:
		return bench.Skipped
	case f.Exact && f.After != f.Before:
		more = f.After > f.Before
	case f.Low.Known() && f.Low > 1:
		more = true
	case f.High.Known() && f.High < 1:
	default:
		return bench.Skipped
	}
	if more == b.grown {
		return bench.Bad
	}
	return bench.Good
}

// conclude measures what is left once more, the last good one against the first bad one, and
// tells what was found.
func (b *bisection) conclude() error {
	good, bad := b.search.Left()
	out := &report.Bisected{Good: b.row[0].Hash, Bad: b.row[len(b.row)-1].Hash, Unit: b.unit, Tried: b.tried}
	for _, r := range b.row[good+1 : bad+1] {
		out.Left = append(out.Left, report.TriedRevision{Hash: r.Hash, Subject: r.Subject})
	}
	if b.env.Ctx.Err() != nil {
		return fmt.Errorf("interrupted: it is among the %d revisions after %s up to %s", bad-good, b.row[good].Short(), b.row[bad].Short())
	}
	m, err := b.compare(good, bad)
	if err != nil {
		return err
	}
	figures := m.figures(1)
	i := slices.IndexFunc(figures, func(f compare.Figure) bool { return f.Unit == b.unit })
	proven := i >= 0 && changed(figures[i].Verdict) && (figures[i].Verdict == compare.Slower || figures[i].Verdict == compare.More) == b.grown
	if proven {
		out.Change = inWords(&figures[i])
	}
	if out.Found = proven && bad-good == 1; !out.Found {
		out.Undecided = "the revisions in between cannot be distinguished"
		if !proven {
			out.Undecided = "measured again, the remaining revisions show no change"
		}
	}
	if err := m.profile(b.env, b.runner, b.temp); err != nil {
		return err
	}
	m.bisected = out
	// What got worse was known before: it is no failure here.
	if err := m.conclude(b.env, report.BisectSheet(out)); err != nil && !errors.Is(err, command.ErrFound) {
		return err
	}
	if !out.Found {
		return command.Nothingf("undecided: %s; it is among the %d revisions after %s up to %s", out.Undecided, bad-good, b.row[good].Short(), b.row[bad].Short())
	}
	return nil
}

// Package gain measures what a profile for the compiler gains: a program or benchmarks, built with
// it and without, in rounds that take turns.
package gain

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/capture/bench"
	"loupe/capture/collect"
	measuring "loupe/internal/cli/bench"
	"loupe/internal/cli/command"
	"loupe/value/secret"
	"loupe/value/stats"
	"loupe/value/unit"
)

// Flags are those of what is measured.
type Flags struct {
	bench, in, budget, length, limit, input string
	count                                   int

	set        *command.FlagSet
	run        bool     // the program
	words      []string // that it is given
	pattern    bench.Pattern
	benchmarks bool
	every      time.Duration // a benchmark's time in a round
	timeout    time.Duration
	times      int64
	allowed    time.Duration
}

// Declare declares them.
func (o *Flags) Declare(fs *command.FlagSet) {
	o.set = fs
	fs.StringVar(&o.bench, "bench", "", "judge: measure the benchmarks that `regexp` matches, with the profile and without")
	fs.StringVar(&o.in, "in", "", "judge: the `packages` of -bench, by commas (default: the package)")
	fs.IntVar(&o.count, "count", 0, "judge: take `number` pairs and then decide (default: as many as needed)")
	fs.StringVar(&o.budget, "budget", "2m", "judge: end the pairs after this `time`")
	fs.StringVar(&o.length, "benchtime", "100ms", "judge: how `long` a benchmark runs in a pair, or 100x operations")
	fs.StringVar(&o.limit, "timeout", "10m", "judge: kill a process that takes `longer`")
	fs.StringVar(&o.input, "input", "", "judge: standard input of the program, a `file`")
}

// Wanted tells whether anything is measured, Runs that it is the program.
func (o *Flags) Wanted() bool { return o.run || o.benchmarks }

// Runs tells whether the program is measured.
func (o *Flags) Runs() bool { return o.run }

// Parse checks the flags. Words are what the program is given, behind --.
func (o *Flags) Parse(words []string) (err error) {
	o.run, o.words, o.benchmarks = o.set.Dashes, words, o.set.Given("bench")
	if o.run && o.benchmarks {
		return command.Usagef("-bench and -- do not go together: measure the benchmarks or the program")
	}
	for _, name := range []string{"in", "benchtime"} {
		if o.set.Given(name) && !o.benchmarks {
			return command.Usagef("-%s has no effect without -bench", name)
		}
	}
	for _, name := range []string{"count", "budget", "timeout"} {
		if o.set.Given(name) && !o.Wanted() {
			return command.Usagef("-%s has no effect without -bench or --", name)
		}
	}
	if o.set.Given("input") && !o.run {
		return command.Usagef("-input is for the program, which follows --")
	}
	if o.set.Given("count") && o.count < 1 {
		return command.Usagef("-count: want at least 1")
	}
	if o.pattern, err = bench.ParsePattern(o.bench); err != nil {
		return command.Usagef("-bench: %w", err)
	}
	if n, ok := strings.CutSuffix(o.length, "x"); ok {
		if o.times, err = strconv.ParseInt(n, 10, 64); err != nil || o.times < 1 {
			return command.Usagef("-benchtime: %q is not a number of operations such as 100x", o.length)
		}
	} else if o.every, err = unit.ParseDuration(o.length); err != nil || o.every <= 0 {
		return command.Usagef("-benchtime: want a time such as 100ms, or a number of operations such as 100x, not %q", o.length)
	}
	if o.timeout, err = unit.ParseDuration(o.limit); err != nil || o.timeout <= 0 {
		return command.Usagef("-timeout: want a time such as 1m, not %q", o.limit)
	}
	if o.allowed, err = unit.ParseDuration(o.budget); err != nil || o.allowed <= 0 {
		return command.Usagef("-budget: want a time such as 2m, not %q", o.budget)
	}
	return nil
}

// Subject is what is measured: a package, built by a profile and without one.
type Subject struct {
	Main  collect.Main
	Build collect.BuildOptions
	// Profile is the file of the profile, With the program that was built by it, Without the one
	// that was not; both are "" where the package is none.
	Profile, With, Without string
	Quiet                  bool
}

// Measured is what came of it.
type Measured struct {
	Of      string // what was measured
	Figures []compare.Figure
	Notes   []string
}

// Measure lets the builds with the profile and without take turns. What was measured before an
// error is returned with it.
func (o *Flags) Measure(e *command.Env, s Subject) (*Measured, error) {
	if o.run {
		return o.program(e, s)
	}
	progress := e.Progress(s.Quiet)
	runner := &bench.Runner{Bench: o.pattern, For: o.every, Times: o.times, Timeout: o.timeout, Progress: progress}
	defer runner.Close()
	sides, err := o.testBinaries(e, s)
	if err != nil {
		return nil, err
	}
	packages := strings.Join(o.packages(s.Main), " ")
	cases, lost, failed := runner.Discover(e.Ctx, sides)
	if e.Ctx.Err() != nil {
		return nil, e.Ctx.Err()
	}
	if len(cases) == 0 && failed == nil {
		return nil, command.Nothingf("no benchmark of %s matches -bench %s", packages, command.ShellWord(o.bench))
	}
	m, err := o.pairs(e, s, cases, lost)
	m.Of = "benchmarks of " + packages
	return m, errors.Join(failed, err)
}

// program measures the program itself.
func (o *Flags) program(e *command.Env, s Subject) (*Measured, error) {
	herd := &collect.Herd{}
	defer herd.Close()
	both := [][]string{append([]string{s.Without}, o.words...), append([]string{s.With}, o.words...)}
	cases, err := bench.Commands(herd, both, bench.CommandOptions{Input: o.input, Timeout: o.timeout, Temp: s.Build.Temp, Warmup: 1})
	if err != nil {
		return nil, err
	}
	m, err := o.pairs(e, s, cases, nil)
	m.Of = strings.TrimSpace(s.Main.Short(s.Build.Dir) + " " + secret.Text(strings.Join(o.words, " ")))
	return m, err
}

// packages are those of -in, or the one that is judged.
func (o *Flags) packages(m collect.Main) []string {
	if o.in == "" {
		return []string{m.ImportPath}
	}
	return strings.Split(o.in, ",")
}

// testBinaries builds the benchmarks of the packages without the profile and with it.
func (o *Flags) testBinaries(e *command.Env, s Subject) (sides [][]*bench.Package, err error) {
	progress := e.Progress(s.Quiet)
	for _, side := range []struct{ name, value, words string }{{"off", "off", "without a profile"}, {"on", s.Profile, "by the profile"}} {
		progress("building the benchmarks %s", side.words)
		packages, err := bench.Build(e.Ctx, bench.Tree{Dir: s.Build.Dir}, bench.BuildOptions{
			Patterns: slices.Clone(o.packages(s.Main)), Flags: append(slices.Clone(s.Build.Flags), "-pgo="+side.value),
			Temp: filepath.Join(s.Build.Temp, side.name), Progress: progress,
		})
		if e.Ctx.Err() != nil {
			return nil, e.Ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		sides = append(sides, packages)
	}
	return sides, nil
}

// pairs measures the cases until they are decided, and judges them.
func (o *Flags) pairs(e *command.Env, s Subject, cases []*bench.Case, lost []bench.Lost) (*Measured, error) {
	m := &Measured{}
	looks := stats.UsualLooks()
	if o.count > 0 {
		looks = stats.Looks{At: []int{o.count}, Error: 1 - compare.Confidence}
	}
	plan := bench.Plan{
		Rounds: looks.At[len(looks.At)-1], Progress: e.Progress(s.Quiet), Order: stats.Order{Seed: rand.Uint64()},
		Look: func(round int) bool { due, _ := looks.Due(round); return due },
		Decided: func(c *bench.Case) bool {
			return o.count == 0 && measuring.Measured(c, looks).Decided(len(cases))
		},
	}
	if o.count == 0 || o.set.Given("budget") {
		plan.Budget = o.allowed
	}
	err := bench.Measure(e.Ctx, plan, cases)
	if errors.Is(err, context.Canceled) {
		err = nil
		m.Notes = append(m.Notes, "The measurement was interrupted: these are the results up to then.")
	}
	var all []compare.Measured
	for _, c := range cases {
		if c.Failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", strings.TrimPrefix(c.Name, "Benchmark"), c.Failed))
		}
		if c.Rounds() > 0 {
			all = append(all, measuring.Measured(c, looks))
		}
	}
	if len(all) > 0 {
		m.Figures = compare.Rounds(all)
		m.Notes = append(m.Notes, measuring.Notes(cases, lost, [2]string{"the build without the profile", "the build with it"})...)
	}
	return m, err
}

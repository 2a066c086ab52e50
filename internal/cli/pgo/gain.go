package pgo

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
	"loupe/report"
	"loupe/value/stats"
	"loupe/value/unit"
)

// gainOptions say what is measured.
type gainOptions struct {
	run           bool     // the program
	words         []string // that it is given
	pattern       bench.Pattern
	benchmarks    bool
	length, limit time.Duration
	times         int64
	budget        time.Duration
}

// wanted tells whether anything is measured.
func (o *gainOptions) wanted() bool { return o.run || o.benchmarks }

// parse checks the flags of what is measured.
func (o *gainOptions) parse(f *flags, words []string) (err error) {
	o.run, o.words, o.benchmarks = f.set.Dashes, words, f.set.Given("bench")
	if o.run && o.benchmarks {
		return command.Usagef("-bench and -- do not go together: measure the benchmarks or the program")
	}
	for _, name := range []string{"in", "benchtime"} {
		if f.set.Given(name) && !o.benchmarks {
			return command.Usagef("-%s does nothing without -bench", name)
		}
	}
	for _, name := range []string{"count", "budget", "timeout"} {
		if f.set.Given(name) && !o.wanted() {
			return command.Usagef("-%s does nothing without -bench or --", name)
		}
	}
	if f.set.Given("input") && !o.run {
		return command.Usagef("-input is for the program, which stands behind --")
	}
	if f.set.Given("count") && f.count < 1 {
		return command.Usagef("-count: want at least 1")
	}
	if o.pattern, err = bench.ParsePattern(f.bench); err != nil {
		return command.Usagef("-bench: %w", err)
	}
	if n, ok := strings.CutSuffix(f.length, "x"); ok {
		if o.times, err = strconv.ParseInt(n, 10, 64); err != nil || o.times < 1 {
			return command.Usagef("-benchtime: %q is no number of operations, such as 100x", f.length)
		}
	} else if o.length, err = unit.ParseDuration(f.length); err != nil || o.length <= 0 {
		return command.Usagef("-benchtime: want a time such as 100ms, or a number of operations such as 100x, not %q", f.length)
	}
	if o.limit, err = unit.ParseDuration(f.limit); err != nil || o.limit <= 0 {
		return command.Usagef("-timeout: want a time such as 1m, not %q", f.limit)
	}
	if o.budget, err = unit.ParseDuration(f.budget); err != nil || o.budget <= 0 {
		return command.Usagef("-budget: want a time such as 2m, not %q", f.budget)
	}
	return nil
}

// measure lets the builds with the profile and without take turns.
func (f *flags) measure(e *command.Env, j *report.PGOJudged, m collect.Main, opt collect.BuildOptions, profile, with, temp string) error {
	progress := e.Progress(f.quiet)
	without := filepath.Join(temp, "without")
	if m.Name == "main" {
		progress("building %s without a profile", m.Short(opt.Dir))
		begin := time.Now()
		if err := collect.BuildGuided(e.Ctx, opt, m, "off", without); err != nil {
			return err
		}
		j.BuildTimes[0] = time.Since(begin)
		j.Sizes = [2]int64{sizeOf(without), sizeOf(with)}
	}
	var cases []*bench.Case
	var lost []bench.Lost
	var failed error
	if f.gain.run {
		j.GainOf = strings.TrimSpace(m.Short(opt.Dir) + " " + strings.Join(f.gain.words, " "))
		herd := &collect.Herd{}
		defer herd.Close()
		both := [][]string{append([]string{without}, f.gain.words...), append([]string{with}, f.gain.words...)}
		var err error
		if cases, err = bench.Commands(herd, both, bench.CommandOptions{Input: f.input, Timeout: f.gain.limit, Temp: temp, Warmup: 1}); err != nil {
			return err
		}
	} else {
		runner := &bench.Runner{Bench: f.gain.pattern, For: f.gain.length, Times: f.gain.times, Timeout: f.gain.limit, Progress: progress}
		defer runner.Close()
		sides, err := f.testBinaries(e, m, opt, profile, temp)
		if err != nil {
			return err
		}
		j.GainOf = "benchmarks of " + strings.Join(f.packages(m), " ")
		cases, lost, failed = runner.Discover(e.Ctx, sides)
		if e.Ctx.Err() != nil {
			return e.Ctx.Err()
		}
		if len(cases) == 0 && failed == nil {
			return command.Nothingf("no benchmark of %s matches -bench %s", strings.Join(f.packages(m), " "), command.ShellWord(f.bench))
		}
	}
	return errors.Join(failed, f.pairs(e, j, cases, lost))
}

// packages are those of -in, or the one that is judged.
func (f *flags) packages(m collect.Main) []string {
	if f.in == "" {
		return []string{m.ImportPath}
	}
	return strings.Split(f.in, ",")
}

// testBinaries builds the benchmarks of the packages without the profile and with it.
func (f *flags) testBinaries(e *command.Env, m collect.Main, opt collect.BuildOptions, profile, temp string) (sides [][]*bench.Package, err error) {
	progress := e.Progress(f.quiet)
	for _, side := range []struct{ name, value, words string }{{"off", "off", "without a profile"}, {"on", profile, "by the profile"}} {
		progress("building the benchmarks %s", side.words)
		packages, err := bench.Build(e.Ctx, bench.Tree{Dir: opt.Dir}, bench.BuildOptions{
			Patterns: slices.Clone(f.packages(m)), Flags: append(slices.Clone(opt.Flags), "-pgo="+side.value),
			Temp: filepath.Join(temp, side.name), Progress: progress,
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
func (f *flags) pairs(e *command.Env, j *report.PGOJudged, cases []*bench.Case, lost []bench.Lost) error {
	looks := stats.UsualLooks()
	if f.count > 0 {
		looks = stats.Looks{At: []int{f.count}, Error: 1 - compare.Confidence}
	}
	plan := bench.Plan{
		Rounds: looks.At[len(looks.At)-1], Progress: e.Progress(f.quiet), Order: stats.Order{Seed: rand.Uint64()},
		Look: func(round int) bool { due, _ := looks.Due(round); return due },
		Decided: func(c *bench.Case) bool {
			return f.count == 0 && measuring.Measured(c, looks).Decided(len(cases))
		},
	}
	if f.count == 0 || f.set.Given("budget") {
		plan.Budget = f.gain.budget
	}
	err := bench.Measure(e.Ctx, plan, cases)
	if errors.Is(err, context.Canceled) {
		err = nil
		j.Notes = append(j.Notes, "The measurement was interrupted: this is what there was by then.")
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
		j.Gain = compare.Rounds(all)
		j.Notes = append(j.Notes, measuring.Notes(cases, lost, [2]string{"the build without the profile", "the build with it"})...)
	}
	return err
}

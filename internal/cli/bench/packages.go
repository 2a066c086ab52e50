package bench

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loupe/capture/bench"
	"loupe/capture/collect"
	"loupe/internal/cli/command"
	"loupe/internal/cli/record"
)

// runPackages measures the benchmarks of packages.
func (f *flags) runPackages(e *command.Env, patterns []string) error {
	if f.vs == "" && f.format != "text" && f.format != "json" {
		return command.Usagef("-format %s is for comparisons (-vs): the text is Go's benchmark format, which loupe compare -format %s reads", f.format, f.format)
	}
	if f.vs == "" && f.set.Given("vs") {
		return command.Usagef("-vs: a version is missing (is a variable empty?)")
	}
	if f.vs == "" && f.set.Given("fail") {
		return command.Usagef("-fail has no effect without -vs")
	}
	if f.recording != "" {
		if err := record.CheckPlace(f.recording); err != nil {
			return err
		}
	}
	file, err := f.createOutput()
	if err != nil {
		return err
	}
	return e.WithTemp(func(temp string) error {
		m := &measurement{flags: f, titles: []string{""}, sides: []string{"before", "after"}}
		r := &bench.Runner{
			Bench: f.pattern, For: f.length, Times: f.times, Timeout: f.limit, Progress: e.Progress(f.quiet),
		}
		defer r.Close()
		if f.instructions {
			if err := r.CountInstructions(); err != nil {
				return err
			}
		}
		keeper, err := f.keeper(e, temp, true)
		if err != nil {
			return err
		}
		sides, err := f.trees(e, m, patterns, temp)
		if err != nil {
			return err
		}
		var lost []bench.Lost
		m.cases, lost, err = r.Discover(e.Ctx, sides)
		if e.Ctx.Err() != nil {
			return e.Ctx.Err()
		}
		m.failed = errors.Join(m.failed, err)
		if len(m.cases) == 0 && m.failed == nil {
			return command.Nothingf("%s", f.noneFound(patterns, lost))
		}
		m.lost(lost)
		if f.floor {
			if err := m.buildAgain(e, r, patterns, temp); err != nil {
				return err
			}
		}
		if silent := silentOf(lost); silent != "" {
			r.Progress("%s", silent)
		}
		var live io.Writer
		if f.out == "" && f.vs == "" && f.format == "text" {
			live = e.Stdout
		}
		if err := m.take(e, file, live); err != nil {
			return err
		}
		m.keep(e, keeper)
		if err := m.profile(e, r, temp); err != nil {
			return err
		}
		return m.conclude(e)
	})
}

// noneFound says why there is nothing to measure.
func (f *flags) noneFound(patterns []string, lost []bench.Lost) string {
	text := fmt.Sprintf("no benchmark of %s matches -bench %s", strings.Join(patterns, " "), command.ShellWord(f.bench))
	if silent := silentOf(lost); silent != "" {
		return silent
	}
	if len(lost) > 0 {
		text = fmt.Sprintf("no benchmark that matches -bench %s is on both sides: %d are on one side only", command.ShellWord(f.bench), len(lost))
	}
	return text
}

// silentOf says which benchmarks ran and gave no result; empty where all did.
func silentOf(lost []bench.Lost) string {
	var names []string
	for _, l := range lost {
		if l.Silent && !slices.Contains(names, l.Name) {
			names = append(names, l.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("no result from %s: it was skipped, or its output hides it", strings.Join(names, ", "))
}

// lost notes which benchmarks one side alone has.
func (m *measurement) lost(lost []bench.Lost) {
	names := make([][]string, 2)
	if silent := silentOf(lost); silent != "" {
		m.notes = append(m.notes, strings.ToUpper(silent[:1])+silent[1:]+".")
	}
	for _, l := range lost {
		name := l.Name
		if l.Silent {
			continue
		}
		if name == "" {
			name = "package " + l.Package
		}
		names[l.Side] = append(names[l.Side], name)
	}
	const most = 5
	for side, all := range names {
		if more := len(all) - most; more > 0 {
			all = append(slices.Clip(all[:most]), fmt.Sprintf("%d more", more))
		}
		if len(all) > 0 {
			m.notes = append(m.notes, fmt.Sprintf("Not compared, because only %s has it: %s.", m.titles[side], strings.Join(all, ", ")))
		}
	}
}

// trees builds the packages of all sides, the other version first.
func (f *flags) trees(e *command.Env, m *measurement, patterns []string, temp string) ([][]*bench.Package, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for i, p := range patterns {
		if rel, err := filepath.Rel(dir, p); err == nil && filepath.IsAbs(p) {
			patterns[i] = "./" + rel
		}
	}
	var other bench.Tree
	if f.vs != "" { // before anything is built
		if other, err = f.other(e, dir, temp); err != nil {
			return nil, err
		}
	}
	progress := e.Progress(f.quiet)
	buildIn := func(t bench.Tree, name string) ([]*bench.Package, error) {
		progress("building %s%s", strings.Join(patterns, " "), of(t.Name))
		packages, err := bench.Build(e.Ctx, t, bench.BuildOptions{
			Patterns: patterns, Flags: record.SplitFlags(f.build), Temp: filepath.Join(temp, name), Progress: progress,
		})
		if err != nil && len(packages) == 0 {
			return nil, err
		}
		m.failed = errors.Join(m.failed, err)
		return packages, e.Ctx.Err()
	}
	mine, err := buildIn(bench.Tree{Dir: dir}, "after")
	if err != nil {
		return nil, hint(patterns, err)
	}
	if f.vs == "" {
		return [][]*bench.Package{mine}, nil
	}
	m.titles, m.base = []string{other.Name, "this tree"}, other
	if other.Binary != "" {
		if len(mine) != 1 {
			return nil, command.Usagef("-vs %s is one test binary, and there are %d packages with benchmarks: name its package", f.vs, len(mine))
		}
		m.mine = mine[0]
		ready, err := bench.Ready(other.Binary, m.mine)
		if err != nil {
			return nil, err
		}
		return [][]*bench.Package{{ready}, mine}, nil
	}
	theirs, err := buildIn(other, "before")
	if err != nil {
		return nil, err
	}
	if rev, ok := record.Revision(f.vs); ok && collect.Unchanged(e.Ctx, dir, rev) || sameBuilds(theirs, mine) {
		m.same = true
		m.notes = append(m.notes, "Both sides are the same build: only chance differs, and there is no verdict.")
	}
	return [][]*bench.Package{theirs, mine}, nil
}

// buildAgain gives each case a second build of the base, at another path and with its functions in
// another order. A binary that somebody else has built is copied.
func (m *measurement) buildAgain(e *command.Env, r *bench.Runner, patterns []string, temp string) error {
	f, base := m.flags, m.base
	packages, err := m.copied(temp)
	if err == nil && base.Binary == "" {
		r.Progress("building %s%s again", strings.Join(patterns, " "), of(base.Name))
		packages, err = bench.Build(e.Ctx, base, bench.BuildOptions{
			Patterns: patterns, Flags: record.SplitFlags(f.build), Temp: filepath.Join(temp, againSide), Layout: rand.Uint32() | 1, Progress: r.Progress,
		})
		if len(packages) > 0 && e.Ctx.Err() == nil {
			err = nil // what cannot be built was told when it was built first
		}
	}
	if err != nil {
		return err
	}
	m.again, m.sides = len(m.titles), append(m.sides, againSide)
	return r.Again(m.cases, packages)
}

// copied is a copy of the binary that is the base, if one is.
func (m *measurement) copied(temp string) ([]*bench.Package, error) {
	if m.base.Binary == "" {
		return nil, nil
	}
	text, err := os.ReadFile(m.base.Binary)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(temp, againSide+".test")
	if err := os.WriteFile(path, text, 0o700); err != nil {
		return nil, err
	}
	again, err := bench.Ready(path, m.mine)
	return []*bench.Package{again}, err
}

func of(name string) string {
	if name == "" {
		return ""
	}
	return " of " + name
}

// hint adds what may have been meant when an argument is a file.
func hint(patterns []string, err error) error {
	for _, p := range patterns {
		if info, serr := os.Stat(p); serr == nil && info.Mode().IsRegular() {
			return fmt.Errorf("%w\n%s is a file, not a package: a command to measure follows --", err, p)
		}
	}
	return err
}

// sameBuilds tells whether all binaries of both sides are equal.
func sameBuilds(a, b []*bench.Package) bool {
	return slices.EqualFunc(a, b, func(p, q *bench.Package) bool { return p.Key == q.Key && p.Build != "" && p.Build == q.Build })
}

// other finds the version to compare with.
func (f *flags) other(e *command.Env, dir, temp string) (bench.Tree, error) {
	if rev, ok := record.Revision(f.vs); ok {
		there, _, err := collect.Checkout(e.Ctx, dir, ".", rev, filepath.Join(temp, "tree"))
		if err != nil {
			return bench.Tree{}, fmt.Errorf("-vs %s is neither a file nor a folder, and as a revision: %w", f.vs, err)
		}
		return bench.Tree{Name: rev, Dir: there}, nil
	}
	info, err := os.Stat(f.vs)
	if err != nil {
		return bench.Tree{}, err
	}
	if !info.IsDir() {
		if info.Mode()&0o111 == 0 {
			return bench.Tree{}, fmt.Errorf("-vs %s is a file that is not executable: want a revision, a folder or a test binary", f.vs)
		}
		return bench.Tree{Name: f.vs, Dir: dir, Binary: f.vs}, nil
	}
	there, err := filepath.Abs(f.vs)
	if err != nil {
		return bench.Tree{}, err
	}
	return bench.Tree{Name: f.vs, Dir: record.Counterpart(dir, there)}, nil
}

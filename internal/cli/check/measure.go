package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/capture/bench"
	"loupe/capture/collect"
	measuring "loupe/internal/cli/bench"
	"loupe/internal/cli/command"
	"loupe/report"
	"loupe/value/stats"
)

// checker measures what a file names and holds it to its limits.
type checker struct {
	e        *command.Env
	flags    *flags
	cfg      *config
	temp     string
	began    time.Time
	progress func(format string, args ...any)
	// root is the top of the repository, which files are named from.
	root    string
	base    *base
	machine machine
	// trees are the folder of the base, "" where it has none.
	tree string

	groups []*group
	looks  stats.Looks
	out    *report.Check
	lost   []bench.Lost
}

// group is a group of benchmarks that is measured.
type group struct {
	of     *benchmarks
	runner *bench.Runner
	cases  []*bench.Case
	dirs   map[string]string // of the packages, by their import paths
}

// where names the packages as the file does.
func (g *group) where() string { return strings.Join(g.of.packages, " ") }

func (k *checker) run() (err error) {
	k.out = &report.Check{Schema: report.CheckSchema, Rows: []report.CheckRow{}, Findings: []report.CheckFinding{}, UndecidedFails: k.cfg.undecided}
	k.root = repositoryRoot(k.e.Ctx, k.cfg.dir)
	if err := forget(k.flags.junit, k.flags.sarif); err != nil {
		return err
	}
	if err := k.find(); err != nil {
		return err
	}
	k.out.Machine = k.machine.String()
	if k.flags.keep {
		return k.keep()
	}
	k.out.Base, k.out.Revision = k.base.title, k.base.commit
	defer k.e.Keeps()()
	if k.base.same {
		k.out.Notes = append(k.out.Notes, "The working tree equals the base: there is nothing to measure.")
		return k.write()
	}
	if err := k.outputs(); err != nil {
		return err
	}
	if err := k.measure(); err != nil {
		return err
	}
	k.judge()
	k.runLoads()
	if k.e.Ctx.Err() != nil {
		k.out.Interrupted = true
		k.out.Notes = append(k.out.Notes, report.InterruptedNote)
	}
	k.out.Seconds = time.Since(k.began).Seconds()
	if err := k.e.Ctx.Err(); err != nil && len(k.out.Rows)+len(k.out.Broken) == 0 {
		return err
	}
	return k.write()
}

// find finds the base and the kind of the machine.
func (k *checker) find() (err error) {
	f, ctx := k.flags, k.e.Ctx
	if k.machine, err = thisMachine(ctx, k.temp, k.cfg.dir); err != nil || f.keep {
		return err
	}
	dir, shown := k.cfg.baselineDir()
	if !f.baseline {
		rev := f.vs
		if rev == "" {
			rev = k.cfg.base
		}
		k.base, err = revision(ctx, k.cfg.dir, rev)
		if err == nil || rev != "" || ctx.Err() != nil {
			return err
		}
		kept, berr := keptOn(dir, shown, k.machine)
		if errors.Is(berr, os.ErrNotExist) {
			return err // nothing is kept: the repository is what is wrong
		}
		if errors.Is(err, errNoRepository) {
			k.progress("there is no repository: using the baseline")
		} else {
			k.progress("%v: using the baseline", err)
		}
		if berr != nil {
			return errors.Join(err, berr)
		}
		k.base = &base{kept: kept, title: kept.title(), commit: kept.commit}
		return nil
	}
	kept, err := keptOn(dir, shown, k.machine)
	if err != nil {
		return err
	}
	k.base = &base{kept: kept, title: kept.title(), commit: kept.commit}
	return nil
}

// forget removes the results of a check before, which must not be taken for those of this one
// if it ends without any.
func forget(names ...string) error {
	for _, name := range names {
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// outputs finds out before anything is measured whether what is asked for can be written.
func (k *checker) outputs() error {
	if out := k.flags.out; out != "" {
		if names, err := os.ReadDir(out); err == nil && len(names) > 0 {
			return fmt.Errorf("-o %s exists and is not empty", out)
		}
		if err := os.MkdirAll(out, 0o755); err != nil {
			return err
		}
	}
	for _, name := range []string{k.flags.junit, k.flags.sarif} {
		if name == "" {
			continue
		}
		if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
			return fmt.Errorf("cannot write %s: there is no folder %s", name, filepath.Dir(name))
		}
	}
	return nil
}

// repositoryRoot is the folder that GitHub, or else git, takes for the top; without both that
// of the file.
func repositoryRoot(ctx context.Context, dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if space, err := filepath.EvalSymlinks(os.Getenv("GITHUB_WORKSPACE")); err == nil && filepath.IsAbs(space) {
		if rel, err := filepath.Rel(space, dir); err == nil && filepath.IsLocal(rel) {
			return space
		}
	}
	if repo, err := collect.RepositoryOf(ctx, dir); err == nil {
		return filepath.FromSlash(repo.Root)
	}
	return dir
}

// left is the time that is left of the budget, at least a moment: a first round is always
// measured.
func (k *checker) left() time.Duration {
	return max(time.Millisecond, k.cfg.budget-time.Since(k.began))
}

// measure builds and measures the benchmarks.
func (k *checker) measure() error {
	if len(k.cfg.benchmarks) == 0 && k.base.kept == nil {
		return nil
	}
	if k.base.kept == nil {
		there, _, err := collect.Checkout(k.e.Ctx, k.cfg.dir, ".", k.base.commit, filepath.Join(k.temp, "tree"))
		if err != nil {
			return err
		}
		k.tree = there
	}
	defer k.close()
	if err := k.prepare(); err != nil {
		return err
	}
	return k.rounds(k.plan())
}

// close ends what benchmarks have left running.
func (k *checker) close() {
	for _, g := range k.groups {
		g.runner.Close()
	}
}

// prepare builds all groups and finds their benchmarks. What cannot be built is noted, and the
// others are measured.
func (k *checker) prepare() error {
	seen := map[string]bool{}
	for i := range k.cfg.benchmarks {
		g := &group{of: &k.cfg.benchmarks[i], dirs: map[string]string{}}
		k.groups = append(k.groups, g)
		if err := k.prepareGroup(g, filepath.Join(k.temp, fmt.Sprint("group", i))); err != nil {
			return err
		}
		g.cases = slices.DeleteFunc(g.cases, func(c *bench.Case) bool { // the first group that names one has it
			key := keyOf(c.Package, c.Name)
			was := seen[key]
			seen[key] = true
			return was
		})
	}
	return nil
}

// broken notes what could not be measured.
func (k *checker) broken(group, name string, err error) {
	if err != nil {
		k.out.Broken = append(k.out.Broken, report.CheckBroken{Group: group, Name: name, Text: strings.TrimSpace(err.Error())})
	}
}

func (k *checker) prepareGroup(g *group, temp string) error {
	of := g.of
	g.runner = &bench.Runner{Bench: of.pattern, For: of.length, Times: of.times, Timeout: of.timeout, Progress: k.progress}
	where := g.where()
	k.progress("building %s", where)
	mine, err := bench.Build(k.e.Ctx, bench.Tree{Dir: k.cfg.dir}, bench.BuildOptions{
		Patterns: slices.Clone(of.packages), Flags: of.build, Temp: filepath.Join(temp, "after"), Progress: k.progress,
	})
	if k.e.Ctx.Err() != nil {
		return k.e.Ctx.Err()
	}
	if err != nil {
		err = fmt.Errorf("%s:%d: %w", k.cfg.path, of.line, err)
	}
	if k.broken(where, "", err); len(mine) == 0 {
		return nil
	}
	for _, p := range mine {
		g.dirs[p.ImportPath] = p.Dir
	}
	sides := [][]*bench.Package{mine}
	if k.tree != "" {
		theirs, rest, err := k.buildBase(g, mine, filepath.Join(temp, "before"))
		if k.e.Ctx.Err() != nil {
			return k.e.Ctx.Err()
		}
		k.broken(where, "", err)
		if len(rest) == 0 {
			return nil
		}
		sides = [][]*bench.Package{theirs, rest}
	}
	cases, lost, err := g.runner.Discover(k.e.Ctx, sides)
	if k.e.Ctx.Err() != nil {
		return k.e.Ctx.Err()
	}
	k.broken(where, "", err)
	g.cases, k.lost = cases, append(k.lost, lost...)
	if k.tree != "" {
		k.lost = append(k.lost, k.gone(g, temp)...)
	}
	if err == nil && len(cases) == 0 && !k.fresh(lost) {
		return command.Nothingf("%s:%d: no benchmark of %s matches %s", k.cfg.path, of.line, where, command.ShellWord(of.bench))
	}
	return nil
}

// fresh tells whether the working tree has benchmarks that the base has not, or some that ran
// and gave no result, of which a note tells.
func (k *checker) fresh(lost []bench.Lost) bool {
	return slices.ContainsFunc(lost, func(l bench.Lost) bool { return l.Silent || k.tree != "" && l.Side == 1 })
}

// buildBase builds the packages of a group as the base has them. Rest are those of the working tree
// that they are held against: packages that the base has not are among them, those that it
// cannot build are not.
//
// Note: equal builds are measured, too. What a benchmark reads, such as testdata, may differ.
func (k *checker) buildBase(g *group, mine []*bench.Package, temp string) (theirs, rest []*bench.Package, err error) {
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return nil, nil, err
	}
	k.progress("building %s of %s", g.where(), k.base.name())
	listed, err := collect.TestPackages(k.e.Ctx, collect.BuildOptions{Test: true, Flags: g.of.build, Dir: k.tree, Temp: temp}, pathsOf(mine))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", k.base.name(), err)
	}
	var there []string
	for _, p := range listed {
		if p.Benchmarks && p.Dir != "" {
			there = append(there, p.ImportPath)
		}
	}
	if len(there) > 0 {
		theirs, err = bench.Build(k.e.Ctx, bench.Tree{Name: k.base.name(), Dir: k.tree}, bench.BuildOptions{
			Patterns: slices.Clone(there), Flags: g.of.build, Temp: temp, Progress: k.progress,
		})
	}
	for _, p := range mine {
		built := slices.ContainsFunc(theirs, func(q *bench.Package) bool { return q.Key == p.Key })
		if built || !slices.Contains(there, p.ImportPath) {
			rest = append(rest, p)
		}
	}
	return theirs, rest, err
}

// gone are the packages with benchmarks that the base has and the working tree has not: what is
// removed or moved is no longer held to anything.
func (k *checker) gone(g *group, temp string) (lost []bench.Lost) {
	var sides [2]map[string]bool
	for i, dir := range []string{k.tree, k.cfg.dir} {
		listed, err := collect.TestPackages(k.e.Ctx, collect.BuildOptions{Test: true, Flags: g.of.build, Dir: dir, Temp: temp}, g.of.packages)
		if err != nil {
			return nil // a pattern that matches nothing there is told by the build
		}
		sides[i] = map[string]bool{}
		for _, p := range listed {
			if p.Benchmarks {
				sides[i][p.ImportPath] = true
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(sides[0])) {
		if !sides[1][path] {
			lost = append(lost, bench.Lost{Package: path, Side: 0})
		}
	}
	return lost
}

func pathsOf(packages []*bench.Package) (paths []string) {
	for _, p := range packages {
		paths = append(paths, p.ImportPath)
	}
	return paths
}

// cases are those of all groups.
func (k *checker) cases() (all []*bench.Case) {
	for _, g := range k.groups {
		all = append(all, g.cases...)
	}
	return all
}

// plan says how many rounds there are.
func (k *checker) plan() bench.Plan {
	f, cases := k.flags, k.cases()
	p := bench.Plan{Rounds: f.count, Budget: k.left() / time.Duration(1+len(k.cfg.loads)), Progress: k.progress, Order: stats.Order{Seed: f.seed}}
	if k.base == nil || k.base.kept != nil {
		if p.Rounds == 0 {
			p.Rounds = keptRounds
		}
		k.looks = stats.Looks{At: []int{p.Rounds}, Error: 1 - compare.Confidence}
		return p
	}
	if f.count > 0 {
		k.looks = stats.Looks{At: []int{f.count}, Error: 1 - compare.Confidence}
		return p
	}
	k.looks = stats.UsualLooks()
	p.Rounds = k.looks.At[len(k.looks.At)-1]
	p.Look = func(round int) bool { due, _ := k.looks.Due(round); return due }
	p.Decided = func(c *bench.Case) bool {
		held := compare.Held{Measured: measuring.Measured(c, k.looks), Allowed: k.groupOf(c).of.allow.forBenchmarks()}
		return held.Settled(len(cases))
	}
	return p
}

// groupOf is the group of a case.
func (k *checker) groupOf(c *bench.Case) *group {
	i := slices.IndexFunc(k.groups, func(g *group) bool { return slices.Contains(g.cases, c) })
	return k.groups[i]
}

// rounds measures all cases by a plan. An interrupt ends them, and what there is stays.
func (k *checker) rounds(p bench.Plan) error {
	cases := k.cases()
	if len(cases) == 0 {
		return nil
	}
	if k.flags.out != "" {
		file, err := os.Create(filepath.Join(k.flags.out, "benchmarks.txt"))
		if err != nil {
			return err
		}
		defer file.Close()
		p.Done = k.writer(file).Round
	}
	err := bench.Measure(k.e.Ctx, p, cases)
	for _, c := range cases {
		if c.Failed != nil {
			k.broken(c.Package, c.Name, fmt.Errorf("%s: %s: %w", c.Package, c.Name, c.Failed))
		}
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// writer writes the rounds in Go's benchmark format.
func (k *checker) writer(to io.Writer) *bench.Writer {
	if k.tree == "" {
		return bench.NewWriter(to, nil)
	}
	return bench.NewWriter(to, []string{"before", "after"})
}

// judge holds the rounds of all benchmarks to their limits.
func (k *checker) judge() {
	var all []compare.Held
	dirs := map[string]string{}
	for _, g := range k.groups {
		for _, c := range g.cases {
			dirs[c.Package] = g.dirs[c.Package]
			if c.Rounds() == 0 {
				continue
			}
			held := compare.Held{Measured: measuring.Measured(c, k.looks), Allowed: g.of.allow.forBenchmarks()}
			if kept := k.base.kept; kept != nil {
				ok := false
				if held.Measured, ok = kept.against(held.Measured, c); !ok {
					k.lost = append(k.lost, bench.Lost{Package: c.Package, Name: c.Name, Side: 1})
					continue
				}
				held.Allowed = apartAllowance(held.Allowed)
			}
			all = append(all, held)
		}
	}
	at := placesOf(k.root, dirs)
	if len(all) > 0 {
		for _, l := range compare.Limits(all) {
			k.out.Rows = append(k.out.Rows, rowOf(&l, at))
		}
	}
	missing, notes := metrics(k.groups)
	for _, unit := range slices.Sorted(maps.Keys(missing)) {
		k.broken(missing[unit].where(), "", fmt.Errorf("metrics: no benchmark reports %s, which has a limit", unit))
	}
	k.out.Notes = append(k.out.Notes, notes...)
	k.out.Notes = append(k.out.Notes, measuring.Notes(k.cases(), k.lost, [2]string{"the base", "the working tree"})...)
	if k.base.kept != nil && len(all) > 0 {
		k.out.Notes = append(k.out.Notes, "The baseline was measured at another time: wall times are reported but cannot fail the check, and the limit for CPU time is raised by 20 points.")
	}
}

// rowOf is a figure for the report.
func rowOf(l *compare.Limited, at places) report.CheckRow {
	r := report.CheckRow{
		Group: l.Package, Name: l.Name, Unit: l.Unit, Before: report.FigureOf(l.Before), After: report.FigureOf(l.After), Ratio: l.Ratio, Low: l.Low, High: l.High,
		P: l.P, Rounds: l.N, Exact: l.Exact, Verdict: string(l.Verdict), Standing: l.Standing, Allowed: report.FigureOf(l.Allowed), More: l.More,
	}
	r.File, r.Line = at.of(l.Package, l.Name)
	return r
}

// keep measures the working tree alone, and keeps the rounds.
func (k *checker) keep() error {
	defer k.e.Keeps()()
	if err := k.outputs(); err != nil {
		return err
	}
	defer k.close()
	if err := k.prepare(); err != nil {
		return err
	}
	if err := k.rounds(k.plan()); err != nil {
		return err
	}
	var failed error
	for _, b := range k.out.Broken {
		failed = errors.Join(failed, errors.New(b.Text))
	}
	cases := slices.DeleteFunc(k.cases(), func(c *bench.Case) bool { return c.Rounds() < compare.EnoughRounds })
	switch {
	case failed != nil:
		return errors.Join(failed, errors.New("no baseline is kept"))
	case k.e.Ctx.Err() != nil:
		return k.e.Ctx.Err()
	case len(cases) < len(k.cases()) || len(cases) == 0:
		return fmt.Errorf("no baseline is kept: it needs at least %d rounds of each benchmark (give it more time with -budget)", compare.EnoughRounds)
	}
	commit := ""
	if repo, err := collect.RepositoryOf(k.e.Ctx, k.cfg.dir); err == nil {
		if head := repo.Commit(k.e.Ctx, "HEAD"); collect.Unchanged(k.e.Ctx, k.cfg.dir, "HEAD") {
			commit = head
		}
	}
	dir, shown := k.cfg.baselineDir()
	path := k.machine.file(dir)
	if err := writeBaseline(path, k.machine, commit, time.Now(), cases); err != nil {
		return fmt.Errorf("cannot keep the baseline: %w", err)
	}
	for _, note := range measuring.Notes(cases, k.lost, [2]string{"the working tree", "the working tree"}) {
		k.progress("%s", note)
	}
	_, err := fmt.Fprintf(k.e.Stdout, "kept %s\n     %d benchmarks, %s\n", filepath.Join(shown, filepath.Base(path)), len(cases), k.machine)
	return err
}

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loupe/capture/collect"
	"loupe/capture/debuginfo"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/value/stats"
)

// Profiler is one that a test binary has a flag for.
type Profiler struct {
	Name string // as in -profile, and of the phases of a recording
	kind recording.Kind
	file string
	// flags of the test binary, without that of the file, which is the first.
	flags []string
	// length is how long a run is at least: how many samples there are depends on it.
	length time.Duration
}

// profilers are all of them. What is counted, and not sampled, needs no longer run.
var profilers = []Profiler{
	{"cpu", recording.CPU, "cpu.pb.gz", []string{"-test.cpuprofile"}, time.Second},
	{"allocs", recording.Allocs, "allocs.pb.gz", []string{"-test.memprofile", "-test.memprofilerate=1"}, 0},
	{"block", recording.Block, "block.pb.gz", []string{"-test.blockprofile"}, 0},
	{"mutex", recording.Mutex, "mutex.pb.gz", []string{"-test.mutexprofile"}, 0},
	{"trace", recording.ExecTrace, "trace.out", []string{"-test.trace"}, 0},
}

// ParseProfilers reads a list such as "cpu,allocs".
func ParseProfilers(list string) (out []Profiler, err error) {
	var names []string
	for _, p := range profilers {
		names = append(names, p.Name)
	}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.Index(names, strings.TrimSpace(name))
		if i < 0 {
			return nil, fmt.Errorf("unknown profile %q: there are %s", name, strings.Join(names, ", "))
		}
		if !slices.ContainsFunc(out, func(p Profiler) bool { return p.Name == names[i] }) {
			out = append(out, profilers[i])
		}
	}
	return out, nil
}

// ProfilePlan says what is profiled of a case.
type ProfilePlan struct {
	Profilers []Profiler
	// Runs is how often each profiler is run on each side.
	Runs int
	// Dirs are where the recordings of the sides go: folders that do not exist or are empty. Sides
	// behind those that have one are not profiled.
	Dirs []string
	// Temp is a private directory.
	Temp string
	// Tool is the version of loupe, Order draws the order of the sides.
	Tool  string
	Order stats.Order
	// Diagnose is how the compiler's reasons get into the recordings; nil leaves them out.
	Diagnose *collect.Diagnosis
}

// Profiled is what profiling a case on one side has left.
type Profiled struct {
	// Dir is its recording. Sourced tells that what ran was built of the source that is kept
	// there; of a binary that somebody else has built that is not known.
	Dir     string
	Sourced bool
	// Operations are how many of them each run of a profiler did, by its name, in the
	// order of the entries of the recording.
	Operations map[string][]int64
}

// Profile runs a case again with profilers, each in runs of its own, all sides in turn. What
// there is by the end is in the recordings, also where an error is returned: of ctx, of a run
// that failed, or of a recording that cannot be written.
func (r *Runner) Profile(ctx context.Context, c *Case, plan ProfilePlan) (out []Profiled, err error) {
	var keepers []*keeper
	defer func() {
		for i, k := range keepers {
			err = errors.Join(err, k.close(ctx, plan.Diagnose, r.Progress))
			out = append(out, Profiled{Dir: plan.Dirs[i], Sourced: k.of.pkg.Build != "", Operations: k.operations})
		}
	}()
	for i, dir := range plan.Dirs {
		k, err := begin(c, &c.Sides[i], plan, dir)
		if k != nil {
			keepers = append(keepers, k)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, p := range plan.Profilers {
		r.Progress("%s: profiling %s", c.Name, p.Name)
		for round := 1; round <= plan.Runs; round++ {
			for place, i := range plan.Order.Block(round, len(keepers)) {
				if err := keepers[i].take(ctx, r, p, c.timesUnder(p), round, (round-1)*len(keepers)+place+1); err != nil {
					return nil, fmt.Errorf("%s: profile %s: %w", c.Name, p.Name, err)
				}
			}
		}
	}
	return nil, nil
}

// keeper puts the profiles of one side of a case into a recording.
type keeper struct {
	w          *recording.Writer
	of         *place
	temp       string
	operations map[string][]int64
	number     map[string]int // of files by profiler
	runs       int
}

// begin begins the recording of a side.
func begin(c *Case, s *Side, plan ProfilePlan, dir string) (*keeper, error) {
	p := s.at.pkg
	w, err := recording.Create(dir, recording.Manifest{Title: c.Name + p.tree, Tool: plan.Tool, Host: collect.HostFacts()})
	if err != nil {
		return nil, err
	}
	k := &keeper{w: w, of: s.at, temp: plan.Temp, operations: map[string][]int64{}, number: map[string]int{}}
	err = collect.Describe(w, p.program, nil, func(t *recording.Target) {
		t.Kind, t.Name, t.Dir, t.Agent = "test", p.ImportPath, p.Dir, false
		t.Args = []string{"-test.run=^$", "-test.bench=" + Exactly(s.at.found.name)}
	})
	return k, err
}

// timesUnder is how many operations a run under a profiler does, the same on all sides.
func (c *Case) timesUnder(p Profiler) int64 {
	var sides []found
	for _, s := range c.Sides {
		sides = append(sides, s.at.found)
	}
	return max(1, c.Sides[0].at.times, operations(p.length, 2, sides))
}

// take runs the benchmark once under a profiler and keeps the profile.
func (k *keeper) take(ctx context.Context, r *Runner, p Profiler, times int64, round, order int) error {
	file := filepath.Join(k.temp, p.file)
	flags := append([]string{
		"-test.bench=" + Exactly(k.of.found.name), fmt.Sprintf("-test.benchtime=%dx", times), p.flags[0] + "=" + file,
	}, p.flags[1:]...)
	phase := recording.Phase{Name: numbered(p.Name, k.number[p.Name]), Profiler: p.Name, Round: round, Order: order, Run: k.runs}
	phase.Span.Start = k.w.Now()
	got, err := r.run(ctx, k.of.pkg, flags...)
	phase.Span.End = k.w.Now()
	phase.User, phase.System, phase.MaxRSS = got.User, got.System, got.Peak
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		phase.Error = err.Error()
	}
	err = errors.Join(err, k.w.UpdateTarget(func(t *recording.Target) {
		t.Runs = append(t.Runs, recording.Run{Span: phase.Span, User: got.User, System: got.System, MaxRSS: got.Peak, Exit: got.State})
	}), k.w.SetPhase(phase))
	k.runs++
	if err != nil {
		return err
	}
	err = k.keep(file, recording.Entry{
		Path: numbered(p.file, k.number[p.Name]), Kind: p.kind, Phase: phase.Name, Run: phase.Run, Span: phase.Span, Source: recording.TestFlag + p.flags[0],
	})
	k.number[p.Name]++
	k.operations[p.Name] = append(k.operations[p.Name], times)
	return err
}

// keep moves a file into the recording.
func (k *keeper) keep(file string, e recording.Entry) error {
	from, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("the test binary has written no profile: %w", err)
	}
	defer os.Remove(file)
	defer from.Close()
	to, err := k.w.Create(e)
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, from); err != nil {
		return to.Abort(err)
	}
	to.EndAt(e.Span.End)
	return to.Close()
}

// close ends the recording, with sources and the words of the compiler.
func (k *keeper) close(ctx context.Context, d *collect.Diagnosis, progress func(string, ...any)) error {
	var err error
	if d != nil && ctx.Err() == nil {
		with, pkg := *d, k.of.pkg.ImportPath
		// Where the package under test does nothing in one build, the other is held against
		// what the compiler says of it nevertheless.
		with.Packages = func(p *profile.Profile) []string { return append(d.Packages(p), pkg) }
		err = with.Keep(ctx, k.w, k.of.pkg.program, progress)
	}
	return errors.Join(err, debuginfo.Sources(k.w, k.of.pkg.program.Root, k.of.pkg.program.Path, k.of.pkg.program.Local()), k.w.Close())
}

// numbered names the files of several runs: "cpu.pb.gz", "cpu-2.pb.gz".
func numbered(name string, index int) string {
	if index == 0 {
		return name
	}
	base, ext, _ := strings.Cut(name, ".")
	if ext != "" {
		ext = "." + ext
	}
	return fmt.Sprintf("%s-%d%s", base, index+1, ext)
}

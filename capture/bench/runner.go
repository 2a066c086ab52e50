package bench

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"loupe/capture/collect"
)

// Runner runs test binaries, one benchmark at a time.
type Runner struct {
	// Bench is what benchmarks are measured.
	Bench Pattern
	// For is how long a benchmark runs in a round, unless Times says how many operations
	// it does.
	For   time.Duration
	Times int64
	// Timeout bounds the time of one process.
	Timeout time.Duration
	Flags   []string // for the test binaries
	// Progress is told what happens.
	Progress func(format string, args ...any)
	herd     collect.Herd
	valgrind string // counts instructions; "" where nobody asked
}

// Close ends what the benchmarks have left running.
func (r *Runner) Close() { r.herd.Close() }

// ofOutput is how much of what a benchmark prints is kept: its results are at the end.
const ofOutput = 4 << 20

// timeoutGrace is how much longer than it was told a test binary may take: then it is
// beyond saying for itself what hangs.
const timeoutGrace = 5 * time.Second

// ran is one run of a test binary.
type ran struct {
	collect.Ran
	stdout, stderr string
}

// run runs a test binary with some flags.
func (r *Runner) run(ctx context.Context, p *Package, flags ...string) (ran, error) {
	return r.runUnder(ctx, nil, p, flags...)
}

// runUnder is run by a program and its flags, that of [Runner.CountInstructions].
func (r *Runner) runUnder(ctx context.Context, by []string, p *Package, flags ...string) (ran, error) {
	stdout, stderr := &collect.Tail{Most: ofOutput}, &collect.Tail{Most: ofOutput}
	// As go test has it: a benchmark that calls os.Exit(0) has not ended well.
	args := append([]string{"-test.paniconexit0", "-test.run=^$", "-test.timeout=" + r.Timeout.String()}, flags...)
	limit := r.Timeout
	if limit > 0 {
		limit += timeoutGrace
	}
	launch := collect.Launch{Path: p.Binary, Args: append(args, r.Flags...), Dir: p.Dir, Stdout: stdout, Stderr: stderr, Timeout: limit}
	if len(by) > 0 {
		launch.Path, launch.Args, launch.Env = by[0], slices.Concat(by[1:], []string{p.Binary}, launch.Args), steadyEnv()
	}
	got, err := r.herd.Run(ctx, launch)
	out := ran{got, stdout.String(), stderr.String()}
	if err != nil {
		return out, err
	}
	return out, out.failure(r.Timeout)
}

// failure says why a test binary failed: in the words that it printed, the last of them
// where there are many.
func (r *ran) failure(timeout time.Duration) error {
	if r.Code == 0 && !r.TimedOut {
		return nil
	}
	state := r.State
	if r.TimedOut || strings.Contains(r.stderr, "panic: test timed out after") || strings.Contains(r.stdout, "panic: test timed out after") {
		state = fmt.Sprintf("took longer than %v (-timeout)", timeout)
	}
	const most = 12
	for _, text := range []string{r.stderr, r.stdout} {
		var said []string
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\r\n"); line != "" && len(said) < most {
				said = append(said, "\t"+line)
			}
		}
		if len(said) > 0 && (strings.Contains(text, "panic") || strings.Contains(text, "FAIL") || text == r.stderr) {
			return fmt.Errorf("%s\n%s", state, strings.Join(said, "\n"))
		}
	}
	return errors.New(state)
}

// found is a benchmark of a package, and how fast it was when it was found.
type found struct {
	name    string // without the number of Ps
	printed string // with it
	config  []string
	perOp   float64 // nanoseconds of wall time, 0 where it is not known
}

// top lists the benchmarks of a package that may match, as the binary tells them.
func (r *Runner) top(ctx context.Context, p *Package) ([]string, error) {
	out, err := r.run(ctx, p, "-test.list=^Benchmark")
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(out.stdout) {
		// What init functions print may stand in front of the first.
		if name := listed.FindString(strings.TrimRight(line, "\r\n")); name != "" && r.Bench.of(name) != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// listed is the name of a benchmark at the end of a line.
var listed = regexp.MustCompile(`Benchmark[\pL\pN_]*$`)

// A benchmark that is looked for runs so long at most, to find out how long an operation
// takes, and at least so long that a first one, which is slow, is not all.
const (
	probing      = 50 * time.Millisecond
	leastProbing = 10 * time.Millisecond
)

// find runs a benchmark of the top once, which finds what it runs in turn. What was found
// before it failed is returned with the error.
func (r *Runner) find(ctx context.Context, p *Package, top string) ([]found, error) {
	length := max(leastProbing, min(r.For, probing)).String()
	if r.Times > 0 {
		length = "1x"
	}
	out, err := r.run(ctx, p, "-test.bench="+r.Bench.of(top), "-test.benchtime="+length, "-test.benchmem")
	results, cpu := parse(out.stdout)
	if err == nil && len(results) == 0 && (strings.HasPrefix(out.stderr, "panic: ") || strings.Contains(out.stderr, "\npanic: ")) {
		// It ended before its panic ended it.
		out.Code, out.State = 2, "panic"
		err = out.failure(r.Timeout)
	}
	config := machine()
	if cpu != "" {
		config = append(config, cpu)
	}
	var all []found
	suffix := commonSuffix(results)
	for _, one := range results {
		procs, wall := one.perOperation()
		if procs > 0 {
			suffix = ""
			if procs != 1 {
				suffix = fmt.Sprintf("-%d", procs)
			}
		}
		f := found{name: strings.TrimSuffix(one.name, suffix), printed: one.name, config: config, perOp: wall / float64(one.iterations)}
		if i := slices.IndexFunc(one.values, func(v Value) bool { return v.Unit == "ns/op" }); i >= 0 && wall == 0 {
			f.perOp = one.values[i].Number
		}
		all = append(all, f)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", top, err)
		all = r.certain(ctx, p, all)
	}
	return all, err
}

// certain leaves out the last of what a failed process printed where it fails by itself, too, or
// has no result: while a panic is being printed, package testing takes the benchmark for finished and
// prints a figure of it, and may even end well before the panic ends the process.
func (r *Runner) certain(ctx context.Context, p *Package, all []found) []found {
	if len(all) == 0 {
		return nil
	}
	last := &all[len(all)-1]
	out, err := r.run(ctx, p, "-test.bench="+Exactly(last.name), "-test.benchtime=1x", "-test.benchmem")
	results, _ := parse(out.stdout)
	if err != nil || !slices.ContainsFunc(results, func(one printed) bool { return one.name == last.printed }) {
		return all[:len(all)-1]
	}
	return all
}

// machine is what Go's benchmark format says about the machine that everything runs on.
func machine() []string { return []string{"goos: " + runtime.GOOS, "goarch: " + runtime.GOARCH} }

// commonSuffix is the number of Ps behind the names of results, where the binary does not
// tell it: what all of them end in. One alone may be named so.
func commonSuffix(results []printed) string {
	suffix := ""
	for i, one := range results {
		at := strings.LastIndexByte(one.name, '-')
		if at < 0 || strings.Trim(one.name[at+1:], "0123456789") != "" || i > 0 && one.name[at:] != suffix {
			return ""
		}
		suffix = one.name[at:]
	}
	return suffix
}

// times is how many operations each side does in a round, so that the faster one takes
// the time that was asked for, unless that would be more than ten times as long for a slower
// one. It is 0 where it is not known how long one takes.
func (r *Runner) times(sides []found) int64 {
	if r.Times > 0 {
		return r.Times
	}
	return operations(r.For, 10, sides)
}

// operations is how many of them take so long on the faster side, and no more than some
// times as long on a slower one. It is 0 where it is not known how long one takes.
func operations(length time.Duration, slower float64, sides []found) int64 {
	fastest, slowest := sides[0].perOp, sides[0].perOp
	for _, s := range sides {
		fastest, slowest = min(fastest, s.perOp), max(slowest, s.perOp)
	}
	if fastest <= 0 {
		return 0
	}
	const most = 1e9 // as package testing has it
	n := min(float64(length)/fastest, slower*float64(length)/slowest, most)
	return max(1, int64(n))
}

// once returns what measures one benchmark once.
func (r *Runner) once(p *Package, f found, times int64) func(context.Context) (Result, error) {
	length := fmt.Sprintf("%dx", times)
	if times == 0 {
		length = r.For.String()
	}
	pattern := Exactly(f.name)
	return func(ctx context.Context) (Result, error) {
		out, err := r.run(ctx, p, "-test.bench="+pattern, "-test.benchtime="+length, "-test.benchmem")
		if err != nil {
			return Result{}, err
		}
		results, _ := parse(out.stdout)
		i := slices.IndexFunc(results, func(one printed) bool { return one.name == f.printed })
		if i < 0 {
			return Result{}, fmt.Errorf("it printed no result (was it skipped?)")
		}
		one := results[i]
		if times > 0 && one.iterations != times {
			return Result{}, fmt.Errorf("its result is of %d operations, and %d were asked for: what the benchmark prints hides it", one.iterations, times)
		}
		if procs, _ := one.perOperation(); procs == 0 {
			cpu := float64(out.User+out.System) / float64(one.iterations)
			at := slices.IndexFunc(one.values, func(v Value) bool { return v.Unit == "ns/op" }) + 1
			one.values = slices.Insert(one.values, at, Value{ProcessCPU, cpu})
		}
		if r.valgrind != "" {
			n, err := r.instructions(ctx, p, f)
			if err != nil {
				r.Progress("%s: no instructions in this round: %v", f.printed, err)
			} else {
				one.values = append(one.values, Value{Instructions, n})
			}
		}
		return Result{Iterations: one.iterations, Values: one.values, Noise: noiseOf(out.Ran)}, nil
	}
}

package record

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loupe/capture/collect"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/internal/cli/examine"
	"loupe/internal/cli/lent"
	"loupe/recording"
	"loupe/value/unit"
)

// Run is loupe run.
var Run = &command.Command{
	Name:  "run",
	Short: "record a program from its start",
	Args:  "[flags] TARGET [the program's arguments]",
	Example: []string{
		"loupe run ./cmd/server                                 ten seconds bare, then one profiler at a time",
		"loupe run -load http://localhost:8080/ ./cmd/server    under load in every phase",
		"loupe run -phases bare,cpu:10s,trace ./cmd/tool -v in.txt",
		"loupe run -vs HEAD -load http://localhost:8080/ ./cmd/server",
		"                                                       is the working tree faster than the last commit?",
		"loupe run -test ./parser -run TestBig                  a test",
		"loupe run -tune gc -limit 512MiB ./cmd/tool            which GOGC and GOMEMLIMIT, checked by four runs",
	},
	About: `
TARGET is a Go package, .go files (a.go,b.go), or an executable. What follows it belongs to
the program, but for one -- between them. A package is built with a small agent by "go build
-overlay": no file is touched, no import is needed, and every profile can be taken. An
executable is run as it is; if it serves /debug/pprof, that is used.

The recording goes through phases, one profiler at a time, because profilers disturb the
program and each other:

` + collect.DescribePhases() + `
The program runs with GODEBUG=` + collect.RuntimeDebug + ` besides your own
setting. A program that exits during the bare phase is started again for every other phase.
Without -load and -for, one that still runs after ten seconds and listens on no port, or has
been seen to be connected to its ports itself and alone (a fake of a service), is
treated as a tool: the bare phase lasts until it exits, at most a minute (30 s if it uses no
CPU), and it is started once more for all other phases. Its output is kept in the recording;
-output show also prints it while it runs. Under load, figures are those of the process that
answers, which may be a child; if another program answers, or takes part, the load is ended
and its requests are not kept. What the program leaves running is ended too. To stop the
program, loupe sends an interrupt; if it has not ended after -stop-wait, SIGTERM; and 2 s
later SIGKILL, of which the report tells. Ctrl-C ends the recording and keeps everything,
and the program has a quarter of a second for each of these; twice aborts. The exit code is
1 if the program or a phase failed.

With -vs a second program is interleaved with the first: the same target at a git revision, in
another copy of the module, a binary, or anything TARGET may be. A name that is an existing
file or folder means that; @REV is always a revision, which is unpacked elsewhere. Which of
the two comes first is random in each round, so that neither drift of the machine nor periodic
activity affects only one of them; -order-seed repeats the order of another recording. Rounds
continue until the deciding figures are decided: they are examined after 10, 20, 40, 80 and
160 rounds, unless -budget ends first. Undecided figures say about how many more pairs they
need. -rounds takes a fixed number; a verdict needs five, and from seven on, noise common to
both programs cancels out (docs/statistics.md). Ctrl-C ends the rounds, and the complete ones
are compared. The exit code is 3 if requests per second, CPU time or wall time got worse by
more than -fail.

With -tune gc the program runs four times for the bare phase: as it is, with few collections
(which shows what one costs), and then as it is and as advised, in random order. The advice, as
of loupe gc -advise, is printed with what was predicted next to what was measured.`,
	StopAtFirst: true,
	Setup:       func(fs *command.FlagSet) func(*command.Env, []string) error { return declareRun(fs).run },
}

// runFlags are those of loupe run.
type runFlags struct {
	Flags
	set           *command.FlagSet
	test, noAgent bool
	diagnostics   bool
	build, stderr string
	output        string
	vs            string
	rounds        int
	budget, fail  string
	seed          uint64
	env           []string
	tune, limit   string

	allowed time.Duration // of -budget
	share   float64       // of -fail
}

// declareRun declares the flags of loupe run.
func declareRun(fs *command.FlagSet) *runFlags {
	f := &runFlags{set: fs}
	f.declare(fs, true)
	fs.BoolVar(&f.test, "test", false, "TARGET is a package whose tests to run")
	fs.StringVar(&f.build, "build", "", "`flags` for go build, such as '-tags foo -race'")
	fs.StringVar(&f.stderr, "stderr", "auto", "how standard error is read: auto, or `pipe` for programs that open\n/dev/stderr or write more than 200 KB at once")
	fs.StringVar(&f.output, "output", "keep", "the program's output: `keep` it in the recording, show it while it runs as\nwell, or discard its standard output")
	fs.BoolVar(&f.noAgent, "no-agent", false, "build without the agent")
	fs.BoolVar(&f.diagnostics, "diagnostics", true, "after the last phase, compile the module's allocating packages once more to\nkeep the compiler's reasons; -diagnostics=false skips it")
	fs.IntVar(&f.rounds, "rounds", 1, "`number` of bare phases, each in a fresh process; with -vs as many as needed,\nat most 160, by default")
	fs.StringVar(&f.vs, "vs", "", "interleave with this other `version`: a revision, a folder, a binary, or a target")
	fs.StringVar(&f.budget, "budget", "", "with -vs: end after the last round that fits into this `time`\n(default 5m where rounds go on until all is decided)")
	fs.StringVar(&f.fail, "fail", "0%", "with -vs: exit with 3 if something got worse by more than `percent`")
	fs.Uint64Var(&f.seed, "order-seed", 0, "seed the order of -vs with this `number`; 0 takes a new one")
	fs.Needs([]string{"order-seed", "budget", "fail"}, "vs")
	fs.StringVar(&f.tune, "tune", "", "recommend settings instead of recording phases, and check them by running\nthe program: `gc` for GOGC and GOMEMLIMIT")
	fs.StringVar(&f.limit, "limit", "", "with -tune gc: the container's `memory` (512MiB; default this cgroup's)")
	fs.Needs([]string{"limit"}, "tune")
	fs.Func("env", "set `NAME=value` for the program (repeatable)", func(s string) error {
		if !strings.Contains(s, "=") {
			return errors.New("want NAME=value")
		}
		f.env = append(f.env, s)
		return nil
	})
	return f
}

func (f *runFlags) run(e *command.Env, args []string) error {
	if len(args) == 0 {
		return command.Usagef("the target is missing")
	}
	args = withoutDashes(args)
	if f.stderr != "auto" && f.stderr != "pipe" {
		return command.Usagef("-stderr: unknown method %q: there are auto and pipe", f.stderr)
	}
	if !slices.Contains([]string{"keep", "show", "discard"}, f.output) {
		return command.Usagef("-output: unknown mode %q: there are keep, show and discard", f.output)
	}
	if f.rounds < 1 {
		return command.Usagef("-rounds: want at least 1")
	}
	if f.vs == "" && f.set.Given("vs") {
		return command.Usagef("-vs: a version is missing (is a variable empty?)")
	}
	if f.tune != "" {
		return f.tuneGC(e, args)
	}
	if err := f.limits(); err != nil {
		return err
	}
	plan, err := f.Plan()
	if err != nil {
		return err
	}
	for _, out := range f.outs(len(f.sides().names)) {
		if err := CheckPlace(out); err != nil {
			return err
		}
	}
	return e.WithTemp(func(temp string) error {
		targets, err := f.targets(e, args, plan, f.sides(), temp)
		if err != nil {
			return err
		}
		err = f.record(e, targets, plan)
		var dirs []string
		phases := 0
		for _, t := range targets {
			if t.Recorder == nil {
				continue
			}
			phases += len(t.Recorder.Writer().Manifest().Phases)
			dir, perr := Pack(t.Dir, t.zip)
			dirs, err = append(dirs, dir), errors.Join(err, perr)
		}
		if err != nil && phases == 0 {
			// There are no figures; the error says why.
			for _, dir := range dirs {
				e.Progress(f.Quiet)("partial results are in %s", dir)
			}
			return command.Unreachable(err)
		}
		return errors.Join(err, examine.ConcludeBeyond(e, dirs, f.json, f.Quiet, f.share), failures(targets, err))
	})
}

// limits reads -budget and -fail.
func (f *runFlags) limits() (err error) {
	if f.budget != "" {
		if f.allowed, err = unit.ParseDuration(f.budget); err != nil || f.allowed <= 0 {
			return command.Usagef("-budget: want a time such as 2m, not %q", f.budget)
		}
	}
	f.share, err = command.ParsePercent("fail", f.fail)
	return err
}

// failures says which of the programs and phases failed, after the report on them, beyond what an
// error has told.
func failures(targets []*Turn, told error) error {
	var errs error
	for _, t := range targets {
		if t.Recorder == nil {
			continue
		}
		if t.Recorder.Failure() != "" {
			which := "the program"
			if len(targets) > 1 {
				which = t.Name
			}
			errs = errors.Join(errs, fmt.Errorf("%s failed: %s", which, t.Recorder.Failure()))
		}
		m := t.Recorder.Writer().Manifest()
		m.Phases = slices.DeleteFunc(slices.Clone(m.Phases), func(p recording.Phase) bool {
			return told != nil && p.Error != "" && strings.Contains(told.Error(), p.Error)
		})
		errs = errors.Join(errs, door.FailedPhases(m))
	}
	return errs
}

// outs returns what -o means for each of so many targets.
func (f *runFlags) outs(targets int) []string {
	base, zip := strings.CutSuffix(f.out, ".zip")
	switch {
	case targets == 1:
		return []string{f.out}
	case f.out == "":
		return []string{"", ""}
	case zip:
		return []string{filepath.Join(base, "before.zip"), filepath.Join(base, "after.zip")}
	}
	return []string{filepath.Join(base, "before"), filepath.Join(base, "after")}
}

// sides are the versions of the target that are run: one, or what is before and what is after.
// The empty name is the target itself.
type sides struct {
	names []string
	// env is set for the last one alone.
	env []string
}

// sides are those of the flags.
func (f *runFlags) sides() sides {
	if f.vs == "" {
		return sides{names: []string{""}}
	}
	return sides{names: []string{f.vs, ""}}
}

// targets builds what is to be run.
func (f *runFlags) targets(e *command.Env, args []string, plan collect.Plan, of sides, temp string) ([]*Turn, error) {
	var out []*Turn
	var found []version
	for i, name := range of.names {
		sub := filepath.Join(temp, fmt.Sprint(i))
		if err := os.Mkdir(sub, 0o700); err != nil {
			return nil, err
		}
		dir, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		v, err := find(e.Ctx, dir, args[0], name, sub)
		if err != nil {
			return nil, err
		}
		t, err := f.target(e, v, args, plan.Has("goroutineleak"), sub)
		if err != nil && name != "" {
			return nil, fmt.Errorf("-vs %s: %w", name, err)
		}
		if err != nil {
			return nil, err
		}
		if t.Name = f.title; t.Name == "" {
			t.Name = TargetName(args[0])
		}
		if len(of.names) > 1 {
			t.role = []string{"before", "after"}[i]
			t.Name = t.role + " (" + cmp.Or(name, args[0]) + ")"
		}
		if i == len(of.names)-1 {
			t.Options.Launch.Env = append(slices.Clip(t.Options.Launch.Env), of.env...)
		}
		t.Made = f.made(e, args, v, t.Program.Root)
		out, found = append(out, t), append(found, v)
	}
	if len(out) > 1 && found[0].revision != "" && found[1].revision == "" && collect.Unchanged(e.Ctx, found[1].dir, found[0].revision) {
		out[0].Program.Target.Build = out[1].Program.Target.Build
	}
	for i, t := range out {
		name := t.Name
		if len(out) > 1 {
			name = TargetName(args[0]) + "-" + t.role
		}
		t.Dir, t.zip = Place(f.outs(len(out))[i], name)
	}
	return out, nil
}

func (f *runFlags) target(e *command.Env, v version, args []string, leaks bool, temp string) (*Turn, error) {
	opt, err := f.Options(e, temp)
	if err != nil {
		return nil, err
	}
	wait, err := f.stopWait()
	if err != nil {
		return nil, err
	}
	build := collect.BuildOptions{
		Target: v.target, Dir: v.dir, Test: f.test, Flags: SplitFlags(f.build), Temp: temp, NoAgent: f.noAgent, Leaks: leaks,
		Progress: opt.Progress,
	}
	prog, err := collect.Build(e.Ctx, build)
	if err != nil {
		return nil, err
	}
	if !f.test {
		if prog.Dir, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	for _, note := range prog.Notes {
		opt.Progress("%s", note)
	}
	opt.Launch = collect.LaunchOptions{
		StopWait: wait,
		Args:     args[1:], Env: f.env, Stdin: e.Stdin, KeepStdout: f.output != "discard",
		Pipe: f.stderr == "pipe", GODEBUG: collect.RuntimeDebug,
	}
	if command.IsTerminal(e.Stdin) {
		// It is in a process group of its own, which the terminal would stop
		// as soon as it read.
		opt.Launch.Stdin = nil
	}
	if f.output == "show" {
		opt.Launch.Show, opt.Launch.Stderr = e.Stderr, e.Stderr
	}
	if f.test {
		opt.Launch.Args = testFlags(args[1:])
	}
	opt.Count = lent.Counter
	if f.diagnostics {
		opt.Diagnose = Diagnosis()
	}
	return &Turn{Program: prog, Options: opt, Load: f.LoadInto}, nil
}

// record creates the recordings and takes the turns.
func (f *runFlags) record(e *command.Env, targets []*Turn, plan collect.Plan) error {
	for _, t := range targets {
		t.Plan = plan
		if f.output == "keep" {
			t.Options.Progress("its output goes to %s (-output show prints it here too)", t.Dir)
		}
	}
	rounds := Rounds{Number: f.rounds, Turns: f.vs != "", Seed: f.seed, Budget: f.allowed}
	if f.vs != "" && !f.set.Given("rounds") {
		rounds.until(targets, func(dirs []string) (bool, error) {
			t, err := examine.Figures(dirs)
			return err == nil && t.Decided(), err
		})
	}
	return TakeTurns(e, targets, rounds)
}

// Diagnosis says how the compiler's reasons get into a recording.
func Diagnosis() *collect.Diagnosis { return lent.Diagnosis() }

// SplitFlags splits a line into words; quotes keep blanks together.
func SplitFlags(line string) []string {
	var words []string
	var word strings.Builder
	quote, in := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, in = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if in {
				words = append(words, word.String())
				word.Reset()
			}
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if in {
		words = append(words, word.String())
	}
	return words
}

// ofGoTest are the flags of `go test` that a test binary has with "test." before
// them (go help testflag, and the package testing). All others are the test's own.
var ofGoTest = []string{
	"artifacts", "bench", "benchmem", "benchtime", "blockprofile", "blockprofilerate", "count", "coverprofile", "cpu", "cpuprofile",
	"failfast", "fullpath", "fuzz", "fuzzcachedir", "fuzzminimizetime", "fuzztime", "gocoverdir", "list", "memprofile",
	"memprofilerate", "mutexprofile", "mutexprofilefraction", "outputdir", "parallel", "run", "short", "shuffle", "skip",
	"timeout", "trace", "v",
}

// withoutDashes leaves out a -- between a target and the program's arguments: package flag of the program would end its flags there, and ignore them all.
func withoutDashes(args []string) []string {
	if len(args) > 1 && args[1] == "--" {
		return slices.Delete(slices.Clone(args), 1, 2)
	}
	return args
}

// testFlags gives the flags of `go test` the names that a test binary knows.
func testFlags(args []string) []string {
	var out []string
	for i, a := range args {
		if a == "-args" || a == "--args" {
			return append(out, args[i+1:]...)
		}
		name := strings.TrimLeft(a, "-")
		if word, _, _ := strings.Cut(name, "="); name != a && slices.Contains(ofGoTest, word) {
			a = "-test." + name
		}
		out = append(out, a)
	}
	return out
}

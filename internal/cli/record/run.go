package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loupe/analysis/why"
	"loupe/capture/collect"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/internal/cli/examine"
	"loupe/recording"
	"loupe/value/stats"
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
		"loupe run -rounds 5 -vs @HEAD -load http://localhost:8080/ ./cmd/server",
		"                                                       is the working tree faster than the last commit?",
		"loupe run -test ./parser -run TestBig                  a test",
	},
	About: `
TARGET is a Go package, .go files (a.go,b.go), or an executable. What follows it
belongs to the program. A package is built with a small agent by
"go build -overlay": no file is touched, no import is needed, and every profile
can be taken. An executable is run as it is; if it serves /debug/pprof, that is
used.

The recording goes through phases, one profiler at a time, because profilers
disturb the program and each other:

` + collect.DescribePhases() + `
The program runs with GODEBUG=` + collect.RuntimeDebug + ` besides your own
setting. A program that ends by itself in the bare phase is started again for
every other phase. Without -load and -for, one that listens nowhere and is at work
after ten seconds is taken for a tool: the bare phase lasts until it ends, a minute
at most, and it is started again once for all other phases. What it prints is
kept in the recording; -output show prints it while it runs as well. Ctrl-C ends
the recording and keeps everything; twice aborts. The exit code is 1 when the
program or a phase failed.

With -vs a second program takes turns with the first. Which of them comes first
is drawn for each round, so that neither a drift of the machine nor what comes
back every so often falls on one of them; -order-seed repeats the order of another
recording. -vs takes whatever TARGET may be, or @REV for the same package at a
revision in git. A verdict takes five rounds; from seven on, noise that both
programs have in common falls out (docs/statistics.md). The exit code is 3 when
requests per second, CPU time or wall time got worse, as of loupe compare.`,
	StopAtFirst: true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		var f runFlags
		f.declare(fs, true)
		fs.BoolVar(&f.test, "test", false, "TARGET is a package whose tests are to run")
		fs.StringVar(&f.build, "build", "", "`flags` for go build, such as '-tags foo -race'")
		fs.StringVar(&f.stderr, "stderr", "auto", "how standard error is read: auto, or `pipe` for programs that open\n/dev/stderr or write more than 200 KB at once")
		fs.StringVar(&f.output, "output", "keep", "what the program prints: `keep` it in the recording, show it while it\nruns as well, or discard its standard output")
		fs.BoolVar(&f.noAgent, "no-agent", false, "build without the agent")
		fs.BoolVar(&f.diagnostics, "diagnostics", true, "after the last phase, compile the packages of the module that allocate\nonce more to keep why they do; -diagnostics=false leaves it out")
		fs.IntVar(&f.rounds, "rounds", 1, "`number` of bare phases, each in a fresh process")
		fs.StringVar(&f.vs, "vs", "", "take turns with this other `target`, or @REV")
		fs.Uint64Var(&f.seed, "order-seed", 0, "draw the order of -vs from this `number`; 0 takes a new one")
		fs.Needs([]string{"order-seed"}, "vs")
		fs.Func("env", "set `NAME=value` for the program (repeatable)", func(s string) error {
			if !strings.Contains(s, "=") {
				return errors.New("want NAME=value")
			}
			f.env = append(f.env, s)
			return nil
		})
		return f.run
	},
}

type runFlags struct {
	Flags
	test, noAgent bool
	diagnostics   bool
	build, stderr string
	output        string
	vs            string
	rounds        int
	seed          uint64
	env           []string
}

func (f *runFlags) run(e *command.Env, args []string) error {
	if len(args) == 0 {
		return command.Usagef("the target is missing")
	}
	if f.stderr != "auto" && f.stderr != "pipe" {
		return command.Usagef("-stderr: unknown way %q: there are auto and pipe", f.stderr)
	}
	if !slices.Contains([]string{"keep", "show", "discard"}, f.output) {
		return command.Usagef("-output: unknown way %q: there are keep, show and discard", f.output)
	}
	if f.rounds < 1 {
		return command.Usagef("-rounds: want at least 1")
	}
	plan, err := f.Plan()
	if err != nil {
		return err
	}
	for _, out := range f.outs() {
		if err := CheckPlace(out); err != nil {
			return err
		}
	}
	return e.WithTemp(func(temp string) error {
		targets, err := f.targets(e, args, plan, temp)
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
				e.Progress(f.Quiet)("what there is, is in %s", dir)
			}
			return command.Unreachable(err)
		}
		return errors.Join(err, examine.Conclude(e, dirs, f.json, f.Quiet), failures(targets))
	})
}

// failures says which of the programs and phases failed, after the report on them.
func failures(targets []*Turn) error {
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
		errs = errors.Join(errs, door.FailedPhases(t.Recorder.Writer().Manifest()))
	}
	return errs
}

// outs returns what -o means for each target.
func (f *runFlags) outs() []string {
	base, zip := strings.CutSuffix(f.out, ".zip")
	switch {
	case f.vs == "":
		return []string{f.out}
	case f.out == "":
		return []string{"", ""}
	case zip:
		return []string{filepath.Join(base, "before.zip"), filepath.Join(base, "after.zip")}
	}
	return []string{filepath.Join(base, "before"), filepath.Join(base, "after")}
}

// Turn is one of the programs that take turns.
type Turn struct {
	Program  *collect.Program
	Name     string
	role     string // before or after, of two that take turns
	Dir, zip string
	Options  collect.RecorderOptions
	Plan     collect.Plan
	Recorder *collect.Recorder
	Load     func(*recording.Writer) collect.Load
}

// targets builds what is to be run.
func (f *runFlags) targets(e *command.Env, args []string, plan collect.Plan, temp string) ([]*Turn, error) {
	names := []string{args[0]}
	if f.vs != "" {
		names = []string{f.vs, args[0]}
	}
	var out []*Turn
	for i, name := range names {
		sub := filepath.Join(temp, fmt.Sprint(i))
		if err := os.Mkdir(sub, 0o700); err != nil {
			return nil, err
		}
		t, err := f.target(e, name, args, plan.Has("goroutineleak"), sub)
		if err != nil {
			return nil, err
		}
		if len(names) > 1 {
			t.role = []string{"before", "after"}[i]
			t.Name = t.role + " (" + name + ")"
		}
		out = append(out, t)
	}
	if rev, ok := strings.CutPrefix(f.vs, "@"); ok {
		if dir, err := os.Getwd(); err == nil && collect.Unchanged(e.Ctx, dir, rev) {
			out[0].Program.Target.Build = out[1].Program.Target.Build
		}
	}
	for i, t := range out {
		name := t.Name
		if len(out) > 1 {
			name = TargetName(args[0]) + "-" + t.role
		}
		t.Dir, t.zip = Place(f.outs()[i], name)
	}
	return out, nil
}

func (f *runFlags) target(e *command.Env, name string, args []string, leaks bool, temp string) (*Turn, error) {
	opt, err := f.Options(e, temp)
	if err != nil {
		return nil, err
	}
	build := collect.BuildOptions{
		Target: name, Test: f.test, Flags: SplitFlags(f.build), Temp: temp, NoAgent: f.noAgent, Leaks: leaks,
		Progress: opt.Progress,
	}
	if build.Dir, err = os.Getwd(); err != nil {
		return nil, err
	}
	runDir := build.Dir
	if rev, ok := strings.CutPrefix(name, "@"); ok {
		tree := filepath.Join(temp, "tree")
		if build.Dir, build.Target, err = collect.Checkout(e.Ctx, build.Dir, args[0], rev, tree); err != nil {
			return nil, err
		}
	}
	prog, err := collect.Build(e.Ctx, build)
	if err != nil {
		return nil, err
	}
	if !f.test {
		prog.Dir = runDir
	}
	for _, note := range prog.Notes {
		opt.Progress("%s", note)
	}
	opt.Launch = collect.LaunchOptions{
		Args: args[1:], Env: f.env, Stdin: e.Stdin, KeepStdout: f.output != "discard",
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
	if f.diagnostics {
		opt.Diagnose = Diagnosis()
	}
	t := &Turn{Program: prog, Name: f.title, Options: opt, Load: f.LoadInto}
	if t.Name == "" {
		t.Name = TargetName(args[0])
	}
	return t, nil
}

// close ends the recording. One whose program was never started holds nothing
// and goes away.
func (t *Turn) close() error {
	err := t.Recorder.Close()
	if len(t.Recorder.Writer().Manifest().Target.Runs) == 0 {
		t.Recorder = nil
		os.RemoveAll(t.Dir) // a mount point stays
	}
	return err
}

// record creates the recordings and takes the turns.
func (f *runFlags) record(e *command.Env, targets []*Turn, plan collect.Plan) error {
	for _, t := range targets {
		t.Plan = plan
		if f.output == "keep" {
			t.Options.Progress("what it prints goes into %s (-output show prints it here too)", t.Dir)
		}
	}
	return TakeTurns(e, targets, Rounds{Number: f.rounds, Turns: f.vs != "", Seed: f.seed})
}

// Rounds says how many there are, and whether programs take turns in them.
type Rounds struct {
	Number int
	// Turns numbers the rounds also of one program, or in one round.
	Turns bool
	// Seed is what the order within the rounds is drawn from; 0 draws a seed too.
	Seed uint64
}

// TakeTurns records every target for a number of rounds, each in an order that is drawn.
// The bare phases are what is compared; the other phases follow the last one,
// in the same process. A recording that was begun is always closed.
func TakeTurns(e *command.Env, targets []*Turn, rounds Rounds) (err error) {
	defer e.Keeps()()
	var drawn *stats.Order
	if len(targets) > 1 {
		order := command.DrawOrder(rounds.Seed)
		drawn = &order
	}
	for _, t := range targets {
		w, cerr := recording.Create(t.Dir, recording.Manifest{Title: t.Name, Tool: command.Version(), Host: collect.HostFacts(), Turns: drawn})
		if cerr != nil {
			return cerr
		}
		t.Plan.Load = t.Load(w)
		t.Recorder, cerr = collect.NewRecorder(w, t.Program, t.Options)
		if t.Recorder != nil {
			defer func() { err = errors.Join(err, t.close()) }()
			e.AtAbort(t.Recorder.Abort)
		}
		if cerr != nil {
			return cerr
		}
	}
	for round := range rounds.Number {
		order := []int{0}
		if drawn != nil {
			order = drawn.Block(round, len(targets))
		}
		for at, i := range order {
			t := targets[i]
			plan := t.Plan
			if rounds.Turns || rounds.Number > 1 {
				plan.Round, plan.Order = round+1, round*len(targets)+at+1
				t.Options.Progress("round %d of %d: %s", round+1, rounds.Number, t.Name)
			}
			if round+1 < rounds.Number {
				plan.Phases = plan.Phases[:1]
			}
			if err := t.Recorder.Record(e.Ctx, plan); err != nil {
				return err
			}
		}
	}
	// When no program runs any more, the compiler takes no time from one.
	for _, t := range targets {
		if err := t.Recorder.Diagnose(e.Ctx); err != nil {
			return err
		}
	}
	return nil
}

// Diagnosis says how the compiler's reasons get into a recording.
func Diagnosis() *collect.Diagnosis {
	cache, err := collect.CompileCache()
	if err != nil {
		cache = "" // then nothing is kept
	}
	return &collect.Diagnosis{Packages: why.Packages, Calls: why.Calls, Cache: cache}
}

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

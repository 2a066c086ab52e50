// Package bench is loupe bench: benchmarks and commands in rounds that take turns, with
// verdicts against another version.
package bench

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/capture/bench"
	"loupe/internal/cli/command"
	"loupe/value/unit"
)

// Command is loupe bench.
var Command = &command.Command{
	Name:  "bench",
	Short: "measure benchmarks or commands, with verdicts",
	Args:  "[flags] [packages] | -- COMMAND…",
	Example: []string{
		"loupe bench ./... > new.txt                             all benchmarks, interleaved, with CPU time",
		"loupe bench -vs HEAD ./parser                           is the working tree faster than the last commit?",
		"loupe bench -vs main -budget 5m -fail 5% ./...          exits with 3 when anything got more than 5% worse",
		"loupe bench -vs ../old -bench 'Parse/large' ./parser    against another folder",
		"loupe bench -vs HEAD -profile cpu,allocs ./parser       and which lines made it so, by the profiles of both",
		"loupe bench -vs main -floor -budget 5m ./parser         and is it more than two builds of main differ by?",
		"loupe bench -bisect v1.2..HEAD BenchmarkParse ./parser  which revision changed it?",
		"loupe bench -keep bench ./...                           and one more file in the folder bench",
		"loupe bench -history bench                              what changed in it, since which revision?",
		"loupe bench -- ./tool -v in.txt                         a command: wall, CPU, peak memory",
		"loupe bench -vs './old in.txt' -- ./new in.txt          two commands",
		"loupe bench -param n=1,2,4 -- ./tool -workers {n} -- ./other -j {n}",
	},
	About: `
Test binaries are built once (go test -c), each benchmark runs in a process of its own
with a fixed number of operations, and all of them take turns in rounds, in an order that
is drawn anew for each round. So a machine that gets slower meanwhile hits all alike. The
output is Go's benchmark format, which loupe compare, loupe benchstat and benchstat read.

Beside ns/op, B/op and allocs/op there are cpu-ns/op, the CPU time of the process while the
timer ran, and gc-cycles/op. Package testing counts them by "go build -overlay": no
source is changed. Where it does not fit the toolchain, process-cpu-ns/op is the CPU time of the
whole process, with its start, by the operations. Of a benchmark whose timer runs for less than
50 µs between its stops there is none: stopping and starting takes CPU time itself. What others did
meanwhile stands in comments (#) in front of each result.

With -vs the same benchmarks of another version take turns with these: a revision of git, a
folder with another copy of the module, or a test binary that is already built. A revision is
unpacked aside; the working tree, its index and the repository are not touched. What is a file or a
folder is taken for that; @REV is always a revision. Without -count rounds
go on until all times and allocations are decided: they are looked at after 10, 20, 40, 80 and
160 rounds, unless -budget ends before. Verdicts are faster, slower, less, more, same (the whole
interval of the change lies within 1%) and undecided; of the changes in a unit 5% are false alarms.
Bytes and allocations that are equal in all rounds of a side are compared exactly.

With -instructions each round counts those of an operation, too, by two more runs under valgrind, which
take seconds, with one P. Neighbours on the machine hardly change them; what caches, the kernel, the
garbage collector or waiting cost they do not tell.

With -floor a second build of the other version takes turns with both, its functions in another
order (of a command, the first one once more). What the two builds of the same code differ by is the
noise floor: it has a column of its own, and a change that is not beyond it has no verdict. A change
need then not be beyond 1%, but beyond the floor, and half a percent.

With -profile each benchmark is run again when all is measured, by each profiler by itself, and
kept in a recording, for loupe report, loupe pprof and loupe trace. With -vs a benchmark that has
changed is profiled six times on each side, in turn, and the cause is told below the table: which
functions and lines cost more or less in an operation, with intervals, and what the compiler says
differently of them: escapes, inlining, bounds checks. A line is the same in both versions by its
function and text. Where nothing is beyond the noise, nothing is named.

With -bisect the revisions after GOOD up to BAD are searched by halves, by first parents. Each that
is tried takes turns with both ends, until it is nearer to one of them beyond doubt, or the budget
is spent, which is that of one revision here. What does not build, or lacks the benchmark, is
skipped. At last the one that is found is measured against the one in front of it, with the causes
of -profile; where a change was undone and made again, one of the places is found. Where it stays
undecided, what is left is listed, and the exit code is 4.

With -keep what was measured is also written into a file of its own in DIR, TIME-REVISION.txt, in
Go's benchmark format, with lines for the commit, its time, whether the tree was edited, the toolchain
and GOMAXPROCS. With -vs it has this tree's side alone. Such a folder can be committed.

With -history nothing is measured: files of -keep, or of go test -bench, are a series in the order
of their commit times, of the dates in their names, or of when they were written. Each figure of each
benchmark is told: its course, and where its level changed, between which revisions, by how much,
whether at once or gradually. Each run counts once, whatever its rounds: a change needs 8 runs to be
found, 3 of them of the new level at least. Bytes and allocations that do not vary within a run are compared
exactly. Of the series that are said to have changed, 5% are false alarms, where runs are
independent. Where neighbouring runs resemble each other a change is marked as unsure. Another
CPU, system or GOMAXPROCS is another series. -bench filters, -unit chooses, -fail 5% exits with 3
when the newest change of a series is for the worse by more than that, and not unsure.

What stands behind -- is a command, and behind each further -- another one, which is compared
with the first; -vs is then the first. It runs without a shell, unless -shell names one. {NAME}
is replaced by each value of -param NAME=… in turn. A command that fails ends its measurement.

Ctrl-C ends the rounds; what was measured is printed and judged. The exit code is 3 when a time,
bytes, allocations or peak memory got worse: proven, and by more than -fail. It is 1 when
something could not be built, or failed.`,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		f := flags{set: fs}
		fs.StringVar(&f.bench, "bench", ".", "measure the benchmarks that `regexp` matches, as go test -bench has it")
		fs.IntVar(&f.count, "count", 0, "take `number` rounds, and decide then (default 10; with -vs or several\ncommands as many as it takes, 160 at most)")
		fs.StringVar(&f.benchtime, "benchtime", "100ms", "how `long` a benchmark runs in a round, or 100x for so many operations")
		fs.StringVar(&f.budget, "budget", "", "end after the round that fits into this `time`\n(default 2m where rounds go on until all is decided)")
		fs.StringVar(&f.vs, "vs", "", "compare with this `version`: a revision, a folder, a test binary, or a command")
		fs.StringVar(&f.fail, "fail", "0%", "with -vs or -history: exit with 3 when something got worse\nby more than `percent`")
		fs.BoolVar(&f.floor, "floor", false, "with -vs: measure the noise floor as well, by a second build of the other version;\na change within it has no verdict")
		fs.BoolVar(&f.instructions, "instructions", false, "count the instructions of an operation as well, by valgrind")
		fs.StringVar(&f.out, "o", "", "write all results to `file` in Go's benchmark format")
		fs.StringVar(&f.profile, "profile", "", "run each benchmark again with these profiles, a `list` of\ncpu, allocs, block, mutex, trace; with -vs tell the cause of a change")
		fs.StringVar(&f.recording, "recording", "", "with -profile: keep the recordings below `dir`\n(default loupe-bench-TIME)")
		fs.Needs([]string{"recording"}, "profile")
		fs.StringVar(&f.bisect, "bisect", "", "find the revision in `GOOD..BAD` that changed a benchmark, which is named first")
		fs.StringVar(&f.keep, "keep", "", "also write the results into a new file in `dir`, for -history")
		fs.BoolVar(&f.history, "history", false, "measure nothing: find the changes in files of -keep or go test -bench,\nwhich are named, or the folders that they are in")
		fs.StringVar(&f.unit, "unit", "", "with -bisect: follow this `figure`, such as ns/op or B/op (default the\nfirst that has changed, times first); with -history: these, with commas between")
		fs.Needs([]string{"unit"}, "bisect", "history")
		fs.StringVar(&f.format, "format", "text", "`form` of the output: text, json, md or csv")
		fs.BoolVar(&f.json, "json", false, "same as -format json")
		fs.StringVar(&f.timeout, "timeout", "10m", "end a process that takes `longer`")
		fs.StringVar(&f.build, "build", "", "`flags` for go build, such as '-tags foo -race'")
		fs.BoolVar(&f.quiet, "quiet", false, "tell no progress")
		fs.Group("Flags of commands", func() { f.declareCommands(fs) })
		return f.run
	},
}

// flags are those of the command line.
type flags struct {
	set                                *command.FlagSet
	bench, benchtime, budget, vs, fail string
	out, format, timeout, build        string
	profile, recording, bisect, unit   string
	profilers                          []bench.Profiler
	keep                               string
	count                              int
	json, quiet, floor, instructions   bool
	history                            bool
	commands                           commandFlags
	limit, length, allowed             time.Duration // of -timeout, -benchtime and -budget
	times                              int64
	pattern                            bench.Pattern
	share                              float64
}

// usualCount is the number of rounds where nothing is compared.
const usualCount = 10

// usualBudget bounds a comparison that goes on until all is decided.
const usualBudget = 2 * time.Minute

func (f *flags) run(e *command.Env, args []string) error {
	if err := f.parse(); err != nil {
		return err
	}
	if f.history {
		return f.runHistory(e, args)
	}
	if f.set.Given("keep") && f.keep == "" {
		return command.Usagef("-keep: a folder is missing (is a variable empty?)")
	}
	if f.set.Dashes {
		if f.set.Before > 0 {
			return command.Usagef("%q stands in front of --: measure packages, or commands", args[:f.set.Before])
		}
		return f.runCommands(e, args)
	}
	for _, name := range commandFlagNames {
		if f.set.Given(name) {
			return command.Usagef("-%s is for commands, which stand behind --", name)
		}
	}
	if f.floor && (f.vs == "" || f.set.Given("bisect")) {
		return command.Usagef("-floor is for two versions: it goes with -vs, or with two commands, and not with -bisect")
	}
	if f.set.Given("bisect") {
		return f.runBisect(e, args)
	}
	if len(args) == 0 {
		args = []string{"."}
	}
	return f.runPackages(e, args)
}

// parse checks the flags.
func (f *flags) parse() (err error) {
	if f.json {
		f.format = "json"
	}
	if known := []string{"text", "json", "md", "csv"}; !slices.Contains(known, f.format) {
		return command.Usagef("-format: unknown form %q: there are %s", f.format, strings.Join(known, ", "))
	}
	if f.set.Given("count") && f.count < 1 {
		return command.Usagef("-count: want at least 1")
	}
	if f.pattern, err = bench.ParsePattern(f.bench); err != nil {
		return command.Usagef("-bench: %w", err)
	}
	if n, ok := strings.CutSuffix(f.benchtime, "x"); ok {
		if f.times, err = strconv.ParseInt(n, 10, 64); err != nil || f.times < 1 {
			return command.Usagef("-benchtime: %q is no number of operations, such as 100x", f.benchtime)
		}
	} else if f.length, err = unit.ParseDuration(f.benchtime); err != nil || f.length <= 0 {
		return command.Usagef("-benchtime: want a time such as 100ms, or a number of operations such as 100x, not %q", f.benchtime)
	}
	if f.set.Given("profile") {
		if f.profilers, err = bench.ParseProfilers(f.profile); err != nil {
			return command.Usagef("-profile: %w", err)
		}
	}
	if f.limit, err = unit.ParseDuration(f.timeout); err != nil || f.limit <= 0 {
		return command.Usagef("-timeout: want a time such as 1m, not %q", f.timeout)
	}
	if f.budget != "" {
		if f.allowed, err = unit.ParseDuration(f.budget); err != nil || f.allowed <= 0 {
			return command.Usagef("-budget: want a time such as 2m, not %q", f.budget)
		}
	}
	f.share, err = command.ParsePercent("fail", f.fail)
	return err
}

// createOutput opens the file of -o. It is made shorter when there is something to write:
// what a run before has written stays if this one fails.
func (f *flags) createOutput() (*os.File, error) {
	if f.out == "" {
		return nil, nil
	}
	file, err := os.OpenFile(f.out, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot write results: %w (choose another file with -o)", err)
	}
	return file, nil
}

// errNoResults ends a run without any.
var errNoResults = errors.New("nothing was measured")

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
		"loupe bench -vs main -budget 5m -fail 5% ./...          exits with 3 if anything got more than 5% worse",
		"loupe bench -vs ../old -bench 'Parse/large' ./parser    against another folder",
		"loupe bench -vs HEAD -profile cpu,allocs ./parser       and which lines caused it, by profiles",
		"loupe bench -vs main -floor -budget 5m ./parser         is it more than two builds of main differ by?",
		"loupe bench -bisect v1.2..HEAD BenchmarkParse ./parser  which revision changed it?",
		"loupe bench -keep bench ./...                           and one more file in the folder bench",
		"loupe bench -history bench                              what changed in it, since which revision?",
		"loupe bench -- ./tool -v in.txt                         a command: wall, CPU, peak memory",
		"loupe bench -vs './old in.txt' -- ./new in.txt          two commands",
		"loupe bench -param n=1,2,4 -- ./tool -workers {n} -- ./other -j {n}",
	},
	About: `
Test binaries are built once (go test -c), each benchmark runs in its own process with a fixed
number of operations, and all of them are interleaved in rounds, in an order that is
randomised for each round. A machine that becomes slower meanwhile therefore affects all of
them equally. The output is Go's benchmark format, which loupe compare, loupe benchstat and
benchstat read.

Besides ns/op, B/op and allocs/op there are cpu-ns/op, the CPU time of the process while the
timer ran, and gc-cycles/op. Package testing counts them through "go build -overlay": no
source is changed. If the overlay does not fit the toolchain, process-cpu-ns/op is the CPU
time of the whole process, including startup, divided by the operations. A benchmark whose
timer runs for less than 50 µs between stops has neither: stopping and starting takes CPU time
itself. Activity of other programs is noted in comments (#) before each result.

With -vs the same benchmarks of another version are interleaved with these: a git revision, a
folder with another copy of the module, or a prebuilt test binary. A revision is unpacked
elsewhere; the working tree, its index and the repository are not touched. A name that is an
existing file or folder means that; @REV is always a revision. Without -count, rounds continue
until all times and allocations are decided: results are examined after 10, 20, 40, 80 and 160
rounds, unless -budget ends first. Verdicts are faster, slower, less, more, same (the whole
interval of the change lies within 1%) and undecided; 5% of the changes in a unit are false
alarms. Bytes and allocations that are equal in all rounds of a side are compared exactly.

With -instructions each round also counts the instructions of an operation, by two more runs
under valgrind with one P, which take seconds. Other programs on the machine hardly change
them; they do not show the cost of caches, the kernel, the garbage collector or waiting.

With -floor a second build of the other version, with its functions in a different order, is
interleaved with both (for a command, the first one is run once more). The difference between
the two builds of the same code is the noise floor: it has its own column, and a change that
does not exceed it has no verdict. A change then need not exceed 1%, but must exceed the floor
and half a per cent.

With -profile each benchmark is run again after all measurements, once per profiler, and kept
in a recording, for loupe report, loupe pprof and loupe trace. With -vs a benchmark that has
changed is profiled six times on each side, alternating, and the cause is reported below the
table: which functions and lines cost more or less per operation, with intervals, and what the
compiler says differently about them: escapes, inlining, bounds checks. Lines of the two
versions are matched by function and text. If nothing exceeds the noise, nothing is named.

With -bisect the revisions after GOOD up to BAD are bisected along first parents. Each one
tried is interleaved with both ends until it is clearly closer to one of them, or the budget
is spent, which here applies per revision. Revisions that do not build, or lack the benchmark,
are skipped. Finally the revision found is measured against its predecessor, with the causes
of -profile; if a change was undone and made again, one of the places is found. If it stays
undecided, the remaining candidates are listed, and the exit code is 4.

With -keep the results are also written to a new file in DIR, TIME-REVISION.txt, in Go's
benchmark format, with configuration lines for the commit, its time, uncommitted changes, the
toolchain and GOMAXPROCS. With -vs only this tree's side is kept. The folder can be committed.

With -history nothing is measured: files written by -keep or go test -bench form a time series,
ordered by commit time, by the date in the file name, or by modification time. For each
benchmark and unit it shows the course and the change points: between which revisions the level
changed, by how much, and whether at once or gradually. Each run counts once, however many
rounds it has: a change needs at least 8 runs to be found, 3 of them at the new level. Bytes and
allocations that do not vary within a run are compared exactly. If runs are independent, 5% of
the series reported as changed are false alarms; where neighbouring runs resemble each other, a
change is marked as unsure. Each CPU model, system and GOMAXPROCS is a separate series. -bench
filters, -unit selects, and -fail 5% exits with 3 if the newest change of a series is a
regression of more than that and not unsure.

What follows -- is a command, and each further -- starts another one, which is compared with
the first; with -vs, the version named there is the first. It runs without a shell, unless -shell names one.
{NAME} is replaced by each value of -param NAME=… in turn. A command that fails ends its
measurement.

Ctrl-C ends the rounds; what was measured so far is printed and judged. The exit code is 3 if
a time, bytes, allocations or peak memory got worse: proven, and by more than -fail. It is 1
if something could not be built, or failed.`,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		f := flags{set: fs}
		fs.StringVar(&f.bench, "bench", ".", "measure the benchmarks that `regexp` matches, as with go test -bench")
		fs.IntVar(&f.count, "count", 0, "take `number` rounds and then decide (default 10; with -vs or several commands\nas many as needed, at most 160)")
		fs.StringVar(&f.benchtime, "benchtime", "100ms", "how `long` a benchmark runs in a round, or 100x for that many operations")
		fs.StringVar(&f.budget, "budget", "", "end after the last round that fits into this `time`\n(default 2m if rounds continue until all is decided)")
		fs.StringVar(&f.vs, "vs", "", "compare with this `version`: a revision, a folder, a test binary, or a command")
		fs.StringVar(&f.fail, "fail", "0%", "with -vs or -history: exit with 3 if something got worse by more than `percent`")
		fs.BoolVar(&f.floor, "floor", false, "with -vs: also measure the noise floor, by a second build of the other\nversion; a change within it has no verdict")
		fs.BoolVar(&f.instructions, "instructions", false, "also count the instructions of an operation, by valgrind")
		fs.StringVar(&f.out, "o", "", "write all results to `file` in Go's benchmark format")
		fs.StringVar(&f.profile, "profile", "", "run each benchmark again with these profiles, a `list` of\ncpu, allocs, block, mutex, trace; with -vs report the cause of a change")
		fs.StringVar(&f.recording, "recording", "", "with -profile: keep the recordings below `dir`\n(default loupe-bench-TIME)")
		fs.Needs([]string{"recording"}, "profile")
		fs.StringVar(&f.bisect, "bisect", "", "find the revision in `GOOD..BAD` that changed a benchmark, which is named first")
		fs.StringVar(&f.keep, "keep", "", "also write the results to a new file in `dir`, for -history")
		fs.BoolVar(&f.history, "history", false, "measure nothing: find the changes in files written by -keep or go test -bench,\ngiven as files or folders")
		fs.StringVar(&f.unit, "unit", "", "with -bisect: follow this `figure`, such as ns/op or B/op (default the first\nthat changed, times first); with -history: a comma-separated list")
		fs.Needs([]string{"unit"}, "bisect", "history")
		fs.StringVar(&f.format, "format", "text", "output `format`: text, json, md or csv")
		fs.BoolVar(&f.json, "json", false, "same as -format json")
		fs.StringVar(&f.timeout, "timeout", "10m", "kill a process that takes `longer`")
		fs.StringVar(&f.build, "build", "", "`flags` for go build, such as '-tags foo -race'")
		fs.BoolVar(&f.quiet, "quiet", false, "print no progress")
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
			return command.Usagef("%q comes before --: measure either packages or commands", args[:f.set.Before])
		}
		return f.runCommands(e, args)
	}
	for _, name := range commandFlagNames {
		if f.set.Given(name) {
			return command.Usagef("-%s is for commands, which follow --", name)
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
		return command.Usagef("-format: unknown format %q: there are %s", f.format, strings.Join(known, ", "))
	}
	if f.set.Given("count") && f.count < 1 {
		return command.Usagef("-count: want at least 1")
	}
	if f.pattern, err = bench.ParsePattern(f.bench); err != nil {
		return command.Usagef("-bench: %w", err)
	}
	if n, ok := strings.CutSuffix(f.benchtime, "x"); ok {
		if f.times, err = strconv.ParseInt(n, 10, 64); err != nil || f.times < 1 {
			return command.Usagef("-benchtime: %q is not a number of operations such as 100x", f.benchtime)
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

// Package pgo is loupe pgo: profiles for the compiler (default.pgo), made, merged, trimmed and
// judged. One file for each verb.
package pgo

import (
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/pgo"
	"loupe/internal/cli/code/pgo/gain"
	"loupe/internal/cli/command"
	"loupe/report/guided"
)

// verb is one verb of loupe pgo.
type verb struct {
	name, args, short string
	run               func(f *flags, e *command.Env, args []string) error
}

// verbs returns the verbs in the order of the help text.
func verbs() []verb {
	return []verb{
		{"make", "FILE…", "write default.pgo into the folder of a main package", (*flags).makeProfile},
		{"merge", "FILE…", "merge several profiles, each with its weight", (*flags).merge},
		{"trim", "FILE…", "remove what the compiler does not read", (*flags).trim},
		{"judge", "[PACKAGE] [-- ARG…]", "does a profile still match, how old is it, and what does it gain", (*flags).judge},
	}
}

func verbNames() (names []string) {
	for _, v := range verbs() {
		names = append(names, v.name)
	}
	return names
}

// flags are those of all verbs.
type flags struct {
	set                   *command.FlagSet
	pkg, out, weigh       string
	weights               string
	keep, build           string
	profile, fail, format string
	top                   int
	replace, foreign      bool
	whole, json, quiet    bool

	how  pgo.Weighing
	gain gain.Flags
}

// verbFlags are the flags that some verbs alone know.
var verbFlags = map[string][]string{
	"for": {"make"}, "foreign": {"make"}, "whole": {"make", "merge"},
	"o": {"make", "merge", "trim"}, "replace": {"make", "merge", "trim"}, "weigh": {"make", "merge"}, "weights": {"make", "merge"},
	"keep": {"make", "trim"}, "build": {"make", "judge"},
	"profile": {"judge"}, "bench": {"judge"}, "in": {"judge"}, "budget": {"judge"}, "count": {"judge"}, "benchtime": {"judge"},
	"timeout": {"judge"}, "fail": {"judge"}, "input": {"judge"}, "n": {"judge"},
}

// Command is loupe pgo.
var Command = &command.Command{
	Name:  "pgo",
	Short: "make, merge, trim and judge the compiler's profile, default.pgo",
	Args:  "VERB [flags] …",
	Example: []string{
		"loupe pgo make -for ./cmd/server cpu.pb.gz              cmd/server/default.pgo, as small as possible",
		"loupe pgo make -for ./cmd/server pod1.pb.gz pod2.pb.gz  from several, by CPU time per second",
		"loupe pgo make -replace loupe-server-20261120-101500    from a recording",
		"loupe pgo merge -weigh equal -o all.pb.gz 'pods/*.pb.gz'",
		"loupe pgo trim -o small.pgo default.pgo                 the compiler decides the same",
		"loupe pgo judge ./cmd/server                            does it still match the source?",
		"loupe pgo judge ./cmd/tool -- -v in.txt                 and is the program faster with it?",
		"loupe pgo judge -bench . -in ./... ./cmd/server         and are the benchmarks?",
	},
	About: help(),
	Verbs: verbNames(),
	Files: true,
	Reads: true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		f := &flags{set: fs}
		fs.StringVar(&f.pkg, "for", ".", "make: the main `package` that the profile is for")
		fs.StringVar(&f.out, "o", "", "make, merge, trim: write this `file` (- is standard output)")
		fs.BoolVar(&f.replace, "replace", false, "make, merge, trim: replace an existing file")
		fs.StringVar(&f.weigh, "weigh", string(pgo.ByRate), "make, merge: count several profiles by `rate`, sum or equal")
		fs.StringVar(&f.weights, "weights", "", "make, merge: also multiply them by a `list` of numbers: 3,1,1")
		fs.BoolVar(&f.whole, "whole", false, "make, merge: keep whole stacks, with lines and files")
		fs.StringVar(&f.keep, "keep", "100%", "make, trim: keep the heaviest calls that make up this `share` of the weight")
		fs.BoolVar(&f.foreign, "foreign", false, "make: also accept a profile with nothing from the package's imports")
		fs.StringVar(&f.build, "build", "", "make, judge: `flags` for go build, such as '-tags foo'")
		fs.StringVar(&f.profile, "profile", "", "judge: the profile, `FILE` (default: default.pgo of the package)")
		fs.IntVar(&f.top, "n", 10, "judge: show at most `number` rows of each table")
		fs.StringVar(&f.fail, "fail", "", "judge: exit with 3 if more than this `share` of the weight is lost: 30%")
		f.gain.Declare(fs)
		fs.StringVar(&f.format, "format", "text", "output `format`: text, md, csv or json")
		fs.BoolVar(&f.json, "json", false, "same as -format json ("+guided.Schema+")")
		fs.BoolVar(&f.quiet, "quiet", false, "print no progress")
		return f.run
	},
}

// help tells what the verbs do.
func help() string {
	var b strings.Builder
	b.WriteString("\nVerbs:\n")
	for _, v := range verbs() {
		fmt.Fprintf(&b, "  %-27s %s\n", v.name+" "+v.args, v.short)
	}
	b.WriteString(`
FILE is a CPU profile, a recording with one, a pattern of them, a running service (:6060,
which is recorded for ten seconds) or the address of a profile. Heap, mutex and other profiles
are rejected, and so is anything the compiler would reject or ignore: profiles without start
lines of functions, without calls, or with negative values.

make writes what the compiler reads: the last two addresses of each stack with what was
inlined there. The calls and their weights equal those of the whole profile, so the compiler
decides the same (go tool preprofile confirms it). An existing file is replaced only with
-replace; one with the same content is left alone. A profile whose functions are all in
packages that the package does not import is from another program: it needs -foreign.

Several profiles are counted by rate: CPU time per second of recording, so that an hour of one
process does not swamp a minute of another. -weigh sum adds samples up, as go tool pprof -proto
does; -weigh equal gives every profile equal weight. -weights multiplies: 3,1 counts the first
three times.

trim does the same to a file. -keep 95% loses calls: it says how many of those that the
compiler considers hot, which make up 99% of the weight.

judge builds the package with the profile and asks the compiler for which calls it found a
weight: those still in the same function, on the same line relative to its start. It lists
what is lost, says how old the profile is and which commits have touched its hot functions
since, and what the compiler has inlined and devirtualised. With -- or -bench it builds once
more without the profile (-pgo=off), and both are interleaved until it is decided whether CPU
time is lower, as in loupe bench. A first build compiles all packages, including the standard
library. The exit code is 3 if more is lost than -fail allows, or if the program is slower
with the profile.`)
	return b.String()
}

// run finds the verb.
func (f *flags) run(e *command.Env, args []string) error {
	if len(args) == 0 {
		return command.Usagef("say what to do: %s", strings.Join(verbNames(), ", "))
	}
	i := slices.IndexFunc(verbs(), func(v verb) bool { return v.name == args[0] })
	if i < 0 {
		text := fmt.Sprintf("there is no loupe pgo %s; known are %s", args[0], strings.Join(verbNames(), ", "))
		return command.Usagef("%s", text)
	}
	if err := command.OnlyFor(args[0], verbFlags, f.set.Given); err != nil {
		return err
	}
	if f.set.Dashes && args[0] != "judge" {
		return command.Usagef("-- is for judge: %s runs nothing", args[0])
	}
	if f.json {
		f.format = "json"
	}
	if known := []string{"text", "json", "md", "csv"}; !slices.Contains(known, f.format) {
		return command.Usagef("-format: unknown format %q: there are %s", f.format, strings.Join(known, ", "))
	}
	f.how = pgo.Weighing(f.weigh)
	if !slices.Contains(pgo.Weighings, f.how) {
		return command.Usagef("-weigh %s: known are rate, sum, equal", f.weigh)
	}
	return verbs()[i].run(f, e, args[1:])
}

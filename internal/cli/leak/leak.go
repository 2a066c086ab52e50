// Package leak is loupe leak: does a program leak, which line, how fast, and when is the limit hit.
package leak

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"loupe/format/kind"
	"loupe/insight"
	"loupe/insight/leak"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/internal/cli/examine"
	"loupe/internal/cli/loadflags"
	"loupe/report"
	"loupe/report/leaks"
	"loupe/session"
	"loupe/source"
	"loupe/value/secret"
	"loupe/value/unit"
)

// Command is loupe leak.
var Command = &command.Command{
	Name:  "leak",
	Short: "memory and goroutine leaks: which line, how fast, until when",
	Args:  "[flags] FILE…|RECORDING|URL|PID",
	Example: []string{
		"loupe leak :6060                                       sample a running service for half a minute",
		"loupe leak http://host:6060/debug/pprof/heap           the same",
		"loupe leak -for 5m -limit 512MiB 4711                  a process, and when a container of that size is full",
		"loupe leak loupe-server-20261120-101500                a recording, also one of loupe watch",
		"GODEBUG=gctrace=1 ./server 2> server.log; loupe leak server.log",
		"loupe leak heap-*.pb.gz                                heap profiles of one program, taken over time",
		"loupe leak dump-*.txt                                  goroutine dumps, in the order of their numbers",
		"loupe leak -json REC | jq '.answer, .causes[].summary'",
	},
	About: `
One verdict from everything that was recorded: leak, no leak, or undecided with what would
decide. It looks at the live heap after collections, at heap and goroutine profiles over time
(line by line), at Go 1.26's own search for leaked goroutines, at open file descriptors, and at
memory beyond what the Go runtime knows about (cgo, mmap).

A quantity counts as leaking if it rises (Mann–Kendall, p < 0.01) and rises as fast at the end
as before. What has levelled off (a full cache, loaded data), has come back, or rises no faster
than the load is no leak. If the source removes entries at a bound, growth may be a cache that
still fills: that stays undecided. A line that grows counts although the whole does not. Rates
have an interval of 95 %: of a heap, by its sampling; of others, by Theil and Sen. Memory limits
are GOMEMLIMIT, the container's and the machine's, or -limit.

Each program, start and process of a log is judged by itself. Heap profiles count if a collection
ran between them; /debug/pprof/heap?gc=1 runs one. A bad file among several is left out, copies
count once. Profiles contain their time; dumps are taken in the order they are named in, or of
the numbers in their names after a shell has sorted them. Without a certain order it is undecided.

Run it while the program is under a steady load. With fewer than six measurements, or less time
than -least, nothing is called a leak, unless Go itself proves it. With a core in the recording
(loupe run -phases growth,core) it says what holds the memory.

` + door.Help[1:] + `

Exits with 3 for a leak, with 0 for none, and with 4 if it is undecided or the target cannot be
reached.`,
	Files: true,
	Reads: true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		f := &flags{}
		fs.BoolVar(&f.json, "json", false, "print JSON ("+leak.Schema+")")
		fs.StringVar(&f.length, "for", "30s", "how `long` to sample what runs")
		fs.StringVar(&f.least, "least", "10s", "shortest `time` that can show a leak")
		fs.StringVar(&f.limit, "limit", "", "`memory` limit to compare with (512MiB); default the recorded ones")
		f.asking.DeclareAccess(fs)
		return func(e *command.Env, args []string) error { return f.run(e, args) }
	},
}

type flags struct {
	json                 bool
	length, least, limit string
	asking               loadflags.Flags
}

// shortest is the least time that is worth sampling a running program for.
const shortest = 2 * time.Second

// phases are what is recorded of what runs: its own figures throughout, and ten looks.
func (f *flags) phases() (string, error) {
	length, err := unit.ParseDuration(f.length)
	if err != nil || length < shortest {
		return "", command.Usagef("-for %q: want a time of at least %s, such as 1m", f.length, unit.Duration(shortest))
	}
	bare := length / 10
	return fmt.Sprintf("bare:%s,growth:%s", bare, length-bare), nil
}

func (f *flags) run(e *command.Env, args []string) error {
	opt := leak.Options{}
	var err error
	if opt.Least, err = unit.ParseDuration(f.least); err != nil || opt.Least <= 0 {
		return command.Usagef("-least %q: want a time such as 10s", f.least)
	}
	if f.limit != "" {
		limit, err := unit.ParseBytes(f.limit)
		if err != nil || limit <= 0 {
			return command.Usagef("-limit %q: want a size such as 512MiB", f.limit)
		}
		opt.Limit = int64(limit)
	}
	phases, err := f.phases()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return command.Usagef("nothing to look at: want a recording, files, a process ID or the address of a service")
	}
	inputs, left, err := f.take(e, phases, overTime(e, args))
	if err != nil {
		return err
	}
	inputs, again := once(inputs)
	for _, text := range again {
		fmt.Fprintf(e.Stderr, "WARNING: %s\n", text)
	}
	left = append(left, again...)
	var all []*leak.Verdict
	for _, what := range subjects(inputs) {
		opt.Left, opt.Order = left, leak.Order{}
		if !what[0].Recording {
			what, opt.Order = inOrder(what)
		}
		x, err := what.Examine()
		if err != nil {
			return err
		}
		opt.Name = x.Report.Path
		v := leak.Decide(insight.NewInput(x.Session), x.Report.Findings, opt)
		if err := x.Close(); err != nil {
			return err
		}
		all = append(all, v)
	}
	if err := f.write(e, all); err != nil {
		return err
	}
	return verdictOf(all)
}

// take opens what was named. One of several files that is missing or cannot be read is left out,
// and said to be: the others are worth a verdict. What is bad alone is the error.
func (f *flags) take(e *command.Env, phases string, names []string) (good []*source.Input, left []string, err error) {
	d := door.New(e, phases, &f.asking)
	var first error
	leave := func(name string, why error) {
		if first == nil {
			first = why
		}
		left = append(left, fmt.Sprintf("%s was left out: %v", secret.URL(name), why))
	}
	for _, name := range names {
		some, err := door.Take(e, d, name)
		if err != nil {
			if len(names) == 1 || e.Ctx.Err() != nil {
				return nil, nil, err
			}
			leave(name, err)
			continue
		}
		for _, in := range some {
			err := readable([]*source.Input{in})
			if err == nil && len(names)+len(some) > 2 {
				err = usable(in)
			}
			if err != nil {
				leave(in.Name, err)
			} else {
				good = append(good, in)
			}
		}
	}
	if len(good) == 0 {
		return nil, nil, first
	}
	for _, text := range left {
		fmt.Fprintf(e.Stderr, "WARNING: %s\n", text)
	}
	return good, left, nil
}

// once leaves out copies: a file that is named twice, or has the bytes of another, is one look.
func once(inputs []*source.Input) (kept []*source.Input, said []string) {
	var files []*source.Input
	for _, in := range inputs {
		if in.Recording {
			kept = append(kept, in)
		} else {
			files = append(files, in)
		}
	}
	files, said = different(files)
	return append(kept, files...), said
}

// usable tells why one of several inputs cannot be looked at.
func usable(in *source.Input) error {
	if in.Recording {
		return nil
	}
	l := examine.NewLoose([]*source.Input{in})
	s, _, err := session.Loose(l.Files, l.Short)
	if err != nil {
		return err
	}
	return s.Close()
}

// overTime puts the service in the place of one of its profiles, http://host/debug/pprof/heap:
// one profile shows no growth. What else stands in the question is left as it is.
func overTime(e *command.Env, args []string) []string {
	var all []string
	for _, arg := range args {
		if service := profiled(arg); service != "" && service != arg {
			fmt.Fprintf(e.Stderr, "loupe leak: one profile shows no growth, so %s is sampled in place of %s\n", secret.URL(service), secret.URL(arg))
			arg = service
			if slices.Contains(all, arg) {
				continue
			}
		}
		all = append(all, arg)
	}
	return all
}

// profiled is the address of the service of which arg is a profile, empty where it is none.
func profiled(arg string) string {
	if !source.IsAddress(arg) || source.IsKept(arg) {
		return ""
	}
	before, query, _ := strings.Cut(arg, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return ""
	}
	for name := range values {
		if !slices.Contains([]string{"debug", "gc", "seconds"}, name) { // it may be needed to be let in
			return ""
		}
	}
	at := strings.LastIndex(before, "/debug/pprof/")
	if at < 0 || !slices.Contains([]string{"heap", "allocs", "goroutine", "goroutineleak"}, before[at+len("/debug/pprof/"):]) {
		return ""
	}
	return before[:at] + "/debug/pprof/"
}

// readable refuses what holds nothing over time, with the command that shows it.
func readable(inputs []*source.Input) error {
	if err := door.Readable(inputs); err != nil {
		return err
	}
	for _, in := range inputs {
		if !in.Recording && slices.Contains([]kind.Kind{kind.LoadText, kind.CompilerLog, kind.Tests, kind.Benchmarks, kind.SchedTrace}, in.Kind) {
			return door.WrongKind(in, "a recording, a heap or goroutine profile, a goroutine dump or a gctrace log")
		}
	}
	return nil
}

// subjects are the recordings, each by itself, and all files together.
func subjects(inputs []*source.Input) (all []examine.Subject) {
	var files examine.Subject
	for _, in := range inputs {
		if in.Recording {
			all = append(all, examine.Subject{in})
		} else {
			files = append(files, in)
		}
	}
	if len(files) > 0 {
		all = append(all, files)
	}
	return all
}

func (f *flags) write(e *command.Env, all []*leak.Verdict) error {
	return command.Buffered(e.Stdout, func(w io.Writer) error {
		for i, v := range all {
			if f.json {
				if err := report.WriteJSON(w, v); err != nil {
					return err
				}
				continue
			}
			if len(all) > 1 {
				if i > 0 {
					fmt.Fprintln(w)
				}
				fmt.Fprintln(w, v.Name)
			}
			if err := leaks.Write(w, v, e.Style()); err != nil {
				return err
			}
		}
		return nil
	})
}

// verdictOf is the exit code of all verdicts: a leak counts most, then what is open.
func verdictOf(all []*leak.Verdict) error {
	open := false
	for _, v := range all {
		if v.Answer == leak.Yes {
			return command.ErrFound
		}
		open = open || v.Answer == leak.Undecided
	}
	if open {
		return command.Exit(command.ExitNothing)
	}
	return nil
}

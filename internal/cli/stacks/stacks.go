// Package stacks is loupe stacks: what goroutines do, of dumps, services and processes.
package stacks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"time"

	"loupe/capture/live"
	"loupe/format/dump"
	"loupe/format/kind"
	"loupe/internal/cli/command"
	"loupe/internal/cli/core"
	"loupe/internal/cli/door"
	"loupe/internal/cli/examine"
	"loupe/internal/cli/loadflags"
	"loupe/report"
	"loupe/source"
	"loupe/source/bounded"
	"loupe/value/unit"
)

// Core is loupe core, which is of the same family: the dump of a whole process.
var Core = core.Command

// Command is loupe stacks.
var Command = &command.Command{
	Name:  "stacks",
	Short: "what goroutines do: panics, dumps, race reports, live processes",
	Args:  "[flags] FILE|-|URL|PID [NEW]",
	Example: []string{
		"loupe stacks crash.log",
		"loupe stacks 4711                                    of a running process, which is not disturbed",
		"kubectl logs web-0 | loupe stacks -",
		"loupe stacks http://localhost:6060/debug/pprof/goroutine?debug=2",
		"loupe stacks before.txt after.txt                    what grew, is new, is gone",
		"loupe stacks -filter 'state~chan age>=10m' dump.txt",
		"loupe stacks -binary ./server crash.log                 with names, types and values of arguments",
		"loupe stacks -flame goroutines.html dump.txt         also -svg and -proto FILE.pb.gz",
		"loupe stacks -json dump.txt | jq '.groups[] | {count, state}'",
	},
	About: `
Finds the dumps in any text: the output of a program that panicked, deadlocked or got SIGQUIT,
/debug/pprof/goroutine with debug=1 or debug=2, a test that timed out, the race detector, of
every Go version since 1.4; after log prefixes, inside JSON, gzipped, several in one file.
Goroutines form one group if they are at the same lines in the same state, whatever their
arguments. Suspicious groups come first. - reads standard input.

With -binary argument words get the names and types of their parameters, and values: lengths,
constant strings, the types in interfaces. Words that Go marks with ? are unreliable and are
not explained. Without a binary the sources are used, if the files named in the dump are on
this machine.

With a process ID its goroutines are read from its memory while it runs (Linux; Go 1.18 and
later; the same user, or root). The process is neither stopped nor changed and needs no port
or import. Goroutines running at that moment have no stack.

A core file shows its goroutines as well, with -binary or the program it names; loupe core shows more.

debug=2 stops the program while it collects, seconds with 100,000 goroutines, and Go silently
truncates it at 64 MiB; loupe says when that has happened.

FILE may be compressed, be in a zip file, or be that of a recording.

` + dump.FilterHelp,
	Files: true,
	Reads: true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		f := &stacksFlags{}
		fs.BoolVar(&f.json, "json", false, "print JSON ("+report.StacksSchema+")")
		fs.BoolVar(&f.full, "full", false, "also list every goroutine, with the words of its arguments")
		fs.StringVar(&f.binary, "binary", "", "the `program` that printed the dump: it explains the argument words")
		fs.StringVar(&f.filter, "filter", "", "select a part: `terms` like \"state~chan func~handle age>=5m\"")
		fs.StringVar(&f.dump, "dump", "", "`number` of the dump to show, or all; default: the last one in the file")
		fs.IntVar(&f.top, "n", 20, "show at most `n` groups; 0 is all")
		fs.StringVar(&f.flame, "flame", "", "write a flame graph to this `file` (HTML)")
		fs.StringVar(&f.svg, "svg", "", "write a flame graph to this `file` (SVG)")
		fs.StringVar(&f.proto, "proto", "", "write a goroutine profile for loupe pprof or go tool pprof to this\n`file`, with labels for state and wait")
		fs.StringVar(&f.wait, "timeout", "1m", "`time` limit for a URL to answer")
		f.given = fs.Given
		f.asking.DeclareAccess(fs)
		return func(e *command.Env, args []string) error { return runStacks(e, f, args) }
	},
}

type stacksFlags struct {
	json, full         bool
	filter, dump, wait string
	binary             string
	top                int
	flame, svg, proto  string
	asking             loadflags.Flags
	given              func(flag string) bool

	parsed  *dump.Filter
	timeout time.Duration
}

func runStacks(e *command.Env, f *stacksFlags, args []string) (err error) {
	switch {
	case len(args) == 0:
		return command.Usagef("nothing to read: want a file, - for standard input, a process ID, or http://HOST:PORT/debug/pprof/goroutine?debug=2")
	case len(args) > 2:
		return command.Usagef("too many arguments: %q", args[2:])
	case len(args) == 2 && (f.flame != "" || f.svg != "" || f.proto != "" || f.full):
		return command.Usagef("-full, -flame, -svg and -proto are for one dump, not a comparison")
	case len(args) == 2 && args[0] == "-" && args[1] == "-":
		return command.Usagef("standard input is one dump: give the other as a file")
	case len(args) == 2 && f.binary != "":
		return command.Usagef("-binary explains one dump, not a comparison")
	}
	if f.parsed, err = dump.ParseFilter(f.filter); err != nil {
		return command.Usagef("-filter: %w", err)
	}
	if f.timeout, err = unit.ParseDuration(f.wait); err != nil || f.timeout <= 0 {
		return command.Usagef("-timeout %q: want a time such as 30s", f.wait)
	}
	if _, err := strconv.ParseUint(f.dump, 10, 31); err != nil && f.dump != "" && f.dump != "all" {
		return command.Usagef("-dump %q: want a number, or all", f.dump)
	}
	if !slices.ContainsFunc(args, source.IsAddress) {
		for _, name := range append(f.asking.GivenAccess(), "timeout") {
			if f.given(name) {
				return command.Usagef("-%s is for the URL of a service, but there is none", name)
			}
		}
	}
	var views []*report.Stacks
	d := door.New(e, "", &f.asking)
	d.Fetch = f.fetch(e)
	for _, name := range args {
		v, done, err := openStacks(e, f, d, name)
		if err != nil {
			return err
		}
		defer done()
		views = append(views, v)
	}
	if len(views) == 2 {
		c := report.CompareStacks(views[0], views[1])
		return command.Buffered(e.Stdout, func(w io.Writer) error {
			if f.json {
				return report.WriteJSON(w, report.StacksComparisonJSON(c))
			}
			return report.WriteStacksComparison(w, c, e.Style())
		})
	}
	v := views[0]
	explained, err := explainStacks(e, f, v)
	if err != nil {
		return err
	}
	defer explained()
	if written, err := writeStackFiles(f, v); written || err != nil {
		return err
	}
	return command.Buffered(e.Stdout, func(w io.Writer) error {
		if f.json {
			return report.WriteJSON(w, report.StacksJSON(v))
		}
		return report.WriteStacks(w, v, e.Style())
	})
}

// openStacks reads the dumps of what was named.
func openStacks(e *command.Env, f *stacksFlags, d *source.Door, name string) (v *report.Stacks, done func() error, err error) {
	if pid, ok := processNumber(name); ok {
		file, err := liveStacks(pid)
		return f.view(name, noClose, file, err)
	}
	address := name
	if source.IsAddress(name) {
		if address, err = stacksURL(name); err != nil {
			return nil, nil, err
		}
	}
	in, err := door.TakeOne(e, d, address)
	if err != nil {
		return nil, nil, err
	}
	return f.of(e, in)
}

// processNumber tells the number of a process from the name of a file.
func processNumber(name string) (int, bool) {
	pid, err := strconv.ParseUint(name, 10, 31)
	if err != nil {
		return 0, false
	}
	_, err = os.Stat(name)
	return int(pid), errors.Is(err, fs.ErrNotExist)
}

// of reads the dumps of an input.
func (f *stacksFlags) of(e *command.Env, in *source.Input) (v *report.Stacks, done func() error, err error) {
	if in.Kind == kind.Core {
		v = &report.Stacks{Name: in.Name, Top: f.top, Full: f.full, Filter: f.filter}
		done, err := coreStacks(e, f, in.Path, v)
		if err != nil {
			return nil, nil, err
		}
		return f.choose(v, done)
	}
	file, err := readStacks(in)
	if err == nil && door.IsLog(in.Kind) && file.Len() == 0 && len(file.Races) == 0 {
		return nil, nil, door.WrongKind(in, "a goroutine dump")
	}
	return f.view(in.Name, noClose, file, err)
}

// view is what is shown of dumps.
func (f *stacksFlags) view(name string, done func() error, file *dump.File, err error) (*report.Stacks, func() error, error) {
	if err != nil {
		return nil, nil, err
	}
	return f.choose(&report.Stacks{Name: name, Top: f.top, Full: f.full, Filter: f.filter, File: file}, done)
}

// choose picks the dump that is shown, and what of it.
func (f *stacksFlags) choose(v *report.Stacks, done func() error) (*report.Stacks, func() error, error) {
	if v.File.Len() == 0 && len(v.File.Races) == 0 && len(v.File.Dumps) == 0 {
		why := "no goroutine dump and no race report"
		if v.File.Unrecognised > 0 {
			why += fmt.Sprintf(", but %d lines that look like a part of one, the first in line %d", v.File.Unrecognised, v.File.Odd[0].Number)
		}
		done()
		return nil, nil, command.Nothingf("%s holds %s (kill -QUIT PID makes a Go program print one and end; a server with net/http/pprof has /debug/pprof/goroutine?debug=2)", v.Name, why)
	}
	n := len(v.File.Dumps)
	switch f.dump {
	case "all":
		v.Dump = -1
	case "":
		v.Dump = max(n-1, 0)
	default:
		v.Dump, _ = strconv.Atoi(f.dump)
		if v.Dump < 1 || v.Dump > n {
			done()
			return nil, nil, command.Usagef("-dump %s: %s has the dumps 1 to %d", f.dump, v.Name, n)
		}
		v.Dump--
	}
	if f.parsed != nil {
		v.Keep = f.parsed.Keep(v.File)
	}
	return v, done, nil
}

// wholeDump is the size up to which a file of dumps is kept while it is shown, for
// the arguments of all frames; of a longer one as much is known as of a stream.
const wholeDump = 256 << 20

// readStacks reads the dumps of a file, or those of a recording.
func readStacks(in *source.Input) (*dump.File, error) {
	switch {
	case in.Recording:
		return examine.LastDump(in)
	case slices.Contains([]kind.Kind{kind.Trace, kind.Profile, kind.Load, kind.LoadText, kind.Benchmarks, kind.Tests, kind.CompilerLog, kind.Program}, in.Kind):
		return nil, door.WrongKind(in, "a goroutine dump")
	}
	file, err := os.Open(in.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > wholeDump {
		return dump.Read(file) // which keeps little of it, however much comes
	}
	data, err := bounded.ReadNamed(in.Path)
	if err != nil {
		return nil, err
	}
	return dump.Parse(data), nil
}

// liveStacks reads the goroutines of a running process out of its memory.
func liveStacks(pid int) (*dump.File, error) {
	p, err := live.Open(pid)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("there is neither a process nor a file named %d", pid)
		}
		return nil, command.Nothing(err)
	}
	defer p.Close()
	f, err := p.Goroutines()
	if err != nil {
		return nil, command.Nothing(err)
	}
	return f, nil
}

// Report prints a dump in a form of loupe report, after what was found in
// it. The JSON is that of loupe stacks.
func Report(e *command.Env, x *examine.Examined, in *source.Input, format string) error {
	r := x.Report
	f := &stacksFlags{top: 20}
	v, done, err := f.of(e, in)
	if err != nil {
		return err
	}
	defer done()
	explained, err := explainStacks(e, &stacksFlags{}, v)
	if err != nil {
		return err
	}
	defer explained()
	found := len(r.Found()) > 0
	text := func(w io.Writer, s report.Style) error {
		if found {
			if err := report.WriteFound(w, r, s); err != nil {
				return err
			}
		}
		return report.WriteStacks(w, v, s)
	}
	return command.Buffered(e.Stdout, func(w io.Writer) error {
		switch format {
		case "json":
			return report.WriteJSON(w, report.StacksJSON(v))
		case "md":
			if found {
				if err := report.WriteFoundMarkdown(w, r); err != nil {
					return err
				}
			}
			return report.WriteStacksMarkdown(w, v)
		case "svg":
			return report.WriteSVG(w, command.SVGColumns, text)
		}
		return text(w, e.Style())
	})
}

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"loupe/dump"
	"loupe/live"
	"loupe/report"
	"loupe/secret"
	"loupe/source"
	"loupe/unit"
)

var stacksCommand = &command{
	name:  "stacks",
	short: "what goroutines do: panics, dumps, race reports, running processes",
	args:  "[flags] FILE|-|URL|PID [NEW]",
	example: []string{
		"loupe stacks crash.log",
		"loupe stacks 4711                                    of a running process, which does not notice",
		"kubectl logs web-0 | loupe stacks -",
		"loupe stacks http://localhost:6060/debug/pprof/goroutine?debug=2",
		"loupe stacks before.txt after.txt                    what grew, is new, is gone",
		"loupe stacks -filter 'state~chan age>=10m' dump.txt",
		"loupe stacks -binary ./server crash.log                 with names, types and values of arguments",
		"loupe stacks -flame goroutines.html dump.txt         also -svg and -proto FILE.pb.gz",
		"loupe stacks -json dump.txt | jq '.groups[] | {count, state}'",
	},
	about: `
Finds the dumps in any text: what a program printed when it panicked, deadlocked
or got SIGQUIT, /debug/pprof/goroutine with debug=1 or debug=2, a test that has
timed out, the race detector, of every Go version since 1.4; behind the prefixes
of a log, inside JSON, packed with gzip, several in one file. Goroutines are one
group when they are at the same lines in the same state, whatever their
arguments. What is suspicious stands first. - reads standard input.

With -binary the words of arguments get the names and types of their parameters,
and values: lengths, constant strings, the types in interfaces. Words that Go
marks with ? are no facts and are not explained. Without a binary the sources do,
where the files that the dump names are on this machine.

With the number of a process its goroutines are read out of its memory while it runs
(Linux; Go 1.18 and later; the same user, or root). It is neither stopped nor changed
and needs no port and no import. What runs at that moment has no stack.

A core file shows its goroutines as well, with -binary or by the program that it
names; loupe core tells more of it.

debug=2 stops the program for as long as it takes, seconds with 100,000
goroutines, and Go cuts it off at 64 MiB without a word; loupe says when that has
happened.

` + dump.FilterHelp,
	files: true,
	reads: true,
	setup: func(fs *flagSet) func(*env, []string) error {
		f := &stacksFlags{}
		fs.BoolVar(&f.json, "json", false, "print JSON ("+report.StacksSchema+")")
		fs.BoolVar(&f.full, "full", false, "also list every goroutine, with the words of its arguments")
		fs.StringVar(&f.binary, "binary", "", "the `program` that printed the dump: it says what the words of\narguments are")
		fs.StringVar(&f.filter, "filter", "", "look at a part: `terms` like \"state~chan func~handle age>=5m\"")
		fs.StringVar(&f.dump, "dump", "", "`number` of the dump to show, or all; else the last one of the file")
		fs.IntVar(&f.top, "n", 20, "show at most `n` groups; 0 is all")
		fs.StringVar(&f.flame, "flame", "", "write a flame graph to this `file` (HTML)")
		fs.StringVar(&f.svg, "svg", "", "write a flame graph to this `file` (SVG)")
		fs.StringVar(&f.proto, "proto", "", "write a goroutine profile for loupe pprof or go tool pprof to this\n`file`, with labels for state and wait")
		fs.StringVar(&f.wait, "timeout", "1m", "the `time` that a URL may take to answer")
		f.given = fs.given
		f.asking.declareAccess(fs)
		return func(e *env, args []string) error { return runStacks(e, f, args) }
	},
}

type stacksFlags struct {
	json, full         bool
	filter, dump, wait string
	binary             string
	top                int
	flame, svg, proto  string
	asking             loadFlags
	given              func(flag string) bool

	parsed  *dump.Filter
	timeout time.Duration
}

func runStacks(e *env, f *stacksFlags, args []string) (err error) {
	switch {
	case len(args) == 0:
		return usagef("say what to read: a file, - for standard input, the number of a process, or http://HOST:PORT/debug/pprof/goroutine?debug=2")
	case len(args) > 2:
		return usagef("too many arguments: %q", args[2:])
	case len(args) == 2 && (f.flame != "" || f.svg != "" || f.proto != "" || f.full):
		return usagef("-full, -flame, -svg and -proto are of one dump, not of a comparison")
	case len(args) == 2 && f.binary != "":
		return usagef("-binary explains one dump, not a comparison")
	case len(args) == 2 && args[0] == "-" && args[1] == "-":
		return usagef("standard input is one dump: give the other as a file")
	}
	if f.parsed, err = dump.ParseFilter(f.filter); err != nil {
		return usagef("-filter: %w", err)
	}
	if f.timeout, err = unit.ParseDuration(f.wait); err != nil || f.timeout <= 0 {
		return usagef("-timeout %q: want a time such as 30s", f.wait)
	}
	if _, err := strconv.ParseUint(f.dump, 10, 31); err != nil && f.dump != "" && f.dump != "all" {
		return usagef("-dump %q: want a number, or all", f.dump)
	}
	if !slices.ContainsFunc(args, isURL) {
		for _, name := range append(f.asking.givenAccess(), "timeout") {
			if f.given(name) {
				return usagef("-%s is for the URL of a service, and there is none", name)
			}
		}
	}
	var views []*report.Stacks
	for _, name := range args {
		v, done, err := openStacks(e, f, name)
		if err != nil {
			return err
		}
		defer done()
		views = append(views, v)
	}
	if len(views) == 2 {
		c := report.CompareStacks(views[0], views[1])
		return buffered(e.stdout, func(w io.Writer) error {
			if f.json {
				return report.WriteJSON(w, report.StacksComparisonJSON(c))
			}
			return report.WriteStacksComparison(w, c, e.style())
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
	return buffered(e.stdout, func(w io.Writer) error {
		if f.json {
			return report.WriteJSON(w, report.StacksJSON(v))
		}
		return report.WriteStacks(w, v, e.style())
	})
}

// openStacks reads the dumps of a file, of standard input or behind a URL.
func openStacks(e *env, f *stacksFlags, name string) (v *report.Stacks, done func() error, err error) {
	done = func() error { return nil }
	v = &report.Stacks{Name: name, Top: f.top, Full: f.full, Filter: f.filter}
	switch {
	case name == "-":
		v.Name = "standard input"
		v.File, err = dump.Read(e.stdin)
	case isURL(name):
		v.Name = secret.URL(name)
		v.File, err = fetchStacks(e, f, name)
	case isCore(name):
		done, err = coreStacks(e, f, name, v)
	default:
		v.File, done, err = readStacks(e, name)
	}
	if err != nil {
		return nil, nil, err
	}
	if v.File.Len() == 0 && len(v.File.Races) == 0 && len(v.File.Dumps) == 0 {
		why := "no goroutine dump and no race report"
		if v.File.Unrecognised > 0 {
			why += fmt.Sprintf(", but %d lines that look like a part of one, the first in line %d", v.File.Unrecognised, v.File.Odd[0].Number)
		}
		done()
		return nil, nil, exitError{exitNothing, fmt.Errorf("%s holds %s (kill -QUIT PID makes a Go program print one and end; a server with net/http/pprof has /debug/pprof/goroutine?debug=2)", v.Name, why)}
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
			return nil, nil, usagef("-dump %s: %s has the dumps 1 to %d", f.dump, v.Name, n)
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

// readStacks reads the dumps of a file.
func readStacks(e *env, name string) (*dump.File, func() error, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if pid, nerr := strconv.ParseUint(name, 10, 31); nerr == nil {
			f, err := liveStacks(int(pid))
			return f, func() error { return nil }, err
		}
		return nil, nil, exitError{exitNothing, fmt.Errorf("cannot find %s", name)}
	}
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		return nil, nil, usagef("%s is a folder: give a file with a dump (for a recording: loupe report %s)", name, name)
	}
	if info.Mode().IsRegular() && info.Size() > wholeDump {
		file, err := os.Open(name)
		if err != nil {
			return nil, nil, err
		}
		defer file.Close()
		e.reads(name, info)
		var text io.Reader = file
		head := headOf(name)
		if !bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
			if _, err := parseStacks(name, head); err != nil { // it is something else
				return nil, nil, err
			}
		} else {
			if text, err = gzip.NewReader(file); err != nil {
				return nil, nil, fmt.Errorf("cannot unpack %s: %w", name, err)
			}
		}
		f, err := dump.Read(text) // which keeps little of it, however much comes
		return f, nothingToClose, err
	}
	data, err := source.ReadNamed(name)
	if err != nil {
		return nil, nil, err
	}
	f, err := parseStacks(name, data)
	return f, nothingToClose, err
}

// liveStacks reads the goroutines of a running process out of its memory.
func liveStacks(pid int) (*dump.File, error) {
	p, err := live.Open(pid)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("there is no process %d, and no file of this name", pid)
		}
		return nil, exitError{exitNothing, err}
	}
	defer p.Close()
	f, err := p.Goroutines()
	if err != nil {
		return nil, exitError{exitNothing, err}
	}
	return f, nil
}

// isURL tells an address from the name of a file: http://host:6060, :6060, and
// host:6060 with what may follow, where no file has that name.
func isURL(name string) bool {
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		return true
	}
	address, _, _ := strings.Cut(name, "/")
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil || host == "" {
		return err == nil
	}
	_, err = os.Stat(name)
	return errors.Is(err, fs.ErrNotExist)
}

// isDump tells whether a file begins like a dump or a log with one.
func isDump(name string) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	what, _, err := sniff(name)
	return err == nil && what[0] == "stacks"
}

// reportStacks prints a dump in a form of loupe report, after what was found in
// it. The JSON is that of loupe stacks.
func reportStacks(e *env, r *report.Recording, name, format string) error {
	v, done, err := openStacks(e, &stacksFlags{top: 20}, name)
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
	return buffered(e.stdout, func(w io.Writer) error {
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
			return report.WriteSVG(w, svgColumns, text)
		}
		return text(w, e.style())
	})
}

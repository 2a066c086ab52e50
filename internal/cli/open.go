package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"loupe/core"
	"loupe/godebug"
	"loupe/profile"
	"loupe/recording"
	"loupe/report"
	"loupe/session"
	"loupe/source"
)

// newOpenCommand is a function because it calls other commands.
func newOpenCommand() *command {
	return &command{
		name:  "open",
		short: "show recordings, traces, profiles, dumps, cores and logs in the browser",
		args:  "[flags] [FILE…]",
		example: []string{
			"loupe open loupe-server-20261120-101500",
			"loupe open trace.out cpu.pb.gz heap.pb.gz",
			"loupe open old.txt new.txt                       outputs of go test -bench -count=10",
			"loupe open ./server core.4711                    how it ended, goroutines, heap; two to compare",
			"loupe open                                       all recordings in this folder",
			"loupe open -text trace.out                       the first page on the terminal",
		},
		about: `
FILE is anything that loupe knows: a recording, a folder of recordings, an execution
trace of any Go version, a profile, a goroutine dump, a core file, a load run of loupe
load -save, the output of go test -bench, a log of GODEBUG=gctrace=1,schedtrace=1000.
Recordings and files that are being written are followed. Files that are named
together are taken to be of one program, and outputs of benchmarks to be compared, the
others with the first. A program among them says what the cores and dumps mean; without
one a core is read with the program that it names, if that build is still there.

The pages are served on this machine alone, at the address that is printed, until
the command is interrupted; the address is secret. A browser is opened when there is
a terminal. With -text nothing is served: what is wrong in each file and its first
page are printed, and the commands that show more of it.`,
		files: true,
		reads: true,
		setup: func(fs *flagSet) func(*env, []string) error {
			asText := fs.Bool("text", false, "print what is wrong and the first page of each file instead")
			port := fs.Int("port", 0, "`number` of the port; 0 takes a free one")
			browse := fs.String("browser", "auto", "open one or not: `when` is auto (on a terminal, and not over ssh), yes or no")
			return func(e *env, args []string) error {
				if !slices.Contains([]string{"auto", "yes", "no"}, *browse) {
					return usagef("-browser: %q is none of auto, yes, no", *browse)
				}
				if !*asText {
					if len(args) == 0 {
						args = []string{"."}
					}
					auto := *browse == "auto" && isTerminal(e.stdout) && os.Getenv("SSH_CONNECTION") == "" && os.Getenv("CI") == ""
					return openWeb(e, args, *port, *browse == "yes" || auto)
				}
				if len(args) == 0 {
					return usagef("say what to open: loupe open -text FILE")
				}
				files, programs, err := splitPrograms(args)
				if err != nil {
					return err
				}
				for i, name := range files {
					if i > 0 {
						fmt.Fprintln(e.stdout)
					}
					if err := openFile(e, name, programs); err != nil {
						return err
					}
				}
				return nil
			}
		},
	}
}

// openFile shows the first page of one file. The programs say what cores and dumps
// mean.
func openFile(e *env, name string, programs []string) error {
	what, more, err := sniff(name)
	if err != nil {
		return err
	}
	if what[0] != "report" && what[0] != "benchmarks" && what[0] != "core" {
		if err := writeFound(e, name); err != nil {
			return err
		}
	}
	if show, ok := firstPages[what[0]]; ok {
		fmt.Fprintln(e.stdout)
		if err := show(e, name); err != nil {
			return err
		}
		fmt.Fprintf(e.stderr, "\n%s\n", strings.ReplaceAll(more, "FILE", shellWord(name)))
		return nil
	}
	args := append(slices.Clone(what[1:]), name)
	switch {
	case len(programs) > 0 && what[0] == "core":
		args = []string{programs[0], name}
	case len(programs) > 0 && what[0] == "stacks":
		args = []string{"-binary", programs[0], name}
	}
	if code := find(what[0]).main(e, args); code != exitOK && code != exitFound {
		return exitError{code, nil}
	}
	fmt.Fprintf(e.stderr, "\n%s\n", strings.ReplaceAll(more, "FILE", shellWord(name)))
	return nil
}

// firstPages print what has no command of its own.
var firstPages = map[string]func(e *env, name string) error{"load run": showLoad, "benchmarks": showBenchmarks}

// showLoad prints a load run that was saved.
func showLoad(e *env, name string) error {
	l, err := readLoad(e, name)
	if err != nil {
		return err
	}
	return buffered(e.stdout, func(w io.Writer) error { return report.WriteLoad(w, l) })
}

// known is a kind of file: the command that shows its first page, and
// what shows more of it.
type known struct {
	command []string
	more    string
}

var (
	knownRecording = known{[]string{"report"}, "more: loupe trace summary FILE, loupe gc FILE, loupe sched FILE, loupe compare FILE OTHER"}
	knownCore      = known{[]string{"core"}, "more: loupe core goroutines|threads|heap FILE, loupe stacks FILE"}
	knownProfile   = known{[]string{"pprof", "-top", "-nodecount", "20"}, "more: loupe pprof -list REGEXP FILE, loupe pprof -totals FILE"}
	knownGC        = known{[]string{"gc"}, "more: loupe gc -cycles FILE, loupe sched FILE"}
	knownSched     = known{[]string{"sched"}, "more: loupe gc FILE"}
)

var knownKinds = map[recording.Kind]known{
	recording.Load:          {[]string{"load run"}, "more: loupe open FILE, loupe compare FILE OTHER"},
	recording.ExecTrace:     {[]string{"trace", "summary"}, "more: loupe trace goroutines|blocked|sched|tasks|stw|mmu|profile FILE"},
	recording.Stacks:        {[]string{"stacks"}, "more: loupe stacks -full FILE, loupe stacks -flame OUT.html FILE, loupe stacks FILE LATER"},
	session.BenchmarkOutput: {[]string{"benchmarks"}, "more: loupe open FILE, loupe compare FILE OTHER"},
	session.OtherProfile:    knownProfile,
}

// sniff returns the command that shows a file's first page, and a line that
// says what shows more.
func sniff(name string) (command []string, more string, err error) {
	k, err := identify(name)
	return k.command, k.more, err
}

// identify tells what a file is.
func identify(name string) (known, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return known{}, exitError{exitNothing, fmt.Errorf("cannot find %s", name)}
	case err != nil:
		return known{}, err
	case info.IsDir():
		return knownRecording, nil
	case !info.Mode().IsRegular():
		return known{}, fmt.Errorf("%s is no file but a pipe or a device: put what comes out of it into a file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return known{}, err
	}
	defer f.Close()
	head := make([]byte, 64)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return known{}, err
	}
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return knownRecording, nil
	case core.LooksLike(head):
		return knownCore, nil
	}
	kind, part, err := session.Identify(f)
	if err != nil {
		return known{}, err
	}
	if kind == recording.Stderr {
		if gctrace, _ := godebug.Looks(part); !gctrace {
			return knownSched, nil
		}
		return knownGC, nil
	}
	if k, ok := knownKinds[kind]; ok {
		return k, nil
	}
	// Profiles of other tools begin in many ways.
	if info.Size() >= 1<<30 {
		return known{}, cannotTell(name)
	}
	if data, err := source.ReadNamed(name); err == nil {
		if _, err := profile.Decode(data, profile.Options{}); err == nil {
			return knownProfile, nil
		}
	}
	return known{}, cannotTell(name)
}

// cannotTell is the error of a file that is nothing of what loupe knows.
func cannotTell(name string) error {
	return fmt.Errorf("cannot tell what %s is: it is no recording, execution trace, profile, goroutine dump, core, load run, output of go test -bench or log of GODEBUG=gctrace=1,schedtrace=1000", name)
}

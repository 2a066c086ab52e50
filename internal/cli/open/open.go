// Package open is loupe open, the pages in the browser or the first page on the terminal; and it
// lists the commands that show the same elsewhere, in editors and in clients of MCP.
package open

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"loupe/format/kind"
	"loupe/internal/cli/command"
	"loupe/internal/cli/compare"
	"loupe/internal/cli/door"
	"loupe/internal/cli/examine"
	"loupe/internal/cli/loadflags"
	"loupe/internal/cli/lsp"
	"loupe/internal/cli/mcp"
	"loupe/internal/cli/pages"
	"loupe/report"
	"loupe/source"
	"loupe/web"
)

// Commands are loupe open, loupe mcp and loupe lsp.
var Commands = []*command.Command{Command, mcp.Command, lsp.Command}

// Command is loupe open.
var Command = &command.Command{
	Name:  "open",
	Short: "show recordings, traces, profiles, dumps, cores and logs in the browser",
	Args:  "[flags] [FILE…]",
	Example: []string{
		"loupe open loupe-server-20261120-101500",
		"loupe open trace.out cpu.pb.gz heap.pb.gz",
		"loupe open old.txt new.txt                       outputs of go test -bench -count=10",
		"loupe open ./server core.4711                    how it ended, goroutines, heap; two can be compared",
		"loupe open                                       all recordings in this folder",
		"loupe open -text trace.out                       the first page, on the terminal",
	},
	About: `
FILE is anything that loupe can read: a recording, a folder of recordings, an execution trace
of any Go version, a profile, a goroutine dump, a core file, a load run of loupe load -save,
the output of go test -bench, a log of GODEBUG=gctrace=1,schedtrace=1000 (also inittrace,
scavtrace, gcpacertrace), what the compiler prints with -gcflags=-m. Recordings and files
still being written are followed. Files named together are assumed to belong to one program;
benchmark outputs are compared with the first one. A program among them is used to interpret
cores and dumps; without one, a core is read with the program it names, if that build still
exists.
` + door.Help[1:] + `

The pages are served only on this machine, at the printed address, until the command is
interrupted; the address is secret. A browser is opened if there is a terminal. With -text
nothing is served: the findings in each file and its first page are printed, with the commands
that show more.`,
	Files: true,
	Reads: true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		asText := fs.Bool("text", false, "print the findings and the first page of each file instead")
		port := fs.Int("port", 0, "port `number`; 0 takes a free one")
		browse := fs.String("browser", "auto", "open a browser: `when` is auto (on a terminal, not over ssh), yes or no")
		var asking loadflags.Flags
		asking.DeclareAccess(fs)
		return func(e *command.Env, args []string) error {
			if !slices.Contains([]string{"auto", "yes", "no"}, *browse) {
				return command.Usagef("-browser: want auto, yes or no, not %q", *browse)
			}
			d := door.New(e, door.LookPhases, &asking)
			if !*asText {
				if len(args) == 0 {
					args = []string{"."}
				}
				auto := *browse == "auto" && command.IsTerminal(e.Stdout) && os.Getenv("SSH_CONNECTION") == "" && os.Getenv("CI") == ""
				return openWeb(e, d, args, *port, *browse == "yes" || auto)
			}
			if len(args) == 0 {
				return command.Usagef("nothing to open: loupe open -text FILE")
			}
			inputs, err := door.Take(e, d, args...)
			if err != nil {
				return err
			}
			files, programs, err := pages.SplitPrograms(inputs)
			if err != nil {
				return err
			}
			if err := door.Readable(files); err != nil {
				return err
			}
			for i, in := range files {
				if i > 0 {
					fmt.Fprintln(e.Stdout)
				}
				if err := openFile(e, in, programs); err != nil {
					return err
				}
			}
			return nil
		}
	},
}

// openFile shows the first page of one input. The programs say what cores and dumps
// mean.
func openFile(e *command.Env, in *source.Input, programs []*source.Input) error {
	page := pageOf(in)
	if page.found {
		if err := examine.WriteFound(e, in); err != nil {
			return err
		}
		if page.show != nil || page.command != nil {
			fmt.Fprintln(e.Stdout)
		}
	}
	more := func() {
		fmt.Fprintf(e.Stderr, "\n%s\n", strings.ReplaceAll(page.more, "FILE", command.ShellWord(in.Name)))
	}
	if page.show != nil {
		if err := page.show(e, in); err != nil {
			return err
		}
		more()
		return nil
	}
	args := append(slices.Clone(page.command[1:]), in.Path)
	switch {
	case len(programs) > 0 && in.Kind == kind.Core:
		args = []string{programs[0].Path, in.Path}
	case len(programs) > 0 && in.Kind == kind.Dump:
		args = []string{"-binary", programs[0].Path, in.Path}
	}
	if code := e.Call(append(page.command[:1:1], args...)); code != command.ExitOK && code != command.ExitFound {
		return command.Exit(code)
	}
	more()
	return nil
}

// firstPage is what open shows of a kind of file on a terminal.
type firstPage struct {
	// command shows it, or show does what has no command of its own.
	command []string
	show    func(e *command.Env, in *source.Input) error
	// found tells that what is wrong is said in front of it.
	found bool
	// more are the commands that show more of it.
	more string
}

var (
	recordingPage = firstPage{command: []string{"report"}, more: "more: loupe trace summary FILE, loupe gc FILE, loupe sched FILE, loupe compare FILE OTHER"}
	firstPages    = map[kind.Kind]firstPage{
		kind.Trace:       {command: []string{"trace", "summary"}, found: true, more: "more: loupe trace goroutines|blocked|sched|tasks|stw|mmu|profile FILE"},
		kind.Profile:     {command: []string{"pprof", "-top", "-nodecount", "20"}, found: true, more: "more: loupe pprof -list REGEXP FILE, loupe pprof -totals FILE"},
		kind.Dump:        {command: []string{"stacks"}, found: true, more: "more: loupe stacks -full FILE, loupe stacks -flame OUT.html FILE, loupe stacks FILE LATER"},
		kind.GCTrace:     {command: []string{"gc"}, found: true, more: "more: loupe gc -cycles FILE, loupe sched FILE"},
		kind.SchedTrace:  {command: []string{"sched"}, found: true, more: "more: loupe gc FILE"},
		kind.RuntimeLog:  {command: []string{"gc"}, found: true, more: "more: loupe gc -cycles FILE, loupe report FILE"},
		kind.CompilerLog: {command: []string{"report"}, more: "more: loupe report -json FILE, loupe report HEAPPROFILE FILE"},
		kind.Core:        {command: []string{"core"}, more: "more: loupe core goroutines|threads|heap FILE, loupe stacks FILE"},
		kind.Load:        {show: showLoad, found: true, more: "more: loupe open FILE, loupe compare FILE OTHER"},
		kind.LoadText:    {show: compare.ShowLoadText, more: "more: loupe compare FILE OTHER"},
		kind.Benchmarks:  {show: compare.ShowBenchmarks, more: "more: loupe open FILE, loupe compare FILE OTHER"},
		kind.Tests:       {command: []string{"report"}, more: "more: go test -bench . measures, go test -json alone does not"},
	}
)

// pageOf is the first page of an input that is something.
func pageOf(in *source.Input) firstPage {
	if in.Recording {
		return recordingPage
	}
	return firstPages[in.Kind]
}

// showLoad prints a load run that was saved.
func showLoad(e *command.Env, in *source.Input) error {
	l, err := compare.ReadLoad(e, in)
	if err != nil {
		return err
	}
	return command.Buffered(e.Stdout, func(w io.Writer) error { return report.WriteLoad(w, l) })
}

// openWeb serves the pages of what was named until the user interrupts.
func openWeb(e *command.Env, d *source.Door, names []string, port int, browse bool) error {
	list := func() ([]web.Source, error) {
		all, _, err := pages.Sources(e, d, names)
		for i := range all {
			all[i].Open = pages.WithProgram(e, all[i].Open)
		}
		return all, err
	}
	sources, err := list()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("cannot serve on port %d: %w (without -port any free one is taken)", port, err)
	}
	opts := web.Options{Sources: sources, Version: command.Version(), Edit: pages.Editor()}
	opts.Pages = pages.FS()
	if slices.ContainsFunc(names, pages.IsFolder) {
		opts.List = func() []web.Source {
			found, err := list()
			if err != nil {
				return nil
			}
			return append([]web.Source{}, found...)
		}
	}
	s, err := web.New(e.Ctx, l.Addr().String(), opts)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer s.Close()
	if os.Getenv("SSH_CONNECTION") != "" {
		port := pages.Port(l)
		fmt.Fprintf(e.Stderr, "from another machine: ssh -L %s:127.0.0.1:%s HOST, then use the same address\n", port, port)
	}
	fmt.Fprintln(e.Stdout, s.Address())
	if browse {
		for _, b := range pages.Browsers() {
			if exec.Command(b[0], append(b[1:], s.Address())...).Start() == nil {
				break
			}
		}
	}
	return s.Serve(e.Ctx, l)
}

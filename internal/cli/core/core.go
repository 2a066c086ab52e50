// Package core is loupe core: what core files show.
package core

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"loupe/analysis/postmortem"
	"loupe/format/dump"
	"loupe/internal/cli/command"
	"loupe/internal/cli/programs"
	"loupe/report"
)

// coreVerb is one verb of loupe core.
type coreVerb struct {
	name  string
	args  string
	short string
	run   func(e *command.Env, f *coreFlags, args []string) error
}

// coreVerbs returns the verbs in the order of the help text.
func coreVerbs() []coreVerb {
	return append([]coreVerb{
		{"summary", "[BIN] CORE", "what the core is from, how the program ended, and what the goroutines were doing", coreSummary},
		{"goroutines", "[BIN] CORE", "every goroutine, with the names, types and values of its arguments", coreGoroutines},
		{"threads", "[BIN] CORE", "every thread: its registers, its stack, and its goroutine", coreThreads},
		{"capture", "PID", "write a core of a running process, which continues; -o", coreCapture},
	}, coreHeapVerbs()...)
}

// coreFlags are those of all verbs.
type coreFlags struct {
	given  func(flag string) bool
	json   bool
	filter string
	top    int
	out    string

	heap   heapFlags
	parsed *dump.Filter
}

// Command is loupe core.
var Command = &command.Command{
	Name:  "core",
	Short: "examine a core file: how it ended, goroutines, threads, heap",
	Args:  "[VERB] [flags] [BIN] CORE",
	Example: []string{
		"loupe core ./server core.4711",
		"loupe core core.4711                            if it names its program, and that is there",
		"loupe core goroutines -filter 'func~handle' ./server core.4711",
		"loupe core threads -json ./server core.4711",
		"loupe core heap -by retained ./server core.4711",
		"loupe core holds server.Session ./server core.4711",
		"loupe core diff ./server core.old core.new",
		"loupe core heap recording.zip                    of the core in a recording, with its program",
		"loupe core capture -o now.core 4711             of a process that continues to run",
	},
	About: coreHelp(),
	Files: true,
	Reads: true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		f := &coreFlags{}
		fs.BoolVar(&f.json, "json", false, "print JSON ("+report.CoreSchema+")")
		fs.StringVar(&f.filter, "filter", "", "select goroutines: `terms` like \"state~chan func~handle\"")
		fs.IntVar(&f.top, "n", 20, "show at most `n` groups, threads or types; 0 is all")
		f.heap.register(fs)
		fs.StringVar(&f.out, "o", "", "capture: `file` to write; else PID.core")
		f.given = fs.Given
		return func(e *command.Env, args []string) error { return runCore(e, f, args) }
	},
}

// coreHelp lists the verbs.
func coreHelp() string {
	var b strings.Builder
	b.WriteString("\nVerbs (default summary):\n")
	for _, v := range coreVerbs() {
		fmt.Fprintf(&b, "  %-26s %s\n", strings.TrimSpace(v.name+" "+v.args), v.short)
	}
	b.WriteString(`
In the browser: loupe open BIN CORE.

CORE is a Linux core file (amd64, arm64) of a program built with Go 1.21 or later: one written
by the kernel (ulimit -c unlimited; GOTRACEBACK=crash makes a panic leave one), by gdb's
gcore, delve's dump, or loupe core capture. BIN is the program, from the same build; loupe
checks that against the core. A core truncated by a limit or a full disk is read as far as it
goes. In place of CORE a recording can be named that has one (loupe run -phases core): its
program lies beside the core.

capture copies the memory of a process of the same user (Linux). The process is stopped for as
long as that takes, which is reported, and continues whatever happens to loupe. Untouched and
empty pages take no space in the file. A core contains everything in the process's memory,
including passwords and keys: the file is readable only by you, and its copies should be, too.

` + strings.TrimPrefix(coreHeapHelp, "\n") + "\n" + dump.FilterHelp)
	return b.String()
}

func runCore(e *command.Env, f *coreFlags, args []string) (err error) {
	if len(args) == 0 {
		return command.Usagef("nothing to read: loupe core BIN CORE (verbs: %s)", coreVerbNames())
	}
	if f.top < 0 {
		return command.Usagef("-n %d: want 0 for all, or more", f.top)
	}
	if f.parsed, err = dump.ParseFilter(f.filter); err != nil {
		return command.Usagef("-filter: %w", err)
	}
	i := slices.IndexFunc(coreVerbs(), func(v coreVerb) bool { return v.name == args[0] })
	verb := "summary"
	if i >= 0 {
		verb = args[0]
	}
	if err := command.OnlyFor(verb, map[string][]string{"o": {"capture"}}, f.given); err != nil {
		return err
	}
	if i >= 0 {
		return coreVerbs()[i].run(e, f, args[1:])
	}
	if _, err := os.Stat(args[0]); err != nil && len(args) > 1 && !strings.ContainsAny(args[0], `/\.`) {
		return command.Usagef("there is no loupe core %s, and no file of that name; the verbs are %s", args[0], coreVerbNames())
	}
	return coreSummary(e, f, args)
}

func coreVerbNames() string {
	var names []string
	for _, v := range coreVerbs() {
		names = append(names, v.name)
	}
	return strings.Join(names, ", ")
}

// coreSummary prints the first page.
func coreSummary(e *command.Env, f *coreFlags, args []string) error {
	return f.page(e, args, func(c *programs.Core) (*report.Core, error) {
		out := report.NewCore(c.Core)
		var err error
		if out.Stacks, err = f.stacks(e, c, false); err != nil {
			out.Odd = append(out.Odd, err.Error()) // the rest is worth telling
		}
		out.Heap, out.NoHeap = heapSummary(c)
		if t, ok := c.Ended(); ok {
			out.Threads = []postmortem.Thread{t}
		}
		return out, nil
	})
}

// coreGoroutines prints every goroutine.
func coreGoroutines(e *command.Env, f *coreFlags, args []string) error {
	return f.page(e, args, func(c *programs.Core) (*report.Core, error) {
		out := report.NewCore(c.Core)
		var err error
		out.Stacks, err = f.stacks(e, c, true)
		return out, err
	})
}

// coreThreads prints every thread.
func coreThreads(e *command.Env, f *coreFlags, args []string) error {
	return f.page(e, args, func(c *programs.Core) (*report.Core, error) {
		out := report.NewCore(c.Core)
		out.AllThreads, out.Threads = true, c.Threads(f.top)
		return out, nil
	})
}

// page opens a core, makes a page of it and prints that.
func (f *coreFlags) page(e *command.Env, args []string, make func(*programs.Core) (*report.Core, error)) error {
	c, err := openCore(e, args)
	if err != nil {
		return err
	}
	defer c.Files.Close()
	page, err := make(c)
	if err != nil {
		return err
	}
	return command.Buffered(e.Stdout, func(w io.Writer) error {
		if f.json {
			return report.WriteJSON(w, report.CoreJSON(page))
		}
		return report.WriteCore(w, page, e.Style())
	})
}

// stacks are the goroutines of a core as a dump.
func (f *coreFlags) stacks(e *command.Env, c *programs.Core, full bool) (*report.Stacks, error) {
	file, err := c.Goroutines()
	if err != nil {
		return nil, command.Nothing(err)
	}
	v := &report.Stacks{Name: c.Name, File: file, Top: f.top, Full: full, Filter: f.filter}
	if f.parsed != nil {
		v.Keep = f.parsed.Keep(file)
	}
	v.Explained = programs.Explained(e.Ctx, c.Core, file)
	return v, nil
}

package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"loupe/dump"
	"loupe/postmortem"
	"loupe/report"
)

// coreVerb is one verb of loupe core.
type coreVerb struct {
	name  string
	args  string
	short string
	run   func(e *env, f *coreFlags, args []string) error
}

// coreVerbs returns the verbs in the order of the help text.
func coreVerbs() []coreVerb {
	return append([]coreVerb{
		{"summary", "[BIN] CORE", "what the core is of, how it ended, and what the goroutines did", coreSummary},
		{"goroutines", "[BIN] CORE", "every goroutine, with the names, types and values of its arguments", coreGoroutines},
		{"threads", "[BIN] CORE", "every thread: its registers, its stack, and its goroutine", coreThreads},
		{"capture", "PID", "write the core of a running process, which goes on; -o", coreCapture},
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

// newCoreCommand is a function because its help lists the verbs.
func newCoreCommand() *command {
	return &command{
		name:  "core",
		short: "what a core file shows: the end, goroutines, arguments, threads",
		args:  "[VERB] [flags] [BIN] CORE",
		example: []string{
			"loupe core ./server core.4711",
			"loupe core core.4711                            if it names its program, and that is there",
			"loupe core goroutines -filter 'func~handle' ./server core.4711",
			"loupe core threads -json ./server core.4711",
			"loupe core heap -by retained ./server core.4711",
			"loupe core holds server.Session ./server core.4711",
			"loupe core diff ./server core.old core.new",
			"loupe core capture -o now.core 4711             of a process that goes on running",
		},
		about: coreHelp(),
		files: true,
		reads: true,
		setup: func(fs *flagSet) func(*env, []string) error {
			f := &coreFlags{}
			fs.BoolVar(&f.json, "json", false, "print JSON ("+report.CoreSchema+")")
			fs.StringVar(&f.filter, "filter", "", "look at a part of the goroutines: `terms` like \"state~chan func~handle\"")
			fs.IntVar(&f.top, "n", 20, "show at most `n` groups, threads or types; 0 is all")
			f.heap.register(fs)
			fs.StringVar(&f.out, "o", "", "capture: `file` to write; else PID.core")
			f.given = fs.given
			return func(e *env, args []string) error { return runCore(e, f, args) }
		},
	}
}

// coreHelp lists the verbs.
func coreHelp() string {
	var b strings.Builder
	b.WriteString("\nVerbs; without one it is summary:\n")
	for _, v := range coreVerbs() {
		fmt.Fprintf(&b, "  %-26s %s\n", strings.TrimSpace(v.name+" "+v.args), v.short)
	}
	b.WriteString(`
In the browser: loupe open BIN CORE.

CORE is a core file of Linux (amd64, arm64) of a program of Go 1.21 or later: one
that the kernel has written (ulimit -c unlimited; GOTRACEBACK=crash makes a
panic end in one), gdb's gcore, delve's dump, or loupe core capture. BIN is the
program, the very build; the core says whether it is. A core that was cut by a
limit or a full disk is read as far as it goes.

capture copies the memory of a process of the same user (Linux). The process stands
still for as long as that takes, which is said, and goes on whatever happens to
loupe. Untouched and empty pages take no room in the file. A core holds everything
that the process knew, passwords and keys as well: it is written for your eyes
alone, and so should its copies be.

` + strings.TrimPrefix(coreHeapHelp, "\n") + "\n" + dump.FilterHelp)
	return b.String()
}

func runCore(e *env, f *coreFlags, args []string) (err error) {
	if len(args) == 0 {
		return usagef("say what to read: loupe core BIN CORE (verbs: %s)", coreVerbNames())
	}
	if f.top < 0 {
		return usagef("-n %d: want 0 for all, or more", f.top)
	}
	if f.parsed, err = dump.ParseFilter(f.filter); err != nil {
		return usagef("-filter: %w", err)
	}
	i := slices.IndexFunc(coreVerbs(), func(v coreVerb) bool { return v.name == args[0] })
	verb := "summary"
	if i >= 0 {
		verb = args[0]
	}
	if err := onlyFor(verb, map[string][]string{"o": {"capture"}}, f.given); err != nil {
		return err
	}
	if i >= 0 {
		return coreVerbs()[i].run(e, f, args[1:])
	}
	if _, err := os.Stat(args[0]); err != nil && len(args) > 1 && !strings.ContainsAny(args[0], `/\.`) {
		return usagef("there is no loupe core %s, and no file of this name; known are %s", args[0], coreVerbNames())
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
func coreSummary(e *env, f *coreFlags, args []string) error {
	return f.page(e, args, func(c *openedCore) (*report.Core, error) {
		out := report.NewCore(c.Core)
		var err error
		if out.Stacks, err = f.stacks(e, c, false); err != nil {
			out.Odd = append(out.Odd, err.Error()) // the rest is worth telling
		}
		out.Heap, out.NoHeap = c.heapSummary()
		if t, ok := c.Ended(); ok {
			out.Threads = []postmortem.Thread{t}
		}
		return out, nil
	})
}

// coreGoroutines prints every goroutine.
func coreGoroutines(e *env, f *coreFlags, args []string) error {
	return f.page(e, args, func(c *openedCore) (*report.Core, error) {
		out := report.NewCore(c.Core)
		var err error
		out.Stacks, err = f.stacks(e, c, true)
		return out, err
	})
}

// coreThreads prints every thread.
func coreThreads(e *env, f *coreFlags, args []string) error {
	return f.page(e, args, func(c *openedCore) (*report.Core, error) {
		out := report.NewCore(c.Core)
		out.AllThreads, out.Threads = true, c.Threads(f.top)
		return out, nil
	})
}

// page opens a core, makes a page of it and prints that.
func (f *coreFlags) page(e *env, args []string, make func(*openedCore) (*report.Core, error)) error {
	c, err := openCore(e, args)
	if err != nil {
		return err
	}
	defer c.files.close()
	page, err := make(c)
	if err != nil {
		return err
	}
	return buffered(e.stdout, func(w io.Writer) error {
		if f.json {
			return report.WriteJSON(w, report.CoreJSON(page))
		}
		return report.WriteCore(w, page, e.style())
	})
}

// stacks are the goroutines of a core as a dump.
func (f *coreFlags) stacks(e *env, c *openedCore, full bool) (*report.Stacks, error) {
	file, err := c.Goroutines()
	if err != nil {
		return nil, exitError{exitNothing, err}
	}
	v := &report.Stacks{Name: c.Name, File: file, Top: f.top, Full: full, Filter: f.filter}
	if f.parsed != nil {
		v.Keep = f.parsed.Keep(file)
	}
	v.Explained = explained(e, c.Core, file)
	return v, nil
}

// coreStacks reads the goroutines of a core for loupe stacks.
func coreStacks(e *env, f *stacksFlags, name string, v *report.Stacks) (done func() error, err error) {
	c, err := openCoreOf(e, name, f.binary)
	if err != nil {
		return nil, err
	}
	done = func() error { c.files.close(); return nil }
	read := c.Stacks
	if f.full {
		read = c.Goroutines
	}
	if v.File, err = read(); err != nil {
		c.files.close()
		return nil, exitError{exitNothing, err}
	}
	v.Explained = explained(e, c.Core, v.File)
	return done, nil
}

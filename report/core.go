package report

import (
	"fmt"
	"io"
	"path"
	"strings"

	"loupe/analysis/postmortem"
	"loupe/format/core"
	"loupe/format/program"
	"loupe/value/unit"
)

// CoreSchema names the form of the JSON of loupe core.
const CoreSchema = "loupe.core/1"

// Core is a page about a core file.
type Core struct {
	Name, Binary  string
	Identity      postmortem.Identity
	Writer        string
	OS, Arch, Go  string
	Main          string // the module of the program
	PID           int64
	Command, Args string
	Signal        core.Signal
	// Crashed tells that the runtime was ending the program; Message is what it
	// has printed.
	Crashed bool
	Message string
	// Taken is the signal for which the runtime ended the program, 0 for none.
	Taken program.Signal

	Size, Cut      int64  // of the file, in bytes; what is cut off it
	InFile, Memory uint64 // bytes of memory that the file has, and that there were
	Odd            []string

	ThreadCount int
	// Threads are those that the page shows; AllThreads tells that it is about
	// them.
	Threads    []postmortem.Thread
	AllThreads bool
	// Heap is what is in the heap, nil where the page does not show it; NoHeap
	// says why it could not be read.
	Heap   *Heap
	NoHeap string
	// Stacks are the goroutines, nil where the page does not show them.
	Stacks *Stacks
}

// NewCore is what every page about a core begins with.
func NewCore(c *postmortem.Core) *Core {
	f := c.File
	out := &Core{
		Name: c.Name, Binary: c.Program, Identity: c.Identity, Writer: string(f.Writer), OS: f.OS, Arch: f.Arch,
		PID: f.PID, Command: f.Command, Args: f.Args, ThreadCount: len(f.Threads), Size: f.Size, Cut: f.Cut, Odd: f.Odd,
		Signal: f.Signal,
	}
	out.InFile, out.Memory = f.InFile()
	if c.Binary != nil {
		if info, err := c.Binary.BuildInfo(); err == nil {
			out.Go = info.GoVersion
			out.Main = info.Main.Path
		}
	}
	if crash, ok := c.Crash(); ok {
		out.Crashed, out.Message, out.Taken = true, crash.Message, crash.Signal
	}
	return out
}

// WriteCore prints a page about a core.
func WriteCore(out io.Writer, c *Core, s Style) error {
	w := &lines{w: out}
	writeCoreHead(w, c, s)
	if c.AllThreads {
		writeCoreThreads(w, c, s)
	} else {
		for i := range c.Threads {
			w.printf("\n%s\n", s.paint(bold, "Where it ended: "+ThreadTitle(&c.Threads[i])))
			writeCoreThread(w, &c.Threads[i], s)
		}
	}
	if c.Heap != nil {
		w.printf("\n%s\n", s.paint(bold, "Heap"))
		writeHeap(w, c.Heap, s)
	} else if c.NoHeap != "" {
		w.printf("\n%s\n", s.paint(dim, s.Wrap(clean(c.NoHeap), 0)))
	}
	if w.err == nil && c.Stacks != nil {
		w.printf("\n")
		return WriteStacks(out, c.Stacks, s)
	}
	return w.err
}

func writeCoreHead(w *lines, c *Core, s Style) {
	w.printf("%s\n", s.paint(bold, CoreTitle(c)))
	g := &grid{}
	for _, f := range CoreFacts(c) {
		paint := ""
		switch {
		case f.Grave:
			paint = red
		case f.Head == "":
			paint = dim
		}
		g.add(cell{text: f.Head, paint: dim, left: true}, cell{text: f.Text, paint: paint, left: true})
		if said, _, _ := strings.Cut(c.Message, "\n"); f.Head == "ended by" && said != "" {
			g.add(cell{text: "it said", paint: dim, left: true}, cell{text: clip(clean(said), 200), paint: red, left: true})
		}
	}
	s.fit(g, 2)
	g.write(w, s, "  ")
}

// CoreTitle says what a core is of.
func CoreTitle(c *Core) string {
	title := clean(c.Name) + ": core"
	if c.Command != "" {
		title += " of " + clean(c.Command)
	}
	if c.PID > 0 {
		title += fmt.Sprintf(", process %d", c.PID)
	}
	return title
}

// CoreFact is something that a page about a core begins with. One without a Head
// belongs to that before it; a Grave one is a reason to doubt the rest.
type CoreFact struct {
	Head, Text string
	Grave      bool
}

// CoreFacts is what a core is of, how it ended, and whether it is whole.
func CoreFacts(c *Core) (all []CoreFact) {
	add := func(head, text string) { all = append(all, CoreFact{head, text, head == "WARNING" || head == "odd"}) }
	add("program", strings.Join(words(clean(c.Binary), clean(c.Main), clean(c.Go), c.OS+"/"+c.Arch), ", "))
	switch c.Identity {
	case postmortem.SameBuild:
		add("", "the same build: the build ids match")
	case postmortem.SameTables:
		add("", "the core has no build id; the runtime's tables are where this binary has them")
	case postmortem.OtherBuild:
		add("WARNING", "this is a different build from the one that ran: what follows may be wrong")
	default:
		if c.Binary != "" {
			add("WARNING", "nothing in the core shows whether this is the build that ran")
		}
	}
	if c.Args != "" {
		add("command", clip(clean(c.Args), 200))
	}
	add("ended by", EndText(c))
	size := fmt.Sprintf("%s, with %s of %s of memory", unit.Bytes(c.Size), unit.BytesOf(float64(c.InFile)), unit.BytesOf(float64(c.Memory)))
	if c.Writer != "" {
		size += ", written by " + c.Writer
	}
	add("file", size)
	if c.Cut > 0 {
		add("WARNING", fmt.Sprintf("the file is truncated: %s are missing (a ulimit -c limit, or a full disk)", unit.Bytes(c.Cut)))
	}
	for _, odd := range c.Odd {
		add("odd", clean(odd))
	}
	add("threads", unit.Count(int64(c.ThreadCount)))
	return all
}

func words(all ...string) (some []string) {
	for _, word := range all {
		if word != "" && word != "/" {
			some = append(some, word)
		}
	}
	return some
}

// sigStop is what a debugger stops a process with before it copies it.
const sigStop = 19

// Ran tells that the program was copied while it ran: nothing was about to end it.
func (c *Core) Ran() bool { return c.Signal.Number == sigStop || c.Signal.Number == 0 && !c.Crashed }

// EndText says in words how the process has ended.
func EndText(c *Core) string {
	x := c.Signal
	switch {
	case c.Ran():
		return "nothing: it was copied while it ran"
	case x.Number == 0:
		return "the runtime was terminating it"
	}
	text := signalName(x.Number)
	switch {
	case x.Number == sigAbort && c.Crashed && int64(x.Sender) == c.PID:
		return abortText(c)
	case x.Sender > 0 && int64(x.Sender) == c.PID:
		text += ", sent by itself"
	case x.Sender > 0:
		text += fmt.Sprintf(", sent by process %d", x.Sender)
	case x.Number == 4 || x.Number == 7 || x.Number == 8 || x.Number == 11:
		text += fmt.Sprintf(", code %d, address %#x", x.Code, x.Addr)
	}
	return text
}

const sigAbort = 6

// abortText says what came before the SIGABRT that the runtime sends to its own process
// at the end of every crash, so that there is a core: it is never the reason.
func abortText(c *Core) string {
	const after = "; the runtime then raised SIGABRT to leave a core"
	if _, rest, ok := strings.Cut(c.Message, "[signal "); ok {
		if name, _, ok := strings.Cut(rest, ":"); ok {
			return clean(name) + after
		}
	}
	if c.Taken.Number != 0 && (c.Taken.Number != sigAbort || int64(c.Taken.Sender) != c.PID) {
		return takenText(&c.Taken, c.PID) + after
	}
	for _, t := range c.Threads {
		if !t.Dying {
			continue
		}
		for _, f := range t.Frames {
			if f.Function == "runtime.sighandler" && c.Message == "" {
				return "a signal not caused by Go code: a fault in C code, or a signal sent from outside (standard error names it)" + after
			}
		}
	}
	if c.Message != "" {
		return "the runtime, for the reason it printed" + after
	}
	return "a crash, which standard error names" + after
}

// takenText says in words which signal the runtime ended a program for.
func takenText(x *program.Signal, pid int64) string {
	text := signalName(x.Number)
	fault := x.Number == 4 || x.Number == 7 || x.Number == 8 || x.Number == 11
	switch {
	case int64(x.Sender) == pid && pid > 0:
		text += ", sent by itself"
	case x.Sender > 0:
		text += fmt.Sprintf(", sent by process %d", x.Sender)
	case fault && x.Foreign:
		text += fmt.Sprintf(" in C code at pc %#x, code %d, address %#x", x.PC, x.Code, x.Addr)
	case fault:
		text += fmt.Sprintf(" at pc %#x, code %d, address %#x", x.PC, x.Code, x.Addr)
	}
	return text
}

var signalNames = map[int]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
	10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 19: "SIGSTOP", 24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
}

// signalName is a signal of Linux by its name.
func signalName(n int) string {
	if name := signalNames[n]; name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", n)
}

// ThreadTitle names a thread, with its goroutine and the signal that it took.
func ThreadTitle(t *postmortem.Thread) string {
	text := fmt.Sprintf("thread %d", t.ID)
	if t.Machine >= 0 {
		text += fmt.Sprintf(", m%d", t.Machine)
	}
	if t.Goroutine > 0 {
		text += fmt.Sprintf(", goroutine %d", t.Goroutine)
	}
	if t.Signal > 0 {
		text += ", " + signalName(t.Signal)
	}
	return text
}

// maxThreadFrames is how much of a thread's stack is printed.
const maxThreadFrames = 24

func writeCoreThread(w *lines, t *postmortem.Thread, s Style) {
	for i, fr := range t.Frames {
		if i == maxThreadFrames {
			w.printf("  %s\n", s.paint(dim, fmt.Sprintf("and %s", unit.Plural(len(t.Frames)-i, "more frame"))))
			break
		}
		at := ""
		if fr.File != "" {
			at = fmt.Sprintf("  %s:%d", clean(path.Base(fr.File)), fr.Line)
		}
		w.printf("  %s%s\n", clip(clean(fr.Function), 200), s.paint(dim, at))
	}
	if len(t.Frames) == 0 {
		w.printf("  %s\n", s.paint(dim, "not in a Go function"))
	}
	var line strings.Builder
	for _, r := range t.Registers {
		text := fmt.Sprintf("%-9s%#-18x", clean(r.Name), r.Value)
		if line.Len() > 0 && line.Len()+2+len(text) > s.width()-4 {
			w.printf("    %s\n", s.paint(dim, strings.TrimRight(line.String(), " ")))
			line.Reset()
		}
		if line.Len() > 0 {
			line.WriteString("  ")
		}
		line.WriteString(text)
	}
	if line.Len() > 0 {
		w.printf("    %s\n", s.paint(dim, strings.TrimRight(line.String(), " ")))
	}
}

func writeCoreThreads(w *lines, c *Core, s Style) {
	for i := range c.Threads {
		w.printf("\n%s\n", s.paint(bold, ThreadTitle(&c.Threads[i])))
		writeCoreThread(w, &c.Threads[i], s)
	}
	if n := c.ThreadCount - len(c.Threads); n > 0 {
		w.printf("\n%s\n", s.paint(dim, fmt.Sprintf("and %s; -n 0 shows all", unit.Plural(n, "more thread"))))
	}
}

type coreJSON struct {
	Schema   string              `json:"schema"`
	File     string              `json:"file"`
	Binary   string              `json:"binary"`
	Identity postmortem.Identity `json:"build"`
	Writer   string              `json:"written_by,omitempty"`
	OS       string              `json:"os"`
	Arch     string              `json:"arch"`
	Go       string              `json:"go,omitempty"`
	Main     string              `json:"main,omitempty"`
	PID      int64               `json:"pid"`
	Command  string              `json:"command,omitempty"`
	Args     string              `json:"args,omitempty"`
	Signal   *signalJSON         `json:"signal,omitempty"`
	Crashed  bool                `json:"crashed"`
	Message  string              `json:"message,omitempty"`
	Taken    *takenJSON          `json:"taken,omitempty"`
	Size     int64               `json:"bytes"`
	Cut      int64               `json:"bytes_cut"`
	InFile   uint64              `json:"memory_in_file"`
	Memory   uint64              `json:"memory"`
	Odd      []string            `json:"odd,omitempty"`
	Count    int                 `json:"thread_count"`
	Threads  []coreThreadJSON    `json:"threads"`
	Heap     any                 `json:"heap,omitempty"`
	Stacks   any                 `json:"stacks,omitempty"`
}

type signalJSON struct {
	Number  int    `json:"number"`
	Name    string `json:"name"`
	Code    int    `json:"code"`
	Address uint64 `json:"address,omitempty"`
	Sender  int    `json:"sender,omitempty"`
}

// takenJSON is the signal for which the runtime ended the program.
type takenJSON struct {
	signalJSON
	PC uint64 `json:"pc"`
	C  bool   `json:"in_c"`
}

type coreThreadJSON struct {
	ID        int64              `json:"id"`
	Machine   *int64             `json:"m,omitempty"`
	Goroutine uint64             `json:"goroutine,omitempty"`
	Signal    string             `json:"signal,omitempty"`
	Dying     bool               `json:"dying,omitempty"`
	Registers map[string]uint64  `json:"registers"`
	Frames    []postmortem.Frame `json:"frames"`
}

// CoreJSON is what [WriteJSON] prints of a core, with its schema. The goroutines are
// in the form of loupe stacks.
func CoreJSON(c *Core) any {
	out := coreJSON{
		Schema: CoreSchema, File: c.Name, Binary: c.Binary, Identity: c.Identity, Writer: c.Writer, OS: c.OS, Arch: c.Arch, Go: c.Go, Main: c.Main,
		PID: c.PID, Command: c.Command, Args: c.Args, Crashed: c.Crashed, Message: c.Message, Size: c.Size, Cut: c.Cut, InFile: c.InFile, Memory: c.Memory,
		Odd: c.Odd, Count: c.ThreadCount, Threads: []coreThreadJSON{},
	}
	if out.Identity == postmortem.UnknownBuild {
		out.Identity = "unknown"
	}
	if x := c.Taken; x.Number > 0 {
		out.Taken = &takenJSON{signalJSON{x.Number, signalName(x.Number), x.Code, x.Addr, x.Sender}, x.PC, x.Foreign}
	}
	if x := c.Signal; x.Number > 0 {
		out.Signal = &signalJSON{x.Number, signalName(x.Number), x.Code, x.Addr, x.Sender}
	}
	for _, t := range c.Threads {
		j := coreThreadJSON{ID: t.ID, Goroutine: t.Goroutine, Dying: t.Dying, Registers: map[string]uint64{}, Frames: t.Frames}
		if t.Machine >= 0 {
			j.Machine = &t.Machine
		}
		if t.Signal > 0 {
			j.Signal = signalName(t.Signal)
		}
		for _, r := range t.Registers {
			j.Registers[r.Name] = r.Value
		}
		out.Threads = append(out.Threads, j)
	}
	if c.Heap != nil {
		out.Heap = HeapJSON(c.Heap)
	}
	if c.Stacks != nil {
		out.Stacks = StacksJSON(c.Stacks)
	}
	return out
}

package web

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/postmortem"
	"loupe/format/core"
	"loupe/format/dump"
	"loupe/report"
	"loupe/session"
	"loupe/value/unit"
)

var coreEndpoints = []endpoint{
	on("core/ends", coreEnds),
	on("core/threads", coreThreads),
}

// coreEnd is how the program of a core ended.
type coreEnd struct {
	// Path is that of the entry, Name what the user calls it.
	Path  string `json:"path"`
	Name  string `json:"name"`
	Title string `json:"title"`
	// Grade is "critical" for a program that has failed, "warning" for one whose
	// goroutines wait for each other or many for one lock, "info" for one that was
	// copied while it ran.
	Grade   string     `json:"grade"`
	Ended   string     `json:"ended"`
	Message string     `json:"message"` // what the runtime has printed
	Facts   []coreFact `json:"facts"`
	// Thread is the one that has ended it; null where that is not known.
	Thread *coreThread `json:"thread"`
	// Trouble says why neither goroutines nor the heap can be read, and NoHeap why
	// the heap alone cannot; "" where they can.
	Trouble string `json:"trouble"`
	NoHeap  string `json:"no_heap"`
	// Next is what to do about what is wrong with the files, "" for nothing.
	Next string `json:"next"`
}

// coreFact is something that is known of a core; one without a head belongs to the
// one before it.
type coreFact struct {
	Head  string `json:"head"`
	Text  string `json:"text"`
	Grave bool   `json:"grave"`
}

// coreThread is a thread of the process.
type coreThread struct {
	Title     string         `json:"title"`
	Goroutine uint64         `json:"goroutine"`
	Dying     bool           `json:"dying"`
	Frames    []frameView    `json:"frames"`
	More      int            `json:"more"` // frames that are not shown
	Registers []registerView `json:"registers"`
}

// cores are the cores of the source in the order in which they were named.
func (s *subject) cores(ctx context.Context) (paths []string, o *Opened, err error) {
	if o, err = s.open(ctx); err != nil {
		return nil, nil, err
	}
	for _, e := range o.Session.Manifest().Of(session.CoreFile) {
		if o.Cores[e.Path] != nil {
			paths = append(paths, e.Path)
		}
	}
	if len(paths) == 0 {
		return nil, nil, nothing("there is no core file here. Open one: loupe open ./server core.4711 (ulimit -c unlimited and GOTRACEBACK=crash make a program leave one; loupe core capture PID copies one that runs)")
	}
	return paths, o, nil
}

// coreOf is the core that a question is about: the first one where it does not say.
func (s *subject) coreOf(ctx context.Context, q *query, param string) (path string, c *postmortem.Core, err error) {
	paths, o, err := s.cores(ctx)
	if err != nil {
		return "", nil, err
	}
	path = q.Get(param)
	if path == "" {
		path = paths[0]
	}
	if !slices.Contains(paths, path) {
		return "", nil, nothing("there is no core %q in this source", path)
	}
	return path, o.Cores[path], nil
}

// coreEnds tells of every core how its program ended.
func coreEnds(ctx context.Context, s *subject, _ *query) ([]coreEnd, error) {
	paths, o, err := s.cores(ctx)
	if err != nil {
		return nil, err
	}
	return once(ctx, s, "core ends", func(ctx context.Context) ([]coreEnd, error) {
		tell := s.job("reading how the program ended")
		defer tell(1)
		var all []coreEnd
		for _, path := range paths {
			all = append(all, endOf(path, o.Cores[path]))
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		return all, nil
	})
}

// stuck notes what goroutines wait for, where many do or none can go on: a program
// that was copied while it hung is not well.
func (e *coreEnd) stuck(c *postmortem.Core) {
	f, err := c.Goroutines()
	if err != nil {
		return // it says so where they are shown
	}
	for _, x := range dump.Suspects(f, nil) {
		if x.Concern != dump.ConcernLock && x.Concern != dump.ConcernCycle {
			continue
		}
		if e.Grade == "info" {
			e.Grade = "warning"
		}
		e.Facts = append(e.Facts, coreFact{Head: "look at first", Text: report.SuspectText(f, &x), Grave: true})
	}
}

func endOf(path string, c *postmortem.Core) coreEnd {
	page := report.NewCore(c)
	end := coreEnd{Path: path, Name: c.Name, Title: report.CoreTitle(page), Grade: "info", Ended: report.EndText(page), Message: page.Message, Facts: []coreFact{}}
	if !page.Ran() {
		end.Grade = "critical"
	}
	for _, f := range report.CoreFacts(page) {
		end.Facts = append(end.Facts, coreFact(f))
	}
	end.stuck(c)
	if t, ok := c.Ended(); ok {
		v := threadOf(&t)
		v.Registers = nil // they are told with the threads: a page that is handed on has none
		end.Thread = &v
	}
	end.advise(c)
	return end
}

// advise says what of a core cannot be read, and what to do.
func (e *coreEnd) advise(c *postmortem.Core) {
	if c.Binary == nil {
		e.Trouble = sentence(c.NotGo.Error())
		e.Next = fmt.Sprintf("Goroutines, arguments and the heap are read with the program. Name the very build that ran: loupe open BIN %s", c.Name)
		return
	}
	if err := c.Check(); err != nil {
		e.Trouble = sentence(err.Error())
	}
	if minor, ok := c.Binary.GoMinor(); ok && minor < oldestHeap {
		e.NoHeap = fmt.Sprintf("The heap is read of programs of Go 1.%d and later; this one is of Go 1.%d.", oldestHeap, minor)
	} else if !c.Binary.HasDWARF() {
		e.NoHeap = "The program has no debug information: types, names of arguments and the heap need it."
		e.Next = "Of a program that was stripped, name the file from before; else build it without -ldflags=-w and -s."
	}
	if c.Identity == postmortem.OtherBuild {
		e.Next = fmt.Sprintf("%s is another build. Name the one that ran: loupe open BIN %s", c.Program, c.Name)
	} else if c.File.Cut > 0 {
		e.Next = "What is left is read as far as it goes. For a whole one: ulimit -c unlimited, and room on the disk."
	}
}

// coreDoubts say why what a core tells may be wrong.
func coreDoubts(c *postmortem.Core) (all []string) {
	if c.Identity == postmortem.OtherBuild {
		all = append(all, fmt.Sprintf("%s is a different build from the one that ran: what is shown here may be wrong, and no arguments are shown.", c.Program))
	}
	if c.File.Cut > 0 {
		all = append(all, fmt.Sprintf("The core is truncated: %s are missing at its end.", unit.Bytes(c.File.Cut)))
	}
	return all
}

// oldestHeap is the minor version of Go from which on heaps are read.
const oldestHeap = 21

// threadFrames is how much of a stack is shown.
const threadFrames = 100

func threadOf(t *postmortem.Thread) coreThread {
	v := coreThread{Title: report.ThreadTitle(t), Goroutine: t.Goroutine, Dying: t.Dying, Frames: []frameView{}, Registers: registersOf(t.Registers)}
	for _, f := range t.Frames[:min(len(t.Frames), threadFrames)] {
		v.Frames = append(v.Frames, frameView{Function: shownText(f.Function), File: f.File, Line: f.Line, PC: fmt.Sprintf("%#x", f.PC)})
	}
	v.More = len(t.Frames) - len(v.Frames)
	return v
}

func registersOf(all []core.Register) []registerView {
	out := []registerView{}
	for _, r := range all {
		out = append(out, registerView{strings.TrimSpace(r.Name), fmt.Sprintf("%#x", r.Value)})
	}
	return out
}

// threadPage is the threads of a core.
type threadPage struct {
	Name    string       `json:"name"`
	Total   int          `json:"total"`
	Threads []coreThread `json:"threads"`
}

// maxThreads bounds how many threads are sent.
const maxThreads = 500

func coreThreads(ctx context.Context, s *subject, q *query) (*threadPage, error) {
	path, c, err := s.coreOf(ctx, q, "core")
	if err != nil {
		return nil, err
	}
	return onceFew(ctx, s, "threads", path, func(context.Context) (*threadPage, error) {
		page := &threadPage{Name: c.Name, Total: len(c.File.Threads), Threads: []coreThread{}}
		all := c.Threads(maxThreads)
		for i := range all {
			page.Threads = append(page.Threads, threadOf(&all[i]))
		}
		return page, nil
	})
}

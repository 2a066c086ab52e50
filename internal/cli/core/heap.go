package core

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"loupe/analysis/heap"
	"loupe/internal/cli/command"
	"loupe/internal/cli/programs"
	"loupe/report"
)

// coreHeapVerbs are those about the heap.
func coreHeapVerbs() []coreVerb {
	return []coreVerb{
		{"heap", "[BIN] CORE", "heap contents by type: objects, bytes, retained bytes", coreHeap},
		{"holds", "ADDR|TYPE [BIN] CORE", "what holds an object, or the objects of a type", coreHolds},
		{"strings", "[BIN] CORE", "long strings and []byte with their text, and duplicates", coreStrings},
		{"diff", "[BIN] OLD NEW", "two cores of one program: which types grew, and what holds them", coreDiff},
	}
}

// coreHeapHelp is what the help says of those verbs.
const coreHeapHelp = `
The heap needs the program's debug information. Types are derived from the global variables,
through the debug information, and from the allocator's own data; an object that no typed
pointer reaches is "unknown", but its size is shown. Retained is what would be freed without
an object, or without all objects of a type. Stacks are read using the collector's tables and
shown with the variable, if that is known.
`

// heapFlags are those of the verbs about the heap.
type heapFlags struct {
	by  string
	typ string
}

func (f *heapFlags) register(fs *command.FlagSet) {
	fs.StringVar(&f.by, "by", "bytes", "sort the types of a heap by `what`: bytes, count or retained")
	fs.StringVar(&f.typ, "type", "", "show the types of a heap whose name contains a `text`")
}

func (f *heapFlags) check() error {
	switch f.by {
	case "bytes", "count", "retained":
		return nil
	}
	return command.Usagef("-by %q: want bytes, count or retained", f.by)
}

// heapOf reads the heap of a core.
func heapOf(c *programs.Core) (*heap.Heap, error) {
	// The tables are large and have no pointers: collecting often costs little.
	debug.SetGCPercent(20)
	return c.Heap(nil)
}

// shortHeap is how many types the first page of a core shows.
const shortHeap = 5

// heapSummary is the heap as the first page of a core shows it, or why not.
func heapSummary(c *programs.Core) (*report.Heap, string) {
	h, err := heapOf(c)
	if err != nil {
		return nil, err.Error()
	}
	rows := h.Histogram()
	return &report.Heap{
		Name: c.Name, Totals: h.Totals(), Damaged: h.Damaged, Missing: h.Missing, Rows: rows[:min(len(rows), shortHeap)], RowCount: len(rows), Short: true,
	}, ""
}

// heapPage opens a core and its heap, makes a page and prints it.
func (f *coreFlags) heapPage(e *command.Env, args []string, make func(*heap.Heap, *report.Heap) error) error {
	c, err := openCore(e, args)
	if err != nil {
		return err
	}
	defer c.Files.Close()
	h, err := heapOf(c)
	if err != nil {
		return err
	}
	p := &report.Heap{Name: c.Name, Totals: h.Totals(), Damaged: h.Damaged, Missing: h.Missing}
	if err := make(h, p); err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	return f.printHeap(e, p)
}

func (f *coreFlags) printHeap(e *command.Env, p *report.Heap) error {
	return command.Buffered(e.Stdout, func(w io.Writer) error {
		if f.json {
			return report.WriteJSON(w, report.HeapJSON(p))
		}
		return report.WriteHeap(w, p, e.Style())
	})
}

// first cuts a list to what -n asks for.
func first[T any](f *coreFlags, list []T) []T {
	if f.top > 0 {
		return list[:min(len(list), f.top)]
	}
	return list
}

// most is how many of a list are to be found where not all can be.
func (f *coreFlags) most() int {
	if f.top > 0 {
		return f.top
	}
	return 1000
}

// coreHeap prints the histogram.
func coreHeap(e *command.Env, f *coreFlags, args []string) error {
	if err := f.heap.check(); err != nil {
		return err
	}
	return f.heapPage(e, args, func(h *heap.Heap, p *report.Heap) error {
		if f.heap.by == "retained" {
			g, err := h.Graph()
			if err != nil {
				return err
			}
			p.Retained = true
			p.Rows, p.Holders = g.ByType(), first(f, g.Holders(true))
		} else {
			p.Rows = h.Histogram()
		}
		p.Rows = f.heap.choose(p.Rows)
		p.RowCount = len(p.Rows)
		p.Rows = first(f, p.Rows)
		return nil
	})
}

// choose sorts a histogram and leaves out what is not asked for.
func (f *heapFlags) choose(rows []heap.Row) []heap.Row {
	rows = slices.DeleteFunc(rows, func(r heap.Row) bool { return !strings.Contains(r.Type, f.typ) })
	slices.SortStableFunc(rows, func(x, y heap.Row) int {
		switch f.by {
		case "count":
			return cmp.Compare(y.Count, x.Count)
		case "retained":
			return cmp.Compare(y.Retained, x.Retained)
		}
		return 0
	})
	return rows
}

// coreHolds prints what holds an object, or the objects of a type.
func coreHolds(e *command.Env, f *coreFlags, args []string) error {
	if len(args) < 2 {
		return command.Usagef("name an object or type, and a core: loupe core holds ADDR|TYPE BIN CORE (loupe core heap lists the types)")
	}
	asked := args[0]
	return f.heapPage(e, args[1:], func(h *heap.Heap, p *report.Heap) error {
		g, err := h.Graph()
		if err != nil {
			return err
		}
		p.Asked = asked
		if addr, err := strconv.ParseUint(asked, 0, 64); err == nil {
			o, err := g.At(addr)
			if err != nil {
				return command.Nothing(err)
			}
			way, err := g.Path(addr)
			p.Object, p.Ways, p.WayCount = &o, []heap.Path{way}, 1
			return err
		}
		all := g.Ways(asked)
		if len(all) == 0 {
			return command.Nothing(report.NoSuchType(h.Histogram(), asked))
		}
		p.Ways, p.WayCount = first(f, all), len(all)
		p.Objects = g.Largest(asked, min(f.most(), 10))
		return nil
	})
}

// coreStrings prints texts.
func coreStrings(e *command.Env, f *coreFlags, args []string) error {
	return f.heapPage(e, args, func(h *heap.Heap, p *report.Heap) (err error) {
		p.Texts, err = h.Texts(f.most())
		return err
	})
}

// coreDiff compares two cores.
func coreDiff(e *command.Env, f *coreFlags, args []string) error {
	if len(args) != 2 && len(args) != 3 {
		return command.Usagef("name two cores: loupe core diff [BIN] OLD NEW")
	}
	bin, args := args[:len(args)-2], args[len(args)-2:]
	type side struct {
		totals  heap.Totals
		rows    []heap.Row
		holders []heap.Holder
	}
	read := func(name string) (s side, err error) {
		c, err := openCore(e, append(slices.Clone(bin), name))
		if err != nil {
			return s, err
		}
		defer c.Files.Close()
		h, err := heapOf(c)
		if err != nil {
			return s, err
		}
		g, err := h.Graph()
		if err != nil {
			return s, fmt.Errorf("%s: %w", name, err)
		}
		return side{h.Totals(), h.Histogram(), g.Holders(false)}, nil
	}
	before, err1 := read(args[0])
	if err1 != nil {
		return err1
	}
	// The tables of the first are garbage now, and as large as those to come.
	debug.FreeOSMemory()
	after, err2 := read(args[1])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	p := &report.Heap{Name: args[1], Old: args[0], OldTotals: before.totals, Totals: after.totals}
	match := func(c heap.Change) bool { return !strings.Contains(c.Name, f.heap.typ) }
	types := slices.DeleteFunc(heap.Diff(before.rows, after.rows), match)
	p.Types, p.TypeCount = first(f, types), len(types)
	p.Roots = first(f, heap.DiffHolders(before.holders, after.holders))
	return f.printHeap(e, p)
}

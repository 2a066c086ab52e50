package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"loupe/analysis/heap"
	"loupe/value/unit"
)

// HeapSchema names the form of the JSON of the heap of a core.
const HeapSchema = "loupe.heap/1"

// Heap is a page about the heap of a core. What it does not show is nil.
type Heap struct {
	Name string
	// Old is the core that it is compared with.
	Old    string
	Totals heap.Totals
	// Damaged is how many spans made no sense, Missing how many bytes of the heap
	// the core does not have.
	Damaged int
	Missing int64

	// Rows is the histogram, Matched the sum of what it has without -n, and
	// Retained tells that the graph was made.
	Rows     []heap.Row
	RowCount int
	Retained bool
	Holders  []heap.Holder
	// Short tells that the page is a part of another one.
	Short bool

	// Asked is what it is asked who holds it: a type, or an object.
	Asked    string
	Object   *heap.Object
	Objects  []heap.Object
	Ways     []heap.Path
	WayCount int

	Texts *heap.Texts

	// Types and Roots are what has changed since Old.
	Types, Roots []heap.Change
	TypeCount    int
	OldTotals    heap.Totals
}

// WriteHeap prints a page about a heap.
func WriteHeap(out io.Writer, p *Heap, s Style) error {
	w := &lines{w: out}
	switch {
	case p.Old != "":
		writeHeapDiff(w, p, s)
	case p.Asked != "":
		writeHolds(w, p, s)
	case p.Texts != nil:
		w.printf("%s\n", s.paint(bold, clean(p.Name)+": strings in the heap"))
		writeHeapTexts(w, p.Texts, s)
	default:
		w.printf("%s\n", s.paint(bold, clean(p.Name)+": heap"))
		writeHeap(w, p, s)
	}
	return w.err
}

// writeHeap prints the sums, the histogram and the holders.
func writeHeap(w *lines, p *Heap, s Style) {
	writeRows(w, HeapSums(p), s)
	for _, d := range HeapDoubts(p) {
		w.printf("  %s\n", s.paint(red, d))
	}
	w.printf("\n")
	writeHeaded(w, HeapTypes(p), s)
	if p.Short {
		w.printf("  %s\n", s.paint(dim, "loupe core heap shows more"))
	} else {
		writeRest(w, p.RowCount-len(p.Rows), "type", s)
	}
	if len(p.Holders) > 0 {
		w.printf("\n%s\n", s.paint(bold, "What holds most"))
		writeRows(w, HeapHolders(p.Holders), s)
	}
}

// writeRows prints the rows of a sheet without their heads, writeHeaded with them.
func writeRows(w *lines, t *Sheet, s Style) {
	g := &grid{}
	for _, row := range t.Rows {
		g.add(sheetCells(row)...)
	}
	s.fit(g, 2)
	g.write(w, s, "  ")
}

func writeHeaded(w *lines, t *Sheet, s Style) {
	g := &grid{}
	head := make([]cell, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = cell{text: c.Head, paint: dim, left: i == len(t.Columns)-1}
	}
	g.add(head...)
	for _, row := range t.Rows {
		g.add(sheetCells(row)...)
	}
	s.fit(g, 2)
	g.write(w, s, "  ")
}

func sheetCells(row []any) []cell {
	cells := make([]cell, len(row))
	for i, v := range row {
		txt, left := text(v)
		cells[i] = cell{text: txt, left: left}
		switch n, ok := v.(MoreBytes); {
		case ok && n < 0:
			cells[i].paint = green
		case ok:
			cells[i].paint = red
		}
	}
	return cells
}

func writeRest(w *lines, n int, noun string, s Style) {
	if n > 0 {
		w.printf("  %s\n", s.paint(dim, fmt.Sprintf("and %s; -n 0 shows all", unit.Plural(n, "more "+noun))))
	}
}

func size(n int64) string { return unit.BytesOf(float64(n)) }

// holderText names a root.
func holderText(x *heap.Holder) string {
	switch {
	case x.Kind == heap.Goroutine && x.Func != "":
		return x.Name + " of " + x.Func
	case x.Kind == heap.Global:
		return "global " + x.Name
	}
	return x.Name
}

// writeHolds prints who holds an object, or those of a type.
func writeHolds(w *lines, p *Heap, s Style) {
	w.printf("%s\n", s.paint(bold, clean(p.Name)+": what holds "+clean(p.Asked)))
	if o := p.Object; o != nil {
		w.printf("  %s\n", HeldText(o))
	}
	for i := range p.Ways {
		x := &p.Ways[i]
		w.printf("\n")
		if p.Object == nil {
			w.printf("%s\n", WayText(x))
		}
		writeWay(w, x, s)
	}
	writeRest(w, p.WayCount-len(p.Ways), "way", s)
	if len(p.Objects) > 0 {
		w.printf("\n%s\n", s.paint(bold, "Those that retain most"))
		writeRows(w, HeapObjects(p.Objects), s)
	}
}

func article(name string) string {
	if name != "" && strings.ContainsRune("aeiou", rune(name[0])) {
		return "an"
	}
	return "a"
}

// maxWaySteps is how many steps of a way are printed: the first and the last ones.
const maxWaySteps = 24

func writeWay(w *lines, x *heap.Path, s Style) {
	w.printf("  %s\n", WayRoot(x))
	for _, step := range WaySteps(x) {
		if step.Skipped > 0 {
			w.printf("    %s\n", s.paint(dim, step.Text))
			continue
		}
		txt := step.Text
		if step.Addr != "" {
			txt += s.paint(dim, "  "+step.Addr)
		}
		w.printf("    %s %s%s\n", s.paint(dim, "→"), s.paint(cyan, prefixed("", step.Field+" ", step.Field == "")), txt)
	}
}

// prefixed puts two texts together, unless the second is empty or is to be left
// out.
func prefixed(before, text string, out ...bool) string {
	if text == "" || len(out) > 0 && out[0] {
		return ""
	}
	return before + text
}

// shownText is how many characters of a text are printed.
const shownText = 72

// writeHeapTexts prints strings and slices of bytes.
func writeHeapTexts(w *lines, t *heap.Texts, s Style) {
	writeRows(w, TextSums(t), s)
	list := func(title string, t *Sheet) {
		if len(t.Rows) > 0 {
			w.printf("\n%s\n", s.paint(bold, title))
			writeRows(w, t, s)
		}
	}
	list("The longest", LongestTexts(t.Longest))
	list("Duplicates: wasted, times, length", RepeatedTexts(t.Repeated))
}

// textBegin is the begin of a text as Go would write it: it is untrusted.
func textBegin(x heap.Text) string {
	q := strconv.QuoteToASCII(x.Text)
	if len(q) > shownText {
		q = q[:shownText] + "…"
	} else if int64(len(x.Text)) < x.Length {
		q += "…"
	}
	return q
}

// writeHeapDiff prints what has changed between two cores.
func writeHeapDiff(w *lines, p *Heap, s Style) {
	w.printf("%s\n", s.paint(bold, clean(p.Old)+" → "+clean(p.Name)+": heap"))
	w.printf("  %s\n", HeapGrowth(p))
	if len(p.Types)+len(p.Roots) == 0 {
		w.printf("  nothing has changed\n")
	}
	if len(p.Types) > 0 {
		w.printf("\n%s\n", s.paint(bold, "By type: bytes more, objects more, bytes before and after"))
		writeRows(w, ChangedTypes(p.Types), s)
		writeRest(w, p.TypeCount-len(p.Types), "type", s)
	}
	if len(p.Roots) > 0 {
		w.printf("\n%s\n", s.paint(bold, "What holds them: bytes more, before and after"))
		writeRows(w, ChangedHolders(p.Roots), s)
	}
}

package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"loupe/heap"
	"loupe/unit"
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
		w.printf("%s\n", s.paint(bold, clean(p.Name)+": texts in the heap"))
		writeHeapTexts(w, p.Texts, s)
	default:
		w.printf("%s\n", s.paint(bold, clean(p.Name)+": heap"))
		writeHeap(w, p, s)
	}
	return w.err
}

// writeHeap prints the sums, the histogram and the holders.
func writeHeap(w *lines, p *Heap, s Style) {
	t := p.Totals
	g := &grid{}
	row := func(name string, t heap.Total, note string) {
		g.add(cell{text: name, paint: dim, left: true}, cell{text: unit.Count(t.Count)}, cell{text: size(t.Bytes)}, cell{text: note, paint: dim, left: true})
	}
	row("reached", t.Reached, fmt.Sprintf("objects that something leads to, in spans of %s", size(t.Spans)))
	if t.Garbage.Count > 0 {
		row("garbage", t.Garbage, "objects that nothing leads to and that are not freed yet")
	}
	if t.Unknown.Count > 0 {
		row("unknown", t.Unknown, "of those reached, objects that no typed pointer leads to")
	}
	g.write(w, s, "  ")
	writeHeapDoubts(w, p, s)
	w.printf("\n")
	writeHeapRows(w, p, s)
	if len(p.Holders) > 0 {
		w.printf("\n%s\n", s.paint(bold, "What holds most"))
		writeHolders(w, p.Holders, s)
	}
}

func writeHeapDoubts(w *lines, p *Heap, s Style) {
	if p.Missing > 0 {
		w.printf("  %s\n", s.paint(red, fmt.Sprintf("%s of the heap are not in the core, and were taken to be zero", size(p.Missing))))
	}
	if p.Damaged > 0 {
		w.printf("  %s\n", s.paint(red, fmt.Sprintf("%s of the runtime's tables made no sense and were left out", counted(p.Damaged, "entry"))))
	}
}

func writeHeapRows(w *lines, p *Heap, s Style) {
	g := &grid{}
	head := func(text string) cell { return cell{text: text, paint: dim} }
	cells := []cell{head("count"), head("bytes"), head("")}
	if p.Retained {
		cells = append(cells, head("retained"))
	}
	g.add(append(cells, cell{text: "type", paint: dim, left: true})...)
	for _, r := range p.Rows {
		cells := []cell{{text: unit.Count(r.Count)}, {text: size(r.Bytes)}, {text: share(r.Bytes, p.Totals.Reached.Bytes), paint: dim}}
		if p.Retained {
			cells = append(cells, cell{text: size(r.Retained)})
		}
		g.add(append(cells, cell{text: clean(r.Type), left: true})...)
	}
	fit(g, s.width()-2)
	g.write(w, s, "  ")
	if p.Short {
		w.printf("  %s\n", s.paint(dim, "loupe core heap shows more"))
		return
	}
	writeRest(w, p.RowCount-len(p.Rows), "type", s)
}

func writeRest(w *lines, n int, noun string, s Style) {
	if n > 0 {
		w.printf("  %s\n", s.paint(dim, fmt.Sprintf("and %s; -n 0 shows all", counted(n, "more "+noun))))
	}
}

func size(n int64) string { return unit.BytesOf(float64(n)) }

func share(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	return unit.Percent(float64(part) / float64(whole))
}

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

func writeHolders(w *lines, all []heap.Holder, s Style) {
	g := &grid{}
	for i := range all {
		g.add(cell{text: size(all[i].Retained)}, cell{text: clean(holderText(&all[i])), left: true})
	}
	fit(g, s.width()-2)
	g.write(w, s, "  ")
}

// writeHolds prints who holds an object, or those of a type.
func writeHolds(w *lines, p *Heap, s Style) {
	w.printf("%s\n", s.paint(bold, clean(p.Name)+": what holds "+clean(p.Asked)))
	if o := p.Object; o != nil {
		w.printf("  %#x is in %s %s of %s; without it %s would be free\n", o.Addr, article(o.Type), clean(o.Type), size(o.Bytes), size(o.Retained))
	}
	for i := range p.Ways {
		x := &p.Ways[i]
		w.printf("\n")
		if p.Object == nil {
			w.printf("%s, %s", counted(int(x.Count), "object"), size(x.Bytes))
			if x.Retained > x.Bytes {
				w.printf(", without which %s would be free", size(x.Retained))
			}
			w.printf("\n")
		}
		writeWay(w, x, s)
	}
	writeRest(w, p.WayCount-len(p.Ways), "way", s)
	if len(p.Objects) > 0 {
		w.printf("\n%s\n", s.paint(bold, "Those that retain most"))
		g := &grid{}
		for _, o := range p.Objects {
			g.add(cell{text: size(o.Retained)}, cell{text: size(o.Bytes), paint: dim}, cell{text: fmt.Sprintf("%#x", o.Addr), left: true}, cell{text: clean(o.Type), left: true})
		}
		fit(g, s.width()-2)
		g.write(w, s, "  ")
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
	root := holderText(&x.Root)
	if x.Frame != "" {
		root += ", in " + x.Frame
	}
	if x.Variable != "" {
		root += ", variable " + x.Variable
	}
	w.printf("  %s\n", clip(clean(root), 300))
	for i, step := range x.Steps {
		if n := len(x.Steps); n > maxWaySteps && i >= maxWaySteps/2 && i < n-maxWaySteps/2 {
			if i == maxWaySteps/2 {
				w.printf("    %s\n", s.paint(dim, fmt.Sprintf("… %s …", counted(n-maxWaySteps, "more step"))))
			}
			continue
		}
		text := clip(clean(step.Type), 200)
		if step.Times > 1 {
			text = fmt.Sprintf("%s, %s times%s", text, unit.Count(int64(step.Times)), clean(prefixed(" through ", step.Through)))
		}
		if step.Addr != 0 {
			text += s.paint(dim, fmt.Sprintf("  %#x", step.Addr))
		}
		w.printf("    %s %s%s\n", s.paint(dim, "→"), s.paint(cyan, clean(prefixed("", step.Field+" ", step.Field == ""))), text)
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
	g := &grid{}
	row := func(name string, t heap.Total) {
		g.add(cell{text: name, paint: dim, left: true}, cell{text: unit.Count(t.Count)}, cell{text: size(t.Bytes)})
	}
	row("strings", t.Strings)
	row("[]byte", t.Bytes)
	row("said again", t.Wasted)
	g.write(w, s, "  ")
	list := func(title string, all []heap.Text, repeated bool) {
		if len(all) == 0 {
			return
		}
		w.printf("\n%s\n", s.paint(bold, title))
		g := &grid{}
		for _, x := range all {
			first := cell{text: size(x.Length)}
			if repeated {
				g.add(cell{text: size(x.Wasted)}, cell{text: unit.Count(x.Count) + "×"}, first, cell{text: x.Kind, paint: dim, left: true}, cell{text: textBegin(x), left: true})
			} else {
				g.add(first, cell{text: fmt.Sprintf("%#x", x.Addr), paint: dim, left: true}, cell{text: x.Kind, paint: dim, left: true}, cell{text: textBegin(x), left: true})
			}
		}
		g.write(w, s, "  ")
	}
	list("The longest", t.Longest, false)
	list("There several times: wasted, times, length", t.Repeated, true)
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
	from, to := p.OldTotals.Reached, p.Totals.Reached
	w.printf("  reached %s → %s (%s), objects %s → %s\n", size(from.Bytes), size(to.Bytes), signedSize(to.Bytes-from.Bytes), unit.Count(from.Count), unit.Count(to.Count))
	table := func(title string, all []heap.Change, count bool) {
		w.printf("\n%s\n", s.paint(bold, title))
		g := &grid{}
		for _, c := range all {
			paint := red
			if c.Bytes() < 0 {
				paint = green
			}
			cells := []cell{{text: signedSize(c.Bytes()), paint: paint}}
			if count {
				cells = append(cells, cell{text: signedCount(c.Count())})
			}
			cells = append(cells, cell{text: size(c.Old.Bytes), paint: dim}, cell{text: size(c.New.Bytes)}, cell{text: clean(c.Name), left: true})
			g.add(cells...)
		}
		fit(g, s.width()-2)
		g.write(w, s, "  ")
	}
	if len(p.Types)+len(p.Roots) == 0 {
		w.printf("  nothing has changed\n")
	}
	if len(p.Types) > 0 {
		table("By type: bytes more, objects more, bytes before and after", p.Types, true)
		writeRest(w, p.TypeCount-len(p.Types), "type", s)
	}
	if len(p.Roots) > 0 {
		table("What holds them: bytes more, before and after", p.Roots, false)
	}
}

func signedSize(n int64) string {
	if n < 0 {
		return "-" + size(-n)
	}
	return "+" + size(n)
}

func signedCount(n int64) string {
	if n < 0 {
		return "-" + unit.Count(-n)
	}
	return "+" + unit.Count(n)
}

package report

import (
	"fmt"
	"strconv"
	"strings"

	"loupe/analysis/heap"
	"loupe/value/unit"
)

// MoreBytes is how many bytes there are more, with the sign.
type MoreBytes int64

func (n MoreBytes) text() string {
	if n < 0 {
		return "-" + size(int64(-n))
	}
	return "+" + size(int64(n))
}

func (n MoreBytes) plain() any { return int64(n) }

// More is how many objects there are more, with the sign, also where that is none.
type more int64

func (n more) text() string {
	if n == 0 {
		return "+0"
	}
	return Change(n).text()
}

func (n more) plain() any { return int64(n) }

// often is how often a text is there.
type often int64

func (n often) text() string { return unit.Count(int64(n)) + "×" }

func (n often) plain() any { return int64(n) }

// HeapSums are what is reached, what is garbage, and what has no type.
func HeapSums(p *Heap) *Sheet {
	t := p.Totals
	out := &Sheet{Key: "sums", Columns: []Column{{"what", "objects"}, {"count", "count"}, {"bytes", "bytes"}, {"note", "that is"}}}
	row := func(name string, t heap.Total, note string) {
		out.Rows = append(out.Rows, []any{name, t.Count, Bytes(t.Bytes), note})
	}
	row("reached", t.Reached, fmt.Sprintf("reachable objects, in spans of %s", size(t.Spans)))
	if t.Garbage.Count > 0 {
		row("garbage", t.Garbage, "unreachable objects that have not been freed yet")
	}
	if t.Unknown.Count > 0 {
		row("unknown", t.Unknown, "of those reached, objects that no typed pointer points to")
	}
	if x := t.Pinned; x != nil {
		buffers, parts := x.Kept()
		_, of, _ := strings.Cut(buffers, " of ")
		in := ""
		if x.Where != "" {
			in = ", most in " + clean(x.Where)
		}
		row("kept by parts", x.Objects, fmt.Sprintf("of those reached, buffers of %s that only small parts keep: %s%s; a copy of these (strings.Clone) would free the buffers", of, parts, in))
	}
	return out
}

// HeapDoubts say what of a heap could not be read.
func HeapDoubts(p *Heap) (all []string) {
	if p.Missing > 0 {
		all = append(all, fmt.Sprintf("%s of the heap are not in the core and were assumed to be zero", size(p.Missing)))
	}
	if p.Damaged > 0 {
		all = append(all, fmt.Sprintf("%s of the runtime's tables were inconsistent and were left out", unit.Plural(p.Damaged, "entry")))
	}
	return all
}

// HeapTypes is the histogram.
func HeapTypes(p *Heap) *Sheet {
	out := &Sheet{Key: "types", Columns: []Column{{"count", "count"}, {"bytes", "bytes"}, {"share", "share"}}}
	if p.Retained {
		out.Columns = append(out.Columns, Column{"retained", "retained"})
	}
	out.Columns = append(out.Columns, Column{"type", "type"})
	for _, r := range p.Rows {
		var part any = Share(0)
		if all := p.Totals.Reached.Bytes; all > 0 {
			part = Share(float64(r.Bytes) / float64(all))
		}
		row := []any{r.Count, Bytes(r.Bytes), part}
		if p.Retained {
			row = append(row, Bytes(r.Retained))
		}
		out.Rows = append(out.Rows, append(row, r.Type))
	}
	return out
}

// HeapHolders are what holds the heap: global variables and goroutines.
func HeapHolders(all []heap.Holder) *Sheet {
	out := &Sheet{Key: "holders", Columns: []Column{{"retained", "retained"}, {"holder", "holder"}}}
	for i := range all {
		out.Rows = append(out.Rows, []any{Bytes(all[i].Retained), holderText(&all[i])})
	}
	return out
}

// HeapObjects are single objects.
func HeapObjects(all []heap.Object) *Sheet {
	out := &Sheet{Key: "objects", Columns: []Column{{"retained", "retained"}, {"bytes", "bytes"}, {"addr", "address"}, {"type", "type"}}}
	for _, o := range all {
		out.Rows = append(out.Rows, []any{Bytes(o.Retained), Bytes(o.Bytes), fmt.Sprintf("%#x", o.Addr), o.Type})
	}
	return out
}

// HeldText says what an object is that is asked about.
func HeldText(o *heap.Object) string {
	return fmt.Sprintf("%#x is in %s %s of %s; without it %s would be free", o.Addr, article(o.Type), clean(o.Type), size(o.Bytes), size(o.Retained))
}

// WayText says how many objects are held in one way.
func WayText(x *heap.Path) string {
	txt := fmt.Sprintf("%s, %s", unit.Plural(int(x.Count), "object"), size(x.Bytes))
	if x.Retained > x.Bytes {
		txt += fmt.Sprintf(", without which %s would be free", size(x.Retained))
	}
	return txt
}

// WayRoot is what a way begins with.
func WayRoot(x *heap.Path) string {
	root := holderText(&x.Root)
	if x.Frame != "" {
		root += ", in " + x.Frame
	}
	if x.Variable != "" {
		root += ", variable " + x.Variable
	}
	return clip(clean(root), 300)
}

// WayStep is one step of a way as people read it.
type WayStep struct {
	// Field is where in the thing before it the pointer is, "" where that is not
	// told, and Addr the address of the object, "" for several.
	Field, Text, Addr string
	// Type is the type of the object as the heap has it.
	Type string
	// Skipped is how many steps are left out here.
	Skipped int
}

// WaySteps are the first and the last steps of a way.
func WaySteps(x *heap.Path) (all []WayStep) {
	n := len(x.Steps)
	for i, step := range x.Steps {
		if n > maxWaySteps && i >= maxWaySteps/2 && i < n-maxWaySteps/2 {
			if i == maxWaySteps/2 {
				all = append(all, WayStep{Text: fmt.Sprintf("… %s …", unit.Plural(n-maxWaySteps, "more step")), Skipped: n - maxWaySteps})
			}
			continue
		}
		s := WayStep{Field: clean(step.Field), Text: clip(clean(step.Type), 200), Type: step.Type}
		if step.Times > 1 {
			s.Text = fmt.Sprintf("%s, %s times%s", s.Text, unit.Count(int64(step.Times)), clean(prefixed(" through ", step.Through)))
		}
		if step.Addr != 0 {
			s.Addr = fmt.Sprintf("%#x", step.Addr)
		}
		all = append(all, s)
	}
	return all
}

// NoSuchType says which types of a histogram are called like one that is not there.
func NoSuchType(rows []heap.Row, asked string) error {
	var like []string
	for _, r := range rows {
		if strings.Contains(strings.ToLower(r.Type), strings.ToLower(asked)) && len(like) < 5 {
			like = append(like, strconv.Quote(r.Type))
		}
	}
	if len(like) == 0 {
		return fmt.Errorf("no object has the type %q (loupe core heap -n 0 lists the types)", asked)
	}
	return fmt.Errorf("no object has the type %q; there are %s", asked, strings.Join(like, ", "))
}

// TextSums are how many texts there are, and what they take.
func TextSums(t *heap.Texts) *Sheet {
	out := &Sheet{Key: "texts", Columns: []Column{{"what", "texts"}, {"count", "count"}, {"bytes", "bytes"}}}
	for _, x := range []struct {
		name string
		heap.Total
	}{{"strings", t.Strings}, {"[]byte", t.Bytes}, {"said again", t.Wasted}} {
		out.Rows = append(out.Rows, []any{x.name, x.Count, Bytes(x.Total.Bytes)})
	}
	return out
}

// LongestTexts are texts with where they are. They are as Go would write them: what
// a program has in its memory is untrusted.
func LongestTexts(all []heap.Text) *Sheet {
	out := &Sheet{Key: "longest", Columns: []Column{{"length", "length"}, {"addr", "address"}, {"kind", "kind"}, {"text", "text"}}}
	for _, x := range all {
		out.Rows = append(out.Rows, []any{Bytes(x.Length), fmt.Sprintf("%#x", x.Addr), x.Kind, textBegin(x)})
	}
	return out
}

// RepeatedTexts are texts that are there several times.
func RepeatedTexts(all []heap.Text) *Sheet {
	out := &Sheet{Key: "repeated", Columns: []Column{{"wasted", "wasted"}, {"count", "times"}, {"length", "length"}, {"kind", "kind"}, {"text", "text"}}}
	for _, x := range all {
		out.Rows = append(out.Rows, []any{Bytes(x.Wasted), often(x.Count), Bytes(x.Length), x.Kind, textBegin(x)})
	}
	return out
}

// HeapGrowth says what a heap was, and is.
func HeapGrowth(p *Heap) string {
	from, to := p.OldTotals.Reached, p.Totals.Reached
	return fmt.Sprintf("reached %s → %s (%s), objects %s → %s", size(from.Bytes), size(to.Bytes), MoreBytes(to.Bytes-from.Bytes).text(), unit.Count(from.Count), unit.Count(to.Count))
}

// ChangedTypes are the types that there are more or fewer of.
func ChangedTypes(all []heap.Change) *Sheet {
	out := &Sheet{Key: "changed_types", Columns: []Column{{"bytes", "bytes more"}, {"count", "objects more"}, {"old", "before"}, {"new", "after"}, {"type", "type"}}}
	for _, c := range all {
		out.Rows = append(out.Rows, []any{MoreBytes(c.Bytes()), more(c.Count()), Bytes(c.Old.Bytes), Bytes(c.New.Bytes), c.Name})
	}
	return out
}

// ChangedHolders are what holds more or less than before.
func ChangedHolders(all []heap.Change) *Sheet {
	out := &Sheet{Key: "changed_holders", Columns: []Column{{"bytes", "bytes more"}, {"old", "before"}, {"new", "after"}, {"holder", "holder"}}}
	for _, c := range all {
		out.Rows = append(out.Rows, []any{MoreBytes(c.Bytes()), Bytes(c.Old.Bytes), Bytes(c.New.Bytes), c.Name})
	}
	return out
}

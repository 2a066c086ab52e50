package insight

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// encodedTitle is the title of lists that are encoded as a whole.
const encodedTitle = "Everything is gathered before the first of it is written"

// encodedHeap is such a list, with what is in use of all that goes into it and of what it is encoded to.
type encodedHeap struct {
	*encodedWhole
	bytes  int64
	at     stack.Frame // the line of the function that has most of it
	frames []stack.Frame
	most   int64
}

// mostEncoded finds a list that is encoded as a whole and that most of what is in use goes into; nil where there is none.
func mostEncoded(r *Rule, in *Input, kept *facts.Look) (best *encodedHeap) {
	if float64(kept.Bytes) < r.param("least")*(1<<20) || float64(kept.Samples) < r.param("samples") && kept.Doubt > r.param("doubt") {
		return nil
	}
	d := newDerivations(in.code)
	known := map[*ast.FuncDecl][]*encodedHeap{}
	isUser := in.Session.Scope().IsUser
	for frames, w := range facts.EachStack(kept.InUse) {
		counted := map[*encodedHeap]bool{}
		for i, f := range frames {
			fn, ok := frameCode{}, isUser(f)
			if ok {
				fn, ok = d.at(f)
			}
			if !ok {
				continue
			}
			all, seen := known[fn.decl]
			if !seen {
				for _, x := range encodedWholes(d, fn.decl) {
					all = append(all, &encodedHeap{encodedWhole: x})
				}
				known[fn.decl] = all
			}
			for _, x := range all {
				if counted[x] || !x.feedsLine(f.Line) {
					continue
				}
				counted[x] = true
				if x.bytes += w; w > x.most {
					x.most, x.at, x.frames = w, f, frames[i:]
				}
				if float64(x.bytes) >= r.param("share")*float64(kept.Bytes) && (best == nil || x.bytes > best.bytes) {
					best = x
				}
			}
		}
	}
	return best
}

// encodedOr is what the rule says of such a list where no line has most of what is in use; false where there is none.
func encodedOr(r *Rule, in *Input, kept *facts.Look) (f Finding, ok bool) {
	x := mostEncoded(r, in, kept)
	if x == nil {
		return f, false
	}
	share := float64(x.bytes) / float64(max(1, kept.Bytes))
	f = r.answer(Found, "")
	f.Score, f.Impact, f.Severity = score(share*float64(kept.Bytes), 64<<20, 1<<30), exactly(share, "share of what is in use"), Info
	x.tell(r, in, kept, &f)
	if f.Severity.AtLeast(Warning) {
		f.felt = share * min(1, float64(x.bytes)/(r.param("fills")*(1<<20)))
	}
	return f, true
}

// tell makes a finding say that the items could be written as they come.
func (x *encodedHeap) tell(r *Rule, in *Input, kept *facts.Look, f *Finding) {
	add, call, whole := x.d.placeOf(x.adds), x.d.placeOf(x.call), x.d.placeOf(x.whole)
	f.Title = encodedTitle
	f.Summary = fmt.Sprintf("of %s in use%s, %s were allocated for what the turns at %s gather in %s, or by the call at %s, which encodes all of it at once: none of them is written before the last one is there",
		unit.BytesOf(float64(kept.Bytes)), map[bool]string{true: " near the peak"}[kept.Peak], unit.Percent(float64(x.bytes)/float64(max(1, kept.Bytes))), whole.text(), x.of.Name(), call.text())
	f.Evidence = []Evidence{
		in.code.shownAt(add.file, add.line, "all is gathered here, turn by turn"),
		in.code.shownAt(call.file, call.line, "only here it is encoded, as a whole"),
	}
	if line := fmt.Sprintf("%s:%d", x.at.File, x.at.Line); !shows(f, line) && len(x.frames) > 0 {
		f.Evidence = append(f.Evidence, in.fileAt(kept.Entry, x.at, x.frames, "%s of it in use were allocated by way of this line, %s in all", unit.BytesOf(float64(x.most)), unit.BytesOf(float64(x.bytes))))
	}
	f.Advice = "Write each item, or each page of items, when it comes, and keep no more than that: encode it to the writer in the loop that reads it (json.Encoder for each item, with the brackets, names and commas around the items written by hand; or a document a line; a csv.Writer or an xml.Encoder takes one item at a time). " +
		"A bufio.Writer in between keeps the writes large. Then the peak no longer grows with the number of items."
	f.Verify = "Record again: the peak heap should be lower, and no longer grow with the number of items."
	f.Doubts = slices.DeleteFunc(f.Doubts, func(d string) bool { return strings.HasPrefix(d, oneMoment) })
	f.Doubts = append(f.Doubts, "if an item cannot be read, a part is written already: whoever reads it has to notice (a mark at the end, a temporary file that is renamed)", "what the items are read from stays open, or in one transaction, as long as they are written",
		"if what it is written to keeps all of it (a buffer of the caller), that has to go, too")
	later := x.changedLater()
	if later != nil {
		at := x.d.placeOf(later)
		f.Evidence = append(f.Evidence, in.code.shownAt(at.file, at.line, "an item that is in it already may change here"))
		f.Doubts = append(f.Doubts, fmt.Sprintf("at %s a turn may change an item of an earlier one: written when it comes, it would lack that", at.text()))
	}
	begun, early := x.begins()
	if early != nil {
		at := x.d.placeOf(early)
		f.Evidence = append(f.Evidence, in.code.shownAt(at.file, at.line, "here it ends with an error, before any of it is written"))
		f.Doubts = append(f.Doubts, begunText(x.d, begun))
	}
	if later == nil && early == nil && float64(x.bytes) >= r.param("grows")*(1<<20) {
		f.Severity, f.Score = Warning, max(f.Score, 50)
	}
}

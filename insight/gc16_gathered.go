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

// gatheredTitle is the title of a list of which most of the live heap is, and that is only gone through in the end.
const gatheredTitle = "All items are gathered before the first one is handled"

// gatheredHeap is a list that a loop gathers, with what is in use of all that its turns have allocated.
type gatheredHeap struct {
	*gathered
	d      *derivations
	bytes  int64
	depth  int         // how many functions of the program are below the loop, at least
	at     stack.Frame // the line of the turns that has most of it
	frames []stack.Frame
	most   int64
}

// mostGathered finds the list that has most of what is in use, with all that the turns of its loop have allocated for it, at
// whichever lines. Of several, one within the turns of another, it is the innermost that nothing speaks against.
func mostGathered(r *Rule, in *Input, kept *facts.Look) (best *gatheredHeap, ok bool) {
	if float64(kept.Bytes) < r.param("least")*(1<<20) || float64(kept.Samples) < r.param("samples") && kept.Doubt > r.param("doubt") {
		return nil, false
	}
	d := newDerivations(in.code)
	lists := map[string][]*gathered{}
	by := map[*gathered]*gatheredHeap{}
	var all []*gatheredHeap
	isUser := in.Session.Scope().IsUser
	for frames, w := range facts.EachStack(kept.InUse) {
		counted := map[*gathered]bool{}
		depth := 0
		for i, f := range frames {
			if !isUser(f) {
				continue
			}
			depth++
			fn, found := d.at(f)
			if !found {
				continue
			}
			key := d.placeOf(fn.decl).text() + fn.file
			if _, known := lists[key]; !known {
				lists[key] = gatheredLists(d, fn.decl)
			}
			for _, g := range lists[key] {
				if counted[g] || !g.inWhole(d, f.File, f.Line) || !g.feedsFrom(d, f.Line) {
					continue
				}
				counted[g] = true
				x := by[g]
				if x == nil {
					x = &gatheredHeap{gathered: g, d: d, depth: depth}
					by[g], all = x, append(all, x)
				}
				x.bytes, x.depth = x.bytes+w, min(x.depth, depth)
				if w > x.most {
					x.most, x.at, x.frames = w, f, frames[i:]
				}
			}
		}
	}
	all = slices.DeleteFunc(all, func(x *gatheredHeap) bool { return float64(x.bytes) < r.param("share")*float64(kept.Bytes) })
	for _, x := range all {
		if best == nil || (x.against == "") != (best.against == "") && x.against == "" || (x.against == "") == (best.against == "") && x.depth < best.depth {
			best = x
		}
	}
	return best, best != nil
}

// allOrNothing is what may need all of a list, and no source shows.
const allOrNothing = "if nothing may be done where a later item is bad, or cannot be read, all have to be looked at first; or what is done has to be put in place at the end alone"

// gatheredOrFine is what the rule says where no single line has most of what is in use.
func gatheredOrFine(r *Rule, in *Input, kept *facts.Look, text string) Finding {
	x, ok := mostGathered(r, in, kept)
	if !ok || x.against != "" || x.keeps != "" {
		if f, encoded := encodedOr(r, in, kept); encoded {
			return f
		}
	}
	if !ok {
		return r.answer(Fine, "%s", text)
	}
	if x.against != "" || x.keeps != "" {
		why := x.against
		if why == "" {
			why = x.keeps
		}
		return r.answer(Fine, "%s; %s has allocated %s of it for %s, but an item cannot simply be handled when it comes: %s", text, x.turnsText(x.d), unit.Percent(x.share(kept)), x.name(), why)
	}
	f := r.answer(Found, "")
	f.Score = score(x.share(kept)*float64(kept.Bytes), 64<<20, 1<<30)
	f.Impact = exactly(x.share(kept), "share of what is in use")
	f.Severity = Info
	x.tell(r, in, kept, &f)
	if f.Severity.AtLeast(Warning) {
		f.felt = x.share(kept) * min(1, float64(x.bytes)/(r.param("fills")*(1<<20)))
	}
	return f
}

// share is its part of what is in use.
func (x *gatheredHeap) share(kept *facts.Look) float64 {
	return float64(x.bytes) / float64(max(1, kept.Bytes))
}

// tell makes a finding say that the items could be handled as they come. Where something speaks against it, no more is said than what.
func (x *gatheredHeap) tell(r *Rule, in *Input, kept *facts.Look, f *Finding) {
	if x.against != "" || x.keeps != "" {
		x.tellSamePages(f)
		if x.against == "" {
			f.Doubts = append(f.Doubts, fmt.Sprintf("%s has gathered it in %s, and goes on to handle one item after the other; but %s", x.turnsText(x.d), x.name(), x.keeps))
		}
		return
	}
	add, last := x.d.placeOf(x.adds[0]), x.whereLast(x.d)
	f.Title = gatheredTitle
	only := "the list is local, and"
	if x.field != nil {
		only = "nothing else uses that list, which"
	}
	f.Summary = fmt.Sprintf("of %s in use%s, %s were allocated by the turns of %s for the items that %s appends to %s; according to the source %s ", unit.BytesOf(float64(kept.Bytes)), map[bool]string{true: " near the peak"}[kept.Peak],
		unit.Percent(x.share(kept)), x.turnsText(x.d), add.text(), x.name(), only)
	handle := x.handle()
	switch first := x.d.placeOf(x.passes[0].loop); {
	case x.measured():
		f.Summary += fmt.Sprintf("is gone through twice: at %s only to find how long the longest texts are, and at %s to handle them", first.text(), last.text())
		handle = "Write the items in batches of some hundreds, each laid out by its own widths or by those of the first batch, or in a format that needs no widths (tab-separated values, a line per item): then the peak no longer grows with their number. If the widths have to be exact, go through the source twice instead of keeping all."
		f.Doubts = append(f.Doubts, "the widths are known only when all items are: written in batches, the columns may change on the way, or a text may be too long for its column")
	case len(x.passes) > 1:
		f.Summary += fmt.Sprintf("is gone through twice: at %s only to count, for a line of output, and at %s to handle the items", first.text(), last.text())
	default:
		f.Summary += fmt.Sprintf("is only gone through once, at %s: no item needs another one", last.text())
	}
	if x.tells != nil {
		at := x.d.placeOf(x.tells)
		handle += fmt.Sprintf(" Count while they are handled: what the line of output at %s says of all of them is known at the end.", at.text())
		f.Doubts = append(f.Doubts, fmt.Sprintf("the line of output at %s would come after the items, not before them", at.text()))
	}
	f.Evidence = []Evidence{
		in.fileAt(kept.Entry, stack.Frame{Func: x.frames[0].Func, File: add.file, Line: add.line}, x.frames[1:], "all items are gathered here: %s in use", unit.BytesOf(float64(x.bytes))),
		in.code.shownAt(last.file, last.line, "only here they are handled, one after the other"),
	}
	if len(x.frames) > 0 && x.at.Line != add.line {
		f.Evidence = append(f.Evidence, in.fileAt(kept.Entry, x.at, x.frames, "%s of it were allocated by way of this line", unit.BytesOf(float64(x.most))))
	}
	f.Advice = handle
	f.Verify = "Record again: the peak heap should be lower, and no longer grow with the number of items."
	f.Doubts = slices.DeleteFunc(f.Doubts, func(d string) bool { return strings.HasPrefix(d, oneMoment) })
	switch {
	case x.fails != nil:
		x.tellFails(in, f)
	case x.breaks != nil:
		at := x.d.placeOf(x.breaks)
		f.Doubts = append(f.Doubts, fmt.Sprintf("the gathering can end with an error at %s; handled as they come, a part is written then: whoever reads it has to notice (the exit status, a mark at the end, a temporary file that is renamed)", at.text()))
		if x.begun != nil {
			f.Doubts = append(f.Doubts, begunText(x.d, x.begun))
		}
	default:
		f.Doubts = append(f.Doubts, allOrNothing)
	}
	x.tellShifts(f)
	if !x.ownSources(x.d) {
		f.Doubts = append(f.Doubts, "as long as they are handled, what they are read from stays open; a peer that reads nothing before it has sent all would wait for ever")
	}
	if x.touches != nil {
		at := x.d.placeOf(x.touches.at)
		f.Doubts = append(f.Doubts, fmt.Sprintf("the turns take something out of %s or put something into it, and the handling puts more into it at %s: if they would read that as well, the list is what keeps the two apart", x.touches.text, at.text()))
	}
	if float64(x.bytes) >= r.param("grows")*(1<<20) && x.fails == nil && x.touches == nil && x.shifts == nil && !(x.breaks != nil && x.begun != nil) {
		f.Severity, f.Score = Warning, max(f.Score, 50)
	}
}

// handle is the advice: where the items are handled by another function, how they get there.
func (x *gatheredHeap) handle() string {
	each := "item"
	if slices.ContainsFunc(x.adds, func(a *ast.AssignStmt) bool { return a.Rhs[0].(*ast.CallExpr).Ellipsis.IsValid() }) {
		each = "page of items"
	}
	const then = " Then the peak no longer grows with their number."
	batch := "; or a batch of some hundreds at a time, if handling them together is cheaper."
	if each != "item" {
		batch = "."
	}
	if x.last().decl == x.decl {
		return fmt.Sprintf("Handle each %s when it comes, in the loop that reads it, instead of gathering all of them first%s%s", each, batch, then)
	}
	return fmt.Sprintf("Handle each %s when it comes, instead of gathering all of them first%s Give %s a function to call with each %s, or let it return an iterator (iter.Seq2 with an error), and do there what is done at %s now.%s",
		each, batch, x.decl.Name.Name, each, x.whereLast(x.d).text(), then)
}

// tellFails says of a list that none of its items is handled where a later one is bad: as the program stands it does all or nothing.
func (x *gatheredHeap) tellFails(in *Input, f *Finding) {
	at := x.d.placeOf(x.fails)
	f.Evidence = append(f.Evidence, in.code.shownAt(at.file, at.line, "here it ends with an error, before any item is handled"))
	f.Doubts = append(f.Doubts, fmt.Sprintf("the gathering can end with an error at %s, and then nothing has been handled: if it has to be all or nothing, as for what is booked, handle the items in a transaction, or on a copy that is put in place at the end, or read twice and only check the first time", at.text()))
	f.Advice = "If items may be handled although a later one turns out to be bad: " + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
}

package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

// headTitle is the title of queues that are empty and whose arrays keep what was taken out of them.
const headTitle = "Elements taken out of a queue stay in its array"

// inWorkToo is what speaks against all of it being in the arrays.
const inWorkToo = "what is in work after it was taken out is in use as well: a profile does not tell it from what the arrays keep"

// headHeap is such a queue, and what shows that it is empty.
type headHeap struct {
	*headCut
	at string // the line that takes elements out
	// flow is how often something was put in and taken out; counted tells that hardly anything was left, as the heap profile has it.
	flow    countedFlow
	counted bool
	// drained is the loop that takes out until it is empty, in a function that has put something in; nil where none is known.
	drained *ast.ForStmt
}

// tellHead says of memory that goes into a queue which gives up its first places without clearing them that its array keeps what was taken out. Where the source or
// the counts show that the queue is empty all the same, and the memory stays, that is the fault.
func tellHead(r *Rule, in *Input, all *facts.Retention, top *facts.Line, f *Finding) {
	if f.Title != r.Title || f.wastes != noWaste || f.counted {
		return
	}
	x := headOf(in, all, top)
	if x == nil || float64(top.Weight) > r.param("left")*float64(all.Most.Allocated(top.At)) { // they do not leave it
		return
	}
	x.shown(f)
	switch empty := x.empty(); {
	case empty == "":
		f.Advice += fmt.Sprintf(" If %s is empty much of the time: %s does not clear the place of what it takes out, which stays in the array until append moves the rest to another one. %s", x.text, x.at, x.clearing())
		return
	case x.anew != nil || x.heldElsewhere() || float64(objectsAt(all, top)) < r.param("many") || !staysAt(r, in, all, top):
		f.Advice = fmt.Sprintf("It is taken out of %s at %s, and its place is not cleared: it stays in the array until append moves the rest to another one. %s Where that does not help, something else holds what was taken out: a bound on the queue would not, as %s.", x.text, x.at, x.clearing(), empty)
		return
	}
	x.tell(f)
	if float64(top.Weight) >= r.param("grows")*(1<<20) {
		f.Severity, f.Score = Warning, max(f.Score, 50)
	}
}

// headOf is the queue that a line's memory goes into, where its source takes elements out without clearing their places, and it goes nowhere else; nil else.
func headOf(in *Input, all *facts.Retention, top *facts.Line) *headHeap {
	own := userFrames(in.code, top.At, top.Frames)
	if len(own) == 0 {
		return nil
	}
	var s keepsAt
	for _, one := range in.code.storesOf(own) {
		switch {
		case one.kind == intoField:
		case one.part || one.kind != intoSlice || s.file != "" && one.name != s.name:
			return nil
		case s.file == "":
			s = one
		}
	}
	if s.file == "" {
		return nil
	}
	counts := blockCountsOf(in.code)
	cut := headCutOf(derivationsWith(in.code, counts), s, func(n ast.Node, around []ast.Node) (int64, bool) {
		if counts == nil {
			return 0, false
		}
		return counts.times(around, n)
	})
	if cut == nil {
		return nil
	}
	x := &headHeap{headCut: cut, at: cut.d.placeOf(cut.cut).text(), drained: cut.drainedAfter()}
	flow, ok := throughputOf(in.code, s)
	if objects := objectsAt(all, top); ok && !flow.many && flow.stored >= max(leastStored, objects) && flow.left()*10 <= objects {
		x.flow, x.counted = flow, true
	}
	return x
}

// left is how many of what was put in were not taken out.
func (f countedFlow) left() int64 { return max(0, f.stored-f.taken) }

// objectsAt is how many objects a line has in use in the profile with the most.
func objectsAt(all *facts.Retention, top *facts.Line) (n int64) {
	for size, w := range all.Most.SizesAt(top.At) {
		n += w / max(1, size)
	}
	return n
}

// staysAt tells that most of what a line has in use at the most is no passing thing: a profile after a collection has it, several peaks have, or one collection
// after the other found it.
func staysAt(r *Rule, in *Input, all *facts.Retention, top *facts.Line) bool {
	if float64(all.Lasting(top.At)) >= r.param("share")*float64(top.Weight) {
		return true
	}
	return neverFell(in, float64(top.Weight)/float64(max(1, all.Most.Bytes)), top.Weight) >= enoughCollections
}

// empty says what shows that the queue is drained; it is empty itself where nothing does.
func (x *headHeap) empty() string {
	switch {
	case x.counted && x.flow.left() == 0:
		return fmt.Sprintf("in the run that counts, all of %s that were put in were taken out again", unit.Plural(x.flow.stored, "element"))
	case x.counted:
		return fmt.Sprintf("in the run that counts, %s were put in and all but %s taken out again", unit.Plural(x.flow.stored, "element"), unit.Count(x.flow.left()))
	case x.drained != nil:
		return fmt.Sprintf("the source takes out until it is empty, at %s", x.d.placeOf(x.drained).text())
	}
	return ""
}

// shown adds the line that takes elements out to what a finding shows.
func (x *headHeap) shown(f *Finding) {
	at := x.d.placeOf(x.cut)
	line := Evidence{File: at.file, Line: at.line}
	f.Evidence = slices.DeleteFunc(f.Evidence, func(e Evidence) bool { return e.File == line.File && e.Line == line.Line })
	f.Evidence = append(f.Evidence, (x.d.c).shownAt(at.file, at.line, "elements are taken out of %s here, and their places in the array are not cleared", x.text))
}

// tell makes a finding say that the arrays keep what was taken out.
func (x *headHeap) tell(f *Finding) {
	f.Title = headTitle
	f.Summary += fmt.Sprintf("; %s takes it out without clearing its place (%s = %s): it stays in the array, before the beginning of the slice, until append moves the rest to another array", x.at, x.text, x.shorter())
	f.Summary += "; that is no backlog: " + x.empty()
	f.Evidence = slices.DeleteFunc(f.Evidence, func(e Evidence) bool { return strings.HasSuffix(e.Text, "is emptied here") })
	putFirst(f, f.Evidence[len(f.Evidence)-1])
	if own, others := x.shares(); own != nil || others != nil {
		f.Advice = x.clearing() + " A bound would not help: what is kept is not in the queue any more."
	} else {
		f.Advice = x.clearing() + fmt.Sprintf(" And set %s to nil when it has become empty, so that the array goes, too. A bound would not help: what is kept is not in the queue any more.", x.text)
	}
	f.Verify = "Record again under the same load: what is in use after a collection should be lower."
	f.Doubts = []string{inWorkToo}
}

// shorter is what the list becomes.
func (x *headHeap) shorter() string {
	for i, lhs := range x.cut.Lhs {
		if x.is(lhs) {
			return types.ExprString(x.cut.Rhs[i])
		}
	}
	return ""
}

// shares are the expressions that have the array as well: own one of what leaves it, in the function that takes it out, and others.
func (x *headCut) shares() (own, others *arrayShare) {
	return (&arrayShares{d: x.d, list: x.list, decl: x.decl, cut: x.cut}).find()
}

// clearing says how to let go of the places that are left. Where others have the array, they would see them cleared.
func (x *headHeap) clearing() string {
	own, others := x.shares()
	if own == nil && others == nil {
		return fmt.Sprintf("Clear the place before the slice leaves it, at %s: %s.", x.at, x.howToClear())
	}
	says := fmt.Sprintf("Set %s to nil when it has become empty: that lets go of the array, and changes nothing that others may still read.", x.text)
	if own != nil {
		says += fmt.Sprintf(" Do not clear the place while what has left it is in use: %s takes %s, which is used after that. If it is to go at once, copy it out first (%s), use the copy, and clear the place then: %s.", x.d.placeOf(own.at).text(), own.text(), own.copying(), x.howToClear())
	}
	if others != nil {
		says += fmt.Sprintf(" Do not clear a place%s as long as others may read it: %s hands on %s, and whoever has that would find the element gone, perhaps while reading it.", map[bool]string{true: " either"}[own != nil], x.d.placeOf(others.at).text(), others.text())
		if own == nil {
			says += fmt.Sprintf(" If the elements are to go at once, hand on a copy there (%s), made under the lock where there is one, and clear the place then, at %s: %s.", others.copying(), x.at, x.howToClear())
		}
	}
	return says
}

// howToClear is how to clear the places that are left.
func (x *headHeap) howToClear() string {
	how := fmt.Sprintf("clear(%s[:n]), with the n elements that leave", x.text)
	for i, lhs := range x.cut.Lhs {
		part, ok := ast.Unparen(x.cut.Rhs[i]).(*ast.SliceExpr)
		if !ok || !x.is(lhs) {
			continue
		}
		if n, known := numberOf(part.Low); !known || n != 1 {
			how = fmt.Sprintf("clear(%s[:%s])", x.text, types.ExprString(part.Low))
			continue
		}
		switch elem := types.Unalias(x.list.Type().Underlying().(*types.Slice).Elem()).(type) {
		case *types.TypeParam:
			how = fmt.Sprintf("var zero %s; %s[0] = zero", elem.Obj().Name(), x.text)
		case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature, *types.Interface:
			how = x.text + "[0] = nil"
		default:
			how = fmt.Sprintf("clear(%s[:1])", x.text)
		}
	}
	return how
}

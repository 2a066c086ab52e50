package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strconv"

	"loupe/value/stack"
)

// Another function may need the same lock across several calls of what the call under it uses, in one step: a call that is made
// without the lock can come between those.

// otherSequence are several calls of one thing that another function makes under a lock.
type otherSequence struct {
	atPeer
	of     string // "s.store"
	name   string // of the function
	calls  []*ast.CallExpr
	writes int
	// asks and acts are the lines of two of them that the source shows to be one step; 0 where it shows none.
	asks, acts int
}

// besideOthers adds to what a lock is for, if that lets it be let go, what others need it for.
func besideOthers(u *underlying, levels []*underlying, p *protected) *protected {
	if p != nil && p.says != "" && p.lets == letsNot {
		return p
	}
	t, ok := u.c.takerAt(stack.Frame{File: u.file, Line: u.lock})
	if !ok {
		return p
	}
	for _, level := range levels {
		a := aliveUnder{level, derivationsOf(u.c), t.name}
		for _, used := range a.receivers() {
			for _, q := range a.sequences(used) {
				if writes := (atPeer{level}).changesOf(used.text); writes && q.asks > 0 {
					return q.protects()
				} else if q.writes > 1 || writes && q.writes > 0 {
					return q.doubts(p)
				}
			}
		}
	}
	return p
}

// receivers are what the call is a method of, where that is looked up in what outlives it.
func (a aliveUnder) receivers() (all []usedValue) {
	in, ok := a.d.at(stack.Frame{File: a.file, Line: a.call})
	if !ok {
		return nil
	}
	inside(in.decl.Body, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || !a.covers(call) {
			return
		}
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
			if from, ok := lookedIn(a.d, in.decl, sel.X, lifeDepth); ok {
				all = append(all, usedValue{lookedFrom: from, text: types.ExprString(sel.X)})
			}
		}
	})
	return all
}

// changesOf tells whether the call on the line, of a thing by its text, changes something.
func (u atPeer) changesOf(of string) bool {
	return slices.ContainsFunc(u.callsUnder(), func(call *ast.CallExpr) bool {
		return u.s.covers(call, u.call) && calledOf(call) == of && u.changes(call)
	})
}

// sequences are the other places that hold the lock across several calls of the same thing.
func (a aliveUnder) sequences(used usedValue) (all []otherSequence) {
	for _, decl := range declsInOrder(a.d) {
		file, first, _ := a.d.t.at(decl.Pos())
		_, last, _ := a.d.t.at(decl.End())
		if lifeEnds.MatchString(decl.Name.Name) {
			continue
		}
		for _, h := range a.c.heldIn(stack.Frame{File: file}) {
			t, ok := a.c.takerAt(stack.Frame{File: file, Line: h.from})
			if !ok || t.name != a.name || h.from < first || h.from > last || file == a.file && h.has(a.call) {
				continue
			}
			if q, ok := a.sequence(decl, file, h, used); ok {
				all = append(all, q)
			}
		}
	}
	return all
}

// sequence are the calls of a thing that a function makes while it holds a lock; false of one alone.
func (a aliveUnder) sequence(decl *ast.FuncDecl, file string, h held, used usedValue) (q otherSequence, ok bool) {
	at := stack.Frame{Func: decl.Name.Name, File: file, Line: h.from}
	fn := a.c.scopeAt(at)
	if fn == nil {
		return q, false
	}
	inside(decl.Body, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || q.of != "" {
			return
		}
		_, line, _ := a.d.t.at(call.Pos())
		if sel, is := ast.Unparen(call.Fun).(*ast.SelectorExpr); is && h.has(line) {
			if from, ok := lookedIn(a.d, decl, sel.X, lifeDepth); ok && from == used.lookedFrom {
				q.of = types.ExprString(sel.X)
			}
		}
	})
	q.name = decl.Name.Name
	q.atPeer = atPeer{&underlying{c: a.c, s: a.c.parse(file), fn: fn, file: file, lock: h.from, held: h, known: true, in: a.c.function(at)}}
	for _, call := range q.callsUnder() {
		if q.of == "" || calledOf(call) != q.of || lifeEnds.MatchString(calledName(call)) {
			continue
		}
		if q.calls = append(q.calls, call); q.changes(call) {
			q.writes++
		}
	}
	q.oneStep()
	return q, len(q.calls) > 1
}

// oneStep looks for two of the calls of which the source shows that they belong together: the second writes what is made of the first one's answer,
// or is made by it.
func (q *otherSequence) oneStep() {
	for i, asks := range q.calls {
		for _, acts := range q.calls[i+1:] {
			first, _ := q.s.lines(asks)
			second, _ := q.s.lines(acts)
			_, same := q.sharedKey(asks, acts)
			if first < second && q.changes(acts) && (q.changedAtPeer(first, second) != nil || same && q.decidedBy(asks, acts) && !q.fills(asks, acts)) {
				q.asks, q.acts = first, second
				return
			}
		}
	}
}

// protects says that a call which changes something must not come between those.
func (q *otherSequence) protects() *protected {
	return &protected{info: true, slow: true,
		says:   fmt.Sprintf("%s needs the same lock across two calls of %s: what line %d gets decides what line %d changes", q.name, q.of, q.asks, q.acts),
		advice: fmt.Sprintf("Do not just make the call without the lock: what it changes could come between lines %d and %d of %s, which would act by an answer that is out of date. Have one lock for each thing that is changed, which both take; or let the peer make the change of %s in one step (a transaction, a write that fails if the value is another by then), and then unlock.", q.asks, q.acts, q.name, q.name),
		evidence: []Evidence{
			q.c.shownAt(q.file, q.asks, "under the same lock, in %s: asks", q.name),
			q.c.shownAt(q.file, q.acts, "and acts by the answer"),
		}}
}

// doubts adds that the calls may have to be one step.
func (q *otherSequence) doubts(p *protected) *protected {
	var lines []string
	for _, call := range q.calls {
		line, _ := q.s.lines(call)
		if text := strconv.Itoa(line); !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	text := fmt.Sprintf("%s holds the same lock across several calls of %s (lines %s of %s): if these have to be one step, the call here must not come between them", q.name, q.of, andList(lines), baseName(q.file))
	if p == nil {
		return &protected{doubt: text}
	}
	if p.doubt != "" {
		text = p.doubt + "; " + text
	}
	p.doubt = text
	return p
}

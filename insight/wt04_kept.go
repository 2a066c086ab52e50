package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// Who pauses with a slot may have something else that the slot counts: a line from a free list, a connection, a number of
// its own. That has to be back before the slot is, and the slot cannot be given back before the pause.

// keptSlot is what is taken under a slot and given back, or used, after a pause only.
type keptSlot struct {
	name        string
	taken, back stack.Frame
}

// text is the clause for it.
func (k keptSlot) text() string {
	text := fmt.Sprintf("%s is taken at %s with the slot", k.name, fileLine(k.taken.File, k.taken.Line))
	if k.back.Line != k.taken.Line {
		text += fmt.Sprintf(", and given back, or used, after the pause (%s)", fileLine(k.back.File, k.back.Line))
	}
	return text
}

// tell says in a finding about those who wait for a slot that its holders keep something through the pause at a line.
func (k keptSlot) tell(c *code, pause stack.Frame, f *Finding) {
	f.Severity = Info
	f.Evidence = append(f.Evidence, c.shownAt(k.taken.File, k.taken.Line, "taken here with the slot: %s", k.name))
	f.Advice = fmt.Sprintf("Find out what the pause at %s is for: %s, and to give the slot back before the pause, or to have more slots, would let another in while there may be none for it. Where whoever takes it next need not wait for the pause, give both back before it, in the order in which they are given back now; else a shorter pause, or more of both, lets more through.", fileLine(pause.File, pause.Line), k.text())
	f.Doubts = append(f.Doubts, k.text()+": if the slots count these, or these have to rest, the pause belongs inside")
	f.Verify = "Record again under the same load after a change: this wait should shrink, and no request fail for want of what is taken with the slot."
}

// Names of functions that hand out something, and of those that get it back.
var (
	handsOut = lazily(`(?i)^(get|take|acquire|borrow|pop|check_?out|lease|reserve|alloc|allocate|pick|grab|rent|dequeue|conn|open|dial|begin)`)
	getsBack = lazily(`(?i)^(put|release|return|push|give|free|check_?in|recycle|close|back|restore|unreserve|enqueue|rollback|commit)`)
)

// keptThrough finds what who has a slot keeps through a pause: in the function that takes the slot, after that, and in
// those that it calls on the way to the pause. The source is known where all of these are there to read.
func keptThrough(c *code, takes, pauses []stack.Frame) (kept keptSlot, found, known bool) {
	from, to := sharedFunction(c, takes, pauses)
	if to < 0 {
		return kept, false, false
	}
	for i := to; i >= 0; i-- {
		fn := c.scopeAt(pauses[i])
		if fn == nil {
			continue // a function of a library
		}
		known = known || i == to
		w := &keptScan{c: c, s: c.parse(pauses[i].File), fn: fn, at: pauses[i], from: 0}
		if i == to {
			w.from = takes[from].Line
		}
		if kept, found = w.look(); found {
			return kept, true, true
		}
	}
	return kept, false, known
}

// sharedFunction is the innermost function of the sources that both stacks are in, by its frames; to is -1 where there is none.
func sharedFunction(c *code, takes, pauses []stack.Frame) (from, to int) {
	for from = range takes {
		to = slices.IndexFunc(pauses, func(f stack.Frame) bool { return f.Func == takes[from].Func && f.File == takes[from].File })
		if to >= 0 && c.scopeAt(takes[from]) != nil {
			return from, to
		}
	}
	return 0, -1
}

// keptScan looks through a function between the line that takes a slot and one from which the pause is reached.
type keptScan struct {
	c    *code
	s    *syntax
	fn   *scope
	at   stack.Frame // the pause, or the call that leads to it
	from int         // 0 where the function begins with the slot
}

func (w *keptScan) line(n ast.Node) int { first, _ := w.s.lines(n); return first }

// before tells of a node that it runs with the slot, before the pause.
func (w *keptScan) before(n ast.Node) bool { l := w.line(n); return l >= w.from && l < w.at.Line }

// look finds a variable, or an element, that is taken before the pause and given back after it.
func (w *keptScan) look() (kept keptSlot, found bool) {
	note := func(name string, taken, back ast.Node) {
		if !found && back != nil {
			kept, found = keptSlot{name: name, taken: stack.Frame{File: w.at.File, Line: w.line(taken)}, back: stack.Frame{File: w.at.File, Line: w.line(back)}}, true
		}
	}
	eachNode(w.fn.body, func(n ast.Node, around []ast.Node) {
		if found || w.elsewhere(around) || !w.before(n) {
			return
		}
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return
		}
		for i, x := range a.Lhs {
			id, bare := x.(*ast.Ident)
			switch {
			case bare && id.Name != "_" && !isError(id.Name) && id.Name != "ok":
				taken := w.takes(a, a.Rhs[min(i, len(a.Rhs)-1)])
				note(id.Name, a, w.later(a, around, func(use ast.Node, above []ast.Node) bool {
					u, is := use.(*ast.Ident)
					return is && u.Name == id.Name && (taken && !isCalled(u, above) || isGivenBack(u, above))
				}))
			case !bare && a.Tok == token.ASSIGN && w.isElement(x):
				text := types.ExprString(x)
				note(text, a, w.later(a, around, func(use ast.Node, _ []ast.Node) bool { return clearsElement(use, text) }))
			}
		}
	})
	return kept, found
}

// elsewhere tells of a node that it runs in a goroutine of its own, or when the function returns.
func (w *keptScan) elsewhere(around []ast.Node) bool {
	return slices.ContainsFunc(around, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.GoStmt, *ast.DeferStmt:
			return true
		}
		return false
	})
}

// later finds a use of something after the pause: behind its line, in what is deferred before it, or in a turn of a loop
// around the pause which the declaration is not in.
func (w *keptScan) later(taken ast.Node, around []ast.Node, is func(use ast.Node, above []ast.Node) bool) (found ast.Node) {
	var loop ast.Node
	eachNode(w.fn.body, func(n ast.Node, above []ast.Node) {
		if _, isLoop := n.(*ast.BlockStmt); isLoop && len(above) > 0 && loop == nil && w.s.covers(n, w.at.Line) && !slices.Contains(around, n) {
			switch above[len(above)-1].(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				loop = n
			}
		}
	})
	eachNode(w.fn.body, func(n ast.Node, above []ast.Node) {
		if found != nil || n.Pos() <= taken.End() || !is(n, above) {
			return
		}
		if loop != nil && n.Pos() > loop.Pos() && n.End() < loop.End() || w.line(n) > w.at.Line || w.elsewhere(above) && w.before(n) {
			found = n
		}
	})
	return found
}

// takes tells of what a variable is given that it is taken from what others take of: received from a channel, an element
// of a list that the function changes, what a function with such a name hands out, or what the call that takes the slot
// returns.
func (w *keptScan) takes(a *ast.AssignStmt, x ast.Expr) bool {
	if w.line(a) == w.from {
		switch ast.Unparen(x).(type) {
		case *ast.UnaryExpr, *ast.CallExpr:
			return true
		}
	}
	switch x := ast.Unparen(unrefer(x)).(type) {
	case *ast.UnaryExpr:
		return x.Op == token.ARROW
	case *ast.IndexExpr:
		return w.isElement(x) && w.changesList(types.ExprString(x.X))
	case *ast.CallExpr:
		f, method := x.Fun.(*ast.SelectorExpr)
		if !method || namesOf(w.c).packages[rootName(f.X)] && !w.fn.declares(rootName(f.X)) {
			return false
		}
		return handsOut.MatchString(f.Sel.Name) && len(w.c.functions()[f.Sel.Name]) > 0
	}
	return false
}

// isElement tells of an expression that it is an element of something that is not the function's own.
func (w *keptScan) isElement(x ast.Expr) bool {
	i, ok := x.(*ast.IndexExpr)
	if !ok {
		return false
	}
	root := rootName(i.X)
	return root != "" && (root == w.fn.receiver || isPart(i.X) || !w.fn.declares(root))
}

// changesList tells of a list that the function takes something out of it, or marks an element of it.
func (w *keptScan) changesList(text string) bool {
	return hasNode(w.fn.body, func(n ast.Node) bool {
		return slices.ContainsFunc(changed(n), func(x ast.Expr) bool {
			if i, ok := x.(*ast.IndexExpr); ok {
				x = i.X
			}
			return types.ExprString(x) == text
		})
	})
}

// isGivenBack tells of a use of a variable that it hands it back: it is sent, appended to something, given to a function
// whose name says so, or released itself.
func isGivenBack(id *ast.Ident, around []ast.Node) bool {
	if len(around) == 0 {
		return false
	}
	switch n := around[len(around)-1].(type) {
	case *ast.SendStmt:
		return n.Value == id
	case *ast.SelectorExpr:
		return n.X == id && isCalled(n.Sel, around) && getsBack.MatchString(n.Sel.Name)
	case *ast.CallExpr:
		if !slices.Contains(n.Args, ast.Expr(id)) {
			return false
		}
		if isNamed(n.Fun, "append") && len(around) > 1 {
			a, ok := around[len(around)-2].(*ast.AssignStmt)
			return ok && isPart(a.Lhs[0]) && n.Args[0] != id
		}
		return getsBack.MatchString(calledName(n))
	}
	return false
}

// clearsElement tells of a node that it gives an element another value, or deletes it.
func clearsElement(n ast.Node, text string) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return types.ExprString(x) == text })
	case *ast.CallExpr:
		return isNamed(n.Fun, "delete") && len(n.Args) == 2 && types.ExprString(n.Args[0])+"["+types.ExprString(n.Args[1])+"]" == text
	}
	return false
}

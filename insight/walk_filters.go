package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/unit"
)

// A walk whose callback returns nil for each folder goes through all of them, also where a filter leaves out afterwards what was
// found below some: in the callback, of files alone, or in a loop over the list that it has made. How much that is, the counts of the
// program's own functions tell.

// lateFilter is a filter by the path that is asked of files after the walk has listed them.
type lateFilter struct {
	file   string
	line   int           // of the condition
	stats  bool          // it is filepath.Walk, which examines each file
	behind bool          // it is in a loop over the list, and not in the callback
	asks   declaration   // the program's function that tells what is left out
	next   []declaration // those that are called for what is not left out, whatever else is true of it, the first one first
}

// lateFilterAt finds the filter behind the walk that a line begins, where its callback never skips a folder.
func lateFilterAt(c *code, at stack.Frame) (l lateFilter, ok bool) {
	call, cb := walkAt(c, at)
	if cb == nil || cb.mayskip() {
		return l, false
	}
	defer func() { l.stats = types.ExprString(call.Fun) == "filepath.Walk" }()
	if l, ok = cb.filters(afterFolders(cb)); ok {
		return l, true
	}
	fn := c.scopeAt(at)
	for fn != nil && (!covers(fn.body, call) || covers(call, fn.body)) {
		fn = fn.outer // the callback may begin on the line
	}
	if fn == nil {
		return l, false
	}
	lists := cb.lists()
	ast.Inspect(fn.body, func(n ast.Node) bool {
		loop, is := n.(*ast.RangeStmt)
		if ok || !is || loop.Pos() < call.End() || !lists[types.ExprString(loop.X)] || loop.Value == nil {
			return !ok
		}
		over := &skipCall{c: c, s: c.parse(at.File), file: at.File, body: loop.Body, paths: map[string]bool{types.ExprString(loop.Value): true}, names: map[string]bool{}, folder: map[string]bool{}}
		for range 3 {
			inside(over.body, over.derive)
		}
		l, ok = over.filters(loop.Body.List)
		l.behind = true
		return false
	})
	return l, ok
}

// afterFolders are the statements of a callback that are of files alone: behind the condition that returns nil for each folder.
func afterFolders(cb *skipCall) []ast.Stmt {
	for i, st := range cb.body.List {
		if n, ok := st.(*ast.IfStmt); ok && n.Else == nil && cb.folderOnly(n.Cond) && endsTurn(n.Body.List) && !hasNode(n.Cond, func(x ast.Node) bool { b, ok := x.(*ast.BinaryExpr); return ok && b.Op == token.LAND }) {
			return cb.body.List[i+1:]
		}
	}
	return nil
}

// lists are the slices to which a callback adds paths.
func (cb *skipCall) lists() map[string]bool {
	out := map[string]bool{}
	inside(cb.body, func(n ast.Node) {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		if !ok || !isNamed(call.Fun, "append") || len(call.Args) != 2 || types.ExprString(call.Args[0]) != types.ExprString(a.Lhs[0]) {
			return
		}
		if path, _ := cb.about(call.Args[1]); path {
			out[types.ExprString(a.Lhs[0])] = true
		}
	})
	return out
}

// filters finds the first statement that leaves out by a function of the path, and what is called for the rest.
func (cb *skipCall) filters(list []ast.Stmt) (l lateFilter, ok bool) {
	for i, st := range list {
		n, is := st.(*ast.IfStmt)
		if !is || n.Init != nil || n.Else != nil {
			continue
		}
		parts, rest := operands(n.Cond, token.LOR), list[i+1:]
		if !endsTurn(n.Body.List) { // if !excluded(path) && included(path) { … }
			if parts, rest = operands(n.Cond, token.LAND), n.Body.List; i < len(list)-2 {
				continue
			}
		}
		for j, x := range parts {
			x, negated := unNot(x)
			call, isCall := x.(*ast.CallExpr)
			if !isCall || negated == endsTurn(n.Body.List) {
				continue
			}
			asks, own := cb.own(call)
			if path, _ := cb.holds(call); !path || !own || hasCall(asks.Body, func(call *ast.CallExpr) bool { return calledName(call) == "Base" }) {
				continue
			}
			line, _ := cb.s.lines(n)
			l = lateFilter{file: cb.file, line: line, asks: asks}
			for _, y := range parts[j+1:] {
				y, _ := unNot(y)
				if call, isCall := y.(*ast.CallExpr); isCall && len(l.next) == 0 { // the others depend on what it says
					l.add(cb, call)
				}
			}
			if j == len(parts)-1 {
				for _, st := range rest {
					inside(st, func(y ast.Node) {
						if call, isCall := y.(*ast.CallExpr); isCall && len(l.next) == 0 && always(st, call) {
							l.add(cb, call)
						}
					})
				}
			}
			return l, true
		}
	}
	return l, false
}

// add notes what is called for what is not left out.
func (l *lateFilter) add(cb *skipCall, call *ast.CallExpr) {
	if d, own := cb.own(call); own && d.FuncDecl != l.asks.FuncDecl {
		l.next = append(l.next, d)
	}
}

// own is the function of the program that a call calls, by its name.
func (cb *skipCall) own(call *ast.CallExpr) (declaration, bool) {
	found := cb.c.functions()[calledName(call)]
	if len(found) != 1 || found[0].Body == nil {
		return declaration{}, false
	}
	return found[0], true
}

// always tells of a call in a statement that it is made whenever that is: it is no part of another one within.
func always(st ast.Stmt, call *ast.CallExpr) bool {
	switch st := st.(type) {
	case *ast.ExprStmt, *ast.AssignStmt, *ast.ReturnStmt:
		return !hasNode(st, func(n ast.Node) bool {
			b, ok := n.(*ast.BinaryExpr)
			return ok && (b.Op == token.LAND || b.Op == token.LOR)
		})
	case *ast.IfStmt:
		return st.Init != nil && covers(st.Init, call)
	}
	return false
}

// unNot is a condition without the ! before it.
func unNot(x ast.Expr) (ast.Expr, bool) {
	if u, ok := ast.Unparen(x).(*ast.UnaryExpr); ok && u.Op == token.NOT {
		return ast.Unparen(u.X), true
	}
	return ast.Unparen(x), false
}

// endsTurn tells of the statements of a condition that they leave the turn, or the callback, with nothing done.
func endsTurn(list []ast.Stmt) bool {
	if len(list) == 1 {
		if b, ok := list[0].(*ast.BranchStmt); ok && b.Tok == token.CONTINUE && b.Label == nil {
			return true
		}
	}
	return returnsNil(list)
}

// sifted is how many of the files that a filter was asked of it has left. bound tells that it may be fewer.
type sifted struct {
	asked, kept int64
	bound       bool
}

// mostlyOut is the part of the files that a filter has to leave out, at least. Chosen: most of what is listed.
const mostlyOut = 0.5

// counts are those of a filter within the function that walks, by the counts of the program's functions; not ok where they do not tell.
func (l lateFilter) counts(in *Input, walker string) (s sifted, ok bool) {
	if len(l.next) == 0 {
		return s, false
	}
	made := func(d declaration) (within, all int64, ok bool) {
		first, _ := in.code.parse(d.file).lines(d.FuncDecl)
		return repetition.Made(in.Session, func(name string) bool { return isCounted(walker, name) }, d.file, first)
	}
	asked, _, known := made(l.asks)
	kept, all, ok := made(l.next[0])
	if s = (sifted{asked: asked, kept: kept}); kept == 0 { // wherever it is called
		s.kept, s.bound = all, true
	}
	return s, known && ok && s.asked > 0 && s.kept <= s.asked
}

// tellLateFilter says of a finding about the calls of a walk that what it lists is filtered afterwards, where most is left out.
func tellLateFilter(in *Input, at stack.Frame, f *Finding) bool {
	l, ok := lateFilterAt(in.code, at)
	if !ok {
		return false
	}
	s, counted := l.counts(in, at.Func)
	if !counted || float64(s.asked-s.kept) < mostlyOut*float64(s.asked) {
		return false
	}
	where := "in the callback, of files alone"
	if l.behind {
		where = "behind the walk"
	}
	left := unit.Number(float64(s.kept))
	if s.bound {
		left += " at most"
	}
	f.Summary += fmt.Sprintf("; it enters all folders, and %s leaves out what is not wanted only %s, at %s: of the %s that it was asked of, it left %s", l.asks.Name.Name, where, fileLine(l.file, l.line), unit.Plural(s.asked, "file"), left)
	f.Advice = fmt.Sprintf("Ask %s of each folder in the callback, and return fs.SkipDir where it is to be left out: then nothing below it is listed. What it says of single files may stay where it is. Walk once, and keep the list until it may have changed.", l.asks.Name.Name)
	if l.stats {
		f.Advice += walksStat
	}
	if !slices.ContainsFunc(f.Evidence, func(e Evidence) bool { return e.File == l.file && e.Line == l.line }) {
		f.Evidence = append(f.Evidence, in.code.shownAt(l.file, l.line, "of %s, it leaves %s here", unit.Number(float64(s.asked)), left))
	}
	f.Doubts = append(f.Doubts, "only whole folders can be skipped: if it leaves out single files among those that are wanted, all have to be listed", "what it says of a folder has to be true of all that is below it")
	return true
}

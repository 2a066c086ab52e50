package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// The loop of a caller that repeats a search, and whether it goes through what is searched.

// tellTurn shows the loop of a caller that repeats the search; where it looks up the keys of what is searched, their values
// are to be kept beside them.
func (s *handSearch) tellTurn(in *Input, w *facts.Weights, f *Finding) {
	if len(s.turns) == 0 || s.loop.kind == searchOwners || len(loopsAround(in.code, s.at)) > 1 {
		return
	}
	at := heaviestFrame(s.turns)
	loops := loopsAround(in.code, at)
	if len(loops) == 0 {
		return
	}
	l := loops[len(loops)-1]
	first, _ := l.source.lines(l.stmt)
	f.Evidence = append(f.Evidence, in.lineAt(w.Entry, stack.Frame{Func: at.Func, File: at.File, Line: first}, "called in this loop: %s, in %d of the samples", fileLine(at.File, first), s.turns[at]))
	if at.Line != first {
		f.Evidence = append(f.Evidence, in.lineAt(w.Entry, at, "by this line"))
	}
	if s.loop.kind != searchMany || !f.saves || !s.direct[at] {
		f.Summary += "; the loop at " + fileLine(at.File, first) + " repeats it"
		return
	}
	f.Summary += "; the loop at " + fileLine(at.File, first) + " calls it in each turn"
	of, line, ok := searchesOwnKeys(in.code, at, s.at.Func, l)
	if !ok {
		return
	}
	f.Advice = "The loop at " + fileLine(at.File, first) + " looks up what comes from " + of + " itself (" + fileLine(at.File, line) + "): keep the value beside the key there, go through these pairs, and search nothing; no index is needed. " +
		"The time grows with the square of the length of " + of + ": twice as many take four times as long."
	f.Doubts = []string{"if a key can be there twice, the search finds the first one's value for both", "if the loop changes the values, those that are kept have to change with them"}
}

// searchesOwnKeys tells of a loop that calls a function which searches whether what it looks up comes from what is searched:
// its name in the source, and the line that takes the keys from it.
func searchesOwnKeys(c *code, at stack.Frame, callee string, l loop) (of string, line int, ok bool) {
	r, is := l.stmt.(*ast.RangeStmt)
	fn := c.function(at)
	if !is || fn == nil {
		return "", 0, false
	}
	var searched []string
	for _, call := range c.lineCalls(at) {
		if calledName(call) != ownName(callee) {
			continue
		}
		looksUp := false
		for _, x := range append(slices.Clone(call.Args), receiverOf(call)) {
			if x == nil {
				continue
			}
			root := rootName(x)
			switch {
			case root != "" && (isNamed(r.Value, root) || isNamed(r.Key, root)), isElementOf(x, r):
				looksUp = looksUp || x != receiverOf(call)
			case root != "":
				searched = append(searched, types.ExprString(unrefer(x)))
			}
		}
		if !looksUp {
			return "", 0, false
		}
	}
	keys := types.ExprString(r.X)
	for _, of := range searched {
		if of == keys || setsOther(fn, of, r) {
			continue
		}
		if takenFrom(r.X, of) { // for k := range m.All()
			line, _ = l.source.lines(r)
			return of, line, true
		}
		if n := collectsFrom(fn, of, keys, r); n != nil {
			line, _ = l.source.lines(n)
			return of, line, true
		}
	}
	return "", 0, false
}

// isElementOf tells of an expression that it is an element of what a loop goes through by its place, or a part of one.
func isElementOf(x ast.Expr, r *ast.RangeStmt) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		i, ok := n.(*ast.IndexExpr)
		found = found || ok && types.ExprString(i.X) == types.ExprString(r.X) && r.Key != nil && types.ExprString(i.Index) == types.ExprString(r.Key)
		return !found
	})
	return found
}

// takenFrom tells of an expression that it is something, a part of it, or what a method of it without arguments returns.
func takenFrom(x ast.Expr, of string) bool {
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok {
		if name := types.ExprString(call.Fun); (strings.HasPrefix(name, "maps.") || strings.HasPrefix(name, "slices.")) && len(call.Args) == 1 {
			return takenFrom(call.Args[0], of)
		}
		return len(call.Args) == 0 && receiverOf(call) != nil && types.ExprString(receiverOf(call)) == of
	}
	text := types.ExprString(x)
	return text == of || strings.HasPrefix(text, of+".") && !strings.Contains(text, "(")
}

// collectsFrom finds, before a loop, what fills a list with keys from something: a loop that appends them, or a call.
func collectsFrom(fn *ast.FuncDecl, of, keys string, before *ast.RangeStmt) (found ast.Node) {
	others := 0
	appends := func(r *ast.RangeStmt) (ok bool) {
		eachAssigned(r.Body, func(lhs, rhs ast.Expr) {
			call, is := rhs.(*ast.CallExpr)
			if is && isNamed(call.Fun, "append") && types.ExprString(lhs) == keys && len(call.Args) == 2 {
				root := rootName(call.Args[1])
				ok = ok || root != "" && (isNamed(r.Key, root) || isNamed(r.Value, root))
			}
		})
		return ok
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if n == nil || n.Pos() >= before.Pos() {
			return false
		}
		switch n := n.(type) {
		case *ast.RangeStmt:
			if appends(n) {
				if takenFrom(n.X, of) {
					found = n
				} else {
					others++
				}
				return false
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if types.ExprString(lhs) != keys {
					continue
				}
				switch rhs := n.Rhs[min(i, len(n.Rhs)-1)]; {
				case takenFrom(rhs, of):
					found = n
				case !emptied(rhs, keys):
					others++
				}
			}
		}
		return true
	})
	if others > 0 {
		return nil
	}
	return found
}

// emptied tells of an expression that a list is empty by it: k[:0], make, nil or a literal without elements.
func emptied(x ast.Expr, keys string) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.SliceExpr:
		return types.ExprString(x.X) == keys && x.High != nil && types.ExprString(x.High) == "0"
	case *ast.CallExpr:
		return isNamed(x.Fun, "make") && (len(x.Args) < 2 || types.ExprString(x.Args[1]) == "0")
	case *ast.CompositeLit:
		return len(x.Elts) == 0
	}
	return isNamed(x, "nil")
}

// setsOther tells whether a function sets a variable itself, other than at its declaration: then it may be another one.
func setsOther(fn *ast.FuncDecl, name string, l *ast.RangeStmt) (found bool) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		found = found || ok && a.Tok.String() == "=" && slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool { return types.ExprString(x) == name })
		return !found
	})
	return found || isNamed(l.Value, name) || isNamed(l.Key, name)
}

package insight

import (
	"go/ast"
	"go/token"
	"slices"

	"loupe/value/stack"
)

// Where one series of pauses ends and the next one begins: a function that polls may be called again at once, with nothing
// in between that a trace shows.

// seriesAnew tells of the loop around a pause that the pause begins with the same time in each call of its function, and is only
// multiplied in the loop: a variable that the function makes before the loop, and no chance.
func seriesAnew(c *code, at stack.Frame, l loop) bool {
	fn := c.scopeAt(at)
	if fn == nil || hasNode(l.stmt, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		return ok && (id.Name == "rand" || id.Name == "jitter")
	}) {
		return false
	}
	names := map[string]bool{}
	l.source.onLine(selectsTimer(l, at.Line), func(n ast.Node, _ []ast.Node) {
		if id, ok := n.(*ast.Ident); ok && fn.made(id.Name) != nil && !declares(l.body, id.Name) {
			names[id.Name] = true
		}
	})
	for name := range names {
		if multiplied(l, name) {
			return true
		}
	}
	return false
}

// multiplied tells of a variable that a loop sets it, and only to a multiple of itself.
func multiplied(l loop, name string) bool {
	set, other := 0, 0
	note := func(n ast.Node) {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok == token.DEFINE {
			return
		}
		for i, x := range a.Lhs {
			if !isNamed(x, name) {
				continue
			}
			y := a.Rhs[min(i, len(a.Rhs)-1)]
			times := a.Tok == token.MUL_ASSIGN || a.Tok == token.SHL_ASSIGN || a.Tok == token.ASSIGN && hasNode(y, func(n ast.Node) bool {
				b, ok := n.(*ast.BinaryExpr)
				return ok && (b.Op == token.MUL || b.Op == token.SHL) && mentions(b, name)
			})
			if set++; !times && !cutAtLimit(l, a, name) {
				other++
			}
		}
	}
	ast.Inspect(l.stmt, func(n ast.Node) bool { note(n); return true })
	return set > other && other == 0
}

// cutAtLimit tells of an assignment that it stands below a condition that the variable has grown too far.
func cutAtLimit(l loop, a *ast.AssignStmt, name string) bool {
	return hasNode(l.body, func(n ast.Node) bool {
		f, ok := n.(*ast.IfStmt)
		if !ok || a.Pos() < f.Body.Pos() || a.End() > f.Body.End() {
			return false
		}
		b, ok := f.Cond.(*ast.BinaryExpr)
		return ok && (b.Op == token.GTR || b.Op == token.GEQ) && isNamed(b.X, name)
	})
}

// polledInTurns tells whether a loop of the source calls the function with the pause at a frame, by the stack of the wait.
func polledInTurns(in *Input, t *traced, w *waiting, at stack.Frame) bool {
	frames := t.Frames(w.site.Stack)
	i := slices.IndexFunc(frames, func(f stack.Frame) bool { return f.Func == at.Func && f.Line == at.Line })
	for _, f := range frames[i+1:] {
		if !t.Scope.IsUser(f) {
			return false
		}
		if len(loopsAround(in.code, f)) > 0 {
			return true
		}
	}
	return false
}

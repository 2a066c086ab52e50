package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"loupe/value/stack"
)

// Calls of a loop that need what earlier ones have given: they can be made neither at the same
// time nor as one.

// chainAdvice is what to do about them.
const chainAdvice = "Each call needs what an earlier one has given, so they can be made neither at once nor as one with many keys: have the peer follow the chain itself (one call for several steps), cache answers that do not change, or shorten the round trip. Where several are known at a time, as in a queue, ask for those together."

// chainedAround finds the loop nearest to a call if each of its turns asks for what depends on the
// answers of earlier turns. inner is the function of a library that the first frame calls.
func chainedAround(c *code, path []stack.Frame, inner string) (at stack.Frame, ok bool) {
	for i, f := range path {
		for _, l := range slices.Backward(loopsAround(c, f)) {
			callee := inner
			if i > 0 {
				callee = path[i-1].Func
			}
			chained := l.chained(f.Line, ownName(callee)) || i > 0 && l.moves(c, f, path[i-1])
			return f, chained
		}
	}
	return stack.Frame{}, false
}

// innerOf is the function of a library that the frame nearest to a call has called, by the whole
// stack.
func innerOf(frames []stack.Frame, path []stack.Frame) string {
	if i := slices.Index(frames, path[0]); i > 0 {
		return frames[i-1].Func
	}
	return ""
}

// chained tells whether a call of a function on a line is given what such a call of a turn before
// has given, or is called on it.
func (l loop) chained(line int, callee string) (found bool) {
	on := calledOn(l.source, line)
	called := func(call *ast.CallExpr) bool { return on(call) && lastName(types.ExprString(call.Fun)) == callee }
	w := turnsOf(l.source, l.body)
	w.calls = called
	w.sets = slices.DeleteFunc(w.sets, func(s *set) bool { return s.sums })
	for name, all := range w.named {
		w.named[name] = slices.DeleteFunc(all, func(s *set) bool { return s.sums })
	}
	ast.Inspect(l.body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && called(call) {
			found = found || w.isGiven(call, called) || w.replaces(call)
		}
		return !found
	})
	return found
}

// isGiven tells whether an argument of a call, or of those that it is called on the results of,
// has a value that is looked for. What it is to write to, and a buffer that it may use again,
// are none.
func (w *turns) isGiven(call *ast.CallExpr, called func(*ast.CallExpr) bool) bool {
	for _, x := range call.Args {
		switch x := x.(type) {
		case *ast.UnaryExpr:
			if x.Op == token.AND {
				continue
			}
		case *ast.SliceExpr:
			if x.High != nil && types.ExprString(x.High) == "0" {
				continue
			}
		}
		if !isError(rootName(x)) && w.hasAt(x, call.Pos()) && !hasCall(x, called) {
			return true
		}
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	before, ok := f.X.(*ast.CallExpr)
	return ok && w.isGiven(before, called)
}

// replaces tells whether the variable that a call is a method of has been set to a value that is
// looked for: b = b.parent().
func (w *turns) replaces(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := f.X.(*ast.Ident)
	return ok && w.hasAt(id, call.Pos()) && slices.ContainsFunc(w.named[id.Name], func(s *set) bool { return !s.part && !s.declares && w.derived(s) })
}

// moves tells whether a turn of a loop calls a method that, behind its call of a peer, changes a
// field that it asks the peer with: the same receiver in each turn.
func (l loop) moves(c *code, f, callee stack.Frame) bool {
	fn := c.scopeAt(callee)
	if fn == nil || fn.receiver == "" {
		return false
	}
	w := turnsOf(l.source, l.body)
	same := slices.ContainsFunc(c.lineCalls(f), func(call *ast.CallExpr) bool {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != fn.name {
			return false
		}
		root := rootName(sel.X)
		r, ranges := l.stmt.(*ast.RangeStmt)
		item := ranges && (r.Key != nil && rootName(r.Key) == root || r.Value != nil && rootName(r.Value) == root)
		return root != "" && !item && w.declaration(root, call.Pos()) == nil
	})
	return same && len(c.carried(fn, callee, fn.receiver)) > 0
}

// carried are the fields of a variable that a function asks a peer with, on a frame's line, and
// changes behind it.
func (c *code) carried(fn *scope, f stack.Frame, of string) (fields []string) {
	s := c.parse(f.File)
	ast.Inspect(fn.body, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		if first, _ := s.lines(n); first <= f.Line {
			return true
		}
		for _, x := range written(n) {
			sel, ok := x.(*ast.SelectorExpr)
			if !ok || !isNamed(sel.X, of) {
				continue
			}
			name := types.ExprString(sel)
			if !slices.Contains(fields, name) && s.asksWith(fn.body, f.Line, name) {
				fields = append(fields, name)
			}
		}
		return true
	})
	return fields
}

// written are the variables, fields and elements that a statement sets.
func written(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	}
	return nil
}

// asksWith tells whether what is called on a line is given the value of an expression, by its
// text, or what the lines before have made of it.
func (s *syntax) asksWith(body ast.Node, line int, text string) bool {
	from := s.flowsFrom(body, line, text)
	called, given := calledOn(s, line), false
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && called(call) {
			given = given || slices.ContainsFunc(call.Args, from.has)
		}
		return !given
	})
	return given
}

// textFlow are the variables that have, going by the order of the lines, what was made of an
// expression.
type textFlow struct {
	text  string
	names map[string]bool
}

// flowsFrom follows an expression through the statements that begin before a line.
func (s *syntax) flowsFrom(body ast.Node, line int, text string) textFlow {
	return s.follow(textFlow{text, map[string]bool{}}, body, 0, line)
}

// follow goes on with what is followed through the statements that begin on some lines. A variable
// that is set to something else has it no more.
func (s *syntax) follow(f textFlow, body ast.Node, from, to int) textFlow {
	f.names = maps.Clone(f.names)
	note := func(left []ast.Expr, right ...ast.Expr) {
		has := slices.ContainsFunc(right, f.has)
		for _, x := range left {
			if id, ok := x.(*ast.Ident); ok && id.Name != "_" && !isError(id.Name) {
				f.names[id.Name] = has
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		first, _ := s.lines(n)
		if first > to {
			return false
		}
		if first < from {
			return true
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE || n.Tok == token.ASSIGN || slices.ContainsFunc(n.Rhs, f.has) {
				note(n.Lhs, n.Rhs...)
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				note([]ast.Expr{id}, n.Values...)
			}
		case *ast.RangeStmt:
			note([]ast.Expr{n.Key, n.Value}, n.X)
		}
		return true
	})
	maps.DeleteFunc(f.names, func(_ string, has bool) bool { return !has })
	return f
}

// has tells whether an expression mentions it, or a variable that has it.
func (f textFlow) has(x ast.Expr) (found bool) {
	if x == nil {
		return false
	}
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = found || types.ExprString(n) == f.text || f.has(n.X)
			return false
		case *ast.IndexExpr:
			found = found || types.ExprString(n) == f.text
		case *ast.Ident:
			found = found || n.Name == f.text || f.names[n.Name]
		}
		return !found
	})
	return found
}

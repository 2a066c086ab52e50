package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// Connections that a function takes from a pool of the program's own, and closes before it dials another one.

// droppedConn is such a function, by its source.
type droppedConn struct {
	fn    stack.Frame
	close Evidence // where it closes one
	check Evidence // the condition by which it does not give that away
	asks  string   // the condition
}

// dropsPooled finds among the frames of a dial, the leaf first, a function of the program that takes a connection from
// somewhere, gives it away behind a condition, and else closes it, all before the line that leads to the dial.
func dropsPooled(c *code, frames []stack.Frame) (x droppedConn, ok bool) {
	for _, f := range frames {
		fn, s := c.scopeAt(f), c.parse(f.File)
		if fn == nil || s == nil {
			continue
		}
		if x, ok = droppedBefore(c, s, fn.body, f); ok {
			return x, true
		}
	}
	return x, false
}

// droppedBefore looks at the statements of a function in front of the line of a frame.
func droppedBefore(c *code, s *syntax, body *ast.BlockStmt, f stack.Frame) (x droppedConn, ok bool) {
	taken, given := map[string]bool{}, map[string]ast.Expr{}
	eachNode(body, func(n ast.Node, around []ast.Node) {
		if first, _ := s.lines(n); first >= f.Line {
			return
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			if id, is := n.Lhs[0].(*ast.Ident); is && len(n.Rhs) == 1 && comesOut(n.Rhs[0]) {
				taken[id.Name] = true
			}
		case *ast.CommClause:
			if a, is := n.Comm.(*ast.AssignStmt); is {
				if id, is := a.Lhs[0].(*ast.Ident); is {
					taken[id.Name] = true
				}
			}
		case *ast.ReturnStmt:
			for _, r := range n.Results {
				id, is := r.(*ast.Ident)
				if !is || !taken[id.Name] {
					continue
				}
				for _, o := range slices.Backward(around) {
					if cond, is := o.(*ast.IfStmt); is {
						if mentions(cond.Cond, id.Name) && !comparesNil(cond.Cond) {
							given[id.Name] = cond.Cond
						}
						break
					}
				}
			}
		}
	})
	eachNode(body, func(n ast.Node, around []ast.Node) {
		call, is := n.(*ast.CallExpr)
		line, _ := s.lines(n)
		if !is || ok || line >= f.Line || calledName(call) != "Close" && calledName(call) != "CloseNow" {
			return
		}
		sel, is := call.Fun.(*ast.SelectorExpr)
		if !is {
			return
		}
		name := rootName(sel.X)
		for _, o := range around {
			if cond, is := o.(*ast.IfStmt); is && given[name] == nil && taken[name] && mentions(cond.Cond, name) && !comparesNil(cond.Cond) && givesLater(body, name) {
				given[name] = cond.Cond // closed behind the check, given away otherwise
			}
			if _, late := o.(*ast.DeferStmt); late {
				return
			}
		}
		cond := given[name]
		if !taken[name] || cond == nil {
			return
		}
		at, _ := s.lines(cond)
		x, ok = droppedConn{fn: f, asks: types.ExprString(cond)}, true
		x.close = c.shownAt(f.File, line, "a connection that was taken is closed here, before another one is made")
		x.check = c.shownAt(f.File, at, "this decides whether it is used")
	})
	return x, ok
}

// comesOut tells of a value that it comes out of something that holds it: a call, an element, a receive.
func comesOut(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.CallExpr, *ast.IndexExpr, *ast.TypeAssertExpr:
		return true
	case *ast.UnaryExpr:
		return x.Op == token.ARROW
	}
	return false
}

// comparesNil tells of a condition that it only asks whether there is something.
func comparesNil(x ast.Expr) bool {
	b, ok := ast.Unparen(x).(*ast.BinaryExpr)
	return ok && (isNamed(b.Y, "nil") || isNamed(b.X, "nil")) && (b.Op == token.EQL || b.Op == token.NEQ) && !hasNode(b, func(n ast.Node) bool { _, call := n.(*ast.CallExpr); return call })
}

// givesLater tells whether a function returns a name somewhere.
func givesLater(body ast.Node, name string) bool {
	return hasNode(body, func(n ast.Node) bool {
		r, ok := n.(*ast.ReturnStmt)
		return ok && slices.ContainsFunc(r.Results, func(x ast.Expr) bool { return isNamed(x, name) })
	})
}

// tellDropped says of connections that the program dials that the function which does closes others before, where a check
// finds fault with them.
func tellDropped(in *Input, frames []stack.Frame, f *Finding) {
	x, ok := dropsPooled(in.code, slices.DeleteFunc(slices.Clone(frames), func(f stack.Frame) bool { return !in.Session.Scope().IsUser(f) }))
	if !ok {
		return
	}
	at, check := fileLine(x.close.File, x.close.Line), fileLine(x.check.File, x.check.Line)
	f.Summary += fmt.Sprintf("; before that, by the source, %s closes connections that it has taken, at %s, where they fail its check at %s (%s)", stack.Short(x.fn.Func), at, check, x.asks)
	f.Evidence = append(f.Evidence, x.close, x.check)
	f.Advice = fmt.Sprintf("Look at why %s closes connections at %s that it has taken from the pool: the check at %s (%s) may find fault with healthy ones (bytes that are there to be read, a time that is too short, a look below TLS), so that a new one has to be made. Count how often it does, and let it drop only what the peer has closed. If it finds none to take, connections do not come back, or the pool is smaller than the number in use at once.",
		stack.Short(x.fn.Func), at, check, x.asks)
	f.Doubts = append(f.Doubts, "whether connections are closed there is what the source permits: where the peer closes them, the check is right, and the peer's time limit is what to look at")
}

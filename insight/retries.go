package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"loupe/value/stack"
)

// retry is a loop of the source that does something until it works.
type retry struct {
	at      stack.Frame // the frame whose line is in the loop
	pauses  bool        // it calls something that waits, by its name
	bounded bool        // it counts its turns, or asks a context
}

// retryAround finds the loop nearest to a call, in one of the functions of its way through
// the code, that ends when the call has worked and goes on when it has not.
func (c *code) retryAround(path []stack.Frame) (found retry, ok bool) {
	for _, f := range path {
		c.parse(f.File).onLine(f.Line, func(n ast.Node, _ []ast.Node) {
			var body *ast.BlockStmt
			bounded := false
			switch n := n.(type) {
			case *ast.ForStmt:
				if body = n.Body; n.Cond != nil && untilWorks(n.Cond) {
					found, ok = retry{at: f, pauses: pausesIn(body)}, true
					return
				}
				bounded = n.Cond != nil
			case *ast.RangeStmt:
				if n.Key != nil && !isLiteral(n.X) {
					return // one after another of what it goes through
				}
				body, bounded = n.Body, true
			default:
				return
			}
			if endsWhenDone(body) {
				found, ok = retry{at: f, pauses: pausesIn(body), bounded: bounded || mentionsCall(body, "Err", "Done")}, true
			}
		})
		if ok {
			return found, true
		}
	}
	return retry{}, false
}

func isLiteral(x ast.Expr) bool {
	l, ok := x.(*ast.BasicLit)
	return ok && l.Kind == token.INT
}

// untilWorks tells of the condition of a loop that it goes on while something fails: an
// error is not nil, or a call whose name begins with Try has not worked.
func untilWorks(cond ast.Expr) bool {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return untilWorks(x.X)
	case *ast.UnaryExpr:
		return x.Op == token.NOT && triesByName(x.X)
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			return untilWorks(x.X) || untilWorks(x.Y)
		}
		return x.Op == token.NEQ && isError(lastName(types.ExprString(x.X))) && types.ExprString(x.Y) == "nil"
	}
	return false
}

// triesByName tells of a call, by its name, that it tells whether it has worked.
func triesByName(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	return ok && strings.HasPrefix(strings.ToLower(lastName(types.ExprString(call.Fun))), "try")
}

// endsWhenDone tells whether the body of a loop leaves it when no error is left, and goes on
// when there is one.
func endsWhenDone(body *ast.BlockStmt) bool {
	for i, s := range body.List {
		n, ok := s.(*ast.IfStmt)
		if !ok {
			continue
		}
		switch {
		case worked(n.Cond) && leavesLoop(n.Body.List):
			return true
		case n.Else == nil && untilWorks(n.Cond) && goesOn(n.Body.List) && leavesLoop(body.List[i+1:]):
			return true
		}
	}
	return false
}

// worked tells of a condition that it holds where there is no error, perhaps among others.
func worked(cond ast.Expr) bool {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return worked(x.X)
	case *ast.BinaryExpr:
		if x.Op == token.LOR {
			return worked(x.X) || worked(x.Y)
		}
		return x.Op == token.EQL && isError(lastName(types.ExprString(x.X))) && types.ExprString(x.Y) == "nil"
	}
	return triesByName(cond)
}

// leavesLoop tells of statements that the last one leaves the loop.
func leavesLoop(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch s := list[len(list)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.BREAK || s.Tok == token.GOTO
	}
	return false
}

// goesOn tells of statements that the last one begins the next turn.
func goesOn(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	s, ok := list[len(list)-1].(*ast.BranchStmt)
	return ok && s.Tok == token.CONTINUE
}

// pausesIn tells whether a body calls what waits, by its name.
func pausesIn(body *ast.BlockStmt) bool {
	return mentionsCall(body, "Sleep", "After", "NewTimer", "Wait", "sleep", "pause", "wait", "backoff", "Backoff", "BackOff", "NextBackOff", "Pause", "C")
}

// mentionsCall tells whether a body has a call, or takes from a field, of one of the names.
func mentionsCall(body *ast.BlockStmt, names ...string) (found bool) {
	is := func(x ast.Expr) bool {
		name := lastName(types.ExprString(x))
		for _, n := range names {
			found = found || n == name
		}
		return found
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			is(n.Fun)
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				is(n.X)
			}
		}
		return true
	})
	return found
}

// asksForLock tells whether a line of a loop asks for a lock or a slot without waiting for it,
// in the condition or in the body.
func asksForLock(c *code, at stack.Frame) (asks bool) {
	c.parse(at.File).onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok {
			name := strings.ToLower(lastName(types.ExprString(call.Fun)))
			asks = asks || strings.HasPrefix(name, "trylock") || strings.HasPrefix(name, "tryrlock") || strings.HasPrefix(name, "tryacquire")
		}
	})
	return asks
}

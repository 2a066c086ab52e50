package insight

import (
	"go/ast"
	"go/token"
)

// How much a filter in place leaves of a list, by the counts of its blocks.

// countLeft is how many elements the loops that filter the list went through, and how many of these they left in it. It is false where that was
// not counted, or a loop goes through anything else.
func (x *cutList) countLeft(c *countedTurns) (before, kept int64, ok bool) {
	seen := map[ast.Node]bool{}
	for _, n := range x.moved {
		around := nodesAround(x.decl.Body, n)
		i := innermostLoop(around)
		if i < 0 || !x.goesThrough(around[i]) {
			return 0, 0, false
		}
		if !seen[around[i]] {
			turns, counted := c.entered(bodyOfLoop(around[i].(ast.Stmt)).Lbrace)
			if !counted {
				return 0, 0, false
			}
			seen[around[i]], before = true, before+turns
		}
		n, counted := c.reaches(around[i:], n)
		if !counted {
			return 0, 0, false
		}
		kept += n
	}
	return before, kept, before > 0
}

// goesThrough tells of a loop that it goes through the list.
func (x *cutList) goesThrough(loop ast.Node) bool {
	switch n := loop.(type) {
	case *ast.RangeStmt:
		return x.same(n.X)
	case *ast.ForStmt:
		return n.Cond != nil && hasCall(n.Cond, func(call *ast.CallExpr) bool {
			return isNamed(call.Fun, "len") && len(call.Args) == 1 && x.same(call.Args[0])
		})
	}
	return false
}

// endsThisTurn tells of a statement that it goes on with the next turn, or leaves the function.
func endsThisTurn(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.CONTINUE && s.Label == nil
	}
	return false
}

package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// takesFirst finds, in a loop that goes through all there are, the search for the one that
// comes first by some order, which its function takes out then: the oldest entry of a cache,
// the next one of a queue. over is what the loop goes through; always tells that it takes it out
// each time, and not only once that is used up, as in a merge.
func (g *gone) takesFirst() (over ast.Expr, always, ok bool) {
	r, ranges := g.l.stmt.(*ast.RangeStmt)
	if !ranges || g.fn == nil {
		return nil, false, false
	}
	for _, s := range g.l.body.List {
		n, isIf := s.(*ast.IfStmt)
		if !isIf || leavesLoop(n.Body.List) {
			continue
		}
		best := g.keptOf(n.Body)
		if len(best) == 0 || !comparesBy(n.Cond, g.names, best) {
			continue
		}
		if takes, always := takesOutBest(g.fn.body, r, best); takes {
			return r.X, always, true
		}
	}
	return nil, false, false
}

// keptOf are the variables of outside the loop that statements set to what the loop is at.
func (g *gone) keptOf(body *ast.BlockStmt) map[string]bool {
	kept := map[string]bool{}
	for _, s := range body.List {
		a, ok := s.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN {
			continue
		}
		for i, lhs := range a.Lhs {
			if id, ok := lhs.(*ast.Ident); ok && mentionsAny(a.Rhs[min(i, len(a.Rhs)-1)], g.names) {
				kept[id.Name] = true
			}
		}
	}
	return kept
}

// orders are methods and functions, by the last part of their names, that compare by an order.
var orders = []string{"Before", "After", "Compare", "Less", "Cmp", "less", "compare", "cmp"}

// comparesBy tells whether a condition compares something of the loop's variables with one of
// those kept, by an order.
func comparesBy(cond ast.Expr, names, kept map[string]bool) (found bool) {
	ast.Inspect(cond, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.BinaryExpr:
			if x.Op == token.LSS || x.Op == token.GTR || x.Op == token.LEQ || x.Op == token.GEQ {
				found = found || mentionsAny(x.X, names) && mentionsAny(x.Y, kept) || mentionsAny(x.X, kept) && mentionsAny(x.Y, names)
			}
		case *ast.CallExpr:
			if slices.Contains(orders, calledName(x)) {
				found = found || mentionsAny(x, names) && mentionsAny(x, kept)
			}
		}
		return !found
	})
	return found
}

// takesOutBest tells whether statements take one of some variables, or what stands at it, out of
// what a loop has gone through, and whether they do so each time.
func takesOutBest(body ast.Node, loop *ast.RangeStmt, kept map[string]bool) (found, always bool) {
	of := types.ExprString(loop.X)
	eachNode(body, func(n ast.Node, around []ast.Node) {
		takes := false
		switch x := n.(type) {
		case *ast.CallExpr:
			name := types.ExprString(x.Fun)
			removes := name == "delete" || strings.HasPrefix(name, "slices.Delete")
			takes = removes && len(x.Args) >= 2 && types.ExprString(x.Args[0]) == of && slices.ContainsFunc(x.Args[1:], func(a ast.Expr) bool { return mentionsAny(a, kept) })
		case *ast.AssignStmt:
			for i, lhs := range x.Lhs {
				rhs := x.Rhs[min(i, len(x.Rhs)-1)]
				_, appends := rhs.(*ast.CallExpr)
				at, place := lhs.(*ast.IndexExpr)
				takes = takes || appends && types.ExprString(lhs) == of && contains(rhs, of) && mentionsAny(rhs, kept) ||
					place && types.ExprString(at.X) == of && mentionsAny(at.Index, kept) && contains(rhs, of) // the last one takes its place
			}
		}
		if takes {
			found, always = true, always || !onCondition(around, loop, kept)
		}
	})
	return found, always
}

// onCondition tells whether an if that does not stand around a loop too, and asks for something
// else than whether one was found, decides what stands in it.
func onCondition(around []ast.Node, loop ast.Node, kept map[string]bool) bool {
	return slices.ContainsFunc(around, func(n ast.Node) bool {
		x, ok := n.(*ast.IfStmt)
		return ok && !within(x, loop) && !mentionsAny(x.Cond, kept)
	})
}

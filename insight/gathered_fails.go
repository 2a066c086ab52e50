package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// failsBefore finds a statement by which a turn, or what follows the turns and stands before the first pass in the same function, leaves
// the function with an error: then no item has been handled.
func failsBefore(d *derivations, g *gathered) (at ast.Node) {
	to := g.whole.End()
	if g.passes[0].decl == g.decl {
		to = g.passes[0].loop.Pos()
	}
	eachNode(g.decl.Body, func(n ast.Node, around []ast.Node) {
		ret, ok := n.(*ast.ReturnStmt)
		if !ok || at != nil || ret.Pos() < g.whole.Pos() || ret.Pos() >= to {
			return
		}
		of := g.decl.Type
		for _, n := range around {
			if lit, ok := n.(*ast.FuncLit); ok {
				of = lit.Type
				if lit != g.lit {
					return
				}
			}
		}
		if returnsError(ret, of, around) {
			at = ret
		}
	})
	return at
}

// returnsError tells of a return that it is one of an error: the last result is given as one, or what is returned stands below a
// condition that asks for one.
func returnsError(ret *ast.ReturnStmt, of *ast.FuncType, around []ast.Node) bool {
	asks := slices.ContainsFunc(around, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		return ok && asksError(s.Cond, token.NEQ) && within(s.Body, ret)
	})
	if len(ret.Results) == 0 || of.Results == nil || len(of.Results.List) == 0 {
		return asks
	}
	last := of.Results.List[len(of.Results.List)-1]
	if !isNamed(last.Type, "error") {
		return asks
	}
	x := ret.Results[len(ret.Results)-1]
	return !isNamed(x, "nil") && types.ExprString(x) != "filepath.SkipDir" && types.ExprString(x) != "fs.SkipDir"
}

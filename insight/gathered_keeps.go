package insight

import (
	"go/ast"
	"go/token"
	"go/types"
)

// usedAnew tells of a place that each turn of a loop fills anew, so that it has what is made of one item at a time: a list that the turn cuts to
// its beginning first, or an element of one whose number a loop in the turn counts from its beginning, or a constant.
func usedAnew(d *derivations, body *ast.BlockStmt, place ast.Expr) bool {
	if index, ok := place.(*ast.IndexExpr); ok {
		of := d.t.typeOf(index.X)
		if of == nil {
			return false
		}
		if p, ok := of.Underlying().(*types.Pointer); ok {
			of = p.Elem()
		}
		switch of.Underlying().(type) {
		case *types.Slice, *types.Array:
			return d.t.info.Types[index.Index].Value != nil || countsFromStart(d, body, d.variable(index.Index))
		}
		return false
	}
	name, anew := types.ExprString(place), false
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || types.ExprString(a.Lhs[0]) != name {
			return true
		}
		x := ast.Unparen(a.Rhs[0])
		if call, ok := x.(*ast.CallExpr); ok && isNamed(call.Fun, "append") && len(call.Args) > 0 {
			x = call.Args[0]
		}
		cut, ok := x.(*ast.SliceExpr)
		anew = anew || ok && types.ExprString(cut.X) == name && cut.High != nil && isZero(cut.High) || isNamed(x, "nil")
		return true
	})
	return anew
}

// countsFromStart tells of a variable that it is the number of the turn of a loop in a body, which begins at 0.
func countsFromStart(d *derivations, body *ast.BlockStmt, v types.Object) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			found = found || v != nil && n.Key != nil && d.variable(n.Key) == v
		case *ast.ForStmt:
			a, ok := n.Init.(*ast.AssignStmt)
			found = found || ok && v != nil && a.Tok == token.DEFINE && len(a.Lhs) == 1 && len(a.Rhs) == 1 && d.variable(a.Lhs[0]) == v && isZero(a.Rhs[0])
		}
		return !found
	})
	return found
}

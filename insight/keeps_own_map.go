package insight

import (
	"go/ast"
	"go/token"
)

// A map that a function makes itself, and gives on, has what one call puts into it: what grows is what keeps such maps.

// ownMap is the variable of an element of a map that a function makes; empty where it is another's, or one of a slice.
func ownMap(fn *ast.FuncDecl, lhs ast.Expr) string {
	x, ok := lhs.(*ast.IndexExpr)
	if !ok || fn == nil {
		return ""
	}
	id, ok := x.X.(*ast.Ident)
	if !ok {
		return ""
	}
	own := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i := range min(len(n.Lhs), len(n.Rhs)) {
				own = own || n.Tok == token.DEFINE && isNamed(n.Lhs[i], id.Name) && isNewMap(n.Rhs[i])
			}
		case *ast.ValueSpec:
			for i := range min(len(n.Names), len(n.Values)) {
				own = own || n.Names[i].Name == id.Name && isNewMap(n.Values[i])
			}
		}
		return !own
	})
	if !own {
		return ""
	}
	return id.Name
}

// intoOwnMap follows a map that the function makes, instead of noting that something goes into it.
func intoOwnMap(k *keeper, lhs ast.Expr, t taint, vars map[string]taint) bool {
	name := ownMap(k.fn, lhs)
	if !k.beyond || name == "" {
		return false
	}
	vars[name] = together(t, vars[name])
	return true
}

package insight

import (
	"go/ast"
	"go/types"
	"strings"
)

// A context is no argument for what is compared by hashes: it ends calls early. Where a function keeps or returns it, or asks it for a value, it is one.

// carriesContext tells of a function that what it is given as a context may be in what it returns or keeps, or decide what that is. Without its source it
// may be.
func carriesContext(fn *ast.FuncDecl) bool {
	if fn == nil || fn.Body == nil {
		return true
	}
	names := contextsOf(fn)
	if len(names) == 0 {
		return false
	}
	of := func(x ast.Node) bool {
		return hasNode(x, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			return ok && names[id.Name]
		})
	}
	if fn.Type.Results != nil && hasNode(fn.Type.Results, func(n ast.Node) bool {
		_, function := n.(*ast.FuncType)
		id, ok := n.(*ast.Ident)
		return function || ok && (id.Name == "Context" || strings.HasPrefix(id.Name, "Cancel"))
	}) {
		return true
	}
	return hasNode(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			return of(n)
		case *ast.CallExpr:
			return calledName(n) == "Value" && len(n.Args) == 1 && names[rootName(n.Fun)]
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				if _, field := x.(*ast.SelectorExpr); field && of(n.Rhs[min(i, len(n.Rhs)-1)]) {
					return true
				}
			}
		}
		return false
	})
}

// contextsOf are the names of the contexts that a function is given, and of those that it makes of them.
func contextsOf(fn *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	for _, f := range fn.Type.Params.List {
		if strings.HasSuffix(types.ExprString(f.Type), "Context") {
			for _, id := range f.Names {
				names[id.Name] = id.Name != "_"
			}
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 {
			return true
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		if id, named := a.Lhs[0].(*ast.Ident); ok && named && strings.HasPrefix(types.ExprString(call.Fun), "context.") && len(call.Args) > 0 && names[types.ExprString(call.Args[0])] {
			names[id.Name] = true
		}
		return true
	})
	return names
}

package insight

import (
	"go/ast"
	"slices"
)

// Who calls a function of the sources.

// callBy is a call, and the function that makes it.
type callBy struct {
	in   *ast.FuncDecl
	call *ast.CallExpr
}

// whoCalls are the calls of a function in all functions of the sources.
func whoCalls(d *derivations, decl *ast.FuncDecl) []callBy {
	if d.callers == nil {
		d.callers = map[*ast.FuncDecl][]callBy{}
		for _, in := range d.t.decls {
			ast.Inspect(in.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					for _, callee := range calledDecls(d, call) {
						d.callers[callee] = append(d.callers[callee], callBy{in, call})
					}
				}
				return true
			})
		}
		for _, all := range d.callers { // the functions come in any order
			slices.SortFunc(all, func(a, b callBy) int { return int(a.call.Pos() - b.call.Pos()) })
		}
	}
	return d.callers[decl]
}

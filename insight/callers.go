package insight

import (
	"go/ast"
	"slices"
)

// Who calls a function of the program.

// callBy is a call, and the function that makes it; that is nil where a variable of a package begins with what it returns.
type callBy struct {
	in   *ast.FuncDecl
	call *ast.CallExpr
}

// callersTo are the calls of a function in all sources, each with the function that makes it, in their order. A call of
// a method of an interface is one of each method of its name. All are collected once.
func callersTo(d *derivations, decl *ast.FuncDecl) []callBy {
	if d.t.callers == nil {
		d.t.callers = map[*ast.FuncDecl][]callBy{}
		for _, x := range flowNodes(d) {
			call, ok := x.n.(*ast.CallExpr)
			if !ok {
				continue
			}
			for _, callee := range calledDecls(d, call) {
				d.t.callers[callee] = append(d.t.callers[callee], callBy{x.in, call})
			}
		}
	}
	return slices.Clip(d.t.callers[decl])
}

// whoCalls are those calls of a function that other functions make.
func whoCalls(d *derivations, decl *ast.FuncDecl) (all []callBy) {
	for _, by := range callersTo(d, decl) {
		if by.in != nil {
			all = append(all, by)
		}
	}
	return all
}

// callsTo are all calls of a function in the sources.
func callsTo(d *derivations, decl *ast.FuncDecl) (all []*ast.CallExpr) {
	for _, by := range callersTo(d, decl) {
		all = append(all, by.call)
	}
	return all
}

// declsInOrder are the functions that the sources declare, in their order.
func declsInOrder(d *derivations) (all []*ast.FuncDecl) {
	for _, f := range d.t.files {
		for _, decl := range f.file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
				all = append(all, fn)
			}
		}
	}
	return all
}

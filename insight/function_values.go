package insight

import (
	"go/ast"
	"go/types"
	"slices"
)

// Functions that are values: who calls one calls whatever the program has of its type. A literal that is kept is a function of its own then, so that
// what it changes is no change of the function that makes it.

// valueFunc is such a function, and its type.
type valueFunc struct {
	sig  *types.Signature
	decl *ast.FuncDecl
}

// valueFuncs are those of the sources: literals, and functions that are named where they are not called.
func valueFuncs(d *derivations) []valueFunc {
	if d.t.values != nil {
		return d.t.values
	}
	d.t.values = []valueFunc{}
	for _, f := range d.t.files {
		eachNode(f.file, func(n ast.Node, around []ast.Node) {
			switch n := n.(type) {
			case *ast.FuncLit:
				if sig, ok := d.t.typeOf(n).(*types.Signature); ok && !runsInPlace(d, n, around) {
					decl := &ast.FuncDecl{Name: &ast.Ident{NamePos: n.Pos(), Name: "func"}, Type: n.Type, Body: n.Body}
					d.t.values = append(d.t.values, valueFunc{sig, decl})
				}
			case *ast.Ident:
				fn, ok := d.t.info.Uses[n].(*types.Func)
				if !ok || isCalled(n, around) {
					return
				}
				for _, decl := range d.declsOf(fn.Origin()) {
					d.t.values = append(d.t.values, valueFunc{fn.Signature(), decl})
				}
			}
		})
	}
	return d.t.values
}

// runsInPlace tells of a literal that it runs where it stands: it is called, or given to a function of the library that calls it and keeps it not.
func runsInPlace(d *derivations, lit *ast.FuncLit, around []ast.Node) bool {
	call, ok := parent(around).(*ast.CallExpr)
	if !ok {
		return false
	}
	if call.Fun == ast.Expr(lit) {
		_, goes := parent(around[:len(around)-1]).(*ast.GoStmt)
		return !goes
	}
	return slices.Contains([]string{"slices", "maps", "sort", "strings", "bytes"}, d.t.fromPackage(ast.Unparen(call.Fun))) || calledName(call) == "Do"
}

// isCalled tells of the name of a function that it is what a call calls.
func isCalled(id *ast.Ident, around []ast.Node) bool {
	var of ast.Expr = id
	for _, n := range slices.Backward(around) {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if n.Sel != id {
				return false
			}
			of = n
		case *ast.ParenExpr:
			of = n
		case *ast.IndexExpr: // with types
			if n.X != of {
				return false
			}
			of = n
		case *ast.CallExpr:
			return n.Fun == of
		default:
			return false
		}
	}
	return false
}

// calledAsValue are the functions that a call may mean which calls a value; none of another call.
func calledAsValue(d *derivations, call *ast.CallExpr) (all []*ast.FuncDecl) {
	fun := ast.Unparen(call.Fun)
	if tv, ok := d.t.info.Types[fun]; !ok || tv.IsType() || tv.IsBuiltin() || d.t.callee(call) != nil || d.t.fromPackage(fun) != "" {
		return nil
	}
	if _, lit := fun.(*ast.FuncLit); lit {
		return nil
	}
	of := d.t.typeOf(fun)
	if of == nil {
		return nil
	}
	sig, ok := of.Underlying().(*types.Signature)
	if !ok {
		return nil
	}
	for _, f := range valueFuncs(d) {
		if sameSignature(f.sig, sig) {
			all = append(all, f.decl)
		}
	}
	return all
}

// sameSignature tells whether a function of one type may be called as one of another. Of type parameters the number alone is compared.
func sameSignature(a, b *types.Signature) bool {
	if a.Variadic() != b.Variadic() {
		return false
	}
	same := func(a, b *types.Tuple) bool {
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			x, y := a.At(i).Type(), b.At(i).Type()
			if !types.Identical(x, y) && !ofTypeParam(x, 0) && !ofTypeParam(y, 0) {
				return false
			}
		}
		return true
	}
	return same(a.Params(), b.Params()) && same(a.Results(), b.Results())
}

// ofTypeParam tells of a type that it is made of a type parameter.
func ofTypeParam(t types.Type, depth int) bool {
	if depth > 4 {
		return false
	}
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Pointer:
		return ofTypeParam(t.Elem(), depth+1)
	case *types.Slice:
		return ofTypeParam(t.Elem(), depth+1)
	case *types.Map:
		return ofTypeParam(t.Key(), depth+1) || ofTypeParam(t.Elem(), depth+1)
	case *types.Named:
		for i := range t.TypeArgs().Len() {
			if ofTypeParam(t.TypeArgs().At(i), depth+1) {
				return true
			}
		}
	}
	return false
}

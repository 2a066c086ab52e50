package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Text that shares its memory with the bytes of a message by package unsafe, and the structs that a message is decoded
// into: those are no place that keeps something as long as they are variables of a function.

// aliasedText tells of a conversion by package unsafe how its result has to do with what was allocated; ok tells that it
// is one.
func aliasedText(k *keeper, e *ast.CallExpr, vars map[string]taint) (t taint, ok bool) {
	if p, is := e.Fun.(*ast.ParenExpr); is && len(e.Args) == 1 {
		_, pointer := p.X.(*ast.StarExpr)
		inner, call := e.Args[0].(*ast.CallExpr)
		if pointer && call && types.ExprString(inner.Fun) == "unsafe.Pointer" {
			return k.of(inner, vars), true
		}
	}
	switch name := types.ExprString(e.Fun); {
	case (name == "unsafe.Pointer" || name == "unsafe.SliceData" || name == "unsafe.StringData") && len(e.Args) == 1:
		return ofPlace(k, e.Args[0], vars), true
	case (name == "unsafe.String" || name == "unsafe.Slice") && len(e.Args) == 2:
		t = ofPlace(k, e.Args[0], vars)
		if n, is := e.Args[1].(*ast.CallExpr); is && isNamed(n.Fun, "len") {
			return t, true
		}
		return k.cutOf(t, e), true
	}
	return clean, false
}

// ofPlace is [keeper.of], also of the address of the first element of a slice.
func ofPlace(k *keeper, x ast.Expr, vars map[string]taint) taint {
	if i, ok := unrefer(x).(*ast.IndexExpr); ok {
		return k.of(i.X, vars)
	}
	return k.of(x, vars)
}

// noteResults keeps how each result of a function has to do with what was allocated.
func noteResults(k *keeper, fn *ast.FuncDecl, n *ast.ReturnStmt, vars map[string]taint) {
	if !k.text || fn.Type.Results.NumFields() < 2 {
		return
	}
	var all []taint
	for _, r := range n.Results {
		all = append(all, k.of(r, vars))
	}
	if len(n.Results) == 0 {
		for _, field := range fn.Type.Results.List {
			for _, id := range field.Names {
				all = append(all, vars[id.Name])
			}
		}
	}
	if k.results == nil {
		k.results = map[*ast.FuncDecl][]taint{}
	}
	for i, before := range k.results[fn] {
		if i < len(all) {
			all[i] = max(all[i], before)
		}
	}
	k.results[fn] = all
}

// resultOf is the taint of one result of a call that has several, and that of all of them where the source does not show it.
func resultOf(k *keeper, n *ast.AssignStmt, i int, t taint) taint {
	if len(n.Rhs) != 1 || len(n.Lhs) < 2 || t == clean {
		return t
	}
	call, ok := n.Rhs[0].(*ast.CallExpr)
	if !ok {
		return t
	}
	if fns := k.fitting(call, anyArgument); len(fns) == 1 {
		if all := k.results[fns[0].FuncDecl]; len(all) == len(n.Lhs) {
			return all[i]
		}
	}
	return t
}

// intoOwn tells of a place that text is put into that it is a field of a struct that the function which is followed
// has made: where that goes is followed as well, and by itself it keeps nothing.
func intoOwn(k *keeper, lhs ast.Expr) bool {
	sel, ok := lhs.(*ast.SelectorExpr)
	if !ok || !k.text || k.fn == nil {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && isOwn(k.fn, id.Name)
}

// isOwnStruct tells whether a function makes a struct, as a variable or one that a variable points to.
func isOwnStruct(fn *ast.FuncDecl, name string) (own bool) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			if !isAmong(n.Names, name) || len(n.Values) > 0 {
				break
			}
			switch n.Type.(type) {
			case *ast.Ident, *ast.SelectorExpr, *ast.StructType:
				own = true
			}
		case *ast.AssignStmt:
			for i := range min(len(n.Lhs), len(n.Rhs)) {
				if n.Tok == token.DEFINE && isNamed(n.Lhs[i], name) {
					made, call := n.Rhs[i].(*ast.CallExpr)
					own = own || isComposite(n.Rhs[i]) || call && isNamed(made.Fun, "new")
				}
			}
		}
		return true
	})
	return own
}

// addKey notes the key of a map. It is copied where it goes in, whatever it was a part of before: a map that has it
// already needs no copy.
func addKey(k *keeper, file string, x *ast.IndexExpr, t taint) {
	defer func(passed stack.Frame) { k.passed = passed }(k.passed)
	k.passed = stack.Frame{}
	if t.isPart() {
		defer func(put bool) { k.cuts[t-part].put = put }(k.cuts[t-part].put)
		k.cuts[t-part].put = false
	}
	if t == whole && freshKey(k, x.X, x.Index) {
		k.anew = k.fresh
		defer func() { k.anew = "" }()
	}
	k.add(intoMap, file, x.X, x.Pos(), t)
}

// filled is a parameter of a function, or its receiver, into which it has put what it was given.
type filled struct {
	call   *ast.CallExpr
	arg    int
	taint  taint
	before int // stores that were known before the call
	name   string
	file   string
}

// noteFilled keeps which of its parameters a function has put something into.
func noteFilled(k *keeper, fn declaration, call *ast.CallExpr, arg, before int, vars map[string]taint) {
	if !k.text {
		return
	}
	note := func(i int, name string) {
		if t := vars[name]; i != arg && t > clean {
			k.fills = append(k.fills, filled{call, i, t, before, name, fn.file})
		}
	}
	if r := fn.Recv; r != nil && len(r.List) == 1 && len(r.List[0].Names) == 1 {
		note(receiver, r.List[0].Names[0].Name)
	}
	for i, p := range parameters(fn.Type) {
		note(i, p)
	}
}

// takeFilled goes on with what a call has filled: a variable of the function has it now, and what the called function
// has put into that is kept by nobody.
func takeFilled(k *keeper, n *ast.CallExpr, vars map[string]taint) {
	for _, f := range k.fills {
		if f.call != n {
			continue
		}
		var x ast.Expr
		if sel, ok := n.Fun.(*ast.SelectorExpr); ok && f.arg == receiver {
			x = sel.X
		} else if f.arg >= 0 && f.arg < len(n.Args) {
			x = unrefer(n.Args[f.arg])
		}
		id, ok := x.(*ast.Ident)
		if !ok || k.fn == nil || !isOwn(k.fn, id.Name) {
			continue
		}
		vars[id.Name] = max(vars[id.Name], f.taint)
		known := min(f.before, len(k.stores))
		k.stores = append(k.stores[:known], slices.DeleteFunc(k.stores[known:], func(s keepsAt) bool {
			return s.file == f.file && strings.HasPrefix(s.container, f.name+".")
		})...)
		if f.taint.isPart() {
			k.cuts[f.taint-part].put = false // it was put into what is not kept
		}
	}
	k.fills = slices.DeleteFunc(k.fills, func(f filled) bool { return f.call == n })
}

package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Of which type of a library something is. Where go/types does not have the library's source, what declares or makes it tells that.

// libraryType is a type by the path of its package; without a name where the package alone is known.
type libraryType struct{ pkg, name string }

// text is how the type is named in the package's documentation, such as time.Time.
func (l libraryType) text() string { return l.pkg + "." + l.name }

// declaredBy is what declares a variable, a field or a method: its type, or else a value that it has at first.
type declaredBy struct{ of, value ast.Expr }

// declaredOf is what declares something of the sources.
func (t *typed) declaredOf(v types.Object) declaredBy {
	if t.declared == nil {
		t.declared = map[types.Object]declaredBy{}
		for _, f := range t.files {
			ast.Inspect(f.file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Field:
					for _, id := range n.Names {
						t.declared[t.info.Defs[id]] = declaredBy{of: n.Type}
					}
				case *ast.ValueSpec:
					for i, id := range n.Names {
						by := declaredBy{of: n.Type}
						if len(n.Values) > 0 && (i == 0 || len(n.Values) == len(n.Names)) {
							by.value = n.Values[i]
						}
						t.declared[t.info.Defs[id]] = by
					}
				case *ast.AssignStmt:
					for i, x := range n.Lhs {
						if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE && t.info.Defs[id] != nil && (i == 0 || len(n.Rhs) == len(n.Lhs)) {
							t.declared[t.info.Defs[id]] = declaredBy{value: n.Rhs[i]}
						}
					}
				case *ast.FuncDecl:
					t.declared[t.info.Defs[n.Name]] = declaredBy{of: n.Type}
				}
				return true
			})
		}
		delete(t.declared, nil)
	}
	switch o := v.(type) {
	case *types.Var:
		v = o.Origin()
	case *types.Func:
		v = o.Origin()
	}
	return t.declared[v]
}

// libraryTypeOf is the type of an expression, or what it points to, if that is one of a library; empty where it is none, or nothing shows it. Of what a
// function of a library returns it is the function's package, which is so by custom.
func libraryTypeOf(d *derivations, x ast.Expr, depth int) libraryType {
	if depth > 8 {
		return libraryType{}
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.UnaryExpr:
		return libraryTypeOf(d, x.X, depth+1)
	case *ast.StarExpr:
		return libraryTypeOf(d, x.X, depth+1)
	case *ast.TypeAssertExpr:
		return libraryTypeNamed(d, x.Type)
	case *ast.CompositeLit:
		return libraryTypeNamed(d, x.Type)
	case *ast.Ident:
		return libraryTypeBy(d, d.t.place(x), depth)
	case *ast.SelectorExpr:
		if s := d.t.info.Selections[x]; s != nil {
			return libraryTypeBy(d, s.Obj(), depth)
		}
		if pkg := d.t.fromPackage(x); pkg != "" { // a variable of a package
			if v, ok := d.t.info.Uses[x.Sel].(*types.Var); ok {
				return libraryTypeBy(d, v, depth)
			}
			return libraryType{pkg: pkg}
		}
		if of := libraryTypeOf(d, x.X, depth+1); of.pkg != "" { // a field, by custom of a type of the package that is called like it
			return libraryType{of.pkg, x.Sel.Name}
		}
	case *ast.CallExpr:
		return libraryTypeMade(d, x, depth)
	}
	return libraryType{}
}

// libraryTypeMade is that of what a call returns.
func libraryTypeMade(d *derivations, call *ast.CallExpr, depth int) libraryType {
	fun := ast.Unparen(uninstantiated(call))
	if isNamed(fun, "new") && len(call.Args) == 1 {
		return libraryTypeNamed(d, call.Args[0])
	}
	if fn := d.t.callee(call); fn != nil {
		return libraryTypeBy(d, fn, depth)
	}
	if lit, ok := fun.(*ast.FuncLit); ok && lit.Type.Results.NumFields() > 0 {
		return libraryTypeNamed(d, lit.Type.Results.List[0].Type)
	}
	if v, ok := d.t.place(fun).(*types.Var); ok { // a function value
		if of, ok := d.t.declaredOf(v).of.(*ast.FuncType); ok && of.Results.NumFields() > 0 {
			return libraryTypeNamed(d, of.Results.List[0].Type)
		}
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return libraryType{}
	}
	switch pkg := d.t.fromPackage(sel); pkg {
	case "":
		return libraryType{pkg: libraryTypeOf(d, sel.X, depth+1).pkg}
	case "slices", "maps", "cmp", "sync": // of the program's own types
		return libraryType{}
	default:
		return libraryType{pkg, strings.TrimPrefix(sel.Sel.Name, "New")}
	}
}

// libraryTypeBy is that of a variable, a field or the first result of a function, by what declares it.
func libraryTypeBy(d *derivations, v types.Object, depth int) libraryType {
	if v == nil {
		return libraryType{}
	}
	by := d.t.declaredOf(v)
	of := by.of
	if fn, ok := of.(*ast.FuncType); ok {
		if _, ok := v.(*types.Func); !ok || fn.Results.NumFields() == 0 {
			return libraryType{}
		}
		of = fn.Results.List[0].Type
	}
	if of != nil {
		return libraryTypeNamed(d, of)
	}
	if by.value != nil {
		return libraryTypeOf(d, by.value, depth+1)
	}
	return libraryType{}
}

// libraryTypeNamed is the one that the source names, or that of what a pointer to it points to.
func libraryTypeNamed(d *derivations, of ast.Expr) libraryType {
	switch of := of.(type) {
	case *ast.StarExpr:
		return libraryTypeNamed(d, of.X)
	case *ast.IndexExpr:
		return libraryTypeNamed(d, of.X)
	case *ast.SelectorExpr:
		if pkg := d.t.fromPackage(of); pkg != "" {
			if tv, ok := d.t.info.Types[of]; ok && tv.Type != nil && d.t.isOfSources(tv.Type) {
				return libraryType{}
			}
			return libraryType{pkg, of.Sel.Name}
		}
	}
	return libraryType{}
}

// isOfSources tells of a type that the sources declare it.
func (t *typed) isOfSources(of types.Type) bool {
	named, ok := types.Unalias(of).(*types.Named)
	if !ok {
		return false
	}
	file, _, _ := t.at(named.Obj().Pos())
	return file != ""
}

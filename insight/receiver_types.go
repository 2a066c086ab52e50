package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Which type a value has, as far as the text of the sources tells without the types of other
// packages.

// baseType is the name of a type without pointers and what it is instantiated with.
func baseType(t ast.Expr) string {
	text, _, _ := strings.Cut(strings.TrimLeft(types.ExprString(t), "*"), "[")
	return text
}

// typeNameOf is the name of the type of a function's receiver, parameter or variable, where the text of
// the function tells: "server", or "zap.Logger" and "zap.New()" of another package. Else it is empty.
func typeNameOf(c *code, d *ast.FuncDecl, name string) (of string) {
	if fn := scopeOf(d); fn.receiver == name {
		return fn.of
	}
	for _, p := range d.Type.Params.List {
		if isAmong(p.Names, name) {
			return baseType(p.Type)
		}
	}
	declared := false
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if id.Name == name {
					of, declared = specType(c, n, i), true
				}
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if n.Tok == token.DEFINE && isNamed(lhs, name) {
					declared = true
					if i < len(n.Rhs) || len(n.Rhs) == 1 && i == 0 {
						of = madeType(c, n.Rhs[min(i, len(n.Rhs)-1)])
					}
				}
			}
		}
		return true
	})
	if declared {
		return of
	}
	c.eachSource(func(_ string, s *syntax) {
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				v, ok := spec.(*ast.ValueSpec)
				if i := -1; ok {
					if i = slices.IndexFunc(v.Names, func(id *ast.Ident) bool { return id.Name == name }); i >= 0 {
						of = specType(c, v, i)
					}
				}
			}
		}
	})
	return of
}

// specType is the type of the i-th variable of a declaration.
func specType(c *code, v *ast.ValueSpec, i int) string {
	switch {
	case v.Type != nil:
		return baseType(v.Type)
	case i < len(v.Values):
		return madeType(c, v.Values[i])
	}
	return ""
}

// madeType is the type of what an expression makes: a literal, new, or a call.
func madeType(c *code, x ast.Expr) string {
	switch x := x.(type) {
	case *ast.CompositeLit:
		if x.Type != nil {
			return baseType(x.Type)
		}
	case *ast.UnaryExpr:
		return madeType(c, x.X)
	case *ast.CallExpr:
		if isNamed(x.Fun, "new") && len(x.Args) == 1 {
			return baseType(x.Args[0])
		}
		if of := c.functions()[calledName(x)]; len(of) == 1 && of[0].Type.Results != nil && len(of[0].Type.Results.List) > 0 {
			return baseType(of[0].Type.Results.List[0].Type)
		}
		if f, ok := x.Fun.(*ast.SelectorExpr); ok && isIdent(f.X) && namesOf(c).packages[rootName(f.X)] {
			return types.ExprString(x.Fun) + "()"
		}
	}
	return ""
}

// fieldType is the type of a field, where all structs of the sources that have one of this name
// agree on it.
func fieldType(c *code, name string) (of string) {
	n := 0
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(node ast.Node) bool {
			if t, ok := node.(*ast.StructType); ok {
				for _, f := range t.Fields.List {
					if isAmong(f.Names, name) && baseType(f.Type) != of {
						of = baseType(f.Type)
						n++
					}
				}
			}
			return true
		})
	})
	if n > 1 {
		return ""
	}
	return of
}

// methodsOf are the declarations that a call in a function may be of: those of the type of what it
// is called on where the source tells that, else all of the name.
func methodsOf(c *code, in *ast.FuncDecl, fun ast.Expr) []declaration {
	named := c.functions()[lastName(types.ExprString(fun))]
	f, ok := fun.(*ast.SelectorExpr)
	if !ok || in == nil || len(named) == 0 {
		return named
	}
	of := ""
	switch x := f.X.(type) {
	case *ast.Ident:
		if namesOf(c).packages[x.Name] && !scopeOf(in).declares(x.Name) {
			return slices.DeleteFunc(slices.Clone(named), func(d declaration) bool { return d.Recv != nil })
		}
		of = typeNameOf(c, in, x.Name)
	case *ast.SelectorExpr:
		of = fieldType(c, x.Sel.Name)
	}
	if of == "" {
		return named
	}
	return slices.DeleteFunc(slices.Clone(named), func(d declaration) bool {
		return receiverType(d.FuncDecl) != lastName(of) || strings.HasSuffix(of, ")")
	})
}

package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// What the sources say of types by name: enough to tell which method a call means, and what a
// container belongs to.

// maxFitting is how many implementations of a method are followed. Chosen: of more, none is
// likely to be the one that is called.
const maxFitting = 3

// anyArgument stands for the number of an argument where it does not matter.
const anyArgument = -2

// fitting are the functions of the sources that a call may mean: of a method by the type that
// it is called on, where the sources have that; of an interface's, all that have its name and
// as many parameters; else the only one of its name. Of those that are called with a text as an
// argument, they can take one; anyArgument asks for none.
func (k *keeper) fitting(call *ast.CallExpr, arg int) []declaration {
	all := k.funcs[calledName(call)]
	if k.text && arg != anyArgument {
		all = slices.DeleteFunc(slices.Clone(all), func(d declaration) bool { return !takesText(d.Type, arg, len(call.Args)) })
	}
	f, method := call.Fun.(*ast.SelectorExpr)
	if !method || len(all) == 0 {
		if len(all) == 1 {
			return slices.Clone(all)
		}
		return nil
	}
	of := k.typesOf(f.X)
	if id, bare := f.X.(*ast.Ident); bare && len(of) == 0 && k.fn != nil && k.fn.Body != nil {
		if local := typeNameOf(k.c, k.fn, id.Name); local != "" {
			of = []string{lastName(local)}
		}
	}
	exact := slices.DeleteFunc(slices.Clone(all), func(d declaration) bool { return !slices.Contains(of, methodOf(d.FuncDecl)) })
	switch {
	case len(exact) > 0:
		return exact
	case slices.Contains(of, "sync.Map"):
		return nil
	case len(all) == 1:
		return slices.Clone(all)
	case !slices.ContainsFunc(of, func(name string) bool { return typesIn(k.c).interfaces[name] }):
		return nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(d declaration) bool { return d.Recv == nil || d.Type.Params.NumFields() != len(call.Args) })
}

// methodOf is the name of the type that a method belongs to; empty of a function.
func methodOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) != 1 {
		return ""
	}
	return typeName(fn.Recv.List[0].Type)
}

// typeName is a type without pointers, arguments and, but for those of sync, its package.
func typeName(x ast.Expr) string {
	name := strings.TrimLeft(types.ExprString(x), "*")
	if i := strings.IndexByte(name, '['); i > 0 {
		name = name[:i]
	}
	if strings.HasPrefix(name, "sync.") {
		return name
	}
	return lastName(name)
}

// typesOf are the types that an expression may have: those of the parameter or the receiver,
// of the variables of packages, or of the fields of its name.
func (k *keeper) typesOf(x ast.Expr) (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return k.typesOf(x.X)
	case *ast.SelectorExpr:
		for _, f := range typesIn(k.c).fields[x.Sel.Name] {
			add(typeName(f))
		}
	case *ast.Ident:
		if k.fn == nil {
			return nil
		}
		fields := slices.Clone(k.fn.Type.Params.List)
		if k.fn.Recv != nil {
			fields = append(fields, k.fn.Recv.List...)
		}
		for _, f := range fields {
			for _, p := range f.Names {
				if p.Name == x.Name {
					add(typeName(f.Type))
				}
			}
		}
		if len(names) > 0 {
			return names
		}
		for _, t := range typesIn(k.c).vars[x.Name] {
			add(typeName(t))
		}
	}
	return names
}

// holdsNumbers tells of a field, or of an element of a field or of a variable of a package, that it is a number or a
// bool by each declaration of that name: no memory goes in there.
func holdsNumbers(c *code, lhs ast.Expr) bool {
	name, element := "", false
	switch x := lhs.(type) {
	case *ast.IndexExpr:
		name, element = lastName(types.ExprString(x.X)), true
	case *ast.SelectorExpr:
		name = x.Sel.Name
	}
	known := typesIn(c)
	all := slices.Clone(known.fields[name])
	if element {
		all = append(all, known.vars[name]...)
	}
	return len(all) > 0 && !slices.ContainsFunc(all, func(t ast.Expr) bool {
		if element {
			switch of := t.(type) {
			case *ast.MapType:
				t = of.Value
			case *ast.ArrayType:
				t = of.Elt
			}
		}
		id, ok := t.(*ast.Ident)
		return !ok || !isNumeric(id.Name)
	})
}

// isNumeric tells of the name of a type that it is one of Go's own for numbers, or bool.
func isNumeric(name string) bool {
	t, ok := types.Universe.Lookup(name).(*types.TypeName)
	if !ok {
		return false
	}
	b, ok := t.Type().(*types.Basic)
	return ok && b.Info()&(types.IsNumeric|types.IsBoolean) != 0
}

// hasItself tells of a composite literal, or a pointer to one, that an element of it is a variable itself.
func hasItself(x ast.Expr, variable string) bool {
	if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.AND {
		x = u.X
	}
	lit, ok := x.(*ast.CompositeLit)
	return ok && slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		return types.ExprString(e) == variable
	})
}

// typeIndex is what the sources declare: the types of variables of packages and of fields, by
// their names, and which types are interfaces.
type typeIndex struct {
	vars, fields map[string][]ast.Expr
	interfaces   map[string]bool
}

// typesIn reads the sources once.
func typesIn(c *code) *typeIndex {
	if c.types != nil {
		return c.types
	}
	x := &typeIndex{map[string][]ast.Expr{}, map[string][]ast.Expr{}, map[string]bool{}}
	c.eachSource(func(_ string, s *syntax) {
		for _, d := range s.file.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, spec := range g.Specs {
					x.declare(spec)
				}
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if st, ok := n.(*ast.StructType); ok {
				for _, f := range st.Fields.List {
					for _, id := range f.Names {
						x.fields[id.Name] = append(x.fields[id.Name], f.Type)
					}
				}
			}
			return true
		})
	})
	c.types = x
	return x
}

func (x *typeIndex) declare(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if _, ok := spec.Type.(*ast.InterfaceType); ok {
			x.interfaces[spec.Name.Name] = true
		}
	case *ast.ValueSpec:
		for _, id := range spec.Names {
			if spec.Type != nil {
				x.vars[id.Name] = append(x.vars[id.Name], spec.Type)
			}
		}
	}
}

// nameOf is a container by the type that it is a field of, where its root is the receiver or a
// parameter: "Cache.items" of c.items.
func nameOf(k *keeper, container ast.Expr) string {
	text := types.ExprString(container)
	root, rest, ok := strings.Cut(text, ".")
	if !ok || strings.ContainsAny(text, "([") {
		return text
	}
	if of := k.typesOf(ast.NewIdent(root)); len(of) == 1 {
		return of[0] + "." + rest
	}
	return text
}

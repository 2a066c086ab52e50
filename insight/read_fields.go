package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// What is read or written of a value as a whole, where no field is named: a struct that is copied, or what the library
// goes through by reflection.

// readsAll are packages of the library that read all of what they are given, by reflection.
var readsAll = lazily(`^(fmt|log(/slog)?|reflect|encoding/.*|text/template|html/template)$|(?i)(json|yaml|toml|msgpack|cbor|proto|spew)`)

// fieldsIn visits the fields that lie in a value of a type; where deep, also those of what it leads to.
func fieldsIn(t types.Type, deep bool, visit func(v *types.Var)) {
	seen := map[types.Type]bool{}
	var enter func(t types.Type, depth int)
	enter = func(t types.Type, depth int) {
		if t == nil || seen[t] || depth > 12 {
			return
		}
		seen[t] = true
		switch u := t.Underlying().(type) {
		case *types.Struct:
			for v := range u.Fields() {
				visit(v.Origin())
				enter(v.Type(), depth+1)
			}
		case *types.Array:
			enter(u.Elem(), depth+1)
		case *types.Slice:
			if deep || depth == 0 { // its elements are copied with it, as by slices.Clone
				enter(u.Elem(), depth+1)
			}
		case *types.Pointer:
			if deep {
				enter(u.Elem(), depth+1)
			}
		case *types.Map:
			if deep {
				enter(u.Key(), depth+1)
				enter(u.Elem(), depth+1)
			}
		}
	}
	enter(t, 0)
}

// eachWholeRead visits the fields that a node of a function reads without naming them: those of a struct that is copied, and of
// what a call of the library is given. around are the nodes around it.
func eachWholeRead(d *derivations, n ast.Node, around []ast.Node, visit func(v *types.Var)) {
	switch n := n.(type) {
	case *ast.CallExpr:
		if fn := d.t.callee(n); fn != nil && len(d.declsOf(fn)) > 0 {
			return // that is looked at itself
		}
		if tv, ok := d.t.info.Types[ast.Unparen(n.Fun)]; ok && (tv.IsType() || tv.IsBuiltin()) {
			return
		}
		pkg := d.t.fromPackage(uninstantiated(n))
		_, method := ast.Unparen(n.Fun).(*ast.SelectorExpr)
		deep := readsAll.MatchString(pkg) || pkg == "" && method && givesOut.MatchString(calledName(n))
		for _, a := range n.Args {
			if u, ok := ast.Unparen(a).(*ast.UnaryExpr); ok && u.Op == token.AND && deep {
				a = u.X
			}
			fieldsIn(d.t.typeOf(a), deep, visit)
		}
	case *ast.StarExpr, *ast.IndexExpr, *ast.SelectorExpr, *ast.Ident:
		x := n.(ast.Expr)
		of := d.t.typeOf(x)
		if of == nil || !isStruct(of) || !isCopied(d, x, around) {
			return
		}
		fieldsIn(of, false, visit)
	}
}

// isCopied tells of an expression that its value is used as it is: it is not declared or set, nothing is selected of it, nor its
// address taken.
func isCopied(d *derivations, x ast.Expr, around []ast.Node) bool {
	if tv, ok := d.t.info.Types[x]; ok && !tv.IsValue() {
		return false
	}
	switch p := parent(around).(type) {
	case *ast.ReturnStmt, *ast.SendStmt:
		return true
	case *ast.CallExpr:
		return p.Fun != x
	case *ast.CompositeLit:
		return p.Type != x
	case *ast.KeyValueExpr:
		return p.Value == x
	case *ast.ValueSpec:
		return p.Type != x && !isNamed(x, "_") && !isAmongIdents(p.Names, x)
	case *ast.BinaryExpr:
		return true
	case *ast.AssignStmt:
		for _, y := range p.Rhs {
			if y == x {
				return !isIdent(p.Lhs[0]) || p.Tok != token.DEFINE // what is declared with it is looked at by its fields
			}
		}
	}
	return false
}

func isAmongIdents(all []*ast.Ident, x ast.Expr) bool {
	for _, id := range all {
		if ast.Expr(id) == x {
			return true
		}
	}
	return false
}

// environmentOf stands for the environment of the process, which is read and changed by functions of package os.
func environmentOf(d *derivations) *types.Var {
	if d.environment == nil {
		d.environment = types.NewVar(token.NoPos, nil, "the environment", types.Typ[types.String])
	}
	return d.environment
}

// readsEnvironment tells of a call that it reads the environment, setsEnvironment that it changes it.
func readsEnvironment(d *derivations, n *ast.CallExpr) bool {
	name := calledName(n)
	return d.t.fromPackage(ast.Unparen(n.Fun)) == "os" && (strings.HasSuffix(name, "env") && !setsEnvironment(d, n) || name == "LookupEnv" || name == "Environ" || name == "ExpandEnv")
}

func setsEnvironment(d *derivations, n *ast.CallExpr) bool {
	name := calledName(n)
	return d.t.fromPackage(ast.Unparen(n.Fun)) == "os" && (name == "Setenv" || name == "Unsetenv" || name == "Clearenv")
}

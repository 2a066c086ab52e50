package insight

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
)

// storesInPackage notes that an assignment puts a value into a variable of the package by its name, and tells whether
// it does.
func storesInPackage(k *keeper, file string, n *ast.AssignStmt, id *ast.Ident, rhs ast.Expr, t taint) bool {
	if n.Tok == token.DEFINE || k.fn == nil || !packageHas(k.c, file, id.Name) || declaredIn(k.fn, id.Name) {
		return false
	}
	kind := intoField
	if call, ok := rhs.(*ast.CallExpr); ok && isNamed(call.Fun, "append") {
		kind = intoSlice
	} else if hasItself(rhs, id.Name) {
		kind = intoList
	}
	if !holdsNumbers(k.c, id) {
		k.add(kind, file, id, id.Pos(), t)
	}
	return true
}

// packageHas tells whether the package of a file declares a variable, by the sources that are there.
func packageHas(c *code, file, name string) (found bool) {
	c.eachSource(func(other string, s *syntax) {
		if found || filepath.Dir(other) != filepath.Dir(file) {
			return
		}
		for _, d := range s.file.Decls {
			vars, ok := d.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR {
				continue
			}
			for _, spec := range vars.Specs {
				v, ok := spec.(*ast.ValueSpec)
				found = found || ok && slices.ContainsFunc(v.Names, func(id *ast.Ident) bool { return id.Name == name })
			}
		}
	})
	return found
}

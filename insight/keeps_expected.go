package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"loupe/value/stack"
)

// Maps whose entries are expected to be there: who bounds one has to load again what is gone.

// expectsEntry is where the source reads an entry of a map of a name, and uses it without asking
// whether it is there; the zero frame where it does not.
func expectsEntry(c *code, name string) (at stack.Frame) {
	c.eachSource(func(file string, s *syntax) {
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || at.Line > 0 {
				continue
			}
			if x := expectedIn(fn, lastName(name)); x != nil {
				line, _ := s.lines(x)
				at = stack.Frame{File: file, Line: line}
			}
		}
	})
	return at
}

// expectedIn is such a read in a function: a field or a method of m[k], or of a variable that is
// set to m[k] and compared with nothing.
func expectedIn(fn *ast.FuncDecl, name string) (read ast.Expr) {
	entry := func(x ast.Expr) bool {
		i, ok := ast.Unparen(x).(*ast.IndexExpr)
		return ok && lastName(types.ExprString(i.X)) == name
	}
	set, asked := map[string]ast.Expr{}, map[string]bool{}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if entry(n.X) {
				read = n.X
			}
		case *ast.AssignStmt:
			if id, ok := n.Lhs[0].(*ast.Ident); ok && len(n.Lhs) == 1 && len(n.Rhs) == 1 && entry(n.Rhs[0]) {
				set[id.Name] = n.Rhs[0]
			}
		case *ast.BinaryExpr:
			for _, x := range []ast.Expr{n.X, n.Y} {
				if id, ok := x.(*ast.Ident); ok && n.Op != token.ADD {
					asked[id.Name] = true
				}
			}
		}
		return true
	})
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && set[id.Name] != nil && !asked[id.Name] && read == nil {
				read = set[id.Name]
			}
		}
		return true
	})
	return read
}

// mustReload says of a map that is to be bounded that its entries are expected; empty where the
// source does not show it.
func mustReload(c *code, name string) string {
	at := expectsEntry(c, name)
	if at.Line == 0 {
		return ""
	}
	return fmt.Sprintf(" But %s:%d uses an entry without asking whether it is there: drop entries only if one that is gone is loaded again there.", baseName(at.File), at.Line)
}

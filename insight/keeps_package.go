package insight

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"loupe/value/stack"
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
				found = found || ok && isAmong(v.Names, name)
			}
		}
	})
	return found
}

// namedAlike tells of a node in a file that a function around it declares a variable of the name of a container, which
// another function stores into: it is another one.
func namedAlike(c *code, s keepsAt) func(file *ast.File, n ast.Node) bool {
	name := s.container
	if fn := c.function(stack.Frame{File: s.file, Line: s.line}); strings.Contains(name, ".") || fn == nil || declaredIn(fn, name) {
		return func(*ast.File, ast.Node) bool { return false }
	}
	return func(file *ast.File, n ast.Node) bool {
		fn := functionAround(file, n)
		return fn != nil && declaredIn(fn, name)
	}
}

// functionAround is the declaration of a file that a node is in; nil where it is in none.
func functionAround(file *ast.File, n ast.Node) *ast.FuncDecl {
	for _, d := range file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && covers(fn, n) {
			return fn
		}
	}
	return nil
}

// replacedAt is where a variable of the package is set to something new, under a condition, in a loop, or in a function
// that is no start.
func replacedAt(c *code, s keepsAt) (at Evidence, ok bool) {
	if strings.Contains(s.container, ".") || !packageHas(c, s.file, s.container) {
		return at, false
	}
	another := namedAlike(c, s)
	c.eachSource(func(file string, x *syntax) {
		if ok || filepath.Dir(file) != filepath.Dir(s.file) {
			return
		}
		eachNode(x.file, func(n ast.Node, around []ast.Node) {
			a, is := n.(*ast.AssignStmt)
			if !is || ok || a.Tok != token.ASSIGN || len(a.Lhs) != len(a.Rhs) {
				return
			}
			i := slices.IndexFunc(a.Lhs, func(x ast.Expr) bool { return isNamed(x, s.container) })
			fn := functionAround(x.file, n)
			if i < 0 || fn == nil || typeMade(a.Rhs[i]) == nil && !isNamed(a.Rhs[i], "nil") || another(x.file, n) {
				return
			}
			when, none := false, false
			for _, n := range around {
				cond, is := n.(*ast.IfStmt)
				when = when || is || bodyOfLoop(n) != nil
				none = none || is && mentions(cond.Cond, "nil")
			}
			if none {
				return // it was not there yet
			}
			if when || !starts.MatchString(fn.Name.Name) {
				line, _ := x.lines(n)
				at, ok = c.shownAt(file, line, "a new one takes its place here"), true
			}
		})
	})
	return at, ok
}

// setsPointed tells of a body that it sets what something points at.
func setsPointed(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			found = found || slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool { _, star := x.(*ast.StarExpr); return star })
		}
		return !found
	})
	return found
}

// starts are names of functions that make things at the start.
var starts = lazily(`^(?i:main$|init|new|setup|open|start|load)`)

package insight

import (
	"go/ast"
	"slices"

	"loupe/value/stack"
)

// A semaphore may be a type with a method that takes a slot and one that gives it back, made by a function that is given its
// size.

// entryOf is the line behind which those who are let in at a frame are inside: that of the caller where the function at the frame
// does nothing but to wait for a slot.
func entryOf(c *code, at stack.Frame, frames []stack.Frame) stack.Frame {
	fn, i := c.scopeAt(at), slices.Index(frames, at)
	if fn == nil || i < 0 || i+1 >= len(frames) || c.scopeAt(frames[i+1]) == nil {
		return at
	}
	for _, x := range fn.body.List {
		switch x := x.(type) {
		case *ast.SendStmt, *ast.SelectStmt, *ast.ReturnStmt:
		case *ast.ExprStmt:
			if _, ok := x.X.(*ast.UnaryExpr); !ok {
				return at
			}
		default:
			return at
		}
	}
	return frames[i+1]
}

// fieldMade calls pair with the field of a name, and what a literal without names of fields puts into it.
func fieldMade(c *code, lit *ast.CompositeLit, name string, pair func(lhs, rhs ast.Expr)) {
	if lit.Type == nil || len(lit.Elts) == 0 {
		return
	}
	if _, keyed := lit.Elts[0].(*ast.KeyValueExpr); keyed {
		return
	}
	if _, named := lit.Type.(*ast.Ident); !named {
		return
	}
	if i := fieldIndex(c, baseType(lit.Type), name); i >= 0 && i < len(lit.Elts) {
		pair(ast.NewIdent(name), lit.Elts[i])
	}
}

// limitGiven is what the one call of the sources gives a function as the limit that is a parameter of it, with the file; the limit
// itself where it is none, or there are several calls.
func limitGiven(c *code, file string, s *syntax, limit ast.Expr) (string, *syntax, ast.Expr) {
	id, ok := unconverted(limit).(*ast.Ident)
	if !ok {
		return file, s, limit
	}
	var in *ast.FuncDecl
	for _, d := range s.file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && fn.Pos() <= limit.Pos() && limit.End() <= fn.End() {
			in = fn
		}
	}
	if in == nil {
		return file, s, limit
	}
	at := scopeOf(in).parameter(id.Name)
	if at < 0 || givenIn(in.Body, id.Name) || len(c.functions()[in.Name.Name]) != 1 {
		return file, s, limit
	}
	calls, given := 0, limit
	of, from := file, s
	c.eachSource(func(name string, other *syntax) {
		hasCall(other.file, func(call *ast.CallExpr) bool {
			if calledName(call) == in.Name.Name && at < len(call.Args) {
				calls++
				of, from, given = name, other, call.Args[at]
			}
			return false
		})
	})
	if calls != 1 {
		return file, s, limit
	}
	return of, from, given
}

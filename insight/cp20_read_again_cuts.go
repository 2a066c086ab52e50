package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// A buffer from whose front somebody takes what was found begins anew with each message: what is read
// again is no more than what one message takes.

// frontCut finds where the program takes something from the front of a place that grows in the body
// of a loop. The frame has no line where nothing does.
func frontCut(c *code, file string, body ast.Node, p spot) (at stack.Frame) {
	wherePlace(c, file, body, p, func(d declaration, is func(spot) bool) {
		ast.Inspect(d.Body, func(n ast.Node) bool {
			if at.Line == 0 && takesFront(n, is) {
				line, _ := c.parse(d.file).lines(n)
				at = stack.Frame{Func: d.Name.Name, File: d.file, Line: line}
			}
			return at.Line == 0
		})
	})
	return at
}

// frontCopies are the lines that copy the front of such a place: string(x[:n]).
func frontCopies(c *code, file string, body ast.Node, p spot) (all []stack.Frame) {
	wherePlace(c, file, body, p, func(d declaration, is func(spot) bool) {
		ast.Inspect(d.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 || !copies(call) && !(isNamed(call.Fun, "append") && len(call.Args) == 2 && isFresh(call.Args[0])) {
				return true
			}
			front, ok := ast.Unparen(call.Args[len(call.Args)-1]).(*ast.SliceExpr)
			if ok && front.Low == nil && front.High != nil {
				if q, ok := spotOf(front.X); ok && is(q) {
					line, _ := c.parse(d.file).lines(n)
					all = append(all, stack.Frame{File: d.file, Line: line})
				}
			}
			return true
		})
	})
	return all
}

// wherePlace visits the functions in which a place may be meant that grows in the body of a loop, with what tells
// whether another one is the same: of a field or a variable of the package anywhere, of another variable in its
// function.
func wherePlace(c *code, file string, body ast.Node, p spot, look func(d declaration, is func(spot) bool)) {
	if len(p.fields) == 0 && declaresBelow(c, file, body, p.root) {
		for _, d := range c.parse(file).file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && f.Pos() <= body.Pos() && body.End() <= f.End() {
				look(declaration{f, file}, func(q spot) bool { return q.text() == p.text() })
			}
		}
		return
	}
	of := ""
	for _, d := range c.parse(file).file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && f.Pos() <= body.Pos() && body.End() <= f.End() && len(p.fields) == 1 {
			of = lastName(typeNameOf(c, f, p.root))
		}
	}
	for _, all := range c.functions() {
		for _, d := range all {
			look(d, func(q spot) bool {
				if q.last() != p.last() || len(q.fields) > 0 != (len(p.fields) > 0) {
					return false
				}
				if len(q.fields) == 0 {
					return !scopeOf(d.FuncDecl).declares(q.root)
				}
				other := ""
				if len(q.fields) == 1 {
					other = lastName(typeNameOf(c, d.FuncDecl, q.root))
				}
				return of == "" || other == "" || of == other
			})
		}
	}
}

// takesFront tells of a statement or a call that it takes something from the front of a place: what is
// behind it stays. What empties a place leaves nothing.
func takesFront(n ast.Node, is func(spot) bool) bool {
	isPlace := func(x ast.Expr) bool { p, ok := spotOf(x); return ok && is(p) }
	// rest tells of an expression that it is what is behind the front of the place.
	rest := func(x ast.Expr) bool {
		s, ok := ast.Unparen(x).(*ast.SliceExpr)
		return ok && s.Low != nil && types.ExprString(s.Low) != "0" && isPlace(s.X)
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.ASSIGN {
			return false
		}
		for i, left := range n.Lhs {
			if !isPlace(left) {
				continue
			}
			right := n.Rhs[min(i, len(n.Rhs)-1)]
			if call, ok := right.(*ast.CallExpr); ok {
				name := types.ExprString(call.Fun)
				if name == "append" && len(call.Args) > 0 {
					s, ok := call.Args[0].(*ast.SliceExpr)
					return ok && s.Low == nil && isPlace(s.X) && slices.ContainsFunc(call.Args[1:], rest) ||
						!isPlace(call.Args[0]) && slices.ContainsFunc(call.Args[1:], rest)
				}
				// A function that is given it, or a part of it, and returns what stays.
				return !strings.Contains(name, ".Append") && slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return isPlace(x) || rest(x) })
			}
			return rest(right)
		}
	case *ast.CallExpr:
		switch types.ExprString(n.Fun) {
		case "copy":
			return len(n.Args) == 2 && isPlace(unsliced(n.Args[0])) && rest(n.Args[1])
		case "slices.Delete":
			return len(n.Args) > 0 && isPlace(n.Args[0])
		}
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && isPlace(f.X) {
			switch name := f.Sel.Name; name {
			case "Next", "Advance", "Discard", "Consume", "Drop", "Skip":
				return true
			default:
				return strings.HasPrefix(name, "Read") && name != "ReadFrom"
			}
		}
	}
	return false
}

// unsliced is what an expression has a part of.
func unsliced(x ast.Expr) ast.Expr {
	if s, ok := ast.Unparen(x).(*ast.SliceExpr); ok {
		return s.X
	}
	return x
}

// isRegexp tells of functions that they are methods of an expression.
func isRegexp(callees []string) bool {
	return len(callees) > 0 && strings.HasPrefix(callees[0], "regexp.(*Regexp).")
}

// readSize is how many bytes a line adds at most that appends a part of a buffer, or copies so many; 0
// where the source does not say.
func readSize(c *code, file string, line int) (size int) {
	f := stack.Frame{File: file, Line: line}
	fn := c.scopeAt(f)
	if fn == nil {
		return 0
	}
	for _, call := range c.lineCalls(f) {
		name := types.ExprString(call.Fun)
		switch {
		case name == "io.CopyN" && len(call.Args) == 3:
			size = max(size, constantNumber(c, call.Args[2], 0))
		case (name == "append" && len(call.Args) == 2 || calledName(call) == "Write" && len(call.Args) == 1):
			if p, ok := spotOf(unsliced(call.Args[len(call.Args)-1])); ok {
				size = max(size, bufferSize(c, fn, p))
			}
		}
	}
	return size
}

// bufferSize is how many bytes a variable or a field has: an array, or a slice that is made once.
func bufferSize(c *code, fn *scope, p spot) (size int) {
	array := func(x ast.Expr) {
		if a, ok := x.(*ast.ArrayType); ok && a.Len != nil {
			size = constantNumber(c, a.Len, 0)
		}
	}
	made := func(x ast.Expr) {
		if call, ok := x.(*ast.CallExpr); ok && isNamed(call.Fun, "make") && len(call.Args) == 2 {
			size = constantNumber(c, call.Args[1], 0)
		}
	}
	if len(p.fields) == 0 && fn.declares(p.root) {
		made(fn.made(p.root))
		ast.Inspect(fn.body, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && isAmong(v.Names, p.root) {
				array(v.Type)
			}
			return true
		})
		return size
	}
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				if isAmong(n.Names, p.last()) {
					array(n.Type)
				}
			case *ast.KeyValueExpr:
				if isNamed(n.Key, p.last()) {
					made(n.Value)
				}
			}
			assigned(n, func(left, right ast.Expr) {
				if lastName(types.ExprString(left)) == p.last() {
					made(right)
				}
			})
			return true
		})
	})
	return size
}

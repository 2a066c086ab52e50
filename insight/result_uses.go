package insight

import (
	"go/ast"
	"go/token"
	"slices"

	"loupe/value/stack"
)

// What becomes of the result of a call, by the source of the function that makes it.

// onlyReads are names of functions that do not change what they are given.
var onlyReads = lazily(`^(Write|WriteString|WriteAll|Send|Print|Printf|Println|Sprint|Sprintf|Sprintln|Fprint|Fprintf|Fprintln|Error|Errorf|Fatal|Fatalf|Sum256|Sum|Sum512|Checksum|ChecksumIEEE|Equal|Compare|Contains|HasPrefix|HasSuffix|Index|Join|String|NewReader|len|cap|string|Execute|ExecuteTemplate|Marshal)$`)

// eachUse visits what a call on a line returns: the call itself, and each use of the variable that it is given to there. It is false where the
// function around is not known.
func eachUse(c *code, at stack.Frame, method string, visit func(x ast.Expr, around []ast.Node)) bool {
	fn := c.function(at)
	if fn == nil {
		return false
	}
	s, name := c.parse(at.File), ""
	eachNode(fn.Body, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || calledName(call) != method {
			return
		}
		if line, _ := s.lines(call); line != at.Line {
			return
		}
		visit(call, around)
		if p, ok := parent(around).(*ast.AssignStmt); ok {
			if id, ok := p.Lhs[0].(*ast.Ident); ok {
				name = id.Name
			}
		}
	})
	if name == "" || name == "_" {
		return true
	}
	eachNode(fn.Body, func(n ast.Node, around []ast.Node) {
		if x, ok := n.(ast.Expr); ok && rootName(x) == name {
			visit(x, around)
		}
	})
	return true
}

// givenOn tells whether what a call on a line returns is given to another call that may change it, or a part of it is set.
func givenOn(c *code, at stack.Frame, method string) (given bool) {
	known := eachUse(c, at, method, func(x ast.Expr, around []ast.Node) {
		switch p := parent(around).(type) {
		case *ast.CallExpr:
			given = given || p.Fun != x && !onlyReads.MatchString(calledName(p))
		case *ast.AssignStmt:
			_, whole := x.(*ast.Ident)
			given = given || !whole && slices.Contains(p.Lhs, x)
		}
	})
	return given || !known
}

// toldApart tells whether what a call on a line returns is told from others by where it is: it is the key of a map, or compared.
func toldApart(c *code, at stack.Frame, method string) (apart bool) {
	eachUse(c, at, method, func(x ast.Expr, around []ast.Node) {
		if _, call := x.(*ast.CallExpr); !call {
			if _, whole := x.(*ast.Ident); !whole {
				return
			}
		}
		switch p := parent(around).(type) {
		case *ast.IndexExpr:
			apart = apart || p.Index == x
		case *ast.BinaryExpr:
			apart = apart || (p.Op == token.EQL || p.Op == token.NEQ) && !isNamed(p.X, "nil") && !isNamed(p.Y, "nil")
		}
	})
	return apart
}

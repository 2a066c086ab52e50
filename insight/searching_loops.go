package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"loupe/value/stack"
)

// fewElements is up to how many elements a slice is searched about as fast as a map is asked.
const fewElements = 8

// gone is a loop that searches, with the function that it is in and the line that calls that.
type gone struct {
	c          *code
	at, caller stack.Frame
	l          loop
	names      map[string]bool // the variables of the loop
	fn         *scope
}

// start is the expression that the loop begins with: the first value of its variable, or what
// it ranges over.
func (g *gone) start() ast.Expr {
	switch n := g.l.stmt.(type) {
	case *ast.RangeStmt:
		return n.X
	case *ast.ForStmt:
		if a, ok := n.Init.(*ast.AssignStmt); ok && len(a.Rhs) > 0 {
			return a.Rhs[0]
		}
	}
	return nil
}

// over is what the loop goes through: what it ranges over, or indexes by its variable in a
// condition; nil where that is not known.
func (g *gone) over(cond ast.Expr) (x ast.Expr) {
	if n, ok := g.l.stmt.(*ast.RangeStmt); ok {
		return n.X
	}
	ast.Inspect(cond, func(n ast.Node) bool {
		if i, ok := n.(*ast.IndexExpr); ok && x == nil && mentionsAny(i.Index, g.names) {
			x = i.X
		}
		return x == nil
	})
	return x
}

// beginsAt tells whether the place at which the loop begins is computed from what it looks
// for, as in a hash table.
func (g *gone) beginsAt(terms []ast.Expr) bool {
	from := []ast.Expr{g.start()}
	if id, ok := from[0].(*ast.Ident); ok {
		from = append(from, g.fn.made(id.Name))
	}
	if i, ok := from[0].(*ast.IndexExpr); ok { // of a bucket whose number was computed before
		if id, ok := i.Index.(*ast.Ident); ok {
			from = append(from, g.fn.made(id.Name))
		}
	}
	for _, x := range from {
		if x == nil {
			continue
		}
		for _, term := range terms {
			if contains(x, types.ExprString(term)) {
				return true
			}
		}
	}
	return false
}

// contains tells whether a part of an expression reads as a text.
func contains(x ast.Node, text string) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		found = found || ok && types.ExprString(e) == text
		return !found
	})
	return found
}

// movesOn tells whether each search begins where the one before has ended: then all of them
// together go through everything once. Either the function keeps where it has ended, or its
// caller does.
func (g *gone) movesOn() bool {
	if _, counts := g.l.stmt.(*ast.ForStmt); counts && g.start() != nil && setFrom(g.fn.body, g.start(), g.names) {
		return true
	}
	over := g.through()
	if over == nil {
		return false
	}
	return cutsFront(g.fn.body, over) || g.callerMovesOn(over)
}

// through is what the loop goes through, by its whole: what it ranges over, or the length of
// which ends it.
func (g *gone) through() ast.Expr {
	if n, ok := g.l.stmt.(*ast.RangeStmt); ok {
		return n.X
	}
	var x ast.Expr
	if g.l.cond != nil {
		ast.Inspect(g.l.cond, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isNamed(call.Fun, "len") && len(call.Args) == 1 {
				x = call.Args[0]
			}
			return x == nil
		})
	}
	return x
}

// setFrom tells whether statements set a variable to something with one of some names in it.
func setFrom(body ast.Node, x ast.Expr, names map[string]bool) (found bool) {
	text := types.ExprString(x)
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok == token.DEFINE {
			return !found
		}
		for i, lhs := range a.Lhs {
			found = found || types.ExprString(lhs) == text && mentionsAny(a.Rhs[min(i, len(a.Rhs)-1)], names)
		}
		return !found
	})
	return found
}

// cutsFront tells whether statements make something begin later: x = x[i:].
func cutsFront(body ast.Node, x ast.Expr) (found bool) {
	text := types.ExprString(x)
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok == token.DEFINE {
			return !found
		}
		for i, lhs := range a.Lhs {
			cut, ok := a.Rhs[min(i, len(a.Rhs)-1)].(*ast.SliceExpr)
			found = found || ok && cut.Low != nil && types.ExprString(lhs) == text && types.ExprString(cut.X) == text
		}
		return !found
	})
	return found
}

// callerMovesOn tells whether the line that calls the function gives it what is left: of what
// it searches, which the caller cuts, or the place to begin at, which the caller sets to what it
// has got.
func (g *gone) callerMovesOn(over ast.Expr) bool {
	in := g.c.scopeAt(g.caller)
	if in == nil || g.fn.name == "" {
		return false
	}
	for _, call := range g.c.lineCalls(g.caller) {
		if calledName(call) != g.fn.name {
			continue
		}
		if i := g.fn.parameter(types.ExprString(over)); i >= 0 && i < len(call.Args) && cutsFront(in.body, call.Args[i]) {
			return true
		}
		if i := g.fn.parameter(types.ExprString(over)); i >= 0 && i < len(call.Args) {
			if rest, ok := call.Args[i].(*ast.SliceExpr); ok && rest.Low != nil && (adds(in.body, types.ExprString(rest.Low)) || givenBack(in.body, rest.Low, call)) {
				return true // the place to go on at
			}
		}
		if x := g.start(); x != nil {
			if i := g.fn.parameter(types.ExprString(x)); i >= 0 && i < len(call.Args) && givenBack(in.body, call.Args[i], call) {
				return true
			}
		}
	}
	return false
}

// givenBack tells whether statements set a variable from a call, or from what that has
// returned.
func givenBack(body ast.Node, x ast.Expr, call *ast.CallExpr) bool {
	results := map[string]bool{}
	direct := false
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || !slices.ContainsFunc(a.Rhs, func(r ast.Expr) bool { return within(r, call) }) {
			return true
		}
		for _, lhs := range a.Lhs {
			direct = direct || types.ExprString(lhs) == types.ExprString(x)
			if id, ok := lhs.(*ast.Ident); ok && id.Name != "_" {
				results[id.Name] = true
			}
		}
		return true
	})
	return direct || setFrom(body, x, results)
}

// within tells whether a node is a part of another one.
func within(of, x ast.Node) (found bool) {
	ast.Inspect(of, func(n ast.Node) bool {
		found = found || n == x
		return !found
	})
	return found
}

// literalSize is how many elements a slice or an array has by the source: that of the literal
// which is all that it is ever set to, or of its type. It is 0 where that is not known.
func literalSize(c *code, fn *scope, x ast.Expr) int {
	if x == nil {
		return 0
	}
	if lit, ok := x.(*ast.CompositeLit); ok {
		return elements(lit)
	}
	text, name := types.ExprString(x), lastName(types.ExprString(x))
	if id, ok := x.(*ast.Ident); ok && fn != nil && fn.declares(id.Name) {
		lit, ok := fn.made(id.Name).(*ast.CompositeLit)
		if !ok || fn.sets(id.Name) {
			return 0
		}
		return elements(lit)
	}
	size, declared, grows := 0, 0, false
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				grows = grows || slices.ContainsFunc(n.Lhs, func(l ast.Expr) bool { return lastName(types.ExprString(l)) == name })
			case *ast.UnaryExpr: // somebody may change it by its address
				grows = grows || n.Op == token.AND && types.ExprString(n.X) == text
			case *ast.ValueSpec:
				for i, id := range n.Names {
					if id.Name != name {
						continue
					}
					declared++
					if i < len(n.Values) {
						if lit, ok := n.Values[i].(*ast.CompositeLit); ok {
							size = elements(lit)
						}
					} else {
						size = arraySize(n.Type)
					}
				}
			case *ast.Field:
				for _, id := range n.Names {
					if id.Name == name {
						declared++
						size = arraySize(n.Type)
					}
				}
			}
			return true
		})
	})
	if declared != 1 || grows {
		return 0
	}
	return size
}

// elements is how many a literal of a slice or an array has; 0 where it is of something else.
func elements(lit *ast.CompositeLit) int {
	if array, ok := lit.Type.(*ast.ArrayType); !ok || array.Len != nil && arraySize(array) > len(lit.Elts) {
		return 0
	}
	if slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool { _, keyed := e.(*ast.KeyValueExpr); return keyed }) {
		return 0
	}
	return len(lit.Elts)
}

// arraySize is the length of an array type that stands in it as a number, else 0.
func arraySize(x ast.Expr) int {
	array, ok := x.(*ast.ArrayType)
	if !ok {
		return 0
	}
	if lit, ok := array.Len.(*ast.BasicLit); ok {
		n, _ := strconv.Atoi(lit.Value)
		return n
	}
	return 0
}

// movesToFront tells whether statements put what was found further to the front: into the
// first place, or by a swap that is not with the last one.
func movesToFront(body ast.Node, over string) (found bool) {
	place := func(x ast.Expr) (index string, ok bool) {
		i, ok := x.(*ast.IndexExpr)
		if !ok || types.ExprString(i.X) != over {
			return "", false
		}
		return types.ExprString(i.Index), true
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = found || strings.EqualFold(calledName(n), "MoveToFront")
		case *ast.AssignStmt:
			a, ok := place(n.Lhs[0])
			found = found || ok && a == "0"
			if len(n.Lhs) == 2 {
				b, both := place(n.Lhs[1])
				found = found || ok && both && !strings.Contains(a+b, "len(")
			}
		}
		return !found
	})
	return found
}

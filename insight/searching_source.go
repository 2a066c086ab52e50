package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"loupe/value/stack"
)

// needle is what a line looks for, by its source.
type needle int

const (
	needleUnknown needle = iota
	needleFixed          // a literal, or a name that no loop around the line sets
	needleOfLoop         // it is another one in each turn of a loop around
)

// needleAt finds the term of a search for text on a line: the last argument of Index,
// Contains and the like.
func (s *syntax) needleAt(line int) (kind needle) {
	s.onLine(line, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 || !searchesText(types.ExprString(call.Fun)) {
			return
		}
		term := call.Args[1]
		if kind == needleUnknown {
			kind = needleFixed
		}
		for _, a := range around {
			if setBy(a, term) {
				kind = needleOfLoop
			}
		}
	})
	return kind
}

// searchesText tells of a function, by its name, that it looks for one text in another.
func searchesText(name string) bool {
	p, f, _ := strings.Cut(name, ".")
	return (p == "strings" || p == "bytes") && (strings.HasPrefix(f, "Index") || strings.HasPrefix(f, "LastIndex") || strings.HasPrefix(f, "Contains") || strings.HasPrefix(f, "Count"))
}

// setBy tells whether a loop gives an expression another value in each turn: by its own
// variables, or in its body.
func setBy(loop ast.Node, x ast.Expr) bool {
	var body *ast.BlockStmt
	switch n := loop.(type) {
	case *ast.RangeStmt:
		for _, v := range []ast.Expr{n.Key, n.Value} {
			if id, ok := v.(*ast.Ident); ok && id.Name != "_" && mentions(x, id.Name) {
				return true
			}
		}
		body = n.Body
	case *ast.ForStmt:
		body = n.Body
		if a, ok := n.Init.(*ast.AssignStmt); ok && mentions(x, types.ExprString(a.Lhs[0])) {
			return true
		}
	default:
		return false
	}
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, lhs := range a.Lhs {
				found = found || mentions(x, rootName(lhs))
			}
		}
		return !found
	})
	return found
}

// searchByHand finds, around a line, a loop that compares what it goes through with something
// that stays the same in it and is no literal, and ends when it is found; it stands in another
// loop, or its function is called in one, as looped says. first is its line.
func searchByHand(c *code, f stack.Frame, looped bool) (first int, found bool) {
	loops := loopsAround(c, f)
	if len(loops) == 0 || len(loops) == 1 && !looped {
		return 0, false
	}
	l := loops[len(loops)-1]
	var variables []ast.Expr
	switch n := l.stmt.(type) {
	case *ast.RangeStmt:
		variables = []ast.Expr{n.Key, n.Value}
	case *ast.ForStmt:
		if a, ok := n.Init.(*ast.AssignStmt); ok {
			variables = a.Lhs
		}
	}
	names := map[string]bool{}
	for _, v := range variables {
		if id, ok := v.(*ast.Ident); ok && id.Name != "_" {
			names[id.Name] = true
		}
	}
	for _, s := range l.body.List {
		n, ok := s.(*ast.IfStmt)
		if ok && looksUp(n.Cond, names) && endsSearch(n.Body.List) {
			first, _ = l.source.lines(l.stmt)
			return first, true
		}
	}
	return 0, false
}

// looksUp tells of a condition that it compares something of a loop's variables with
// something else that is no literal.
func looksUp(cond ast.Expr, names map[string]bool) (found bool) {
	ast.Inspect(cond, func(n ast.Node) bool {
		x, ok := n.(*ast.BinaryExpr)
		if !ok || x.Op != token.EQL {
			return true
		}
		for _, side := range [][2]ast.Expr{{x.X, x.Y}, {x.Y, x.X}} {
			found = found || mentionsAny(side[0], names) && !mentionsAny(side[1], names) && rootName(side[1]) != "" && rootName(side[1]) != "nil"
		}
		return true
	})
	return found
}

// endsSearch tells of statements that they leave the loop, or go on with the next turn of one
// further out.
func endsSearch(list []ast.Stmt) bool {
	if leavesLoop(list) {
		return true
	}
	if len(list) == 0 {
		return false
	}
	b, ok := list[len(list)-1].(*ast.BranchStmt)
	return ok && b.Tok == token.CONTINUE && b.Label != nil
}

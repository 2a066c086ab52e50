package insight

import (
	"go/ast"
	"go/token"
	"go/types"
)

// eachWork is what a loop does for each element besides looking for one.
type eachWork int

const (
	workNone   eachWork = iota
	workCalls           // it calls something
	workVisits          // it adds something up, or changes the element: it has to visit all of them
)

// workOnEach tells what a loop does for each element that it passes. Counting where it is, and
// what is done with the one that was found, is no work.
func (l loop) workOnEach(names map[string]bool) (work eachWork) {
	for _, s := range l.body.List {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if l.visits(s, names) {
				return workVisits
			}
		case *ast.ExprStmt:
			if mentionsAny(s, names) {
				work = workCalls
			}
		case *ast.IfStmt:
			if !endsSearch(s.Body.List) && l.visitsIn(s, names) {
				return workVisits
			}
		}
	}
	return work
}

// visits tells of an assignment that it adds the element to something, or changes it.
func (l loop) visits(a *ast.AssignStmt, names map[string]bool) bool {
	for i, lhs := range a.Lhs {
		rhs := a.Rhs[min(i, len(a.Rhs)-1)]
		if a.Tok == token.DEFINE {
			continue
		}
		if !isIdent(lhs) && mentionsAny(lhs, names) {
			return true
		}
		sums := a.Tok != token.ASSIGN || contains(rhs, types.ExprString(lhs))
		if sums && mentionsAny(rhs, names) && !names[rootName(lhs)] && !declares(l.body, rootName(lhs)) {
			return true
		}
	}
	return false
}

// visitsIn tells of an if that does not end the loop whether it counts or adds up.
func (l loop) visitsIn(s *ast.IfStmt, names map[string]bool) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || l.visits(n, names)
		case *ast.IncDecStmt:
			found = found || !names[rootName(n.X)] && !declares(l.body, rootName(n.X))
		}
		return !found
	})
	return found
}

// anotherEach tells whether what a loop searches is another one in each turn of the loop around
// it: an element of what that goes through, or a field of one. Each is searched once then. The
// loop around is one of the same function, or one that calls it.
func (g *gone) anotherEach(over ast.Expr) bool {
	if over == nil {
		return false
	}
	root, fields := chain(over)
	if loops := loopsAround(g.c, g.at); len(loops) > 1 {
		return len(fields) <= 1 && loops[len(loops)-2].hasElement(over)
	}
	loops, k := loopsAround(g.c, g.caller), g.fn.parameter(root)
	if len(loops) == 0 || g.fn.name == "" || k < 0 && root != g.fn.receiver || g.fn.sets(root) {
		return false
	}
	for _, call := range g.c.lineCalls(g.caller) {
		if calledName(call) != g.fn.name {
			continue
		}
		x := receiverOf(call)
		if k >= 0 {
			if k >= len(call.Args) {
				return false
			}
			x = call.Args[k]
		}
		_, more := chain(x)
		return len(fields)+len(more) <= 1 && loops[len(loops)-1].hasElement(x)
	}
	return false
}

// hasElement tells whether an expression is an element of what a loop goes through, or a part of
// one: by the variable of a range, or by an index that is the loop's.
func (l loop) hasElement(x ast.Expr) bool {
	names := l.variables()
	if r, ok := l.stmt.(*ast.RangeStmt); ok && r.Value != nil && isNamed(r.Value, rootName(x)) {
		return true
	}
	for {
		switch e := x.(type) {
		case *ast.SelectorExpr:
			x = e.X
		case *ast.ParenExpr:
			x = e.X
		case *ast.UnaryExpr:
			x = e.X
		case *ast.IndexExpr:
			return isIdent(e.Index) && names[types.ExprString(e.Index)]
		default:
			return false
		}
	}
}

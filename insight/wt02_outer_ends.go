package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// An outer loop that may end early, or leave out items, makes the calls of fewer items than it has: to make those of all beforehand may be
// many more, whose effects nobody wanted.

// outerEnd is a condition that decides for which items of an outer loop the calls are made.
type outerEnd struct {
	at    string // its file and line
	cond  string // "" where none stands around it
	skips bool   // it leaves out an item, and does not end the loop
}

func (e outerEnd) text() string {
	by := ""
	if e.cond != "" {
		by = " by " + e.cond
	}
	if e.skips {
		return fmt.Sprintf("a turn makes no calls at %s%s", e.at, by)
	}
	return fmt.Sprintf("the loop is left at %s%s", e.at, by)
}

// outerEnds finds such a condition of a loop, one turn of which comes to calls by way, the frames inward from that of the loop. What ends because
// something has failed is none, nor what an item itself decides alone.
func outerEnds(l loop, c *code, way []stack.Frame) (e outerEnd, ok bool) {
	f := way[0]
	note := func(s *syntax, n ast.Node, cond ast.Expr, skips bool) {
		if ok {
			return
		}
		line, _ := s.lines(n)
		e, ok = outerEnd{at: fileLine(f.File, line), skips: skips}, true
		if cond != nil {
			e.cond = types.ExprString(cond)
		}
	}
	if n, is := l.stmt.(*ast.ForStmt); is && !goesThroughAll(l, n) {
		note(l.source, n, n.Cond, false)
	}
	own := itemNames(l)
	eachNode(l.body, func(n ast.Node, around []ast.Node) {
		cond, fails := decidedBy(around)
		switch n := n.(type) {
		case *ast.FuncLit:
			return
		case *ast.ReturnStmt:
			if !inLiteral(around) && !fails && !leavesFailing([]ast.Stmt{n}) {
				note(l.source, n, cond, false)
			}
		case *ast.BranchStmt:
			line, _ := l.source.lines(n)
			switch {
			case inLiteral(around) || fails:
			case n.Tok == token.GOTO, n.Tok == token.BREAK && !staysInside(n, around):
				note(l.source, n, cond, false)
			case n.Tok == token.CONTINUE && !staysInside(n, around) && (line < f.Line || n.Label != nil) && !decidedByItem(cond, own):
				note(l.source, n, cond, true)
			}
		case *ast.IfStmt, *ast.CaseClause, *ast.CommClause:
			if cond, fails := decidedBy([]ast.Node{n}); !slices.ContainsFunc(around, isLoop) && l.source.covers(n, f.Line) && !ownCondition(l.source, n, f.Line) && !fails && !decidedByItem(cond, own) {
				note(l.source, n, cond, true)
			}
		}
	})
	for _, f = range way[1:] {
		if ok {
			break
		}
		leavesBefore(c, f, note)
	}
	return e, ok
}

// leavesBefore finds what keeps a function that a turn calls from coming to its line.
func leavesBefore(c *code, f stack.Frame, note func(s *syntax, n ast.Node, cond ast.Expr, skips bool)) {
	fn, s := c.scopeAt(f), c.parse(f.File)
	if fn == nil || s == nil {
		return
	}
	eachNode(fn.body, func(n ast.Node, around []ast.Node) {
		cond, fails := decidedBy(around)
		switch n := n.(type) {
		case *ast.ReturnStmt:
			if line, _ := s.lines(n); line < f.Line && !inLiteral(around) && !fails && !leavesFailing([]ast.Stmt{n}) && !slices.ContainsFunc(around, isLoop) {
				note(s, n, cond, true)
			}
		case *ast.IfStmt, *ast.CaseClause, *ast.CommClause:
			if cond, fails := decidedBy([]ast.Node{n}); s.covers(n, f.Line) && !ownCondition(s, n, f.Line) && !fails && !inLiteral(around) && !slices.ContainsFunc(around, isLoop) {
				note(s, n, cond, true)
			}
		}
	})
}

// ownCondition tells of a statement with a condition that the line is that of the condition: what stands there is done in any case.
func ownCondition(s *syntax, n ast.Node, line int) bool {
	first, _ := s.lines(n)
	return first == line
}

// decidedBy is the condition of the innermost statement of some around a node that has one; fails tells that it asks for an error.
func decidedBy(around []ast.Node) (cond ast.Expr, fails bool) {
	for _, n := range slices.Backward(around) {
		switch n := n.(type) {
		case *ast.IfStmt:
			return n.Cond, asksForError(n.Cond)
		case *ast.CaseClause:
			if len(n.List) > 0 {
				return n.List[0], slices.ContainsFunc(n.List, asksForError)
			}
			return nil, false
		case *ast.CommClause:
			return nil, false
		}
	}
	return nil, false
}

// asksForError tells of a condition that it is that there is an error.
func asksForError(x ast.Expr) bool {
	switch n := ast.Unparen(x).(type) {
	case *ast.BinaryExpr:
		if n.Op == token.LAND {
			return asksForError(n.X) || asksForError(n.Y)
		}
		return asksForFailure(n)
	}
	return false
}

// inLiteral tells of a node, by those around it, that it is in a function without a name.
func inLiteral(around []ast.Node) bool {
	return slices.ContainsFunc(around, func(n ast.Node) bool { _, ok := n.(*ast.FuncLit); return ok })
}

// staysInside tells of a break or continue, by what is around it in the body of a loop, that it is of something in there.
func staysInside(n *ast.BranchStmt, around []ast.Node) bool {
	return slices.ContainsFunc(around, func(a ast.Node) bool {
		if n.Label != nil {
			s, ok := a.(*ast.LabeledStmt)
			return ok && s.Label.Name == n.Label.Name
		}
		switch a.(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			return n.Tok == token.BREAK
		}
		return isLoop(a)
	})
}

// itemNames are the variables of the loop that have its item.
func itemNames(l loop) map[string]bool {
	own := map[string]bool{}
	switch n := l.stmt.(type) {
	case *ast.RangeStmt:
		for _, x := range []ast.Expr{n.Key, n.Value} {
			if x != nil && n.Tok == token.DEFINE {
				own[rootName(x)] = true
			}
		}
	case *ast.ForStmt:
		if a, ok := n.Init.(*ast.AssignStmt); ok && len(a.Lhs) == 1 {
			own[rootName(a.Lhs[0])] = true
		}
	}
	return own
}

// decidedByItem tells of a condition that it asks for nothing but the item of the loop: no call, and no other variable.
func decidedByItem(cond ast.Expr, own map[string]bool) bool {
	if cond == nil {
		return false
	}
	return !hasNode(cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			return !isNamed(n.Fun, "len")
		case *ast.IndexExpr, *ast.StarExpr:
			return true // what the item leads to may be changed
		case *ast.SelectorExpr:
			return !own[rootName(n)]
		}
		return false
	}) && ownAlone(cond, own)
}

// ownAlone tells of an expression that each of its variables is one of some; constants are none.
func ownAlone(x ast.Expr, own map[string]bool) bool {
	switch n := ast.Unparen(x).(type) {
	case *ast.Ident:
		return own[n.Name] || n.Name == "nil" || n.Name == "true" || n.Name == "false"
	case *ast.BasicLit:
		return true
	case *ast.SelectorExpr:
		return ownAlone(n.X, own)
	case *ast.UnaryExpr:
		return ownAlone(n.X, own)
	case *ast.BinaryExpr:
		return ownAlone(n.X, own) && ownAlone(n.Y, own)
	case *ast.CallExpr:
		return len(n.Args) == 1 && ownAlone(n.Args[0], own)
	}
	return false
}

// goesThroughAll tells of a loop with a condition that this is no more than the end of its items: a counter that comes to a number or a length which
// the loop does not change, or the question for the next item.
func goesThroughAll(l loop, n *ast.ForStmt) bool {
	if call, ok := n.Cond.(*ast.CallExpr); ok && len(call.Args) == 0 {
		return slices.Contains(advances, calledName(call))
	}
	cond, ok := n.Cond.(*ast.BinaryExpr)
	a, counts := n.Init.(*ast.AssignStmt)
	if !ok || !counts || len(a.Lhs) != 1 || !slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ, token.NEQ}, cond.Op) {
		return false
	}
	end, counter := cond.Y, types.ExprString(a.Lhs[0])
	if !isNamed(cond.X, counter) {
		if end = cond.X; !isNamed(cond.Y, counter) {
			return false
		}
	}
	if call, ok := ast.Unparen(end).(*ast.CallExpr); ok {
		if !isNamed(call.Fun, "len") || len(call.Args) != 1 {
			return false
		}
		end = call.Args[0]
	}
	switch x := ast.Unparen(end).(type) {
	case *ast.BasicLit:
	case *ast.Ident, *ast.SelectorExpr:
		if bodySets(l, types.ExprString(x)) {
			return false
		}
	default:
		return false
	}
	return !bodySets(l, counter)
}

// bodySets tells that the body of the loop sets a variable or a field, by its text, or takes its address.
func bodySets(l loop, text string) bool {
	is := func(x ast.Expr) bool { return types.ExprString(x) == text }
	return hasNode(l.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			return n.Tok != token.DEFINE && slices.ContainsFunc(n.Lhs, is)
		case *ast.IncDecStmt:
			return is(n.X)
		case *ast.UnaryExpr:
			return n.Op == token.AND && is(n.X)
		}
		return false
	})
}

package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// untilWorks tells of the condition of a loop that it goes on while something fails: an
// error is not nil, or a call whose name begins with Try has not worked.
func untilWorks(cond ast.Expr) bool {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return untilWorks(x.X)
	case *ast.UnaryExpr:
		return x.Op == token.NOT && triesByName(x.X)
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			return untilWorks(x.X) || untilWorks(x.Y)
		}
		return plainError(x)
	}
	return false
}

// triesByName tells of a call, by its name, that it tells whether it has worked.
func triesByName(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	return ok && strings.HasPrefix(strings.ToLower(lastName(types.ExprString(call.Fun))), "try")
}

// worked tells of a condition that it asks, perhaps among others, for no error to be there.
func worked(cond ast.Expr) bool {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return worked(x.X)
	case *ast.BinaryExpr:
		if x.Op == token.LOR || x.Op == token.LAND {
			return worked(x.X) || worked(x.Y)
		}
		return x.Op == token.EQL && isError(lastName(types.ExprString(x.X))) && types.ExprString(x.Y) == "nil"
	}
	return triesByName(cond)
}

// leavesLoop tells of statements that the last one leaves the loop.
func leavesLoop(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch s := list[len(list)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.BREAK || s.Tok == token.GOTO
	}
	return false
}

// leavesClause is leavesLoop of the statements of a case, in which a break without a label
// leaves no more than the switch or select.
func leavesClause(list []ast.Stmt) bool {
	if !leavesLoop(list) {
		return false
	}
	b, ok := list[len(list)-1].(*ast.BranchStmt)
	return !ok || b.Label != nil
}

// goesOn tells of statements that the last one, or that of an if among them, begins the next
// turn.
func goesOn(list []ast.Stmt) bool {
	for i, s := range list {
		switch s := s.(type) {
		case *ast.BranchStmt:
			if i == len(list)-1 && s.Tok == token.CONTINUE {
				return true
			}
		case *ast.IfStmt:
			if goesOn(s.Body.List) {
				return true
			}
		}
	}
	return false
}

// decides tells whether a condition asks for one of the names, in another way than
// whether an error is there: every loop ends on an error.
func decides(cond ast.Expr, names map[string]bool) bool {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return decides(x.X, names)
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			return decides(x.X, names) || decides(x.Y, names)
		}
		if plainError(x) {
			return false
		}
	}
	return mentionsAny(cond, names)
}

// looksAtFailure tells whether a condition asks which error came, or for the status of
// an answer; or whether none came, which ends a loop that tries again.
func looksAtFailure(cond ast.Expr) bool {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return looksAtFailure(x.X)
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			return looksAtFailure(x.X) || looksAtFailure(x.Y)
		}
		if plainError(x) {
			return false
		}
	}
	found := false
	ast.Inspect(cond, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && (isError(id.Name) || id.Name == "StatusCode")
		return !found
	})
	return found
}

// byAnswer tells whether a condition asks for nothing else than what a call has given, or
// whether it has failed.
func byAnswer(cond ast.Expr, answer map[string]bool) bool {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return byAnswer(x.X, answer)
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			return byAnswer(x.X, answer) && byAnswer(x.Y, answer)
		}
	}
	return untilWorks(cond) || worked(cond) || decides(cond, answer)
}

// plainError tells of a condition that it asks whether an error is there, and nothing else.
func plainError(cond ast.Expr) bool {
	x, ok := cond.(*ast.BinaryExpr)
	return ok && x.Op == token.NEQ && isError(lastName(types.ExprString(x.X))) && types.ExprString(x.Y) == "nil"
}

// exits are the conditions of a loop's body by which it is left, outside of loops and
// functions within.
func exits(body *ast.BlockStmt) (conds []ast.Expr) {
	for i, s := range body.List {
		for {
			n, ok := s.(*ast.IfStmt)
			if !ok {
				break
			}
			otherwise, _ := n.Else.(*ast.BlockStmt)
			switch {
			case leavesLoop(n.Body.List), otherwise != nil && leavesLoop(otherwise.List),
				n.Else == nil && goesOn(n.Body.List) && leavesLoop(body.List[i+1:]):
				conds = append(conds, n.Cond)
			default:
				conds = append(conds, exits(n.Body)...)
			}
			s = n.Else
		}
		if n, ok := s.(*ast.SwitchStmt); ok {
			conds = append(conds, switchExits(n)...)
		}
	}
	return conds
}

// switchExits are what decides in a switch that returns, in one of its cases.
func switchExits(n *ast.SwitchStmt) (conds []ast.Expr) {
	for _, s := range n.Body.List {
		c := s.(*ast.CaseClause)
		if !leavesClause(c.Body) {
			continue
		}
		if n.Tag != nil {
			conds = append(conds, n.Tag)
		}
		conds = append(conds, c.List...)
	}
	return conds
}

// endsWhenDone tells whether the body of a loop leaves it when no error is left, and goes on
// when there is one.
func endsWhenDone(body *ast.BlockStmt) bool {
	for i, s := range body.List {
		n, ok := s.(*ast.IfStmt)
		if !ok {
			continue
		}
		switch {
		case worked(n.Cond) && leavesLoop(n.Body.List):
			return true
		case n.Else == nil && untilWorks(n.Cond) && goesOn(n.Body.List) && leavesLoop(body.List[i+1:]):
			return true
		}
	}
	return false
}

// pausesIn tells whether a body calls what waits, by its name.
func pausesIn(body *ast.BlockStmt) bool {
	return mentionsCall(body, "Sleep", "After", "NewTimer", "Wait", "sleep", "pause", "wait", "backoff", "Backoff", "BackOff", "NextBackOff", "Pause", "C")
}

// mentionsCall tells whether a body has a call, or takes from a field, of one of the names.
func mentionsCall(body *ast.BlockStmt, names ...string) (found bool) {
	is := func(x ast.Expr) bool {
		name := lastName(types.ExprString(x))
		for _, n := range names {
			found = found || n == name
		}
		return found
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			is(n.Fun)
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				is(n.X)
			}
		}
		return true
	})
	return found
}

// mentionsAny tells whether a node has one of the names; what is selected of another is none.
func mentionsAny(n ast.Node, names map[string]bool) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = found || mentionsAny(n.X, names)
			return false
		case *ast.Ident:
			found = found || names[n.Name]
		}
		return !found
	})
	return found
}

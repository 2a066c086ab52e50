package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// How a function sets what it leaves behind: as a count, anew in each call, because something failed, or only where it is not
// there yet.

// countsOn tells of a statement that it counts up or down.
func countsOn(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IncDecStmt:
		return true
	case *ast.AssignStmt:
		return n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN
	}
	return false
}

// locks tells whether a function takes a lock before a node, or was called with one.
func (f *leftFrame) locks(n ast.Node) bool {
	return f.held || hasCall(f.decl.Body, func(call *ast.CallExpr) bool {
		name := calledName(call)
		return call.Pos() < n.Pos() && (name == "Lock" || name == "RLock")
	})
}

// isAlways tells of the nodes around a statement that no condition decides about it.
func isAlways(around []ast.Node) bool {
	return !slices.ContainsFunc(around, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.IfStmt, *ast.CaseClause, *ast.CommClause, *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			return true
		}
		return false
	})
}

// emptiesIt tells of a statement that it makes something empty: x = x[:0].
func emptiesIt(n ast.Node) bool {
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 {
		return false
	}
	cut, ok := a.Rhs[0].(*ast.SliceExpr)
	return ok && cut.High != nil && types.ExprString(cut.High) == "0" && types.ExprString(cut.X) == types.ExprString(a.Lhs[0])
}

// underFailure tells of the nodes around one that it is only reached if something failed.
func underFailure(around []ast.Node) bool {
	for i, n := range around {
		s, ok := n.(*ast.IfStmt)
		if !ok || i+1 < len(around) && around[i+1] != ast.Node(s.Body) {
			continue
		}
		if b, ok := s.Cond.(*ast.BinaryExpr); ok && b.Op == token.NEQ && isNamed(b.Y, "nil") && isError(lastName(types.ExprString(b.X))) {
			return true
		}
	}
	return false
}

// setsLazily tells of a statement that it sets something only if that, or what is set with it, is not there or too old:
// under a condition of it, behind one that leaves the function, in a sync.Once, or an element that the function looks up by
// the same key.
func setsLazily(decl *ast.FuncDecl, n ast.Node, around []ast.Node) bool {
	set := map[string]bool{}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		for _, x := range changedBy(n) {
			set[types.ExprString(x)] = true
		}
		return true
	})
	asks := func(s *ast.IfStmt) bool {
		for text := range set {
			if hasText(s.Cond, text) || s.Init != nil && hasText(s.Init, text) {
				return true
			}
		}
		return false
	}
	for _, a := range around {
		switch a := a.(type) {
		case *ast.IfStmt:
			if covers(a.Body, n) && asks(a) {
				return true
			}
		case *ast.CallExpr:
			if calledName(a) == "Do" && len(a.Args) == 1 && covers(a.Args[0], n) {
				return true
			}
		}
	}
	found := hasNode(decl.Body, func(m ast.Node) bool {
		s, ok := m.(*ast.IfStmt)
		return ok && s.End() <= n.Pos() && leavesLoop(s.Body.List) && asks(s) && !hasNode(s.Cond, func(n ast.Node) bool { x, ok := n.(ast.Expr); return ok && isError(types.ExprString(x)) })
	})
	for _, x := range changedBy(n) {
		key, ok := ast.Unparen(x).(*ast.IndexExpr)
		if !ok {
			continue
		}
		if _, fixed := key.Index.(*ast.BasicLit); !fixed {
			text := types.ExprString(x)
			found = found || hasNode(decl.Body, func(m ast.Node) bool {
				e, ok := m.(*ast.IndexExpr)
				return ok && e != key && e.End() <= n.Pos() && types.ExprString(e) == text
			})
		}
	}
	return found
}

// looksUpFirst tells of a call that stores by a key that the function has looked that up before.
func looksUpFirst(decl *ast.FuncDecl, n ast.Node, of, key ast.Expr) bool {
	if _, fixed := key.(*ast.BasicLit); fixed {
		return false
	}
	return hasCall(decl.Body, func(call *ast.CallExpr) bool {
		name := calledName(call)
		return call.End() <= n.Pos() && (name == "Load" || name == "Get") && len(call.Args) == 1 &&
			types.ExprString(receiverOf(call)) == types.ExprString(of) && types.ExprString(call.Args[0]) == types.ExprString(key)
	})
}

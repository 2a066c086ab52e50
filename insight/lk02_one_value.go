package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// What speaks against a lock that guards one value, which the call under it fetches.

// isClock tells of what is stored that no call of a peer gave it: it is fixed, or the time.
func isClock(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return x.Name == "true" || x.Name == "false" || x.Name == "nil"
	case *ast.CallExpr:
		if text := types.ExprString(x.Fun); text == "time.Now" || text == "time.Since" {
			return true
		}
		sel, ok := x.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		call, ok := ast.Unparen(sel.X).(*ast.CallExpr)
		return ok && isClock(call) && !slices.ContainsFunc(x.Args, func(a ast.Expr) bool { return hasCall(a, func(*ast.CallExpr) bool { return true }) })
	}
	return false
}

// changesOthers tells whether something else of what has the lock is set under it before the call, other than counted: then it guards more than the value.
func (u oneValue) changesOthers(place string) (found bool) {
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		if n == nil || found {
			return false
		}
		if first, last := u.s.lines(n); !u.under(first) || last >= u.call {
			return true
		}
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
			return true
		}
		for _, st := range u.stored(n) {
			if st.adds || st.place == place || u.own(st.place) {
				continue
			}
			x, ok := placeIn(st.place, u.lockRoot())
			found = found || ok && !isIdent(x) || u.isPartOfShared(st.place)
		}
		return !found
	})
	return found
}

// lockRoot is the variable whose part the lock is.
func (u oneValue) lockRoot() string { return rootOfPlace(u.held.lock) }

// isPartOfShared tells of a place that it is a part of what a variable of the function refers to, which was taken from what has the lock.
func (u oneValue) isPartOfShared(place string) bool {
	name := rootOfPlace(place)
	if name == place || name == u.lockRoot() {
		return false
	}
	made := u.fn.made(name)
	if made == nil {
		return false
	}
	if call, ok := ast.Unparen(made).(*ast.CallExpr); ok {
		sel, selects := call.Fun.(*ast.SelectorExpr)
		return selects && rootName(sel.X) == u.lockRoot()
	}
	return !isIdent(ast.Unparen(made)) && rootName(unrefer(made)) == u.lockRoot()
}

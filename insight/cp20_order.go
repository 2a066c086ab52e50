package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// Searches in a list that is kept in the order of use: what is found is taken out, and put at its end again. All positions behind it change each time, so
// that a map of positions would have to change for each of these.

// orderAdvice is what to do about it.
const orderAdvice = "The list is kept in the order of use: each use searches it from its start, takes the element out, and puts it at the end again. Keep the elements in a linked list (container/list) with a map from the key to its element: " +
	"to find one, take it out and put it at the end (MoveToBack) then takes the same time however many there are. A map from the key to a position is no help, as all positions behind the element change."

// tellOrder gives a finding about a search in such a list that advice.
func tellOrder(c *code, at stack.Frame, f *Finding) {
	if keepsUseOrder(c, at) {
		f.Advice, f.Doubts = orderAdvice, []string{fewDoubt}
	}
}

// keepsUseOrder tells of a line that searches a list that what is found is cut out of it, and put at its end there, or by who calls the function.
func keepsUseOrder(c *code, at stack.Frame) bool {
	fn, d := c.scopeAt(at), c.function(at)
	if fn == nil || d == nil {
		return false
	}
	for _, list := range listsSearched(c, at) {
		if !hasNode(fn.body, func(n ast.Node) bool { return cutsOneOut(n, list) }) {
			continue
		}
		if putsBehind(fn.body, list) {
			return true
		}
		if _, field := list.(*ast.SelectorExpr); !field || fn.outer != nil {
			continue
		}
		for _, from := range callsNamed(c, d.Name.Name) {
			if from.in.FuncDecl != d && receiverType(from.in.FuncDecl) == receiverType(d) && putsAfter(from.in.Body, from.call.End(), list) {
				return true
			}
		}
	}
	return false
}

// listsSearched are the lists that a line searches: those that loops around it go through, or that it hands to package slices.
func listsSearched(c *code, at stack.Frame) (all []ast.Expr) {
	for _, l := range loopsAround(c, at) {
		switch n := l.stmt.(type) {
		case *ast.RangeStmt:
			all = append(all, n.X)
		case *ast.ForStmt:
			ast.Inspect(l.body, func(n ast.Node) bool {
				if x, ok := n.(*ast.IndexExpr); ok {
					all = append(all, x.X)
				}
				return true
			})
		}
	}
	for _, call := range c.lineCalls(at) {
		if name := types.ExprString(call.Fun); (name == "slices.Index" || name == "slices.IndexFunc") && len(call.Args) > 0 {
			all = append(all, call.Args[0])
		}
	}
	return all
}

// cutsOneOut tells of a node that it takes one element out of a list, and keeps the order of the others.
func cutsOneOut(n ast.Node, list ast.Expr) bool {
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || types.ExprString(a.Lhs[0]) != types.ExprString(list) {
		return false
	}
	call, ok := a.Rhs[0].(*ast.CallExpr)
	if !ok || len(call.Args) < 2 {
		return false
	}
	of := func(x ast.Expr) bool {
		part, ok := x.(*ast.SliceExpr)
		return ok && types.ExprString(part.X) == types.ExprString(list)
	}
	switch types.ExprString(call.Fun) {
	case "slices.Delete":
		return types.ExprString(call.Args[0]) == types.ExprString(list)
	case "append":
		return call.Ellipsis != token.NoPos && of(call.Args[0]) && of(call.Args[1])
	}
	return false
}

// putsBehind tells of a body that it puts one element at the end of a list.
func putsBehind(body ast.Node, list ast.Expr) bool { return putsAfter(body, token.NoPos, list) }

// putsAfter tells the same of what comes behind a place; the list may be a field of the same name there.
func putsAfter(body ast.Node, place token.Pos, list ast.Expr) bool {
	same := func(x ast.Expr) bool {
		if _, field := list.(*ast.SelectorExpr); field {
			_, is := x.(*ast.SelectorExpr)
			return is && lastName(types.ExprString(x)) == lastName(types.ExprString(list))
		}
		return types.ExprString(x) == types.ExprString(list)
	}
	return hasNode(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || n.Pos() < place || len(a.Rhs) != 1 || !slices.ContainsFunc(a.Lhs, same) {
			return false
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		return ok && isNamed(call.Fun, "append") && call.Ellipsis == token.NoPos && len(call.Args) == 2 && same(call.Args[0])
	})
}

package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// What makes another list of a list: an element that is set, an order, what is copied into it, another list in its place; in the whole package, by other names
// of it, and in functions that are given it. What is appended leaves all sums from its start as they are.

// reordering are functions that change the list which they are given first.
var reordering = lazily(`^(sort\.(Sort|Stable|Slice|SliceStable|Ints|Strings|Float64s)|slices\.(Sort\w*|Reverse|Insert|Delete\w*|Replace|Compact\w*)|heap\.\w+)$`)

// mostPassed is through how many calls a list is followed.
const mostPassed = 3

// isList tells of an expression that it is a list.
type isList func(x ast.Expr) bool

// bySharing is isList with the variables of a function that are set to the list, or to a part of it: they have the same elements.
func bySharing(d *derivations, decl *ast.FuncDecl, is isList) isList {
	shares := map[types.Object]bool{}
	eachNode(decl.Body, func(n ast.Node, _ []ast.Node) {
		set, ok := n.(*ast.AssignStmt)
		if !ok || len(set.Lhs) != len(set.Rhs) {
			return
		}
		for i, lhs := range set.Lhs {
			if v := d.variable(lhs); v != nil && isLocal(decl, v) && is(pointed(set.Rhs[i])) {
				shares[v] = true
			}
		}
	})
	return func(x ast.Expr) bool {
		return is(x) || len(shares) > 0 && shares[d.variable(ast.Unparen(x))]
	}
}

// listChangedBy is where a node of a function changes a list; nil where it does not. Other names of the list are those of elements alone: what they are
// set to is another list.
func listChangedBy(d *derivations, n ast.Node, list, shared isList, passed int) ast.Node {
	if add, to := addsByAppend(n); add != nil && (shared(ast.Unparen(to)) || pointsTo(ast.Unparen(to), shared)) {
		return nil
	}
	for _, lhs := range changedBy(n) {
		_, call := n.(*ast.CallExpr)
		switch x := ast.Unparen(lhs).(type) {
		case *ast.IndexExpr:
			if shared(elementsOf(x)) {
				return lhs
			}
		default:
			if list(x) || (call && shared(elementsOf(x))) || pointsTo(x, shared) {
				return lhs
			}
		}
	}
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	if isNamed(call.Fun, "append") && len(call.Args) > 1 {
		if cut, is := ast.Unparen(call.Args[0]).(*ast.SliceExpr); is && !cut.Slice3 && cut.High != nil && shared(elementsOf(cut)) {
			return call // over what lies behind
		}
		return nil
	}
	if len(call.Args) > 0 && reordering.MatchString(types.ExprString(call.Fun)) && shared(elementsOf(orderedList(call.Args[0]))) {
		return call
	}
	if changesGivenList(d, call, shared, passed) {
		return call
	}
	return nil
}

// changesGivenList tells of a call that it gives a list to a function of the program which changes it.
func changesGivenList(d *derivations, call *ast.CallExpr, shared isList, passed int) bool {
	if passed >= mostPassed {
		return false
	}
	given := map[int]ast.Expr{}
	for i, x := range call.Args {
		given[i] = x
	}
	if f, ok := call.Fun.(*ast.SelectorExpr); ok {
		given[receiverPlace] = f.X
	}
	for i, x := range given {
		if !shared(pointed(x)) {
			continue
		}
		for _, callee := range calledDecls(d, call) {
			v := parameterAt(d, callee, i)
			if v == nil || callee.Body == nil {
				continue
			}
			own := bySharing(d, callee, func(x ast.Expr) bool { return d.variable(ast.Unparen(x)) == v })
			none := func(ast.Expr) bool { return false } // a parameter that is set is another list
			found := false
			eachNode(callee.Body, func(n ast.Node, _ []ast.Node) {
				found = found || listChangedBy(d, n, none, own, passed+1) != nil
			})
			if found {
				return true
			}
		}
	}
	return false
}

// pointsTo tells of *x that x is the list's address.
func pointsTo(x ast.Expr, shared isList) bool {
	star, ok := x.(*ast.StarExpr)
	return ok && shared(star.X)
}

// elementsOf is the list of which an expression is an element or a part.
func elementsOf(x ast.Expr) ast.Expr {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.IndexExpr:
			x = e.X
		case *ast.SliceExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.UnaryExpr:
			if e.Op != token.AND {
				return e
			}
			x = e.X
		default:
			return e
		}
	}
}

// orderedList is what a conversion, or another call with one argument, is of: x of sort.Reverse(byName(x)).
func orderedList(x ast.Expr) ast.Expr {
	for {
		call, ok := ast.Unparen(x).(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return x
		}
		x = call.Args[0]
	}
}

// setsList tells of a statement around a call that it is counted as a change itself.
func setsList(around []ast.Node, list isList) bool {
	if len(around) == 0 {
		return false
	}
	set, ok := around[len(around)-1].(*ast.AssignStmt)
	return ok && slices.ContainsFunc(set.Lhs, func(lhs ast.Expr) bool { return list(ast.Unparen(lhs)) })
}

package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// Maps whose keys stand in a ring as well: the entry leaves with the key that the new one takes the place of.

// ringBound finds where one of the functions nearest to an allocation deletes from a map that it goes into the entry of a key that
// it has read from a ring, and overwrites that key: the map has at most as many entries as the ring has places.
func ringBound(c *code, own []stack.Frame, stores []keepsAt) (b bound, found bool) {
	for i, f := range own[:min(3, len(own))] {
		fn := c.function(f)
		if fn == nil || fn.Body == nil {
			continue
		}
		eachNode(fn.Body, func(n ast.Node, around []ast.Node) {
			call, ok := n.(*ast.CallExpr)
			if !ok || found || withinLit(around) || !isNamed(call.Fun, "delete") || len(call.Args) != 2 || !keptIn(c, stores, call.Args[0]) {
				return
			}
			place := keyPlace(fn.Body, call.Args[1])
			if place == nil || !placeComesRound(fn.Body, place) || !underKeyOnly(around, call.Args[1], place) || !placeReused(fn.Body, place) {
				return
			}
			b, found = bound{of: place.X, keeps: true, depth: i, ring: true}, true
			b.at = c.shownAt(f.File, c.parse(f.File).fset.PositionFor(call.Pos(), false).Line, "the entry of the key that is overwritten is deleted here")
		})
	}
	return b, found
}

// keyPlace is the element that a key is, or that the variable was read from which has it; nil where it is no such key.
func keyPlace(body *ast.BlockStmt, key ast.Expr) *ast.IndexExpr {
	for x := ast.Unparen(key); ; {
		switch e := x.(type) {
		case *ast.IndexExpr:
			return e
		case *ast.SelectorExpr:
			x = ast.Unparen(e.X)
			continue
		}
		break
	}
	name, at := rootName(key), (*ast.IndexExpr)(nil)
	if name == "" {
		return nil
	}
	ast.Inspect(body, func(n ast.Node) bool {
		assigned(n, func(left, right ast.Expr) {
			if id, ok := left.(*ast.Ident); ok && id.Name == name && n.Pos() < key.Pos() {
				at, _ = ast.Unparen(right).(*ast.IndexExpr)
			}
		})
		return true
	})
	return at
}

// placeComesRound tells of an element that its index comes back to the first one: it is a remainder, or the function makes it one, or sets it
// to nothing.
func placeComesRound(body *ast.BlockStmt, place *ast.IndexExpr) bool {
	index := types.ExprString(place.Index)
	return isRemainder(place.Index) || hasAny(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			return false
		}
		for i, lhs := range a.Lhs {
			number, known := numberOf(a.Rhs[i])
			again := a.Tok == token.REM_ASSIGN || a.Tok == token.AND_ASSIGN || isRemainder(a.Rhs[i]) || a.Tok == token.ASSIGN && known && number == 0
			if again && types.ExprString(lhs) == index {
				return true
			}
		}
		return false
	})
}

// placeReused tells of an element that the function gives it another value.
func placeReused(body *ast.BlockStmt, place *ast.IndexExpr) bool {
	text := types.ExprString(place)
	return hasAny(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		return ok && a.Tok == token.ASSIGN && slices.ContainsFunc(a.Lhs, func(lhs ast.Expr) bool { return types.ExprString(lhs) == text })
	})
}

// underKeyOnly tells of a delete that no condition is around it but on the key: whether there is one yet.
func underKeyOnly(around []ast.Node, key ast.Expr, place *ast.IndexExpr) bool {
	_, named := ast.Unparen(key).(*ast.Ident)
	for _, n := range around {
		switch n := n.(type) {
		case *ast.IfStmt:
			if !(named && mentions(n.Cond, rootName(key))) && !mentionsText(n.Cond, types.ExprString(place)) {
				return false
			}
		case *ast.ForStmt, *ast.RangeStmt, *ast.CaseClause, *ast.CommClause:
			return false
		}
	}
	return true
}

package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// Calls also take longer because they are given more to do, or because what they wait for does: then earlier calls have nothing to do with it.

// skips are names of numbers that say how much is skipped, and not how much there is to do.
var skips = lazily(`(?i)^(off|skip|from|start|page|cursor|pos|after|begin|since)|(offset|skip|page|pos|cursor)$`)

// growsByInput tells of a function, which is called on the line of a site, that all its loops go through, or count to, what the loop around
// the call gives it anew in each turn: an item, a number. decl is where the function begins.
func growsByInput(c *code, decl, site stack.Frame) bool {
	d, around := c.function(decl), loopsAround(c, site)
	call := callOf(c, site, d)
	if call == nil || len(around) == 0 {
		return false
	}
	anew := func(x ast.Expr) bool { return isAnew(around, x) }
	fn := scopeOf(d)
	given, other := false, false
	note := func(name string, number bool) {
		switch at := fn.parameter(name); {
		case name == "":
		case at >= 0 && at < len(call.Args):
			if anew(call.Args[at]) && !(number && skips.MatchString(name)) {
				given = true
			} else {
				other = true
			}
		case name == fn.receiver:
			if anew(receiverOf(call)) {
				given = true
			} else {
				other = true
			}
		default:
			other = other || isPackageVariable(c, name) && !fn.declares(name)
		}
	}
	names := func(x ast.Node, number bool) {
		eachNode(x, func(n ast.Node, around []ast.Node) {
			sel, selected := parent(around).(*ast.SelectorExpr)
			if id, ok := n.(*ast.Ident); ok && !(selected && sel.Sel == id) {
				note(id.Name, number && !selected)
			}
		})
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			names(n.X, true)
		case *ast.ForStmt:
			if n.Cond != nil {
				names(n.Cond, true)
			}
			if set, ok := n.Init.(*ast.AssignStmt); ok {
				for _, x := range set.Rhs {
					names(x, true)
				}
			}
		}
		return true
	})
	return given && !other
}

// callOf is the call of a function on a line; nil where there is none.
func callOf(c *code, site stack.Frame, d *ast.FuncDecl) *ast.CallExpr {
	if d == nil {
		return nil
	}
	all := c.lineCalls(site)
	if i := slices.IndexFunc(all, func(call *ast.CallExpr) bool { return ownCallName(call) == d.Name.Name }); i >= 0 {
		return all[i]
	}
	return nil
}

// asksSlower tells whether a counted function, which begins at decl, mostly waits for somebody across a network, and is given the same each time: then it
// is the peer that takes longer.
func asksSlower(c *code, counted *countedCall, decl stack.Frame) bool {
	call := callOf(c, counted.site, c.function(decl))
	around := loopsAround(c, counted.site)
	return partOfRows(counted.rows, func(row *facts.UnitRow) bool { return row.Kind.Network() }) > 0.5 && call != nil && len(around) > 0 && !slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return isAnew(around, x) })
}

// waitsOwn are waits that a function makes for other goroutines, or for time to pass.
var waitsOwn = []string{"sleep", "timer", "channel", "wait_group", "cond", "lock", "select"}

// waitsMost tells whether a counted function, which begins at decl, mostly waits for other goroutines or for time to pass: by the trace, or by the
// source where that does not have it.
func waitsMost(in *Input, c *countedCall, decl stack.Frame) bool {
	if len(c.rows) == 0 {
		_, what := effectOfCall(in.code, decl, false)
		return slices.Contains([]string{"lets time pass", "sends to a channel", "receives from a channel"}, what)
	}
	return partOfRows(c.rows, func(row *facts.UnitRow) bool { return slices.Contains(waitsOwn, row.Kind.Key()) }) > 0.5
}

// makesNext tells of a function, which begins at decl, that it goes through something and then puts what it has made of that in its place: each
// is the input of the next call. It gives the line that does so.
func makesNext(c *code, decl stack.Frame) (line int, ok bool) {
	d := c.function(decl)
	if d == nil || d.Body == nil {
		return 0, false
	}
	made := map[string]bool{}
	through := map[string]bool{}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			through[types.ExprString(n.X)] = true
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				id, named := lhs.(*ast.Ident)
				call, isCall := n.Rhs[min(i, len(n.Rhs)-1)].(*ast.CallExpr)
				if named && n.Tok == token.DEFINE && isCall && isNamed(call.Fun, "make") {
					made[id.Name] = true
				}
				from, value := n.Rhs[min(i, len(n.Rhs)-1)].(*ast.Ident)
				if _, field := lhs.(*ast.SelectorExpr); field && value && made[from.Name] && through[types.ExprString(lhs)] {
					line, ok = c.parse(decl.File).fset.PositionFor(n.Pos(), false).Line, true
				}
			}
		}
		return true
	})
	return line, ok
}

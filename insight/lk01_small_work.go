package insight

import (
	"go/ast"
	"go/types"
	"slices"
)

// What is made under a lock may cost so little that it does not matter who makes it, and how often: a struct, or what a New makes of a few values. Then
// no advice about work that one does for all fits.

// smallNames are functions whose calls cost next to nothing.
var smallNames = lazily(`^(time\.(Now|Since|Until|Duration|Unix\w*)|atomic\.\w+|errors\.New|list\.New|len|cap|make|new|append|delete|min|max|string|bool|u?int(8|16|32|64)?|float(32|64))$`)

// smallMakers are names of functions that make a value of what they are given.
var smallMakers = lazily(`^[nN]ew([A-Z_0-9].*)?$`)

// keepsNames are methods of what keeps values by keys.
var keepsNames = lazily(`^(Get|Load|Peek|Contains|Has|Len|Set|SetDefault|Add|Put|Store|LoadOrStore|Delete|Remove|PushFront|PushBack|MoveToFront|MoveToBack|Front|Back)$`)

// smallWork tells of what is done under the lock up to a line that it only makes small values and puts them into some fields or variables. names are
// those of these.
func (u lookedUnder) smallWork(names map[string]bool, until int) bool {
	made, other := false, false
	given := map[ast.Node]bool{} // what a small maker is given
	inside(u.fn.body, func(n ast.Node) {
		if n == nil {
			return
		}
		first, _ := u.s.lines(n)
		if _, last := u.s.lines(n); !u.under(first) || last > until {
			return
		}
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.SendStmt, *ast.SelectStmt, *ast.GoStmt, *ast.DeferStmt, *ast.FuncLit:
			_, unlocks := n.(*ast.DeferStmt)
			other = other || !unlocks
		case *ast.CompositeLit:
			made = true
		case *ast.CallExpr:
			makes, small := u.smallCall(n, names, given[n], 0)
			made, other = made || makes, other || !small
			if small {
				for _, x := range n.Args {
					given[ast.Unparen(x)] = true
				}
			}
		}
	})
	return made && !other && len(u.held.io) == 0
}

// smallCall tells of a call that it costs next to nothing, and whether it makes a value. given tells that another small one is given what it returns.
func (u lookedUnder) smallCall(call *ast.CallExpr, names map[string]bool, given bool, depth int) (makes, small bool) {
	name, text := calledName(call), types.ExprString(call.Fun)
	sel, selected := call.Fun.(*ast.SelectorExpr)
	if slices.ContainsFunc(call.Args, isContext) {
		return false, false
	}
	switch {
	case lockNames.MatchString(name), smallNames.MatchString(text), selected && keepsNames.MatchString(name) && names[lastName(types.ExprString(sel.X))]:
		return false, true
	case given && selected && len(call.Args) <= 1: // a type, or a part of what it is given
		return false, true
	}
	if own := u.c.functions()[ownCallName(call)]; len(own) > 0 {
		if len(own) > 1 || depth >= helperDepth || hasNode(own[0].Body, func(n ast.Node) bool { return isLoop(n) }) {
			return false, false
		}
		makes, small = smallMakers.MatchString(name), true
		ast.Inspect(own[0].Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.SendStmt, *ast.SelectStmt, *ast.FuncLit:
				small = false
			case *ast.CompositeLit:
				makes = true
			case *ast.CallExpr:
				_, ok := u.smallCall(n, names, false, depth+1)
				small = small && ok
			}
			return small
		})
		return makes, small
	}
	return true, smallMakers.MatchString(name)
}

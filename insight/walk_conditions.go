package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Conditions on a path: whether what they leave out is left out by folders.

// pathConditions reads them.
type pathConditions struct{ d *derivations }

// byEnding tells of a condition that it, or a function of the program that it calls, asks for the name of a file alone, or its ending: those that are left out
// stand beside those that are used.
func (c pathConditions) byEnding(n ast.Node, depth int) bool {
	return hasCall(n, func(call *ast.CallExpr) bool {
		switch lastName(types.ExprString(call.Fun)) {
		case "Ext", "Base", "HasSuffix", "Name", "Match", "TrimSuffix":
			return true
		}
		body := c.bodyCalled(call)
		return body != nil && depth < partDepth && c.byEnding(body, depth+1)
	})
}

// bodyCalled is that of the program's function that a call calls; nil where it may be another one.
func (c pathConditions) bodyCalled(call *ast.CallExpr) *ast.BlockStmt {
	fn := c.d.t.callee(call)
	if fn == nil {
		return nil
	}
	if decls := c.d.declsOf(fn); len(decls) == 1 {
		return decls[0].Body
	}
	return nil
}

// leavesOut tells how a condition on a path, which lets a turn go on, leaves out what it does not let through, and by which part of it: whether that holds below
// a folder for which it holds. A path that begins with something, or has it within, is followed by others that do so as well.
func (c pathConditions) leavesOut(cond ast.Expr, path types.Object) (walkLeaves, ast.Expr) {
	switch x := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		if x.Op == token.NOT && c.goesOnBelow(x.X, path, 0) {
			return walkBelow, ast.Unparen(x.X)
		}
	case *ast.BinaryExpr:
		if x.Op != token.LAND {
			break
		}
		for _, part := range []ast.Expr{x.X, x.Y} { // each of them leaves out
			if leaves, by := c.leavesOut(part, path); leaves != walkUnknown {
				return leaves, by
			}
		}
	case *ast.CallExpr:
		if c.asksPath(x, path) && ownCallName(x) == "HasPrefix" {
			return walkUnder, x
		}
	}
	return walkUnknown, nil
}

// goesOnBelow tells of a condition that, where it holds for a folder's path, it holds for all paths below.
func (c pathConditions) goesOnBelow(cond ast.Expr, path types.Object, depth int) bool {
	switch x := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		return (x.Op == token.LOR || x.Op == token.LAND) && c.goesOnBelow(x.X, path, depth) && c.goesOnBelow(x.Y, path, depth)
	case *ast.CallExpr:
		if name := ownCallName(x); c.asksPath(x, path) && (name == "HasPrefix" || name == "Contains") {
			return true
		}
		fn, at := c.d.t.callee(x), slices.IndexFunc(x.Args, func(arg ast.Expr) bool { return c.d.variable(ast.Unparen(arg)) == path })
		if fn == nil || at < 0 || depth >= partDepth {
			return false
		}
		decls := c.d.declsOf(fn)
		if len(decls) != 1 {
			return false
		}
		given := c.d.given(decls[0], at)
		return given != nil && c.holdsBelow(decls[0].Body.List, given, depth+1)
	}
	return false
}

// holdsBelow tells of a function's statements that they return true for all paths below one for which they return true: it returns such a condition, or true where
// one holds, or where a loop finds one.
func (c pathConditions) holdsBelow(list []ast.Stmt, path types.Object, depth int) bool {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ReturnStmt:
			return len(s.Results) == 1 && (isNamed(s.Results[0], "false") || c.goesOnBelow(s.Results[0], path, depth))
		case *ast.RangeStmt:
			if derivedMentions(c.d, s.X, path) || !c.truesBelow(s.Body.List, path, depth) {
				return false
			}
		default:
			if !c.truesBelow([]ast.Stmt{s}, path, depth) {
				return false
			}
		}
	}
	return false
}

// truesBelow tells of statements that each is an if statement which only returns true, by a condition that goes on below.
func (c pathConditions) truesBelow(list []ast.Stmt, path types.Object, depth int) bool {
	return !slices.ContainsFunc(list, func(s ast.Stmt) bool {
		x, ok := s.(*ast.IfStmt)
		if !ok || x.Init != nil || x.Else != nil || len(x.Body.List) != 1 || !c.goesOnBelow(x.Cond, path, depth) {
			return true
		}
		ret, ok := x.Body.List[0].(*ast.ReturnStmt)
		return !ok || len(ret.Results) != 1 || !isNamed(ret.Results[0], "true")
	})
}

// asksPath tells of a call of package strings that it asks for something in the path.
func (c pathConditions) asksPath(call *ast.CallExpr, path types.Object) bool {
	return c.d.t.fromPackage(call.Fun) == "strings" && len(call.Args) == 2 && c.d.variable(ast.Unparen(call.Args[0])) == path && !derivedMentions(c.d, call.Args[1], path)
}

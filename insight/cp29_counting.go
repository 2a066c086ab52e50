package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Lists of which only the length is used: what a count needs as well is not saved.

// neededToCount tells of a stack, whose frames go from the leaf to what makes a list, the last one, that it is in what finds the elements: a
// walk, or what goes on to the next element. A query that counts does without that.
func neededToCount(d *derivations, frames []stack.Frame) bool {
	if len(frames) == 0 {
		return false
	}
	maker, ok := d.at(frames[len(frames)-1])
	if !ok {
		return false
	}
	if asksWhatItMakes(d, maker.decl) {
		return true
	}
	for i, f := range frames {
		in, known := d.at(f)
		if !known || in.decl != maker.decl {
			if strings.HasPrefix(f.Func, "database/sql.") {
				return false
			}
			continue
		}
		needed := false
		ast.Inspect(in.body(), func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return n == in.lit
			case *ast.ForStmt:
				needed = needed || n.Cond != nil && coversLine(d, n.Cond, f.Line) && i > 0
			case *ast.RangeStmt:
				needed = needed || coversLine(d, n.X, f.Line) && i > 0
			case *ast.CallExpr:
				for _, arg := range n.Args {
					lit, is := arg.(*ast.FuncLit)
					needed = needed || is && coversLine(d, n, f.Line) && i > 0 && (!coversLine(d, lit.Body, f.Line) || coversLine(d, lit.Type, f.Line))
				}
			}
			return true
		})
		return needed
	}
	return false
}

// asksWhatItMakes tells of a function that it looks into the list or the map that it returns while it makes it, as one that leaves out what is there
// already does: to count needs the elements then. What is only added, put in order or measured is not looked into.
func asksWhatItMakes(d *derivations, decl *ast.FuncDecl) (asks bool) {
	made := returnedVars(d, decl)
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || asks || !made[d.t.info.Uses[id]] || !isMadeVar(d, decl, id) {
			return
		}
		switch p := parent(around).(type) {
		case *ast.IndexExpr:
			set := false
			for _, a := range around {
				if s, is := a.(*ast.AssignStmt); is {
					set = set || slices.Contains(s.Lhs, ast.Expr(p))
				}
			}
			asks = p.X == ast.Expr(id) && !set
		case *ast.RangeStmt:
			asks = p.X == ast.Expr(id)
		case *ast.CallExpr:
			name := types.ExprString(uninstantiated(p))
			asks = !slices.Contains([]string{"append", "len", "cap", "clear", "copy"}, name) && !reordering.MatchString(name) && p.Fun != ast.Expr(id) && !setsMade(around, d, d.t.info.Uses[id])
		}
	})
	return asks
}

// isMadeVar tells of a name that it is a list or a map.
func isMadeVar(d *derivations, decl *ast.FuncDecl, id *ast.Ident) bool {
	v := d.variable(id)
	if v == nil || v.Type() == nil || !isLocal(decl, v) {
		return false
	}
	switch v.Type().Underlying().(type) {
	case *types.Slice, *types.Map:
		return true
	}
	return false
}

// setsMade tells of the nodes around a call that the variable is set to what it returns.
func setsMade(around []ast.Node, d *derivations, v types.Object) bool {
	return slices.ContainsFunc(around, func(n ast.Node) bool {
		s, ok := n.(*ast.AssignStmt)
		return ok && slices.ContainsFunc(s.Lhs, func(x ast.Expr) bool { return d.variable(ast.Unparen(x)) == v })
	})
}

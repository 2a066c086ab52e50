package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// sortedAppend is a sort of all of a slice to which one element was added just before.
type sortedAppend struct {
	slice string      // as the source has it
	add   stack.Frame // the line that adds
	takes stack.Frame // one that takes the first or the last element out, if there is any
}

// tellSortAppended says of a sort that it sorts all of a slice again after each element that is added; it tells whether
// that is so.
func tellSortAppended(h *hit, f *Finding) bool {
	v, frames, at := stackOf(h, h.lines[0])
	if at < 0 {
		return false
	}
	a, looped, ok := sortedAppendAt(h.in.code, h.lines[0].Caller)
	if !ok || !looped && !repeatsFrom(h.in.code, v, frames, at) {
		return false
	}
	f.Title = "All of a slice is sorted again after each element that is added"
	f.Summary += fmt.Sprintf("; by the source, one element is added to %s at %s:%d, and then all of it is sorted", a.slice, baseName(a.add.File), a.add.Line)
	f.Advice = fmt.Sprintf("%s is in order but for the new element: insert that at the place which a binary search finds (slices.BinarySearchFunc, slices.Insert), log n comparisons and one copy in place of a sort.", a.slice)
	f.Evidence = append(f.Evidence, h.in.code.shownAt(a.add.File, a.add.Line, "one element is added here"))
	if a.takes.Line > 0 {
		f.Advice = fmt.Sprintf("Elements are taken out again from one end (%s:%d): keep %s as a heap (container/heap), whose Push and Pop do log n comparisons each in place of a sort. "+
			"Where all of it has to be in order, insert the element at the place which a binary search finds (slices.BinarySearchFunc, slices.Insert).", baseName(a.takes.File), a.takes.Line, a.slice)
		f.Evidence = append(f.Evidence, h.in.code.shownAt(a.takes.File, a.takes.Line, "one is taken out here"))
	} else {
		f.Advice += " If many are added before anyone looks, add them all and sort once."
	}
	tellOrderChanges(h.in.code, h.lines[0].Caller, a.slice, f)
	return true
}

// sortedAppendAt finds that the sort on a line follows the adding of one element to the same slice, in each call of the
// function or, looped, in each turn of a loop within it.
func sortedAppendAt(c *code, at stack.Frame) (a sortedAppend, looped, ok bool) {
	fn, s := c.scopeAt(at), c.parse(at.File)
	if fn == nil || s == nil {
		return a, false, false
	}
	sort, around := sortCallAt(s, fn.body, at.Line)
	for ; sort == nil && fn.outer != nil; sort, around = sortCallAt(s, fn.body, at.Line) {
		fn = fn.outer // the line has the comparison as well
	}
	if sort == nil {
		return a, false, false
	}
	x := ast.Unparen(sort.Args[0])
	for {
		conversion, isCall := x.(*ast.CallExpr) // byTime(q.tasks), sort.StringSlice(q.names), sort.Reverse(…)
		if !isCall || len(conversion.Args) != 1 {
			break
		}
		x = ast.Unparen(conversion.Args[0])
	}
	if rootName(x) == "" {
		return a, false, false
	}
	a.slice = types.ExprString(x)
	var add *ast.AssignStmt
	var addAround []ast.Node
	anew := false
	eachNode(fn.body, func(n ast.Node, outer []ast.Node) {
		set, isSet := n.(*ast.AssignStmt)
		if !isSet || len(set.Lhs) != 1 || len(set.Rhs) != 1 || types.ExprString(set.Lhs[0]) != a.slice {
			return
		}
		if addsOne(set, a.slice) && set.End() <= sort.Pos() {
			add, addAround = set, slices.Clone(outer)
			return
		}
		anew = anew || beginsAnew(set.Rhs[0], a.slice)
	})
	if add == nil || anew {
		return a, false, false
	}
	inner, unconditional := sortSameTurn(around, addAround)
	if !unconditional || sortSkipped(fn.body, add, sort, a.slice) {
		return a, false, false
	}
	root := rootName(x)
	if inner != nil {
		if declares(loopBody([]ast.Node{inner}), root) || !mayGoOn(inner) {
			return a, false, false
		}
	} else if declares(fn.body, root) {
		return a, false, false
	}
	first, _ := s.lines(add)
	a.add = stack.Frame{Func: at.Func, File: at.File, Line: first}
	a.takes = sortTakes(c, at, fn, x)
	return a, inner != nil, true
}

// sortCallAt is the first call on a line that sorts what it is given, and the nodes around it.
func sortCallAt(s *syntax, body ast.Node, line int) (sort *ast.CallExpr, around []ast.Node) {
	eachNode(body, func(n ast.Node, outer []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if ok && sort == nil && s.covers(call, line) && inSet("sort", types.ExprString(call.Fun)) && len(call.Args) > 0 {
			sort, around = call, slices.Clone(outer)
		}
	})
	return sort, around
}

// addsOne tells of an assignment that it appends one element to a slice.
func addsOne(set *ast.AssignStmt, name string) bool {
	call, ok := set.Rhs[0].(*ast.CallExpr)
	return ok && isNamed(call.Fun, "append") && len(call.Args) == 2 && call.Ellipsis == token.NoPos && types.ExprString(call.Args[0]) == name
}

// beginsAnew tells of what a slice is set to that it is empty or another one: nil, x[:0], make, a literal.
func beginsAnew(x ast.Expr, name string) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return true
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		return !isNamed(x.Fun, "append")
	case *ast.SliceExpr:
		n, ok := x.High.(*ast.BasicLit)
		return types.ExprString(x.X) != name || ok && n.Value == "0"
	}
	return false
}

// sortSameTurn tells whether a sort comes with each run of an assignment: no loop is around only one of them, and no
// condition around the sort only. Inner is the innermost loop around both.
func sortSameTurn(sort, add []ast.Node) (inner ast.Node, same bool) {
	for _, n := range sort {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if !slices.Contains(add, n) {
				return nil, false
			}
			inner = n
		case *ast.IfStmt, *ast.CaseClause, *ast.CommClause, *ast.FuncLit, *ast.DeferStmt:
			if !slices.Contains(add, n) {
				return nil, false
			}
		}
	}
	return inner, !slices.ContainsFunc(add, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			return !slices.Contains(sort, n)
		}
		return false
	})
}

// sortSkipped tells whether a condition on the slice leaves the function or the turn between the adding and the sort: it
// sorts once in a while.
func sortSkipped(body ast.Node, add, sort ast.Node, name string) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		x, ok := n.(*ast.IfStmt)
		if !ok || x.Pos() < add.End() || x.End() > sort.Pos() || !hasCall(x.Cond, func(call *ast.CallExpr) bool { return isNamed(call.Fun, "len") }) && !mentionsText(x.Cond, name) {
			return true
		}
		ast.Inspect(x.Body, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.ReturnStmt, *ast.BranchStmt:
				found = true
			}
			return !found
		})
		return !found
	})
	return found
}

// sortTakes is the line that takes the first or the last element out of a slice: of a field in any source, of a
// variable in the function.
func sortTakes(c *code, at stack.Frame, fn *scope, x ast.Expr) (takes stack.Frame) {
	look := func(file string, body ast.Node, is func(ast.Expr) bool) {
		ast.Inspect(body, func(n ast.Node) bool {
			set, ok := n.(*ast.AssignStmt)
			if !ok || takes.Line > 0 || len(set.Lhs) != 1 || len(set.Rhs) != 1 || !is(set.Lhs[0]) {
				return true
			}
			if cut, ok := set.Rhs[0].(*ast.SliceExpr); ok && types.ExprString(cut.X) == types.ExprString(set.Lhs[0]) && cutsOne(cut) {
				first, _ := c.parse(file).lines(set)
				takes = stack.Frame{File: file, Line: first}
			}
			return true
		})
	}
	if field, ok := x.(*ast.SelectorExpr); ok {
		c.eachSource(func(file string, s *syntax) {
			if folderOf(file) == folderOf(at.File) {
				look(file, s.file, func(e ast.Expr) bool {
					other, ok := e.(*ast.SelectorExpr)
					return ok && other.Sel.Name == field.Sel.Name
				})
			}
		})
		return takes
	}
	name := types.ExprString(x)
	look(at.File, fn.body, func(e ast.Expr) bool { return types.ExprString(e) == name })
	return takes
}

// cutsOne tells of a slice expression that it leaves out the first element or the last: x[1:], x[:len(x)-1].
func cutsOne(cut *ast.SliceExpr) bool {
	if low, ok := cut.Low.(*ast.BasicLit); ok && low.Value == "1" && cut.High == nil {
		return true
	}
	high, ok := cut.High.(*ast.BinaryExpr)
	return cut.Low == nil && ok && types.ExprString(high) == "len("+types.ExprString(cut.X)+") - 1"
}

// mayGoOn tells of a loop that its body does not leave it in each turn.
func mayGoOn(loop ast.Node) bool {
	body := loopBody([]ast.Node{loop})
	if body == nil || len(body.List) == 0 {
		return body != nil
	}
	switch last := body.List[len(body.List)-1].(type) {
	case *ast.ReturnStmt:
		return false
	case *ast.BranchStmt:
		return last.Tok != token.BREAK
	}
	return true
}

package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
	"loupe/value/unit"
)

// sortedAppend is a sort of all of a slice to which one element was added just before.
type sortedAppend struct {
	slice string      // as the source has it
	add   stack.Frame // the line that adds
	takes stack.Frame // one that takes the first or the last element out, if there is any
	// branches tells that a condition decides whether an element is added before the sort; branch and whole are the offsets of the blocks of
	// these in the file.
	branches      bool
	branch, whole int
	// maker is the block that makes the slice, where it is outside of the literal that sorts it; makerAt is its offset in the file, and makerDeclared
	// tells that it is the body of a function with a name.
	maker         *ast.BlockStmt
	makerAt       int
	makerDeclared bool
	// times is how often it is sorted in the run that counts; 0 is not known.
	times int64
}

// sortedAgainTitle is the title of a finding about such sorts.
const sortedAgainTitle = "All of a slice is sorted again after each element that is added"

// ofSortedAgain tells of calls each of which takes longer than the one before that this is for the most part a sort of what they add to: the other
// finding says so.
func ofSortedAgain(t two) bool {
	return t.rules(cp27.ID, cp19.ID) && t.b.Title == sortedAgainTitle && t.warned() && t.mostlyBelow()
}

// seldomAdded is the part of the sorts from which down an element is added before so few of them that it is not what they are for. Chosen.
const seldomAdded = 0.5

// added is before how many of the sorts an element was added, by the counts; not known where there are none.
func (a *sortedAppend) added(c *code) (adds, sorts int64, known bool) {
	counts := blockCountsOf(c)
	if counts == nil {
		return 0, 0, false
	}
	if adds, known = counts.blocks.Entered(a.add.File, a.branch); !known {
		return 0, 0, false
	}
	sorts, known = counts.blocks.Entered(a.add.File, a.whole)
	return adds, sorts, known && sorts > 0
}

// tellSeldomAdded says of a sort that hardly any of its calls comes after an element was added: the others are for something else that changes, or
// for nothing.
func (a *sortedAppend) tellSeldomAdded(c *code, at stack.Frame, adds, sorts int64, f *Finding) {
	f.Title = "All of a slice is sorted again, though an element is seldom added"
	f.Summary += fmt.Sprintf("; an element is added to %s at %s before %s of %s sorts, in the run that counts", a.slice, fileLine(a.add.File, a.add.Line), unit.Count(adds), unit.Count(sorts))
	f.Evidence = append(f.Evidence, c.shownAt(a.add.File, a.add.Line, "an element is added here: %s of %s times", unit.Count(adds), unit.Count(sorts)))
	f.Severity, f.saves, f.grows = Info, false, false
	what, change := orderChange(c, at)
	if what == "" {
		f.Advice = fmt.Sprintf("Sort only where an element was added (%s), unless something changes by which the elements are compared.", fileLine(a.add.File, a.add.Line))
		f.Doubts = append(f.Doubts, "what the elements are compared by may be changed in a way that the source does not show: then each sort is needed")
		return
	}
	f.Summary += fmt.Sprintf("; the other sorts are for %s, which is changed at %s", what, change.text())
	f.Evidence = append(f.Evidence, c.shownAt(change.file, change.line, "%s, by which the elements are compared, is changed here", what))
	f.Advice = fmt.Sprintf("The sort is for %s, by which the elements are compared and which is changed at %s: move only the element that was changed to its new place (heap.Fix of container/heap, or one copy within the slice); if only the first is asked for, look for it.", what, change.text())
}

// tellSortAppended says of a sort that it sorts all of a slice again after each element that is added; it tells whether
// that is so.
func tellSortAppended(h *hit, f *Finding) bool {
	v, frames, at := stackOf(h, h.lines[0])
	if at < 0 {
		return false
	}
	a, looped, ok := sortedAppendAt(h.in.code, h.lines[0].Caller)
	if !ok {
		return false
	}
	var again bool
	if a.times, again = a.sortedTimes(h.in.code, v, frames, at); !looped && !again {
		return false
	}
	if a.branches {
		adds, sorts, known := a.added(h.in.code)
		if !known {
			return false // how often one is added is not known
		}
		if float64(adds) < seldomAdded*float64(sorts) {
			a.tellSeldomAdded(h.in.code, h.lines[0].Caller, adds, sorts, f)
			return true
		}
	}
	f.Title = sortedAgainTitle
	f.Summary += fmt.Sprintf("; by the source, one element is added to %s at %s:%d, and then all of it is sorted", a.slice, baseName(a.add.File), a.add.Line)
	if a.times > 1 {
		f.Summary += fmt.Sprintf(", %s times in the run that counts", unit.Count(a.times))
	}
	stable := sortsStably(h.lines[0].Callee)
	insert := "insert %s at the place which a binary search finds (slices.BinarySearchFunc, slices.Insert)"
	if stable {
		insert = "insert %s behind all that compare equal to it, as " + stack.Package(h.lines[0].Callee) + "." + ownName(h.lines[0].Callee) + " does: " + behindEqual
	}
	f.Advice = fmt.Sprintf("%s is in order but for the new element: "+insert+", log n comparisons and one copy in place of a sort.", a.slice, "that")
	f.Evidence = append(f.Evidence, h.in.code.shownAt(a.add.File, a.add.Line, "one element is added here"))
	if a.takes.Line > 0 {
		f.Advice = fmt.Sprintf("Elements are taken out again from one end (%s:%d): keep %s as a heap (container/heap), whose Push and Pop do log n comparisons each in place of a sort. "+
			"Where all of it has to be in order, "+insert+".", baseName(a.takes.File), a.takes.Line, a.slice, "the element")
		if stable {
			f.Advice = fmt.Sprintf("Elements are taken out again from one end (%s:%d), and the sort is stable: those that compare equal stay in the order in which they came. Keep %s as a heap (container/heap), whose Push and Pop do log n comparisons each in place of a sort, "+
				"if its Less compares a running number of the elements where they are equal: a heap alone does not keep that order. Where all of it has to be in order, "+insert+".", baseName(a.takes.File), a.takes.Line, a.slice, "the element")
		}
		f.Evidence = append(f.Evidence, h.in.code.shownAt(a.takes.File, a.takes.Line, "one is taken out here"))
	} else {
		f.Advice += " If many are added before anyone looks, add them all and sort once."
	}
	tellOrderChanges(h.in.code, h.lines[0].Caller, a.slice, f)
	return true
}

// behindEqual is how the place of a new element is found where equal ones have to stay in the order in which they came.
const behindEqual = "sort.Search finds the first that is greater (slices.BinarySearchFunc finds the first that is equal, with which the order of arrival is lost), and slices.Insert puts it there"

// sortsStably tells of a function that it keeps elements that compare equal in their order.
func sortsStably(name string) bool { return strings.Contains(ownName(name), "Stable") }

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
	a.findMaker(s, fn, root)
	if under := addedUnder(addAround, around); under != nil {
		a.branches, a.branch, a.whole = true, s.fset.PositionFor(under.Lbrace, false).Offset, s.fset.PositionFor(fn.body.Pos(), false).Offset
		if block := innermostBlock(around); block != nil {
			a.whole = s.fset.PositionFor(block.Lbrace, false).Offset
		}
	}
	first, _ := s.lines(add)
	a.add = stack.Frame{Func: at.Func, File: at.File, Line: first}
	a.takes = sortTakes(c, at, fn, x)
	return a, inner != nil, true
}

// findMaker finds the function around a literal that makes the slice of a name: as a variable of its own, or as what it is given.
func (a *sortedAppend) findMaker(s *syntax, fn *scope, name string) {
	for o := fn.outer; o != nil; o = o.outer {
		if declares(o.body, name) || o.parameter(name) >= 0 {
			a.maker = o.body
			ast.Inspect(o.body, func(n ast.Node) bool {
				if block, ok := n.(*ast.BlockStmt); ok && block.Pos() <= fn.body.Pos() && fn.body.End() <= block.End() && declaresItself(block, name) {
					a.maker = block
				}
				return true
			})
			a.makerAt, a.makerDeclared = s.fset.PositionFor(a.maker.Lbrace, false).Offset, a.maker == o.body && o.outer == nil
			return
		}
	}
}

// declaresItself tells whether a statement of a block, and not only one of the blocks within it, makes a variable of a name.
func declaresItself(block *ast.BlockStmt, name string) bool {
	return slices.ContainsFunc(block.List, func(stmt ast.Stmt) bool {
		switch stmt := stmt.(type) {
		case *ast.AssignStmt:
			return stmt.Tok == token.DEFINE && slices.ContainsFunc(stmt.Lhs, func(x ast.Expr) bool { return isNamed(x, name) })
		case *ast.DeclStmt:
			return declares(&ast.BlockStmt{List: []ast.Stmt{stmt}}, name)
		}
		return false
	})
}

// addedUnder is the block of the innermost condition around the adding that is not around the sort; nil where there is none. That of a case has no
// block of its own: then it is one that no counts know.
func addedUnder(add, sort []ast.Node) *ast.BlockStmt {
	for i, n := range slices.Backward(add) {
		if slices.Contains(sort, n) {
			break
		}
		switch n.(type) {
		case *ast.IfStmt:
			if i+1 < len(add) {
				if block, ok := add[i+1].(*ast.BlockStmt); ok {
					return block
				}
			}
		case *ast.CaseClause, *ast.CommClause:
			return &ast.BlockStmt{}
		}
	}
	return nil
}

// innermostBlock is the last block of some nodes around another one.
func innermostBlock(around []ast.Node) *ast.BlockStmt {
	for _, n := range slices.Backward(around) {
		if block, ok := n.(*ast.BlockStmt); ok {
			return block
		}
	}
	return nil
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

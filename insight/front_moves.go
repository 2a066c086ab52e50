package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"loupe/value/stack"
)

// Elements that are put in front of a slice, or taken from there, by moving all others: each copies the whole slice.

// frontMove is such a line, by its source.
type frontMove struct {
	of      string // the slice
	removes bool   // it takes the first away; otherwise it puts one in front
	bytes   bool   // what is put in front are bytes, as a header is
}

// frontMoveAt finds one on a line. A slice that is the function's own, outside of a loop, is none: it is copied once.
func frontMoveAt(c *code, at stack.Frame) (m frontMove, ok bool) {
	s, fn := c.parse(at.File), c.scopeAt(at)
	if s == nil || fn == nil {
		return m, false
	}
	s.onLine(at.Line, func(n ast.Node, around []ast.Node) {
		if ok {
			return
		}
		var x ast.Expr
		removes, again := false, false
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Lhs) != 1 || len(n.Rhs) != 1 || n.Tok != token.ASSIGN {
				return
			}
			if x, removes = movedIn(n.Rhs[0]); x == nil || types.ExprString(x) != types.ExprString(n.Lhs[0]) {
				return
			}
		case *ast.ReturnStmt: // a function that does it for its callers
			if len(n.Results) == 0 {
				return
			}
			if x, removes = movedIn(n.Results[0]); x == nil || fn.parameter(types.ExprString(x)) < 0 {
				return
			}
			again = true
		case *ast.ExprStmt:
			if x, removes = shiftedIn(n.X); x == nil {
				return
			}
		default:
			return
		}
		root := rootName(x)
		own := fn.declares(root)
		body := loopBody(around)
		again = again || !isIdent(x) || !own || body != nil && !declares(body, root)
		if again && root != "" {
			bytes := hasAny(n, func(n ast.Node) bool {
				lit, ok := n.(*ast.CompositeLit)
				return ok && lit.Type != nil && (types.ExprString(lit.Type) == "[]byte" || types.ExprString(lit.Type) == "[]uint8")
			})
			m, ok = frontMove{types.ExprString(x), removes, bytes}, true
		}
	})
	return m, ok
}

// movedIn tells of a value that it is a slice with something in front of it, or without its first element, all of which is
// copied: append([]T{v}, x...), slices.Insert(x, 0, v), slices.Concat([]T{v}, x); append(x[:0], x[1:]...), slices.Delete(x, 0, 1).
func movedIn(value ast.Expr) (x ast.Expr, removes bool) {
	if cut, ok := value.(*ast.SliceExpr); ok && cut.Low == nil { // with a bound
		return movedIn(cut.X)
	}
	call, ok := value.(*ast.CallExpr)
	if !ok || len(call.Args) < 2 {
		return nil, false
	}
	first, last := call.Args[0], call.Args[len(call.Args)-1]
	lit, literal := first.(*ast.CompositeLit)
	literal = literal && len(lit.Elts) > 0
	switch types.ExprString(call.Fun) {
	case "append":
		if call.Ellipsis == token.NoPos {
			return nil, false
		}
		if literal {
			return last, false
		}
		if to, ok := first.(*ast.SliceExpr); ok && to.Low == nil && isNumber(to.High, "0") && isTail(last, to.X) {
			return to.X, true
		}
	case "slices.Concat":
		if literal && len(call.Args) == 2 {
			return last, false
		}
	case "slices.Insert":
		if len(call.Args) >= 3 && isNumber(call.Args[1], "0") {
			return first, false
		}
	case "slices.Delete":
		if len(call.Args) == 3 && isNumber(call.Args[1], "0") && isNumber(call.Args[2], "1") {
			return first, true
		}
	}
	return nil, false
}

// shiftedIn tells of an expression that it moves all elements of a slice by one: copy(x[1:], x), copy(x, x[1:]).
func shiftedIn(e ast.Expr) (x ast.Expr, removes bool) {
	call, ok := e.(*ast.CallExpr)
	if !ok || types.ExprString(call.Fun) != "copy" || len(call.Args) != 2 {
		return nil, false
	}
	switch to, from := call.Args[0], call.Args[1]; {
	case isTail(to, uncut(from)) && !cutsLow(from):
		return uncut(from), false
	case isTail(from, uncut(to)) && !cutsLow(to):
		return uncut(to), true
	}
	return nil, false
}

// cutsLow tells of an expression that it leaves out the first elements of something.
func cutsLow(x ast.Expr) bool {
	s, ok := x.(*ast.SliceExpr)
	return ok && s.Low != nil && !isNumber(s.Low, "0")
}

// isTail tells of an expression that it is all but the first element of something.
func isTail(x, of ast.Expr) bool {
	s, ok := x.(*ast.SliceExpr)
	return ok && isNumber(s.Low, "1") && s.High == nil && types.ExprString(s.X) == types.ExprString(of)
}

// isNumber tells of an expression that it is a number, as it is written.
func isNumber(x ast.Expr, digits string) bool {
	lit, ok := x.(*ast.BasicLit)
	return ok && lit.Value == digits
}

// says is what a finding about the line adds to what it has seen.
func (m frontMove) says() string {
	if m.removes {
		return fmt.Sprintf("each time the first element of %s is removed, all others are moved", m.of)
	}
	return fmt.Sprintf("a prepend: each time, all entries of %s are copied", m.of)
}

// advice is what to do about it; grows tells that the slice was seen in many lengths.
func (m frontMove) advice(grows bool) (text string) {
	if m.bytes {
		return "Leave room in front when it is made, and fill in what comes first at the end; or write both one after the other (net.Buffers, or two calls of Write on a buffered writer)."
	}
	if m.removes {
		text = "Keep the index of the first element, and move the rest to the front only once half of the slice is free; or use a ring buffer. Clear what was removed if it holds pointers."
	} else {
		text = "Append at the end and read from there: the newest is the last then. If the order of the slice is needed, reverse it once when all are there (slices.Reverse). If elements come and go at both ends, use a ring buffer or container/list."
	}
	if grows {
		text += " If n come to one slice, one at a time, the time grows with the square of n."
	}
	return text
}

// lengthsOfGrowing is of how many sizes the slices of a line are at least that grows with what is put into it: chosen, as one
// with a bound has few.
const lengthsOfGrowing = 5

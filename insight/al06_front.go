package insight

import (
	"fmt"
	"go/ast"
	"go/types"

	"loupe/value/stack"
)

// Slices that are appended to and whose front is cut off: the array is used up from both ends, so that it is made anew however long it was.

// usedFront is where the front of such a slice is cut off.
type usedFront struct {
	of string // the slice that is appended to, as the source has it
	at codeLine
}

// frontCutOf finds where the source cuts off the front of the slice to which a line appends: of the same variable, or of the same field of any value of
// the type. What is set to another slice, or keeps its front, is no cut.
func frontCutOf(c *code, at stack.Frame) (cut usedFront, ok bool) {
	d := derivationsWith(c, nil)
	in, ok := d.at(at)
	if !ok {
		return cut, false
	}
	to, of := appendedOn(d, in.decl, at.Line)
	if of == nil {
		return cut, false
	}
	for _, decl := range declsInOrder(d) {
		if isLocal(in.decl, of) && decl != in.decl {
			continue
		}
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			set, is := n.(*ast.AssignStmt)
			if !is || cut.of != "" || len(set.Lhs) != len(set.Rhs) {
				return cut.of == ""
			}
			for i, left := range set.Lhs {
				if givesUpFront(set.Rhs[i], left) && namedBy(d, left) == of {
					cut = usedFront{types.ExprString(to), d.placeOf(set)}
				}
			}
			return true
		})
	}
	return cut, cut.of != ""
}

// appendedOn is the slice that a line of a function appends to and sets, x = append(x, …), and its variable or field; nil where there is none, or another
// one beside it.
func appendedOn(d *derivations, decl *ast.FuncDecl, line int) (x ast.Expr, of types.Object) {
	more := false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok || !coversLine(d, set, line) || len(set.Lhs) != len(set.Rhs) {
			return true
		}
		for i, right := range set.Rhs {
			call, ok := ast.Unparen(right).(*ast.CallExpr)
			if !ok || !isNamed(call.Fun, "append") || len(call.Args) == 0 || types.ExprString(call.Args[0]) != types.ExprString(set.Lhs[i]) {
				continue
			}
			more = more || of != nil
			x, of = set.Lhs[i], namedBy(d, set.Lhs[i])
		}
		return true
	})
	if more {
		return nil, nil
	}
	return x, of
}

// namedBy is the variable or the field that an expression names; nil for anything else.
func namedBy(d *derivations, x ast.Expr) types.Object {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return d.variable(x)
	case *ast.SelectorExpr:
		if f := d.field(x); f != nil {
			return f
		}
		return d.variable(x.Sel)
	}
	return nil
}

// givesUpFront tells of what is assigned to a slice that it is the same without its first elements: x[1:], x[n:].
func givesUpFront(value, to ast.Expr) bool {
	part, ok := ast.Unparen(value).(*ast.SliceExpr)
	return ok && part.Low != nil && !isNumber(part.Low, "0") && part.High == nil && types.ExprString(part.X) == types.ExprString(to)
}

// tell says so of a slice that append makes anew again and again.
func (x usedFront) tell(c *code, f *Finding) {
	where := fileLine(x.at.file, x.at.line)
	f.Title = "Slice made anew by append because its front is cut off"
	f.Summary += fmt.Sprintf("; the front of %s is cut off at %s, which gives up the room there: append comes to the end of the array again and again, however long it is", x.of, where)
	f.Evidence = append(f.Evidence, c.shownAt(x.at.file, x.at.line, "its front is cut off here"))
	f.Advice = fmt.Sprintf("Leave %s whole and count with an index where its front is; when half of it is taken, copy what is left down to the start (copy, then clear the rest). A ring buffer does the same. "+
		"Preallocating (make([]T, 0, n)) is enough only where n is all that is ever added, and not what is in it at once.", x.of)
	f.Doubts = append(f.Doubts, "where the slice grows to a new length each time as well, that part stays")
}

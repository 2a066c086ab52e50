package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// Slices that are emptied as a whole, as s.pending = nil once a batch is taken, and arrays. What
// happens to maps the removers tell.

// emptied finds where the source empties a slice that a store appends to: s.pending = nil, or
// s.pending[:0].
func (c sourceHolders) emptied(s keepsAt) (at Evidence, ok bool) {
	if s.kind != intoSlice {
		return at, false
	}
	k := &keeper{c: c.code, funcs: c.functions()}
	for _, fns := range k.funcs {
		for _, fn := range fns {
			k.fn = fn.FuncDecl
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				a, is := n.(*ast.AssignStmt)
				if !is || a.Tok != token.ASSIGN || len(a.Lhs) != len(a.Rhs) {
					return true
				}
				for i, lhs := range a.Lhs {
					if nameOf(k, lhs) != s.name || !isEmpty(a.Rhs[i]) {
						continue
					}
					e := c.shownAt(fn.file, c.parse(fn.file).fset.PositionFor(a.Pos(), false).Line, "%s is emptied here", types.ExprString(lhs))
					if !ok || evidenceLine(e) < evidenceLine(at) {
						at, ok = e, true
					}
				}
				return true
			})
		}
	}
	return at, ok
}

// isEmpty tells of the value of a slice that it has no elements: nil, or a part up to 0.
func isEmpty(x ast.Expr) bool {
	if cut, ok := x.(*ast.SliceExpr); ok && cut.High != nil {
		n, known := numberOf(cut.High)
		return known && n == 0
	}
	return isNamed(x, "nil")
}

// cameTo is how often the run that counts came to a place that takes something out of the container of a store; not ok where that was not counted.
func cameTo(c *code, s keepsAt, at Evidence) (n int64, ok bool) {
	if s.kind != intoSlice || at.File == "" {
		return 0, false
	}
	f, counted := throughputOf(c, s)
	for _, t := range f.takes {
		if t.file == at.File && t.line == at.Line {
			return t.n, counted
		}
	}
	return 0, false
}

// tellEmptied says of a store that its container is emptied as a whole, or may be, where it is not known whether that ever runs.
func tellEmptied(h *holding, s keepsAt, at Evidence, runs bool) {
	h.shows, h.lets = append(h.shows, at), at
	empties := "may empty"
	if runs {
		empties = "empties"
	}
	h.advice = fmt.Sprintf("It goes into %s, and the source %s that as a whole, see %s:%d: what comes in until then is kept. If that is too much, empty it sooner, or keep less of each; a limit on their number may drop what is still needed.", s.container, empties, baseName(at.File), at.Line)
}

// fixedLength tells of a container that the source declares it as an array, whose length is fixed.
func (c sourceHolders) fixedLength(s keepsAt) bool {
	for _, f := range typesIn(c.code).fields[lastName(s.container)] {
		if a, ok := f.(*ast.ArrayType); ok && a.Len != nil {
			return true
		}
	}
	return false
}

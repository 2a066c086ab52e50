package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// What speaks against reading a growing part again being a fault: it grows by a share of the whole,
// what was read has changed, or each part is a result.

// strides tells whether what is added to a place is a share of the whole, or the place itself: then
// the end is reached in a few turns, however long it is.
func (m *moving) strides(n ast.Node, name string, fn *scope) (found bool) {
	whole := "len(" + types.ExprString(m.of) + ")"
	ast.Inspect(n, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.ADD_ASSIGN || !isNamed(a.Lhs[0], name) {
			return !found
		}
		step := a.Rhs[0]
		found = found || mentions(step, name)
		if id, ok := step.(*ast.Ident); ok && fn.made(id.Name) != nil {
			step = fn.made(id.Name)
		}
		found = found || contains(step, whole)
		return !found
	})
	return found
}

// changes tells whether the loops around a line write to elements of what the part is one of,
// other than where it ends: what was read before is not what it was then.
func (g growing) changes(c *code, at stack.Frame) (found bool) {
	owner, end := types.ExprString(g.of), ast.Expr(nil)
	if cut, ok := g.part.(*ast.SliceExpr); ok {
		if end = cut.High; end == nil {
			end = cut.Low
		}
	}
	for _, l := range loopsAround(c, at) {
		ast.Inspect(l.body, func(n ast.Node) bool {
			for _, x := range changedBy(n) {
				i, ok := x.(*ast.IndexExpr)
				found = found || ok && types.ExprString(i.X) == owner && !isEnd(i.Index, end)
			}
			return !found
		})
	}
	return found
}

// isEnd tells of an index that it is where a part ends, or one beside it.
func isEnd(index, end ast.Expr) bool {
	for _, x := range []*ast.Expr{&index, &end} {
		if b, ok := (*x).(*ast.BinaryExpr); ok && (b.Op == token.ADD || b.Op == token.SUB) {
			*x = b.X
		}
	}
	return end != nil && types.ExprString(index) == types.ExprString(end)
}

// keptAround tells whether what an expression makes is kept by what is around it, or by a variable
// that it is assigned to: it is appended, stored, sent or returned.
func keptAround(c *code, at stack.Frame, x ast.Expr) (found bool) {
	fn := c.scopeAt(at)
	if fn == nil {
		return false
	}
	name := ""
	kept := func(is func(ast.Expr) bool) {
		ast.Inspect(fn.body, func(n ast.Node) bool {
			var to []ast.Expr
			switch n := n.(type) {
			case *ast.ReturnStmt:
				to = n.Results
			case *ast.SendStmt:
				to = []ast.Expr{n.Value}
			case *ast.CompositeLit:
				to = n.Elts
			case *ast.KeyValueExpr:
				to = []ast.Expr{n.Value}
			case *ast.CallExpr:
				if isNamed(n.Fun, "append") && len(n.Args) > 1 {
					to = n.Args[1:]
				}
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					if i >= len(n.Rhs) {
						break
					}
					if isIdent(lhs) {
						if is(n.Rhs[i]) && name == "" {
							name = types.ExprString(lhs)
						}
						continue
					}
					to = append(to, n.Rhs[i])
					if index, ok := lhs.(*ast.IndexExpr); ok {
						to = append(to, index.Index)
					}
				}
			}
			found = found || slices.ContainsFunc(to, is)
			return !found
		})
	}
	kept(func(e ast.Expr) bool { return e == x })
	if v := name; !found && v != "" && v != "_" {
		kept(func(e ast.Expr) bool { return isNamed(e, v) })
	}
	return found
}

// onlyAtTimes tells whether a condition in the innermost loop around a line decides whether it is
// read there.
func onlyAtTimes(c *code, at stack.Frame) bool {
	loops := loopsAround(c, at)
	if len(loops) == 0 {
		return false
	}
	l := loops[len(loops)-1]
	for _, s := range l.body.List {
		if x, ok := s.(*ast.IfStmt); ok && l.source.covers(x.Body, at.Line) {
			first, last := l.source.lines(x.Body)
			return first < at.Line || first == last // and not in its condition
		}
	}
	return false
}

package insight

import (
	"go/ast"
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

package insight

import (
	"fmt"
	"go/ast"

	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Limits from which on the turns of a loop say something of a hot function: chosen.
const (
	manyInAll  = 100_000
	manyInCall = 100
)

// tellTurns says of a hot function how many turns the loop around its heaviest line had, where that was counted.
func tellTurns(in *Input, at stack.Frame, f *Finding) {
	blocks, err := repetition.BlocksIn(in.Session)
	if err != nil {
		return
	}
	c := newCountedTurns(in.code, blocks)
	fn, ok := c.d.at(at)
	if !ok {
		return
	}
	calls, ok := c.entered(fn.body().Lbrace)
	if !ok || calls == 0 {
		return
	}
	var innermost *ast.BlockStmt
	var line int
	ast.Inspect(fn.body(), func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && lit != fn.lit {
			return false
		}
		if body := bodyOfLoop(n); body != nil {
			_, first, _ := c.d.t.at(n.Pos())
			_, last, _ := c.d.t.at(n.End())
			if first <= at.Line && at.Line <= last {
				innermost, line = body, first
			}
		}
		return true
	})
	if innermost == nil {
		return
	}
	if n, ok := c.entered(innermost.Lbrace); ok && n >= manyInAll && n >= manyInCall*calls {
		f.Summary += fmt.Sprintf("; in the run that counts, its loop at line %d had %s turns in %s", line, unit.About(n), unit.Plural(calls, "call"))
	}
}

package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"loupe/value/stack"
)

// How far the searches of a loop go, where its turns were counted: a map gains nothing where they end after a few.

// Turns of a search up to which a map is no faster. Chosen, by what a comparison takes: of numbers less than a nanosecond, of texts a few, and a lookup
// in a map ten to twenty.
const (
	shortOfNumbers = 32
	shortOfOthers  = 10
)

// shortSearch is how many turns a search of the innermost loop around a line has on average, if that is so few that a map gains nothing.
func shortSearch(t *countedTurns, at stack.Frame) (turns float64, short bool) {
	_, loops, ok := t.loopsAt(at)
	if !ok || len(loops) == 0 {
		return 0, false
	}
	inner := loops[len(loops)-1]
	loop, known := t.loopAt(inner)
	entered, counted := t.entered(bodyOfLoop(inner).Lbrace)
	if !known || !counted || loop.Entered == 0 {
		return 0, false
	}
	turns = float64(entered) / float64(loop.Entered)
	return turns, turns <= shortOfOthers || turns <= shortOfNumbers && comparesNumbers(t.d, bodyOfLoop(inner))
}

// comparesNumbers tells of a loop's body that all that it compares for equality are numbers.
func comparesNumbers(d *derivations, body *ast.BlockStmt) bool {
	numbers, others := false, false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			others = others || !isNamed(n.Fun, "len")
		case *ast.BinaryExpr:
			if n.Op != token.EQL && n.Op != token.NEQ {
				return true
			}
			of := d.t.typeOf(n.X)
			if of == nil {
				others = true
				return true
			}
			b, basic := of.Underlying().(*types.Basic)
			if basic && b.Info()&types.IsNumeric != 0 {
				numbers = true
			} else {
				others = true
			}
		}
		return true
	})
	return numbers && !others
}

// tellShort makes a remark of a search that ends after a few turns.
func tellShort(in *Input, at stack.Frame, f *Finding) {
	counts := blockCountsOf(in.code)
	if counts == nil {
		return
	}
	turns, short := shortSearch(counts, at)
	if !short {
		return
	}
	f.Severity, f.saves, f.grows = Info, false, false
	f.Advice = fmt.Sprintf("A search ends after %.0f turns on average, in the run that counts: a map is hardly faster than that. Search less often, keep the last result, or, where the keys are small numbers, use a table that is indexed by them.", turns)
	f.Verify = "Record again with the same input: the CPU time of this loop should be less."
}

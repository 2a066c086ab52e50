package insight

import (
	"fmt"
	"strings"

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
	c := blockCountsOf(in.code)
	if c == nil {
		return
	}
	fn, loops, ok := c.loopsAt(at)
	if !ok || len(loops) == 0 {
		return
	}
	calls, ok := c.entered(fn.body().Lbrace)
	if !ok || calls == 0 {
		return
	}
	loop := loops[len(loops)-1]
	if n, ok := c.entered(bodyOfLoop(loop).Lbrace); ok && n >= manyInAll && n >= manyInCall*calls {
		f.Summary += fmt.Sprintf("; in the run that counts, its loop at line %d had %s turns in %s", c.d.placeOf(loop).line, unit.About(n), unit.Plural(calls, "call")) + ofInstances(at.Func)
	}
}

// ofInstances says, behind counts of a function's blocks, whose they are: the source of a generic function is counted once for all that it is compiled
// to, of which a profile has each by itself. Empty where there is only one.
func ofInstances(function string) string {
	if strings.Contains(stack.FoldGenerics(function), "[...]") {
		return ", all instances of it together"
	}
	return ""
}

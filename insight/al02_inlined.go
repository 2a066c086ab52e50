package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/why"
	"loupe/value/stack"
)

// Functions of libraries that were inlined into a line: what the compiler says is of expressions within them, which are in no source of the user's.

// callShown is how many bytes of a call are shown at most: chosen, as a report has lines of 100.
const callShown = 60

// inlinedCall is the call on the user's line of the library's function that allocates for it, as the source has it; empty where the line has none of
// that name, or several.
func inlinedCall(c *code, s *allocSite) string {
	at := slices.Index(s.Frames, s.at)
	if at < 1 || s.Stale || stack.Package(s.Frames[at-1].Func) == stack.Package(s.at.Func) {
		return ""
	}
	source, name := c.parse(s.at.File), lastName(bareGenerics(s.Frames[at-1].Func))
	if source == nil {
		return ""
	}
	var calls []*ast.CallExpr
	source.onLine(s.at.Line, func(n ast.Node, _ []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || ownCallName(call) != name || slices.Contains(calls, call) {
			return
		}
		first, _ := source.lines(call)
		if opens := source.fset.PositionFor(call.Lparen, false).Line; first == s.at.Line || opens == s.at.Line {
			calls = append(calls, call)
		}
	})
	if len(calls) != 1 {
		return ""
	}
	if text := types.ExprString(calls[0]); len(text) <= callShown {
		return text
	}
	return types.ExprString(calls[0].Fun) + "(…)"
}

// saidOfCall is the reason in words for a call of such a function: how what it makes escapes from the user's function, or what it does in the runtime.
func (s *allocSite) saidOfCall() string {
	c := &s.Causes[0]
	if c.Diagnostic != nil && !c.Alone && strings.Contains(c.Reason, " escapes: ") && !strings.Contains(c.Reason, "; also: ") {
		makes := "a value"
		switch {
		case copiesByName(s.Frames[0].Func):
			makes = "a copy"
		case c.Mechanism&(why.Append|why.Slice) != 0:
			makes = "a slice"
		}
		return s.call + " makes " + makes + " that escapes: " + why.FlowWords(c.Diagnostic)
	}
	return c.Reason + ", in " + s.call + ", which is inlined here"
}

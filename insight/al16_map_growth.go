package insight

import (
	"fmt"
	"go/ast"
	"go/types"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

var al16 = &Rule{
	ID: "AL16", Title: "Map growth: maps grow while they are filled",
	About: "A map created without a size hint doubles its tables repeatedly and moves all its entries each time. Filling " +
		"one of known size then takes twice the time and memory.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.05, "share of CPU time", "research, AL16; the lower bound of the interval counts"},
		{"warn", 0.15, "share of CPU time", "chosen: three times the first threshold"},
		g0,
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "map.grow", skip: []string{"startup"},
		direct: true, through: []string{"maps"}, what: "went into growing maps", tell: func(h *hit, f *Finding) {
			f.Advice = "If the number of entries is known, use make(map[K]V, n). Otherwise use an estimate near the usual number, such as that of last time: too large a size costs memory, and time to clear it."
			switch how, recursive := h.calledInLoop(); {
			case how == "":
			case recursive:
				f.Advice = "The recursion that fills the map is " + how + ": if each turn of that loop makes a map of its own, make one before the loop and empty it with clear, so that it grows once. " + f.Advice
			default:
				f.Advice = "The function that fills the map is " + how + ": if what it fills it with is the same each time, build it once before that loop and pass it in. " + f.Advice
			}
			if at := sizedMap(h.in.code, h.lines[0].Caller); at > 0 {
				f.Severity = Info
				f.Advice = fmt.Sprintf("The map is made with a size at %s:%d, and still grows: if more goes into it than that, give it the larger size.", baseName(h.lines[0].Caller.File), at)
			}
			f.Doubts = append(f.Doubts, "a long-lived map, or one whose size is not known beforehand, has to grow")
		}}),
}

// sizedMap is the line at which a function makes the map with a size that another line of it
// fills; 0 where it does not, or gives no size.
func sizedMap(c *code, fills stack.Frame) (line int) {
	fn, s, name := c.function(fills), c.parse(fills.File), ""
	if fn == nil {
		return 0
	}
	s.onLine(fills.Line, func(n ast.Node, _ []ast.Node) {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 {
			if x, ok := a.Lhs[0].(*ast.IndexExpr); ok {
				name = types.ExprString(x.X)
			}
		}
	})
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || name == "" || len(a.Lhs) != 1 || len(a.Rhs) != 1 || types.ExprString(a.Lhs[0]) != name {
			return true
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		line = 0
		if ok && isNamed(call.Fun, "make") && len(call.Args) == 2 {
			line, _ = s.lines(a)
		}
		return true
	})
	return line
}

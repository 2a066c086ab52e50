package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"time"

	"loupe/value/stack"
	"loupe/value/unit"
)

// Goroutines that a loop of theirs ends by the clock: they go on at each tick, and ask whether their time is over.

// asksNow tells of a call that it asks a clock: that of package time, or one of the program's own, such as an interface with Now.
func asksNow(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch f.Sel.Name {
	case "Now":
		return len(call.Args) == 0
	case "Since", "Until":
		return len(call.Args) == 1
	}
	return false
}

// clockWords are calls that a question of the time is made of, beside the clock itself.
var clockWords = []string{"After", "Before", "Sub", "Add", "Compare", "Equal", "IsZero", "Unix", "UnixNano", "UnixMilli", "Seconds", "Milliseconds", "Nanoseconds", "Load", "Round", "Truncate", "Duration"}

// ofClock tells of an expression that all calls in it are for the clock, or for times.
func ofClock(x ast.Expr) bool {
	return !hasCall(x, func(call *ast.CallExpr) bool {
		return !isNamed(call.Fun, "int64") && !isNamed(call.Fun, "float64") && !asksNow(call) && !slices.Contains(clockWords, calledName(call))
	})
}

// endsByClock finds that the loop around a line is left when its time is over, by the source: the condition that asks for it.
func endsByClock(c *code, at stack.Frame) (cond Evidence, ok bool) {
	loops := loopsAround(c, at)
	if len(loops) == 0 {
		return cond, false
	}
	l := loops[len(loops)-1]
	for _, x := range l.exits() {
		if clockEnds(c, l, x.cond) {
			line, _ := l.source.lines(x.cond)
			return c.shownAt(at.File, line, "the loop ends here when its time is over"), true
		}
	}
	return cond, false
}

// clockUntold finds where the loop around a line, or the select of the line, ends by the clock, if the source does not say after how long.
func clockUntold(c *code, at stack.Frame) (cond Evidence, ok bool) {
	if cond, ok = endsByClock(c, at); !ok {
		return timerUntold(c, at)
	}
	loops := loopsAround(c, at)
	_, told := loopLimit(c, loops[len(loops)-1], at.File, 0)
	return cond, !told
}

// tellClock says of goroutines that become more that their loop ends by the clock, after a time that the source does not say.
func (f *Finding) tellClock(cond Evidence, seen time.Duration) {
	f.Severity = Info
	f.Title = "More and more goroutines wait"
	f.Summary += fmt.Sprintf("; by the source each ends when its time is over (%s), and how long that is does not show there: whether any ended by it was not seen", lineText(cond))
	f.Advice = fmt.Sprintf("By the source they end when their time is over (%s): see how long that is, and that nothing begins it anew for ever. If it is longer than %s, so many live at once: a shorter time makes them fewer, and one goroutine that goes through all that is due does without them.", lineText(cond), unit.Duration(seen))
	f.Evidence = append(f.Evidence, cond)
	f.Verify = "Record for longer than that time (-phases growth:2m): their number should stay the same."
}

// givenTime is the longest time that the sources give a function as a parameter.
func givenTime(c *code, fn *ast.FuncDecl, name string) (most time.Duration) {
	i := slices.Index(parameters(fn.Type), name)
	if i < 0 || len(c.functions()[fn.Name.Name]) != 1 {
		return 0
	}
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && i < len(call.Args) && calledName(call) == fn.Name.Name {
				most = max(most, waitTime(c, s, call.Args[i], 0))
			}
			return true
		})
	})
	return most
}

// fieldTime is the time that a value stands for which a field is given: of a parameter, the longest that the function is called with.
func fieldTime(c *code, s *syntax, x ast.Expr) time.Duration {
	if d := waitTime(c, s, x, 0); d > 0 {
		return d
	}
	id, ok := x.(*ast.Ident)
	fn := functionAround(s.file, x)
	if !ok || fn == nil {
		return 0
	}
	return givenTime(c, fn, id.Name)
}

// stoppedElsewhere tells of a ticker or a timer that its Stop is called by another function than the one that waits for it: who waits there
// does not learn of it. Where the source has no Stop at all, nobody does.
func stoppedElsewhere(c *code, at stack.Frame, what string) bool {
	fn := c.scopeAt(at)
	if fn == nil {
		return true
	}
	stops := func(call *ast.CallExpr) bool {
		f, ok := call.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == "Stop" && types.ExprString(f.X)+".C" == what
	}
	own := false
	inside(fn.body, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		own = own || ok && stops(call)
	})
	return !own
}

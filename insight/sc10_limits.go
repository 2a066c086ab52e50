package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"time"

	"loupe/value/stack"
	"loupe/value/unit"
)

// Goroutines that a timer ends: those that live for longer than anybody has looked are as many
// more in each profile as those that never end.

// endsLater are the calls of package time and context that set an end to a wait, with the place of the duration.
var endsLater = map[string]int{
	"WithTimeout": 1, "WithTimeoutCause": 1, "After": 0, "AfterFunc": 0, "NewTimer": 0, "Add": 0, "Reset": 0,
}

// TimeLimit is a line of the source that ends a wait after a time that is longer than what was seen of it; false
// where there is none. The frames are those of a waiting goroutine, the leaf first. In a function of the user it has
// to wait with select, or to have set a deadline; goroutines of package context end with what the functions do that
// make contexts.
func TimeLimit(in *Input, frames []stack.Frame, seen time.Duration) (limit Evidence, found bool) {
	c := in.code
	if seen <= 0 || len(frames) == 0 {
		return limit, false
	}
	at := c.userFrame(frames)
	if in.Session.Scope().IsUser(at) {
		if loops := loopsAround(c, at); len(loops) > 0 {
			if limit, found = loopLimit(c, loops[len(loops)-1], at.File, seen); found {
				return limit, true
			}
		}
		if waitsForSeveral(c, at) || setsDeadline(c, at) {
			fn := c.function(at)
			if fn == nil {
				return limit, false
			}
			if limit, found = timeLimitOf(c, at.File, c.parse(at.File), fn, seen); found || !asksContext(c, at) {
				return limit, found
			}
			return contextLimit(in, frames, seen)
		}
		return limit, false
	}
	if stack.Package(at.Func) != "context" {
		return limit, false
	}
	c.eachSource(func(file string, s *syntax) {
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if found || !ok || fn.Body == nil {
				continue
			}
			makes := false
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && !makes {
					makes, _ = makesContext(call)
				}
				return !makes
			})
			if makes {
				limit, found = timeLimitOf(c, file, s, fn, seen)
			}
		}
	})
	return limit, found
}

// loopLimit is a line that ends a loop after a time which is longer than what was seen: the loop asks the clock, by itself or by a
// function that does.
func loopLimit(c *code, l loop, file string, seen time.Duration) (limit Evidence, found bool) {
	for _, x := range l.exits() {
		if !clockEnds(c, l, x.cond) {
			continue
		}
		if limit, found = timeLimitOf(c, file, l.source, x.cond, seen); found {
			return limit, true
		}
		ast.Inspect(x.cond, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || found {
				return !found
			}
			for _, d := range c.functions()[ownCallName(call)] {
				if asksClock(d.Body) && !found {
					limit, found = timeLimitOf(c, d.file, c.parse(d.file), d.Body, seen)
				}
			}
			return true
		})
		if found {
			return limit, true
		}
	}
	return limit, false
}

// SourceUnread says of the place where a goroutine waits that its source is not there, or does not parse: a time limit in it
// would not be seen. Empty where it is there, or nothing is the user's.
func SourceUnread(in *Input, frames []stack.Frame) string {
	if len(frames) == 0 {
		return ""
	}
	at := in.code.userFrame(frames)
	if !in.Session.Scope().IsUser(at) || in.code.parse(at.File) != nil {
		return ""
	}
	return fmt.Sprintf("the source of %s is not in the recording, or does not parse: a time limit that ends the wait would not be seen", fileLine(at.File, at.Line))
}

// waitsForSeveral tells of the line of a frame that it waits in a select with more than one way out.
func waitsForSeveral(c *code, at stack.Frame) (several bool) {
	c.parse(at.File).onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		if sel, ok := n.(*ast.SelectStmt); ok {
			several = len(sel.Body.List) > 1
		}
	})
	return several
}

// selectsClock tells of the line of a frame that it waits in a select of which one way out is a timer, or the end of a context, which may
// have one.
func selectsClock(c *code, at stack.Frame) (clock bool) {
	c.parse(at.File).onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		sel, ok := n.(*ast.SelectStmt)
		if !ok {
			return
		}
		for _, s := range sel.Body.List {
			if comm, ok := s.(*ast.CommClause); ok && comm.Comm != nil {
				clock = clock || hasNode(comm.Comm, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.CallExpr:
						return calledName(n) == "After" || calledName(n) == "Done" && len(n.Args) == 0
					case *ast.SelectorExpr:
						return n.Sel.Name == "C"
					}
					return false
				})
			}
		}
	})
	return clock
}

// setsDeadline tells of the function of a frame that it sets a deadline of a connection above the line.
func setsDeadline(c *code, at stack.Frame) bool {
	fn := c.function(at)
	return fn != nil && hasNode(fn, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return false
		}
		first, _ := c.parse(at.File).lines(call)
		return first <= at.Line && slices.Contains([]string{"SetDeadline", "SetReadDeadline", "SetWriteDeadline"}, calledName(call))
	})
}

// limitTime is the time that an expression stands for; of a field, the longest that the sources give it. A plain number,
// as of a counter's Add, is none.
func limitTime(c *code, s *syntax, x ast.Expr) (most time.Duration) {
	return limitBehind(c, s, x, 0)
}

// limitBehind is limitTime of what some variables stand for.
func limitBehind(c *code, s *syntax, x ast.Expr, variables int) (most time.Duration) {
	if _, plain := numberOf(x); plain {
		return 0
	}
	if d := waitTime(c, s, x, 0); d > 0 {
		return d
	}
	field, ok := x.(*ast.SelectorExpr)
	if !ok {
		return givenLimit(c, s, x, variables)
	}
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if isNamed(n.Key, field.Sel.Name) {
					most = max(most, fieldTime(c, s, n.Value))
				}
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					if f, ok := lhs.(*ast.SelectorExpr); ok && len(n.Lhs) == len(n.Rhs) && f.Sel.Name == field.Sel.Name {
						most = max(most, fieldTime(c, s, n.Rhs[i]))
					}
				}
			}
			return true
		})
	})
	return most
}

// timeLimitOf looks for a limit in a function that is longer than what was seen.
func timeLimitOf(c *code, file string, s *syntax, fn ast.Node, seen time.Duration) (limit Evidence, found bool) {
	asksFor := func(x ast.Expr) bool { // or now.Sub(last), where now is of a line before
		return timed(x) || hasCall(x, func(call *ast.CallExpr) bool { return calledName(call) == "Sub" && len(call.Args) == 1 })
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		if b, ok := n.(*ast.BinaryExpr); ok && !found && slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, b.Op) && (asksFor(b.X) || asksFor(b.Y)) { // time.Since(last) > idle
			if d := max(limitTime(c, s, b.X), limitTime(c, s, b.Y)); d > seen {
				line, _ := s.lines(b)
				limit, found = c.shownAt(file, line, "%s are asked for here, and %s were seen", unit.Duration(d), unit.Duration(seen)), true
			}
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		i, ok := endsLater[calledName(call)]
		if !ok || i >= len(call.Args) {
			return true
		}
		if d := limitTime(c, s, call.Args[i]); d > seen {
			line, _ := s.lines(call)
			limit, found = c.shownAt(file, line, "%s are set here, and %s were seen", unit.Duration(d), unit.Duration(seen)), true
		}
		return true
	})
	return limit, found
}

// tellLimit says of goroutines that become more that a timer of the source may end them later.
func (f *Finding) tellLimit(in *Input, frames []stack.Frame, seen time.Duration) {
	limit, found := TimeLimit(in, frames, seen)
	if !found {
		if at := in.code.userFrame(frames); seen > 0 && in.Session.Scope().IsUser(at) {
			if cond, ok := clockUntold(in.code, at); ok {
				f.tellClock(cond, seen)
			}
		}
		return
	}
	f.Severity = Info
	f.Title = "More and more goroutines wait"
	f.Advice = "By the source they end when their time is over. If they do, so many live at once: a shorter time makes them fewer, and one goroutine that goes through all that is due, or time.AfterFunc, does without them. If something ends the wait sooner (a channel that is closed, a context), see that it is called."
	f.Summary += fmt.Sprintf("; a time limit of the source (%s:%d) is longer than that: whether they end by it was not seen", baseName(limit.File), limit.Line)
	f.Evidence = append(f.Evidence, limit)
	f.Verify = "Record for longer than the limit (-phases growth:2m): their number should stay the same."
}

package insight

import (
	"fmt"
	"go/ast"
	"go/types"
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
// to wait with select; goroutines of package context end with what the functions do that make contexts.
func TimeLimit(in *Input, frames []stack.Frame, seen time.Duration) (limit Evidence, found bool) {
	c := in.code
	if seen <= 0 || len(frames) == 0 {
		return limit, false
	}
	at := c.userFrame(frames)
	if in.Session.Scope().IsUser(at) {
		if waitsForSeveral(c, at) {
			return timeLimitIn(c, at, seen)
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

// waitsForSeveral tells of the line of a frame that it waits in a select with more than one way out.
func waitsForSeveral(c *code, at stack.Frame) (several bool) {
	c.parse(at.File).onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		if sel, ok := n.(*ast.SelectStmt); ok {
			several = len(sel.Body.List) > 1
		}
	})
	return several
}

// timeLimitIn looks for a limit in the function of a frame.
func timeLimitIn(c *code, at stack.Frame, seen time.Duration) (limit Evidence, found bool) {
	s := c.parse(at.File)
	s.onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		if fn, ok := n.(*ast.FuncDecl); ok {
			limit, found = timeLimitOf(c, at.File, s, fn, seen)
		}
	})
	return limit, found
}

// timeLimitOf looks for a limit in a function that is longer than what was seen.
func timeLimitOf(c *code, file string, s *syntax, fn ast.Node, seen time.Duration) (limit Evidence, found bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		i, ok := endsLater[lastName(types.ExprString(call.Fun))]
		if !ok || i >= len(call.Args) {
			return true
		}
		if d := waitTime(c, s, call.Args[i], 0); d > seen {
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
		return
	}
	f.Severity = Info
	f.Title = "More and more goroutines wait"
	f.Summary += fmt.Sprintf("; a time limit of the source (%s:%d) is longer than that: whether they end by it was not seen", baseName(limit.File), limit.Line)
	f.Evidence = append(f.Evidence, limit)
	f.Verify = "Record for longer than the limit (-phases growth:2m): their number should stay the same."
}

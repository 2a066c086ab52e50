package insight

import (
	"go/ast"
	"go/token"
	"time"

	"loupe/value/stack"
)

// Timers of a select whose length the caller, a flag or a context decides.

// givenLimit is the longest time that the sources show for a name or a pointer: a variable's only value, a flag's default, or what the callers
// give a parameter. 0 where they do not show it, or only behind more than maxVariables.
func givenLimit(c *code, s *syntax, x ast.Expr, variables int) time.Duration {
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	id, ok := x.(*ast.Ident)
	if !ok {
		return 0
	}
	if value := onlyDefinition(s, x, id.Name); value != nil && variables < maxVariables {
		if call, ok := value.(*ast.CallExpr); ok && len(call.Args) == 3 && calledName(call) == "Duration" { // flag.Duration("wait", 40*time.Second, "…")
			return waitTime(c, s, call.Args[1], 0)
		}
		return limitBehind(c, s, value, variables+1)
	}
	return fieldTime(c, s, x)
}

// maxVariables is behind how many variables a time is looked for; chosen. They may stand for each other.
const maxVariables = 4

// onlyDefinition is the value of a variable that the function around an expression, or the file, defines and nothing in them sets again; nil for
// others.
func onlyDefinition(s *syntax, x ast.Expr, name string) (value ast.Expr) {
	fn := functionAround(s.file, x)
	sets := 0
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					if isNamed(lhs, name) {
						sets++
						if len(n.Lhs) == len(n.Rhs) && n.Tok == token.DEFINE && !covers(n.Rhs[i], x) {
							value = n.Rhs[i]
						}
					}
				}
			case *ast.ValueSpec:
				for i, v := range n.Names {
					if v.Name == name && i < len(n.Values) {
						sets, value = sets+1, n.Values[i]
					}
				}
			case *ast.UnaryExpr:
				if n.Op == token.AND && isNamed(n.X, name) {
					sets++
				}
			}
			return true
		})
	}
	if fn != nil {
		look(fn.Body)
	}
	if sets == 0 && (fn == nil || !isParameter(fn, name)) {
		for _, d := range s.file.Decls {
			if d != ast.Decl(fn) {
				look(d)
			}
		}
	}
	if sets != 1 {
		return nil
	}
	return value
}

// selectAt is the select at the line of a frame; nil where there is none.
func selectAt(c *code, at stack.Frame) (sel *ast.SelectStmt, around []ast.Node) {
	c.parse(at.File).onLine(at.Line, func(n ast.Node, nodes []ast.Node) {
		if x, ok := n.(*ast.SelectStmt); ok {
			if first, _ := c.parse(at.File).lines(x); first == at.Line {
				sel, around = x, append([]ast.Node(nil), nodes...)
			}
		}
	})
	return sel, around
}

// asksContext tells of the select at a line that the end of a context ends it.
func asksContext(c *code, at stack.Frame) bool {
	sel, _ := selectAt(c, at)
	if sel == nil {
		return false
	}
	for _, s := range sel.Body.List {
		if comm, ok := s.(*ast.CommClause); ok && comm.Comm != nil && hasNode(comm.Comm, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			return ok && calledName(call) == "Done" && len(call.Args) == 0
		}) {
			return true
		}
	}
	return false
}

// contextLimit is where a function further up the stack makes a context with a time limit that is longer than what was seen.
func contextLimit(in *Input, frames []stack.Frame, seen time.Duration) (limit Evidence, found bool) {
	for _, f := range frames {
		fn := in.code.function(f)
		if fn == nil || !in.Session.Scope().IsUser(f) {
			continue
		}
		makes := hasNode(fn, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return false
			}
			_, timed := makesContext(call)
			return timed
		})
		if makes {
			if limit, found = timeLimitOf(in.code, f.File, in.code.parse(f.File), fn, seen); found {
				return limit, true
			}
		}
	}
	return limit, false
}

// timerUntold finds the timer that ends the select at a line after a time which the source does not show. What goes on in a loop after it is no end.
func timerUntold(c *code, at stack.Frame) (cond Evidence, ok bool) {
	sel, around := selectAt(c, at)
	if sel == nil {
		return cond, false
	}
	s := c.parse(at.File)
	for _, stmt := range sel.Body.List {
		comm, is := stmt.(*ast.CommClause)
		if !is || comm.Comm == nil || innermostLoop(around) >= 0 && !leavesClause(comm.Body) {
			continue
		}
		if d := timerOf(s, comm.Comm); d != nil && limitTime(c, s, d) == 0 {
			if _, plain := numberOf(d); !plain {
				line, _ := s.lines(comm)
				return c.shownAt(at.File, line, "the wait ends here when its time is over"), true
			}
		}
	}
	return cond, false
}

// timerOf is the duration of the timer that a way of a select waits for: of time.After there, or of the NewTimer of the function. Nil for others.
func timerOf(s *syntax, comm ast.Stmt) (length ast.Expr) {
	ast.Inspect(comm, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if isCallOf(n, "time.After") && len(n.Args) == 1 {
				length = n.Args[0]
			}
		case *ast.SelectorExpr:
			timer, ok := n.X.(*ast.Ident)
			if !ok || n.Sel.Name != "C" {
				return true
			}
			if call, ok := onlyDefinition(s, timer, timer.Name).(*ast.CallExpr); ok && isCallOf(call, "time.NewTimer") && len(call.Args) == 1 {
				length = call.Args[0]
			}
		}
		return true
	})
	return length
}

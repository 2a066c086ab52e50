package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"loupe/value/stack"
)

// Goroutines that wait for a context to end: whoever made it has to call its cancel function. The source shows
// whether the function that makes the context, or one that it returns it to, does so.

// cancelFault is what a source does with the cancel function of a context.
type cancelFault struct {
	at    Evidence
	says  string // behind the summary
	timed bool   // the context ends by itself when its time is over
}

// makesContext tells of a call that it makes a context with a cancel function, and whether that has a time limit.
func makesContext(call *ast.CallExpr) (is, timed bool) {
	name := types.ExprString(call.Fun)
	if _, is = registers[name]; !is || registers[name] != cancels {
		return false, false
	}
	return true, strings.Contains(name, "Timeout") || strings.Contains(name, "Deadline")
}

// maxReturned is how many callers a context is followed up that a function returns.
const maxReturned = 3

// cancelAlong follows a context from the line that makes it, the first frame, through those that return it; false where
// it is not made there, or the source does not show that its cancel function is not called.
func cancelAlong(c *code, way []stack.Frame) (x cancelFault, ok bool) {
	if len(way) == 0 {
		return x, false
	}
	made := false
	for _, call := range c.lineCalls(way[0]) {
		is, timed := makesContext(call)
		made, x.timed = made || is, x.timed || timed
	}
	if !made {
		return x, false
	}
	for i, at := range way[:min(maxReturned, len(way))] {
		fn := c.scopeAt(at)
		if fn == nil {
			return x, false
		}
		use := &cancelUse{c: c, s: c.parse(at.File), fn: fn, at: at}
		if i > 0 {
			use.callee = ownName(way[i-1].Func)
		}
		if says, line, up := use.look(); !up {
			if says == "" {
				return x, false
			}
			x.says, x.at = says, c.shownAt(at.File, line, "%s", says)
			return x, true
		}
	}
	return x, false
}

// cancelUse looks at what one function does with the cancel function.
type cancelUse struct {
	c      *code
	s      *syntax
	fn     *scope
	at     stack.Frame
	callee string // the function that returns it; empty where the line makes it
}

// of tells of a call that it gives the function.
func (u *cancelUse) of(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	if first, last := u.s.lines(call); u.at.Line < first || last < u.at.Line {
		return false
	}
	if u.callee != "" {
		return calledName(call) == u.callee
	}
	is, _ := makesContext(call)
	return is
}

// look says what is wrong with the use of the function, and at which line; up tells that it is returned.
func (u *cancelUse) look() (says string, line int, up bool) {
	name := ""
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			if len(n.Results) == 1 && u.of(n.Results[0]) {
				up = true
			}
		case *ast.AssignStmt:
			if len(n.Rhs) == 1 && len(n.Lhs) == 2 && u.of(n.Rhs[0]) {
				if id, ok := n.Lhs[1].(*ast.Ident); ok {
					name = id.Name
				}
				line, _ = u.s.lines(n)
			}
		}
		return true
	})
	switch {
	case up || name == "":
		return "", 0, up
	case name == "_":
		return "its cancel function is dropped here (_)", line, false
	}
	return u.calls(name, line)
}

// calls looks at where a variable with the function is called.
func (u *cancelUse) calls(name string, made int) (says string, line int, up bool) {
	called, elsewhere := 0, false
	top := map[ast.Stmt]bool{} // statements that every way through the function passes, or returns before the context is there
	for _, s := range u.fn.body.List {
		top[s] = true
	}
	always := false
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.DeferStmt:
			if isNamed(n.Call.Fun, name) {
				always = always || top[n]
			}
		case *ast.CallExpr:
			if isNamed(n.Fun, name) {
				if called == 0 {
					called, _ = u.s.lines(n)
				}
				return false
			}
		case *ast.AssignStmt:
			if first, _ := u.s.lines(n); first == made {
				return false
			}
			if len(n.Lhs) == 1 && isNamed(n.Lhs[0], "_") && isNamed(n.Rhs[0], name) {
				return false
			}
		case *ast.ReturnStmt:
			if len(n.Results) > 1 && isNamed(n.Results[len(n.Results)-1], name) {
				up = true
			}
		case *ast.FuncLit:
			if mentions(n, name) {
				elsewhere = true // who calls that one is not looked for
			}
			return false
		case *ast.Ident:
			elsewhere = elsewhere || n.Name == name
		}
		return true
	})
	switch {
	case always, up:
		return "", 0, up
	case elsewhere:
		return "", 0, false
	case called == 0:
		return fmt.Sprintf("its cancel function, %s, is never called", name), made, false
	}
	return fmt.Sprintf("its cancel function, %s, is called at line %d alone, which not every path of the function passes", name, called), made, false
}

// tellCancel says, of goroutines that package context has started, which cancel function is not called.
func (p *stuck) tellCancel(in *Input) {
	if stack.Package(p.at.Func) != "context" || p.from.File == "" {
		return
	}
	from := fmt.Sprintf("%s:%d", baseName(p.from.File), p.from.Line)
	p.Advice = fmt.Sprintf("They wait for a context of %s to end: see that its cancel function is called when what it is for is over, on every path.", from)
	x, ok := cancelAlong(in.code, p.way)
	if !ok {
		if name, handed := handedOn(in.code, p.from); handed {
			p.Advice = fmt.Sprintf("They wait for a context of %s to end. Its cancel function, %s, is handed on there: see that whoever has it calls it when what the context is for is over. A call in this function (defer) would end the context too early.", from, name)
			p.Doubts = append(p.Doubts, "if whoever has the cancel functions calls them later, there are as many goroutines as it keeps, and no more")
		}
		if x.timed {
			p.Doubts = append(p.Doubts, "the context of "+from+" has a time limit: each of these goroutines ends with it, at the latest. Look for longer than that to see whether they become more")
		}
		return
	}
	at := evidenceLine(x.at)
	if i := strings.LastIndex(at, "/"); i >= 0 {
		at = at[i+1:]
	}
	p.Summary += fmt.Sprintf("; they wait for a context to end, and the source shows of it at %s: %s", at, x.says)
	if !shows(&p.Finding, evidenceLine(x.at)) {
		p.Evidence = append(p.Evidence, x.at)
	}
	p.Advice = adviseCancel(in.code, x.at, at, ": each of these goroutines waits for its context to end", &p.Finding)
	if x.timed {
		p.Advice += " As it is, each stays until the time limit of its context is over, however early the work is done."
	}
}

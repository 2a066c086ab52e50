package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Waits that are meant to end by a timer: of a long poll, for which no news is an answer.

// pollAdvice comes before what is to be done about calls that a time limit ends, where the source
// goes on without an error then.
const pollAdvice = "Where the end of the limit is a normal answer, as of a long poll without news, leave it so. Otherwise: "

// tellPoll makes an info of a finding about calls that a time limit ends, where the source takes
// that for an answer.
func tellPoll(c *code, frames []stack.Frame, f *Finding) bool {
	at, ok := handlesLimit(c, frames)
	if !ok {
		return false
	}
	f.Severity = Info
	f.Evidence = append(f.Evidence, at)
	f.Advice = pollAdvice + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
	return true
}

// handlesLimit finds where the function of a call, or one on the way to it, looks whether a time
// limit has ended it and goes on without an error: then it may be meant to end so.
func handlesLimit(c *code, frames []stack.Frame) (found Evidence, ok bool) {
	for _, f := range frames {
		fn, s := c.scopeAt(f), c.parse(f.File)
		if fn == nil {
			continue
		}
		eachNode(fn.body, func(n ast.Node, around []ast.Node) {
			if ok || !goesOnAtLimit(n, around) {
				return
			}
			line, _ := s.lines(n)
			found, ok = c.shownAt(f.File, line, "the source goes on here when the time limit has ended a call"), true
		})
		if ok {
			break
		}
	}
	return found, ok
}

// goesOnAtLimit tells of a statement of a function, with those around it, that it asks whether a
// time limit has ended a call, and that no error follows then.
func goesOnAtLimit(n ast.Node, around []ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		when, asks := asksForLimit(n.Cond)
		switch {
		case !asks:
			return false
		case !when: // all other errors end it
			return failsIn(n.Body) && leavesLoop(n.Body.List) && !failsBehind(n, around, false)
		}
		return !failsIn(n.Body) && (endsInReturn(n.Body.List) || !failsBehind(n, around, leavesTurn(n.Body.List)))
	case *ast.CaseClause:
		asks := slices.ContainsFunc(n.List, func(x ast.Expr) bool { when, asks := asksForLimit(x); return asks && when })
		body := &ast.BlockStmt{List: n.Body}
		return asks && !failsIn(body) && (endsInReturn(n.Body) || !failsBehind(n, around, leavesTurn(n.Body)))
	}
	return false
}

// asksForLimit tells of a condition that it asks for the error of a time limit, and what it is when
// that has come.
func asksForLimit(cond ast.Expr) (when, asks bool) {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return asksForLimit(x.X)
	case *ast.UnaryExpr:
		when, asks = asksForLimit(x.X)
		return !when, asks && x.Op == token.NOT
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			if when, asks = asksForLimit(x.X); asks {
				return when, true
			}
			return asksForLimit(x.Y)
		}
		return x.Op == token.EQL, strings.HasSuffix(types.ExprString(x.Y), "DeadlineExceeded")
	case *ast.CallExpr:
		text := types.ExprString(x)
		return true, strings.Contains(text, "DeadlineExceeded") || strings.HasSuffix(text, ".Timeout()") || strings.HasPrefix(text, "os.IsTimeout(")
	}
	return false, false
}

// endsInReturn tells whether statements end with a return.
func endsInReturn(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	_, ok := list[len(list)-1].(*ast.ReturnStmt)
	return ok
}

// leavesTurn tells whether statements end the turn of a loop.
func leavesTurn(list []ast.Stmt) bool {
	return len(list) > 0 && (leavesLoop(list) || goesOn(list))
}

// failsBehind tells whether the function returns an error by what stands behind a statement, with
// those around it: of the loop that it is in only where it does not end the turn.
func failsBehind(n ast.Node, around []ast.Node, leaves bool) bool {
	for _, block := range slices.Backward(around) {
		if !leaves {
			list := statements(block)
			if i := slices.IndexFunc(list, func(s ast.Stmt) bool { return s.Pos() <= n.Pos() && n.End() <= s.End() }); i >= 0 && slices.ContainsFunc(list[i+1:], endsWithError) {
				return true
			}
		}
		if isLoop(block) {
			leaves = false
		}
	}
	return false
}

// endsWithError tells of a statement that it returns an error, or does when there is one.
func endsWithError(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return failsIn(&ast.BlockStmt{List: []ast.Stmt{s}})
	case *ast.IfStmt:
		return s.Init == nil && errorCheck(s.Cond) && failsIn(s.Body)
	}
	return false
}

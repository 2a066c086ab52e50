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

// endNames are names of channels that end something, and bring no news.
var endNames = lazily(`(?i)done|quit|stop|clos|cancel|shutdown|exit`)

// newsAdvice is what to do about such a wait.
const newsAdvice = "Where no news is a normal answer, as of a long poll, leave it so. Otherwise find out why the news does not come before the timer ends the wait."

// eventOrTimer finds that a select on a line waits for news, but no longer than a timer allows, and that
// the function takes the end of the timer for an answer: a long poll of one's own.
func eventOrTimer(c *code, at stack.Frame) (found Evidence, ok bool) {
	fn, s := c.scopeAt(at), c.parse(at.File)
	if fn == nil {
		return found, false
	}
	eachNode(fn.body, func(n ast.Node, around []ast.Node) {
		sel, is := n.(*ast.SelectStmt)
		if !is || ok {
			return
		}
		if first, _ := s.lines(sel); first != at.Line {
			return
		}
		news, line := false, 0
		for _, x := range sel.Body.List {
			clause := x.(*ast.CommClause)
			from := receivedFrom(clause.Comm)
			switch {
			case from == nil:
			case fn.timerIn(from):
				if endsWell(clause, sel, around) {
					line, _ = s.lines(clause)
				}
			case !endNames.MatchString(types.ExprString(from)):
				news = true
			}
		}
		if ok = news && line > 0; ok {
			found = c.shownAt(at.File, line, "the source takes the end of the timer for an answer here")
		}
	})
	return found, ok
}

// receivedFrom is the channel that a clause of a select receives from; nil of others.
func receivedFrom(comm ast.Stmt) ast.Expr {
	var x ast.Expr
	switch s := comm.(type) {
	case *ast.ExprStmt:
		x = s.X
	case *ast.AssignStmt:
		x = s.Rhs[0]
	}
	if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.ARROW {
		return u.X
	}
	return nil
}

// timerIn tells of a channel of the function that a timer sends on it, once, or closes it.
func (fn *scope) timerIn(from ast.Expr) bool {
	switch x := from.(type) {
	case *ast.Ident:
		made := fn.made(x.Name)
		return made != nil && fn.timerIn(made)
	case *ast.SelectorExpr:
		return x.Sel.Name == "C" && !strings.Contains(strings.ToLower(types.ExprString(x.X)), "tick")
	case *ast.CallExpr:
		name := types.ExprString(x.Fun)
		if name == "time.After" {
			return true
		}
		ctx, isDone := strings.CutSuffix(name, ".Done")
		return isDone && hasNode(fn.body, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || !isNamed(a.Lhs[0], ctx) {
				return false
			}
			call, ok := a.Rhs[0].(*ast.CallExpr)
			return ok && slices.Contains(contextLimits, types.ExprString(call.Fun))
		})
	}
	return false
}

// hasNode tells whether a node, or one below it, is wanted.
func hasNode(top ast.Node, wanted func(ast.Node) bool) (found bool) {
	ast.Inspect(top, func(n ast.Node) bool {
		found = found || n != nil && wanted(n)
		return !found
	})
	return found
}

// timeouts are the statuses of HTTP that say that something took too long.
var timeouts = lazily(`Status(GatewayTimeout|RequestTimeout|ServiceUnavailable)|\b(408|503|504)\b`)

// failsAtEnd tells of a clause of a select that it reports an error.
func failsAtEnd(clause *ast.CommClause) bool {
	body := &ast.BlockStmt{List: clause.Body}
	return failsIn(body) || hasNode(body, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		return ok && timeouts.MatchString(types.ExprString(x))
	})
}

// endsWell tells of a clause of a select, with the nodes around that, that the function ends after it
// and reports no error.
func endsWell(clause *ast.CommClause, sel ast.Node, around []ast.Node) bool {
	fails := failsAtEnd(clause)
	if endsInReturn(clause.Body) {
		return !fails
	}
	return !fails && !slices.ContainsFunc(around, isLoop) && !failsBehind(sel, around, false)
}

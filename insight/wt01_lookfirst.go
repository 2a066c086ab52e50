package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
)

// Pauses that stand before a loop which looks again and again: what is ready already waits for them too.

// latePoll is a loop that polls, behind a pause in the same function.
type latePoll struct {
	at    stack.Frame // the line of the call whose answer ends the loop
	loop  asking
	after string // the call before the pause that may need it, by its name; empty where there is none
}

// actions are names of calls after which a pause may be needed.
var actions = lazily(`^(?i:create|start|launch|run|kill|stop|restart|delete|remove|put|post|submit|deploy|send|write|exec|trigger|enqueue|publish|signal|reload|update|apply|boot|spawn|do$|shutdown|terminate|resize|scale|set|release|commit|push|mark|add|insert|request|invoke|call|open|connect|dial|attach|detach|mount|provision|install|move|rename)`)

// pausesBefore finds the loop that stands behind the pause on a line, which is in none, and asks until an answer suits, with
// pauses of its own; nothing that the loop asks has been asked before.
func pausesBefore(c *code, at stack.Frame) (p latePoll, ok bool) {
	fn := c.scopeAt(at)
	if fn == nil || len(loopsAround(c, at)) > 0 || !pausesOn(c, at) {
		return p, false
	}
	s := c.parse(at.File)
	list, i, ok := statementOfPause(s, fn.body.List, at.Line)
	if !ok {
		return p, false
	}
	rest := list[i+1:]
	for len(rest) > 0 && preparesLoop(rest[0]) {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return p, false
	}
	n, ok := unlabelled(rest[0]).(*ast.ForStmt)
	if !ok || !pausesIn(n.Body) {
		return p, false
	}
	l := loop{n.Cond, n.Body, n, s}
	call := asksUntil(l, at)
	if call == nil || comparesLooks(l) || keepsRate(c, at) || looksBefore(s, fn.body, at.Line, calledName(call)) {
		return p, false
	}
	p.at = stack.Frame{Func: at.Func, File: at.File}
	p.at.Line, _ = s.lines(call)
	p.loop, _ = l.asks(p.at)
	p.after = actionBefore(list[:i])
	return p, true
}

// unlabelled is a statement without its label.
func unlabelled(s ast.Stmt) ast.Stmt {
	if l, ok := s.(*ast.LabeledStmt); ok {
		return l.Stmt
	}
	return s
}

// statementOfPause finds the statement with a pause on a line, and the list that has something behind it: an if around it asks only
// whether there is to be a pause. Pauses by chance spread the load; those of tries are backoff.
func statementOfPause(s *syntax, list []ast.Stmt, line int) (in []ast.Stmt, at int, ok bool) {
	at = slices.IndexFunc(list, func(x ast.Stmt) bool { return s.covers(x, line) })
	if at < 0 {
		return nil, 0, false
	}
	switch x := list[at].(type) {
	case *ast.ExprStmt, *ast.AssignStmt:
		return list, at, !byChance(x)
	case *ast.SelectStmt:
		return list, at, onlyPauses(x) && !byChance(x)
	case *ast.BlockStmt:
		in, i, ok := statementOfPause(s, x.List, line)
		if ok && i == len(in)-1 {
			return list, at, true
		}
		return in, i, ok
	case *ast.IfStmt:
		anyCall := func(*ast.CallExpr) bool { return true }
		if x.Else != nil || !s.covers(x.Body, line) || hasCall(x.Cond, anyCall) || x.Init != nil || spreadPause.MatchString(types.ExprString(x.Cond)) || !errorless(x.Cond) {
			return nil, 0, false
		}
		in, i, ok := statementOfPause(s, x.Body.List, line)
		if ok && i == len(in)-1 {
			return list, at, true
		}
		return in, i, ok
	}
	return nil, 0, false
}

// errorless tells of a condition that it asks for no error.
func errorless(cond ast.Expr) bool {
	return !hasNode(cond, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		return ok && isError(id.Name)
	})
}

// spreadPause are names of pauses whose length is one of chance, and of those between tries.
var spreadPause = lazily(`(?i)jitter|backoff|retr(y|ies)|attempt|\btry|\brand\b|debounce|throttle|interval|\brate`)

// byChance tells of a pause that its length is one of chance, that of a backoff, or one that keeps a rate.
func byChance(s ast.Stmt) bool {
	return hasNode(s, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		return ok && spreadPause.MatchString(id.Name)
	})
}

// onlyPauses tells of a select that it waits for a time, and ends the function otherwise.
func onlyPauses(x *ast.SelectStmt) bool {
	timers := 0
	for _, s := range x.Body.List {
		clause := s.(*ast.CommClause)
		if clause.Comm == nil {
			return false
		}
		if hasNode(clause.Comm, func(n ast.Node) bool {
			u, ok := n.(*ast.UnaryExpr)
			return ok && (lastName(types.ExprString(u.X)) == "C" || callsByName(u.X, "time.After"))
		}) {
			if timers++; len(clause.Body) > 0 {
				return false
			}
			continue
		}
		if len(clause.Body) == 0 || !leavesClause(clause.Body) {
			return false
		}
	}
	return timers == 1
}

// callsByName tells of an expression that it is a call of a function, by its text.
func callsByName(x ast.Expr, name string) bool {
	call, ok := x.(*ast.CallExpr)
	return ok && types.ExprString(call.Fun) == name
}

// preparesLoop tells of a statement between a pause and a loop that it asks nobody: it declares, or makes a time or a timer.
func preparesLoop(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.DeclStmt, *ast.AssignStmt, *ast.DeferStmt, *ast.EmptyStmt:
	default:
		return false
	}
	return !hasCall(s, func(call *ast.CallExpr) bool {
		text := types.ExprString(call.Fun)
		return !strings.HasPrefix(text, "time.") && !strings.HasPrefix(text, "context.") && !slices.Contains([]string{"Add", "Stop", "cancel", "make", "new", "len", "min", "max"}, lastName(text))
	})
}

// asksUntil is the call of a loop whose answer ends it, if the answers are no parts of one whole; nil where there is none.
func asksUntil(l loop, at stack.Frame) (found *ast.CallExpr) {
	eachCall := func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || found != nil {
			return
		}
		name := types.ExprString(call.Fun)
		if slices.Contains([]string{"Err", "Done", "len", "Sleep", "Wait"}, calledName(call)) || strings.HasPrefix(name, "time.") || strings.HasPrefix(name, "errors.") {
			return
		}
		line, _ := l.source.lines(call)
		if a, ends := l.asks(stack.Frame{Func: at.Func, File: at.File, Line: line}); ends && !a.follows && !l.items(line) {
			found = call
		}
	}
	if l.cond != nil {
		ast.Inspect(l.cond, func(n ast.Node) bool { eachCall(n); return true })
	}
	eachInTurn(l.body, eachCall)
	return found
}

// looksBefore tells whether a function makes a call of this name on a line before one.
func looksBefore(s *syntax, body *ast.BlockStmt, line int, name string) bool {
	return hasCall(body, func(call *ast.CallExpr) bool {
		first, _ := s.lines(call)
		return first < line && calledName(call) == name
	})
}

// actionBefore is the name of a call that the statements before a pause end with, if it may do something that takes its time.
func actionBefore(before []ast.Stmt) (name string) {
	for _, s := range slices.Backward(before) {
		if doesNothing(s) {
			continue
		}
		ast.Inspect(s, func(n ast.Node) bool {
			if _, ok := n.(*ast.BlockStmt); ok {
				return false
			}
			call, ok := n.(*ast.CallExpr)
			if text := ""; ok {
				text = types.ExprString(call.Fun)
				if _, method, _ := strings.Cut(text, "."); actions.MatchString(lastName(text)) && !slices.Contains([]string{"fmt", "log", "slog", "strings", "strconv", "time"}, strings.TrimSuffix(text, "."+method)) && name == "" {
					name = text
				}
			}
			return true
		})
		if name != "" || hasCall(s, func(*ast.CallExpr) bool { return true }) {
			return name
		}
	}
	return ""
}

// pollsOutside tells of a loop that the units of a wait, or the goroutine whose pause it is, ask somebody outside of the program in it.
func pollsOutside(in *Input, t *traced, w *waiting, l asking, pause stack.Frame) bool {
	if w.site.Frame == pause {
		return slices.ContainsFunc(outwards(w.group), func(o *outward) bool { return l.around(t.Frames(o.stack)) || l.around(o.path) })
	}
	traces, _ := in.Facts.WaitsOf(recording.ExecTrace)
	return len(traces) > 0 && slices.ContainsFunc(traces[0].All, func(x facts.Wait) bool {
		n := slices.IndexFunc(x.Frames, func(f stack.Frame) bool { return l.around([]stack.Frame{f}) })
		return n >= 0 && waitsForIO(&x, n)
	})
}

// pausesBeforeLook makes a finding about a pause say that the look should come first, where a loop behind it asks somebody
// outside of the program, going by the trace.
func pausesBeforeLook(in *Input, t *traced, w *waiting, f *Finding) bool {
	at, ok := pauseSite(w, f.waitsFor)
	if !ok {
		return false
	}
	p, ok := pausesBefore(in.code, at.Frame)
	if !ok || !pollsOutside(in, t, w, p.loop, at.Frame) {
		return false
	}
	f.Advice = lookFirst
	f.Summary += fmt.Sprintf("; the loop behind it, which asks at %s, looks only after that", fileLine(p.at.File, p.at.Line))
	f.Evidence = append(f.Evidence, in.code.shownAt(p.at.File, p.at.Line, "it looks here for the first time"))
	f.Doubts = append(f.Doubts, earlyDoubt)
	if p.after != "" {
		f.Severity = Info
		f.Doubts = append(f.Doubts, fmt.Sprintf("%s comes right before the pause: it may need that time before it makes sense to look", p.after))
	}
	return true
}

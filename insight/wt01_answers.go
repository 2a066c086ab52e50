package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Waits for an answer that a goroutine of the program gives, no longer than a timer allows: the timer makes them shorter.
// What they wait for is the answer.

// answerLimit is a select that waits for an answer or for a timer, whichever comes first, and then gives up.
type answerLimit struct {
	at     stack.Frame // the select
	set    Evidence    // the line that sets the limit
	starts Evidence    // the line that starts the goroutine which answers
	by     *ast.GoStmt // nil where a group starts it
	lit    *ast.FuncLit
	source *syntax
}

// answerOrTimer finds that a select on a line waits for what a goroutine sends that the same function has started for it, or one that it
// calls, and gives up when a timer comes first; or for anything for so long that it is an error if it does not come. Whoever gathers, debounces or polls goes on after the timer; where the channel is somebody
// else's, the news may be what the timer has nothing to do with.
func answerOrTimer(c *code, at stack.Frame) (a answerLimit, ok bool) {
	fn, s := c.scopeAt(at), c.parse(at.File)
	if fn == nil {
		return a, false
	}
	eachNode(fn.body, func(n ast.Node, around []ast.Node) {
		sel, is := n.(*ast.SelectStmt)
		if !is || ok {
			return
		}
		if first, _ := s.lines(sel); first == at.Line {
			a, ok = limitedSelect(c, fn, s, at, sel, slices.ContainsFunc(around, isLoop))
		}
	})
	return a, ok
}

func limitedSelect(c *code, fn *scope, s *syntax, at stack.Frame, sel *ast.SelectStmt, inLoop bool) (a answerLimit, ok bool) {
	var timers, dones, answers, news []*ast.CommClause
	for _, x := range sel.Body.List {
		clause := x.(*ast.CommClause)
		switch from := receivedFrom(clause.Comm); {
		case clause.Comm == nil:
			return a, false // it does not wait
		case from == nil:
		case fn.timerIn(from):
			timers = append(timers, clause)
		case strings.HasSuffix(types.ExprString(from), ".Done()"):
			dones = append(dones, clause)
		default:
			_, takes := clause.Comm.(*ast.AssignStmt)
			if started, known := answeredBy(c, fn, s, at, from); known {
				if len(answers) > 0 && started.starts.Line != a.starts.Line { // several goroutines
					return a, false
				}
				answers, a = append(answers, clause), started
			} else if name := types.ExprString(from); lastName(name) != "C" && (takes || !endNames.MatchString(name)) {
				news = append(news, clause)
			}
		}
	}
	if len(timers) == 0 { // then the context had a limit
		timers = dones
	}
	if len(answers) == 0 && !inLoop && !slices.ContainsFunc(timers, func(x *ast.CommClause) bool { return !failsAtEnd(x) }) {
		answers = news // who ends with an error when the timer comes has wanted an answer, whosever it is
	}
	if len(answers) == 0 || len(answers) > 1 && a.starts.Line == 0 || len(timers) == 0 {
		return a, false
	}
	if !slices.ContainsFunc(answers, func(x *ast.CommClause) bool { return !failsAtEnd(x) }) && !slices.ContainsFunc(timers, failsAtEnd) {
		return a, false // what comes is a failure, and the timer is the good end
	}
	for _, answer := range answers {
		name := types.ExprString(receivedFrom(answer.Comm))
		for _, timer := range timers {
			leaves := endsInReturn(timer.Body) || leavesClause(timer.Body)
			_, takes := answer.Comm.(*ast.AssignStmt)
			switch {
			case inLoop && !leaves, resetsTimer(answer, receivedFrom(timer.Comm)):
				return a, false
			case !leaves && !takes && leavesClause(answer.Body):
				return a, false // a pause that something may cut short
			case mentionedBehind(timer, timer.Pos(), name), !leaves && mentionedBehind(fn.body, sel.End(), name):
				return a, false // it goes on to wait, as when a second call is made meanwhile
			}
		}
	}
	a.at = at
	line := limitLine(fn, s, receivedFrom(timers[0].Comm))
	a.set = c.shownAt(at.File, cmp.Or(line, at.Line), "the time limit is set here")
	return a, true
}

// mentionedBehind tells whether a node mentions something behind a place.
func mentionedBehind(top ast.Node, place token.Pos, text string) bool {
	return hasNode(top, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		return ok && n.Pos() > place && types.ExprString(x) == text
	})
}

// resetsTimer tells of a clause that it begins the timer of a channel anew.
func resetsTimer(clause *ast.CommClause, timer ast.Expr) bool {
	root := rootName(timer)
	if _, call := timer.(*ast.CallExpr); call || root == "" {
		return false
	}
	return slices.ContainsFunc(clause.Body, func(s ast.Stmt) bool {
		return givenIn(s, root) || givenIn(s, types.ExprString(timer)) || hasCall(s, func(call *ast.CallExpr) bool { return types.ExprString(call.Fun) == root+".Reset" })
	})
}

// limitLine is the line that makes the timer of a channel, or the context; 0 where the function does not.
func limitLine(fn *scope, s *syntax, timer ast.Expr) (line int) {
	if call, ok := timer.(*ast.CallExpr); ok && types.ExprString(call.Fun) == "time.After" {
		line, _ = s.lines(call)
		return line
	}
	root := rootName(timer)
	if call, ok := timer.(*ast.CallExpr); ok {
		root = rootName(call.Fun)
	}
	ast.Inspect(fn.body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if ok && slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool { return isNamed(x, root) }) && line == 0 {
			line, _ = s.lines(a)
		}
		return true
	})
	return line
}

// answeredBy finds the statement that starts the goroutine which sends on a channel: in the function, or in one of the sources which the
// channel is the result of.
func answeredBy(c *code, fn *scope, s *syntax, at stack.Frame, from ast.Expr) (a answerLimit, ok bool) {
	name := types.ExprString(from)
	for f := fn; f != nil; f = f.outer {
		if a, ok = startedFor(c, s, at.File, f.body, name); ok {
			return a, true
		}
	}
	call, is := from.(*ast.CallExpr)
	if id, ok := from.(*ast.Ident); ok {
		call, is = fn.made(id.Name).(*ast.CallExpr)
	}
	if !is {
		return a, false
	}
	all := methodsOf(c, c.function(at), call.Fun)
	if len(all) != 1 {
		return a, false
	}
	returned := ""
	ast.Inspect(all[0].Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) > 0 {
			returned = types.ExprString(r.Results[0])
		}
		_, lit := n.(*ast.FuncLit)
		return !lit
	})
	return startedFor(c, c.parse(all[0].file), all[0].file, all[0].Body, returned)
}

// startedFor finds in a body the goroutine that is started to send on a channel of a name, or to close it.
func startedFor(c *code, s *syntax, file string, body *ast.BlockStmt, name string) (a answerLimit, ok bool) {
	if name == "" || name == "nil" {
		return a, false
	}
	given := func(call *ast.CallExpr) bool {
		return slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return types.ExprString(x) == name })
	}
	answers := func(lit *ast.FuncLit) bool {
		return hasNode(lit.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SendStmt:
				return types.ExprString(n.Chan) == name
			case *ast.CallExpr:
				return given(n) && !isNamed(n.Fun, "len") && !isNamed(n.Fun, "cap")
			}
			return false
		})
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if ok {
			return false
		}
		var lit *ast.FuncLit
		start, _ := n.(*ast.GoStmt)
		call, isCall := n.(*ast.CallExpr)
		switch {
		case start != nil:
			lit, _ = start.Call.Fun.(*ast.FuncLit)
			ok = given(start.Call) || lit != nil && answers(lit)
		case isCall && calledName(call) == "Go" && len(call.Args) == 1:
			lit, _ = call.Args[0].(*ast.FuncLit)
			ok = lit != nil && answers(lit)
		}
		if ok {
			line, _ := s.lines(n)
			a = answerLimit{starts: c.shownAt(file, line, "the goroutine that is to answer is started here"), by: start, lit: lit, source: s}
		}
		return !ok
	})
	return a, ok
}

// runs tells of a frame that it is of the goroutine which is to answer.
func (a *answerLimit) runs(f stack.Frame) bool {
	switch {
	case a.lit != nil:
		return f.File == a.starts.File && a.source.covers(a.lit, f.Line)
	case a.by != nil:
		return lastName(f.Func) == calledName(a.by.Call)
	}
	return false
}

// ownLimit sees to it that a wait of which the source shows that the timer at its end is a time limit is told as one: its own, or that of who
// ends it.
func ownLimit(in *Input, w *waiting) {
	known := map[stack.Frame]*answerLimit{}
	limited := func(at stack.Frame) *answerLimit {
		if _, ok := known[at]; !ok {
			known[at] = nil
			if a, ok := answerOrTimer(in.code, at); ok {
				known[at] = &a
			}
		}
		return known[at]
	}
	limit := kindOf("time_limit")
	if w.kind == "timer" {
		if w.limit = limited(w.site.Frame); w.limit != nil {
			w.kind, w.clause = limit.Key(), limit.Clause()
		}
		return
	}
	for i := range w.causes {
		cause := &w.causes[i].Cause
		if cause.Kind.Key() != "timer" {
			continue
		}
		if a := limited(cause.Site.Frame); a != nil {
			if cause.Kind = limit; i == 0 {
				w.limit = a
			}
		}
	}
}

// ended is how many of the waits at the select the limit has ended, of how many.
func (a *answerLimit) ended(t *traced) (late, made int64) {
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool { return b.Reason == exectrace.NameSelect && t.Site(b.Stack) == a.at }) {
		late, made = late+t.unanswered(b), made+b.Wait.Count
	}
	return late, made
}

// tell says of a finding about a wait that a limit of the source has ended how often it does, and what the answer waits for.
func (a *answerLimit) tell(in *Input, t *traced, f *Finding) {
	late, made := a.ended(t)
	f.Advice = limitAdvice
	if mostInTime(late, made) {
		f.Advice, f.Severity = tailAdvice, Info
	}
	f.Advice = "The timer is a time limit: without it the wait would be longer. " + f.Advice
	if made > 0 {
		f.Summary += fmt.Sprintf("; %s of %s for an answer there ended with the limit", unit.Count(late), unit.Plural(made, "wait"))
	}
	at, what, waits := a.waitsFor(in, t)
	switch {
	case at.Line == 0:
		if a.starts.Line > 0 {
			f.Evidence = append(f.Evidence, a.starts)
		}
		f.Advice = "The timer is a time limit: without it the wait would be longer. Find out what keeps whoever is to answer: what it computes, or the lock or the channel that it waits for, or that nobody does answer."
	default:
		f.Summary += fmt.Sprintf("; whoever is to answer waits in %s at %s:%d", what, baseName(at.File), at.Line)
		f.Evidence = append(slices.Insert(f.Evidence, 0, waits), a.starts)
	}
	f.Evidence = append(f.Evidence, a.set)
	f.Doubts = append(f.Doubts, "a call that waits for an event (long polling) may be meant to end so")
}

// waitsFor is the line at which the goroutine that is to answer waits longest for the world outside, and in what.
func (a *answerLimit) waitsFor(in *Input, t *traced) (at stack.Frame, what string, shown Evidence) {
	traces, _ := in.Facts.WaitsOf(recording.ExecTrace)
	if len(traces) == 0 {
		return at, "", shown
	}
	most, sums, whats, stacks := time.Duration(0), map[stack.Frame]time.Duration{}, map[stack.Frame]string{}, map[stack.Frame][]stack.Frame{}
	for i := range traces[0].All {
		x := &traces[0].All[i]
		n := slices.IndexFunc(x.Frames, a.runs)
		if n < 0 || !waitsForIO(x, n) {
			continue
		}
		site := traces[0].Site(x)
		if sums[site] += x.Time; sums[site] > most {
			most, at = sums[site], site
		}
		whats[site], stacks[site] = outside(x.Frames[:n]), x.Frames
	}
	if most == 0 {
		return at, "", shown
	}
	return at, whats[at], t.seenAt(stacks[at], at, "whoever is to answer waits here: %s together", unit.Duration(most))
}

package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Why a loop with pauses makes its call again, as far as the source shows it: the call has failed, what it asks for is not there
// yet, or nothing but that the answer was not the one that was hoped for. And who says how long to pause.

// ofThere is a poll that goes on because what it asks for does not exist yet.
var ofThere = awaited{"is made again, since what it asks for is not there yet",
	"It polls until something is there: have whoever makes it say so (a notification, a callback, a pipe; package fsnotify for files). Otherwise look more often at first and less often later (short pauses that grow): at most about one pause of each series is waited in vain."}

// notThere are names of errors and statuses, and of functions that ask for them, which say that something does not exist.
var notThere = lazily(`(?i:not_?(exists?|found)|no_?(rows|such|documents)|does_?not_?exist)|^ENOENT$|^404$|^redis\.Nil$`)

// saysNotThere tells of a condition that, where it has a value, the answer is that something does not exist, or there is no error.
// has tells which values are those of the answer.
func saysNotThere(cond ast.Expr, value bool, has func(ast.Node) bool) bool {
	named := func(x ast.Expr) bool {
		text := types.ExprString(x)
		return notThere.MatchString(text) || notThere.MatchString(lastName(text))
	}
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return saysNotThere(x.X, value, has)
	case *ast.UnaryExpr:
		return x.Op == token.NOT && saysNotThere(x.X, !value, has)
	case *ast.CallExpr:
		if !value || !has(x) || len(x.Args) == 0 {
			return false
		}
		if name := types.ExprString(x.Fun); name == "errors.Is" {
			return len(x.Args) == 2 && named(x.Args[1])
		}
		return named(x.Fun) && slices.ContainsFunc(x.Args, func(a ast.Expr) bool { return isError(lastName(types.ExprString(a))) })
	case *ast.BinaryExpr:
		if x.Op == token.EQL || x.Op == token.NEQ {
			return (x.Op == token.EQL) == value && has(x.X) && named(x.Y)
		}
		a, b := saysNotThere(x.X, value, has), saysNotThere(x.Y, value, has)
		if one := token.LAND; x.Op == one && value || x.Op == token.LOR && !value {
			return a || b
		}
		if x.Op == token.LAND || x.Op == token.LOR { // err != nil && !os.IsNotExist(err), which is false
			return (a || asksError(x.X, token.NEQ)) && (b || asksError(x.Y, token.NEQ)) && (a || b)
		}
	}
	return false
}

// waitsUntilThere tells of a loop that it goes on because something does not exist, and that another error ends it.
func waitsUntilThere(l loop, has func(ast.Node) bool) bool {
	there, others := false, false
	ends := l.exits()
	nested := func(body ast.Node) bool { // a condition within decides it
		return hasNode(body, func(n ast.Node) bool {
			s, ok := n.(*ast.IfStmt)
			return ok && s.Else == nil && leavesLoop(s.Body.List) && saysNotThere(s.Cond, false, has)
		})
	}
	eachInTurn(l.body, func(n ast.Node) {
		switch s := n.(type) {
		case *ast.IfStmt:
			leaves, again := leavesLoop(s.Body.List), goesOn(s.Body.List)
			switch {
			case leaves && s.Else == nil && saysNotThere(s.Cond, false, has):
				there = true
			case again && saysNotThere(s.Cond, true, has):
				there = there || slices.ContainsFunc(ends, func(x exit) bool { return x.cond == s.Cond && !x.on || x.on && asksError(x.cond, token.NEQ) })
			case again && asksError(s.Cond, token.NEQ):
				others = others || !nested(s.Body)
			}
		case *ast.SwitchStmt:
			there = there || s.Tag == nil && switchesOnThere(s, has)
		}
	})
	return there && !others
}

// switchesOnThere tells of a switch that it goes on in a case which says that something does not exist, and leaves the loop by default.
func switchesOnThere(s *ast.SwitchStmt, has func(ast.Node) bool) bool {
	there, leaves := false, false
	for _, x := range s.Body.List {
		c := x.(*ast.CaseClause)
		if c.List == nil {
			leaves = leavesClause(c.Body)
		} else if !leavesClause(c.Body) {
			there = slices.ContainsFunc(c.List, func(x ast.Expr) bool { return saysNotThere(x, true, has) })
			if !there {
				return false // another case goes on as well
			}
		}
	}
	return there && leaves
}

// pollsUntilThere tells of the loop around a pause, which another goroutine waits for, that it waits until something exists or is ready.
func pollsUntilThere(c *code, pause stack.Frame) bool {
	loops := loopsAround(c, pause)
	return len(loops) > 0 && (hasNode(loops[len(loops)-1].body, tellsNotReady) || waitsUntilThere(loops[len(loops)-1], func(ast.Node) bool { return true }))
}

// surelyFailed tells of a condition that, where it has a value, the call that is looked for has failed: there is an error, or a status
// that means a failure. A status that is merely not the one which was hoped for may say that something is not ready yet.
func surelyFailed(cond ast.Expr, value bool, w *turns) bool {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return surelyFailed(x.X, value, w)
	case *ast.UnaryExpr:
		return x.Op == token.NOT && surelyFailed(x.X, !value, w)
	case *ast.BinaryExpr:
		switch {
		case x.Op == token.LAND && value, x.Op == token.LOR && !value:
			return surelyFailed(x.X, value, w) || surelyFailed(x.Y, value, w)
		case x.Op == token.LAND, x.Op == token.LOR:
			return surelyFailed(x.X, value, w) && surelyFailed(x.Y, value, w)
		case isStatus(x.X):
			return failing(x, value, w) && failureOnly(x, value)
		}
	}
	return failing(cond, value, w)
}

// failureOnly tells of a comparison of a status that it is 400 or more where the comparison has a value.
func failureOnly(x *ast.BinaryExpr, value bool) bool {
	n, known := numberOf(x.Y)
	switch x.Op {
	case token.EQL, token.NEQ:
		return (x.Op == token.EQL) == value && failureStatus(x.Y) && !redirectStatus.MatchString(types.ExprString(x.Y))
	case token.GEQ, token.GTR: // status >= 500
		return value && (known && n >= 399 || !known && failureStatus(x.Y) && !redirectStatus.MatchString(types.ExprString(x.Y)))
	case token.LSS, token.LEQ:
		return !value && (known && n >= 399 || !known && failureStatus(x.Y) && !redirectStatus.MatchString(types.ExprString(x.Y)))
	}
	return false
}

// redirectStatus are the names of statuses below 400, apart from those of success: nothing has failed there either.
var redirectStatus = lazily(`Status(Continue|SwitchingProtocols|Processing|EarlyHints|NonAuthoritativeInfo|ResetContent|MultiStatus|AlreadyReported|IMUsed|MultipleChoices|MovedPermanently|Found|SeeOther|UseProxy|TemporaryRedirect|PermanentRedirect)$`)

// showsFailure tells whether the source shows that the loop goes on because the call has failed.
func (a asking) showsFailure(c *code) bool {
	l, ok := a.loop(c)
	if !ok {
		return false
	}
	w := l.answers(a.at.Line)
	return slices.ContainsFunc(l.exits(), func(x exit) bool { return surelyFailed(x.cond, !x.on, w) })
}

// loop is the loop itself.
func (a asking) loop(c *code) (loop, bool) {
	for _, l := range loopsAround(c, a.at) {
		if first, last := l.source.lines(l.stmt); first == a.first && last == a.last {
			return l, true
		}
	}
	return loop{}, false
}

// tellHoped says of pauses between calls that the source shows no failure: the answers were not the ones that were hoped for.
func tellHoped(a tried, t *traced, f *Finding, info func(string)) {
	f.Summary += fmt.Sprintf("; these are pauses before the call at %s is made again, because it did not answer as hoped", place(a.at))
	f.Evidence = append(f.Evidence, t.seen(a.call.Stack, "made again after each pause"))
	info("the source goes on where the answer is none of those that it hopes for: that may be a failure, or say that it is not ready yet (202), and the trace does not show which")
}

// peerSays are words of a header, a field or a function by which an answer says when to ask again.
var peerSays = lazily(`(?i)(retry_?-?(after|in)|^poll_?(interval|after|every|in)(_?(ms|millis|sec|secs|seconds))?$|^next_?(poll|check)(_?(in|after|ms|seconds))?$|^(x-)?poll-interval$)`)

// pausedByPeer is the line of the source at which a loop takes from an answer, in every turn, how long it pauses on another line; 0 where it
// does not.
func pausedByPeer(c *code, l loop, pause int) (line int) {
	names := map[string]bool{}
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if peerSays.MatchString(n.Sel.Name) && setInTurn(l, rootName(n)) && line == 0 {
					line, _ = l.source.lines(n)
				}
			case *ast.CallExpr:
				name := calledName(n)
				says := slices.ContainsFunc(n.Args, func(x ast.Expr) bool {
					b, ok := x.(*ast.BasicLit)
					return ok && b.Kind == token.STRING && peerSays.MatchString(strings.Trim(b.Value, "\"`"))
				})
				reads := slices.ContainsFunc(c.functions()[name], func(d declaration) bool {
					return hasNode(d.Body, func(n ast.Node) bool {
						call, ok := n.(*ast.CallExpr)
						return ok && calledName(call) == "Get" && len(call.Args) == 1 && peerSays.MatchString(strings.Trim(types.ExprString(call.Args[0]), "\"`"))
					})
				})
				if (says || len(n.Args) > 0 && (reads || peerSays.MatchString(name))) && line == 0 {
					line, _ = l.source.lines(n)
				}
			case *ast.Ident:
				names[n.Name] = true
			}
			return true
		})
	}
	l.source.onLine(pause, func(n ast.Node, _ []ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok {
			look(call)
		}
	})
	for range 3 { // what the pause is made of, some steps back
		eachNode(l.body, func(n ast.Node, around []ast.Node) {
			s, ok := n.(*ast.AssignStmt)
			if !ok || slices.ContainsFunc(around, decidesWithin) || !slices.ContainsFunc(s.Lhs, func(x ast.Expr) bool {
				id, is := x.(*ast.Ident)
				return is && !isError(id.Name) && names[id.Name]
			}) {
				return
			}
			for _, x := range s.Rhs {
				look(x)
			}
		})
	}
	return line
}

// decidesWithin tells of a node that what is below it is not done in every turn of a loop: a default may stand there otherwise.
func decidesWithin(n ast.Node) bool {
	switch n.(type) {
	case *ast.IfStmt, *ast.CaseClause, *ast.CommClause, *ast.FuncLit:
		return true
	}
	return false
}

// peerAdvice is what to do where whoever is asked says how long to pause.
const peerAdvice = "Whoever is asked says how long to pause before the next call, and the pauses keep to that: to ask sooner would be against it. What helps is that what is waited for takes less time, that several things are waited for at once, or that the peer says when it is ready (a long poll, a callback)."

// tellPeerSays says of pauses that the peer's answer sets how long they are; false where it does not.
func tellPeerSays(w *waiting, in *Input, t *traced, f *Finding) bool {
	for _, at := range t.Frames(w.site.Stack) {
		if !t.Scope.IsUser(at) {
			continue
		}
		loops := loopsAround(in.code, at)
		if len(loops) == 0 {
			continue
		}
		l := loops[len(loops)-1]
		from := stack.Frame{File: at.File, Line: pausedByPeer(in.code, l, selectsTimer(l, at.Line))}
		if from.Line == 0 {
			from = peerField(in.code, l, selectsTimer(l, at.Line))
		}
		if from.Line == 0 {
			return false
		}
		f.Summary += "; the answer itself says when to ask again, going by the source"
		f.Evidence = append(f.Evidence, in.code.shownAt(from.File, from.Line, "how long it pauses comes from the answer here"))
		f.Advice, f.Severity = peerAdvice, Info
		f.Doubts = append(f.Doubts, "where an answer does not say it, or the source makes more of it, the pause is the program's own")
		return true
	}
	return false
}

// meanwhile says what the goroutine did that was waited for.
func (w *waiting) meanwhile(c *code) string {
	if len(w.causes) == 0 {
		return ""
	}
	cause := w.causes[0].Cause
	kind := cause.Kind.Key()
	holder := "the goroutine that ends the wait is "
	if w.kind == "lock" {
		holder = "the one that holds it is "
	}
	switch {
	case w.gang != nil:
		return w.gang.clause(cause.Kind.Clause())
	case kind == "unknown" && w.kind == "lock" && cause.Site.Frame.Func != "":
		return ", which is released" + atPlace(cause.Site)
	case kind == "unknown", w.kind == "stop_the_world" && cause.Site.Frame.Func == "":
		return ""
	case w.collects():
		return ", as a collection began" + atPlace(cause.Site)
	case w.kind == "stop_the_world":
		return ", asked for" + atPlace(cause.Site)
	case w.servers != nil:
		return ", behind others, which " + w.servers.says(c)
	case w.queues():
		return ", behind others that are " + cause.Kind.Clause() + atPlace(cause.Site)
	}
	if w.kind == "lock" && waitsForOne(&w.causes[0]) {
		return ", while the one that holds it waits" + atPlace(w.causes[0].By.Site) + " for a goroutine that is " + cause.Kind.Clause() + whileHeld(cause)
	}
	if w.kind == "lock" {
		return ", while " + holder + cause.Kind.Clause() + whileHeld(cause)
	}
	return ", while " + holder + cause.Kind.Clause() + atPlace(cause.Site)
}

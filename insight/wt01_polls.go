package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/value/stack"
)

// Pauses of a loop that asks whether something is there yet: what it is told meanwhile is no failure.

// awaited is what a loop with pauses waits for, as the source shows it.
type awaited struct {
	says, advice string
}

var (
	ofReady = awaited{"is made again, since the answer is that it is not ready yet",
		"It polls until it is ready: have the peer say so (a long poll, a callback, a notification). Otherwise look more often at first and less often later (short pauses that grow): at most about one pause of each series is waited in vain."}
	ofLock = awaited{"is tried again, since another has the lock",
		"Another has the lock: hold it for a shorter time. A lock that can be waited for (a mutex within the program, flock(2) without LOCK_NB between programs) is had as soon as it is free; with pauses between the tries a part of one is lost each time."}
	ofMore = awaited{"is made again at the end of what has been written",
		"It follows a file or a stream that another one writes: waiting for more is its job. A notification (inotify, package fsnotify) wakes it as soon as there is more; a shorter pause does so with more calls."}
)

// notReady are words by which errors and statuses say that an answer will come later; of HTTP it is 202.
var notReady = lazily(`(?i)(pending|not_?(yet|ready|finished|done)|in_?progress|unfinished|StatusAccepted|^202$|^"?(queued|running)"?$)`)

// forOneOnly tells of a call that it takes something which only one may have, by its name and arguments.
func forOneOnly(call *ast.CallExpr) bool {
	name := types.ExprString(call.Fun)
	if slices.Contains([]string{"os.Mkdir", "os.Link", "os.Symlink", "syscall.Flock", "unix.Flock", "unix.FcntlFlock", "syscall.FcntlFlock"}, name) {
		return true
	}
	last := strings.ToLower(lastName(name))
	return strings.HasPrefix(last, "trylock") || strings.HasPrefix(last, "tryrlock") || last == "setnx" ||
		slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return strings.Contains(types.ExprString(x), "O_EXCL") })
}

// tell says it of pauses between calls: that is no failure, so that the finding is a remark.
func (a awaited) tell(t *traced, call facts.UnitSite, at string, f *Finding) {
	f.Severity, f.Advice = Info, a.advice
	if strings.Contains(f.Summary, a.says) {
		return
	}
	f.Summary += fmt.Sprintf("; these are pauses before the call at %s %s, going by the source", at, a.says)
	f.Evidence = append(f.Evidence, t.seen(call.Stack, "called again after each pause"))
}

// awaits finds what the calls are for that a loop makes again after pauses: their frames are those from the loop to
// the call, the loop's last.
func awaits(c *code, frames []stack.Frame) (what awaited, ok bool) {
	for _, f := range frames {
		s := c.parse(f.File)
		s.onLine(f.Line, func(n ast.Node, _ []ast.Node) {
			if call, is := n.(*ast.CallExpr); is && forOneOnly(call) {
				what, ok = ofLock, true
			}
		})
		if ok {
			return what, true
		}
		for _, l := range loopsAround(c, f) {
			if followsEnd(l, f.Line) {
				return ofMore, true
			}
			if waitsUntilThere(l, l.answers(f.Line).has) {
				return ofThere, true
			}
		}
		if fn := c.scopeAt(f); fn != nil && hasNode(fn.body, tellsNotReady) {
			return ofReady, true
		}
	}
	return what, false
}

// tellsNotReady tells of a node that it fails, or goes on, at a word or a status which says that something is not ready
// yet, or returns an error with such a name. That a call was accepted may also be what was asked for.
func tellsNotReady(n ast.Node) bool {
	is := func(x ast.Expr) bool { return notReady.MatchString(lastName(types.ExprString(x))) }
	again := func(list []ast.Stmt) bool { return len(list) > 0 && (goesOn(list) || leavesFailing(list)) }
	switch n := n.(type) {
	case *ast.IfStmt:
		return again(n.Body.List) && hasNode(n.Cond, func(x ast.Node) bool {
			b, ok := x.(*ast.BinaryExpr)
			return ok && b.Op == token.EQL && (is(b.X) || is(b.Y))
		})
	case *ast.CaseClause:
		return (len(n.Body) == 0 || again(n.Body)) && slices.ContainsFunc(n.List, is)
	case *ast.ReturnStmt:
		if len(n.Results) == 0 {
			return false
		}
		last := n.Results[len(n.Results)-1]
		return strings.HasPrefix(strings.ToLower(lastName(types.ExprString(last))), "err") && is(last)
	case *ast.CallExpr:
		return types.ExprString(n.Fun) == "errors.Is" && len(n.Args) == 2 && is(n.Args[1])
	}
	return false
}

// followsEnd tells of a loop that it goes on where a read on a line has come to the end (io.EOF): more may follow.
func followsEnd(l loop, line int) bool {
	w := l.answers(line)
	atEnd := func(x ast.Expr, when bool) bool {
		asks, equal := asksForEnd(x)
		return asks && equal == when
	}
	found := false
	eachInTurn(l.body, func(n ast.Node) {
		s, ok := n.(*ast.IfStmt)
		if !ok || !w.has(s.Cond) {
			return
		}
		// Another error ends it, or the end of the file begins the next turn.
		found = found || atEnd(s.Cond, false) && s.Else == nil && leavesLoop(s.Body.List) || atEnd(s.Cond, true) && goesOn(s.Body.List)
	})
	return found
}

// asksForEnd tells of a condition that it asks for io.EOF, and what it is when that has come.
func asksForEnd(x ast.Expr) (asks, when bool) {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return asksForEnd(x.X)
	case *ast.UnaryExpr:
		asks, when = asksForEnd(x.X)
		return asks, !when
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			if asks, when = asksForEnd(x.X); asks {
				return asks, when
			}
			return asksForEnd(x.Y)
		}
		return types.ExprString(x.Y) == "io.EOF", x.Op == token.EQL
	case *ast.CallExpr:
		return types.ExprString(x.Fun) == "errors.Is" && len(x.Args) == 2 && types.ExprString(x.Args[1]) == "io.EOF", true
	}
	return false, false
}

// lookFirst is what to do about a loop that pauses before it asks for the first time.
const lookFirst = "It pauses before it looks for the first time: look first, and pause only where there is nothing yet. Begin with short pauses and let them grow up to today's (backoff): what is ready early is then seen early, for few calls more, unless the peer limits how often it may be asked. Better still, have the peer say when it is ready (a long poll, a callback)."

// earlyDoubt is said where a look comes first by the advice.
const earlyDoubt = "where it waits for the end of what has only just been begun, an early answer may still be of the time before: the look has to tell the two apart"

// pausesFirst tells whether the pause on a line is what a loop begins with that a later call's answer ends.
func pausesFirst(c *code, at stack.Frame) bool {
	loops := loopsAround(c, at)
	if len(loops) == 0 {
		return false
	}
	l := loops[len(loops)-1]
	if _, ok := l.stmt.(*ast.ForStmt); !ok || l.cond != nil || len(l.body.List) == 0 || !l.source.covers(l.body.List[0], at.Line) || !pausesOn(c, at) {
		return false // the condition of a loop is looked at first
	}
	_, behind := l.source.lines(l.body.List[0])
	found := false
	eachInTurn(l.body, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return
		}
		first, _ := l.source.lines(call)
		if first <= behind || slices.Contains([]string{"Err", "Done"}, calledName(call)) || strings.HasPrefix(types.ExprString(call.Fun), "time.") {
			return
		}
		a, ends := l.asks(stack.Frame{Func: at.Func, File: at.File, Line: first})
		found = ends && !a.follows
	})
	return found && !comparesLooks(l) && !keepsRate(c, at)
}

// pauseSite is where a wait is a pause: its own, or that of the goroutine which ends it.
func pauseSite(w *waiting, reason string) (at facts.UnitSite, ok bool) {
	switch {
	case w.kind == "sleep", w.kind == "timer":
		return w.site, true
	case w.ofAnother(reason):
		return w.causes[0].Cause.Site, true
	}
	return at, false
}

// endsPolls tells of the loop around a pause that a wait for the goroutine that pauses there ends after the loop: one that serves others
// in each of its turns has no first look which they wait for.
func endsPolls(w *waiting, c *code, t *traced, pause stack.Frame) bool {
	if w.site.Frame == pause {
		return true
	}
	loops := loopsAround(c, pause)
	if len(loops) == 0 {
		return false
	}
	first, last := loops[len(loops)-1].source.lines(loops[len(loops)-1].stmt)
	polls := asking{at: pause, first: first, last: last}
	in, all := time.Duration(0), time.Duration(0)
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool { return t.Site(b.Stack) == w.site.Frame }) {
		for _, by := range b.Wakers {
			if by.Stack == 0 {
				continue
			}
			if all += by.Time; polls.around(t.Frames(by.Stack)) {
				in += by.Time
			}
		}
	}
	return all > 0 && in < all/2
}

// comparesLooks tells of a loop that one look cannot end it: an exit asks for what the look before has given, as where it
// waits until something no longer changes, or for how often the answer was the same.
func comparesLooks(l loop) bool {
	return slices.ContainsFunc(l.exits(), func(x exit) bool {
		kept, counted, reset := false, false, false
		ast.Inspect(l.body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IncDecStmt:
				counted = counted || mentionsText(x.cond, types.ExprString(n.X))
			case *ast.AssignStmt:
				if n.Tok == token.DEFINE {
					return true
				}
				for i, y := range n.Lhs {
					if name := types.ExprString(y); name != "_" && !isError(name) && mentionsText(x.cond, name) {
						constant := isLiteral(n.Rhs[min(i, len(n.Rhs)-1)])
						reset = reset || constant
						kept = kept || !constant && n.Tok == token.ASSIGN && n.Pos() > x.cond.Pos()
					}
				}
			}
			return true
		})
		return kept || counted && reset
	})
}

// keepsRate tells of a pause that it waits for a ticker which is not made in the same function: that is a rate, which others
// may share.
func keepsRate(c *code, at stack.Frame) (keeps bool) {
	s, fn := c.parse(at.File), c.scopeAt(at)
	s.onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		u, ok := n.(*ast.UnaryExpr)
		if !ok || u.Op != token.ARROW {
			return
		}
		if _, call := ast.Unparen(u.X).(*ast.CallExpr); !call {
			keeps = keeps || fn == nil || !makesHere(fn.body, rootName(u.X))
		}
	})
	return keeps
}

// makesHere tells of a variable that a body declares it.
func makesHere(body *ast.BlockStmt, name string) bool {
	return hasNode(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			return n.Tok == token.DEFINE && slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return isNamed(x, name) })
		case *ast.ValueSpec:
			return isAmong(n.Names, name)
		}
		return false
	})
}

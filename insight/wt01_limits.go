package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/sched"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Calls of peers that end because their time limit does: no answer has come by then.

// limitAdvice is what to do about them.
const limitAdvice = "The peer is down, or slower than the time limit: find out which. Do not let each request find that out again: remember that it does not answer (a circuit breaker, a health check) and skip it for a while, or ask another one at the same time and take the first answer. A shorter limit only makes each wait shorter."

// tailAdvice is what to do about them where most calls are answered.
const tailAdvice = "Most calls are answered within the time limit: find out what makes the others slow at the peer. A second call, to another instance, after the usual time of an answer (a hedged request) shortens the wait; if an old or a default value will do instead, this is what the limit is there for. A circuit breaker would refuse the calls that are answered, too."

// mostInTime tells of calls that a time limit may end whether most of them are answered before.
func mostInTime(late, made int64) bool { return made > 2*late }

// handlesLimit finds where the function of a call, or one on the way to it, looks whether a time
// limit has ended it and goes on without an error: then it may be meant to end so.
func handlesLimit(c *code, frames []stack.Frame) (found Evidence, ok bool) {
	for _, f := range frames {
		fn, s := c.scopeAt(f), c.parse(f.File)
		if fn == nil {
			continue
		}
		ast.Inspect(fn.body, func(n ast.Node) bool {
			branch, is := n.(*ast.IfStmt)
			if !is || ok || !asksForLimit(branch.Cond) || failsIn(branch.Body) {
				return !ok
			}
			line, _ := s.lines(branch)
			found, ok = c.shownAt(f.File, line, "the source goes on here when the time limit has ended a call"), true
			return false
		})
		if ok {
			break
		}
	}
	return found, ok
}

// asksForLimit tells of a condition that it asks for the error of a time limit.
func asksForLimit(cond ast.Expr) bool {
	text := types.ExprString(cond)
	return !strings.Contains(text, "!") && (strings.Contains(text, "DeadlineExceeded") || strings.Contains(text, ".Timeout()") || strings.Contains(text, "os.IsTimeout("))
}

// failsIn tells whether statements return an error, or end the program.
func failsIn(body *ast.BlockStmt) (fails bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			last := ""
			if len(n.Results) > 0 {
				last = types.ExprString(n.Results[len(n.Results)-1])
			}
			fails = fails || strings.Contains(strings.ToLower(last), "err")
		case *ast.CallExpr:
			name := types.ExprString(n.Fun)
			fails = fails || neverReturns(name) || name == "http.Error"
		}
		return !fails
	})
	return fails
}

// limited says of waits that a time limit has ended how many calls these are, of how many.
func (w *waiting) limited(t *traced) string {
	made := madeCalls(t, w)
	if made < w.count {
		return fmt.Sprintf("; %s got no answer in time", unit.Plural(w.count, "call"))
	}
	return fmt.Sprintf("; %s of %s got no answer in time", unit.Count(w.count), unit.Plural(made, "call"))
}

// madeCalls is how many calls there are among which waits are that a time limit has ended; 0 where that
// is not known.
func madeCalls(t *traced, w *waiting) (made int64) {
	for _, o := range outwards(w.group) {
		if o.kind == "network" && o.path[0] == w.site.Frame {
			made += o.calls
		}
	}
	for _, b := range t.Blocks {
		if t.Site(b.Stack) == w.site.Frame && !t.through(b.Stack, roundTrip) && t.unanswered(b) > 0 {
			made = 0 // others have not even been sent, and do not count as calls
		}
	}
	return made
}

// cancelled is how many waits for an answer the program itself has ended with their context, and
// from where most often: its limit had not come.
func cancelled(t *traced, b *sched.Block) (n int64, most stack.ID) {
	top := int64(0)
	for _, w := range b.Wakers {
		if w.Stack == 0 || !t.cancels(w.Stack) || !slices.ContainsFunc(t.Frames(w.Stack), func(f stack.Frame) bool { return t.Scope.Origin(f.Func) == stack.User }) {
			continue
		}
		if n += w.Count; w.Count > top {
			top, most = w.Count, w.Stack
		}
	}
	return n, most
}

// unanswered is how many waits for an answer ended by a timer or with a context.
func (t *traced) unanswered(b *sched.Block) (n int64) {
	for _, w := range b.Wakers {
		if w.Stack == 0 || t.cancels(w.Stack) {
			n += w.Count
		}
	}
	return n
}

// cancels tells whether a stack is of who ends a context.
func (t *traced) cancels(id stack.ID) bool { return t.through(id, "context.(*cancelCtx).cancel") }

// tellLimit adds to a finding where the source sets the time limit of calls with a stack.
func tellLimit(f *Finding, c *code, frames []stack.Frame) {
	if at, ok := limitAround(c, frames); ok {
		f.Evidence = append(f.Evidence, at)
		f.Advice += fmt.Sprintf(" The source sets the limit at %s:%d.", baseName(at.File), at.Line)
	}
}

// contextLimits are the functions that set a time limit for what is done with a context.
var contextLimits = []string{"context.WithTimeout", "context.WithTimeoutCause", "context.WithDeadline", "context.WithDeadlineCause"}

// limitAround finds the line that sets a time limit, in the functions on the way to a call, the
// nearest first; else the only one of a client of net/http.
func limitAround(c *code, frames []stack.Frame) (found Evidence, ok bool) {
	for _, f := range frames {
		fn := c.scopeAt(f)
		if fn == nil {
			continue
		}
		line, name, s := 0, "", c.parse(f.File)
		ast.Inspect(fn.body, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is && slices.Contains(contextLimits, types.ExprString(call.Fun)) {
				if first, _ := s.lines(call); first <= f.Line {
					line, name = first, types.ExprString(call.Fun)
				}
			}
			return true
		})
		if line > 0 {
			return c.shownAt(f.File, line, "the source sets a time limit here (%s)", name), true
		}
	}
	n, clients := 0, 0
	c.eachSource(func(file string, s *syntax) {
		ast.Inspect(s.file, func(node ast.Node) bool {
			lit, is := node.(*ast.CompositeLit)
			if !is || lit.Type == nil {
				return true
			}
			of := types.ExprString(lit.Type)
			if of == "http.Client" {
				clients++
			}
			for _, e := range lit.Elts {
				kv, is := e.(*ast.KeyValueExpr)
				if !is {
					continue
				}
				if name := of + "." + types.ExprString(kv.Key); name == "http.Client.Timeout" || name == "http.Transport.ResponseHeaderTimeout" {
					line, _ := s.lines(kv)
					found, n = c.shownAt(file, line, "the source sets a time limit here (%s)", name), n+1
				}
			}
			return true
		})
	})
	return found, n == 1 && clients <= 1 // of several it is not known which one calls
}

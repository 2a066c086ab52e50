package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"time"

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

// ofLimit tells of a frame of who ends a context that its time limit does, ofClient that whoever has
// sent the request which it belongs to has closed the connection.
func ofLimit(f stack.Frame) bool {
	return strings.HasPrefix(f.Func, "context.WithDeadline") || strings.HasPrefix(f.Func, "net/http.setRequestCancel") || strings.HasPrefix(f.Func, "time.")
}

func ofClient(f stack.Frame) bool { return strings.HasPrefix(f.Func, "net/http.(*connReader).") }

// cancelled is how many waits for an answer the program itself, or a library for it such as errgroup,
// has ended with their context, and from where most often: its limit had not come.
func cancelled(t *traced, b *sched.Block) (n int64, most stack.ID) {
	top := int64(0)
	for _, w := range b.Wakers {
		if w.Stack == 0 || !t.cancels(w.Stack) || slices.ContainsFunc(t.Frames(w.Stack), func(f stack.Frame) bool { return ofLimit(f) || ofClient(f) }) {
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

// untilLost is how long waits for an answer took, on average, that ended by a timer or with a context.
func untilLost(t *traced, b *sched.Block) time.Duration {
	n, sum := int64(0), time.Duration(0)
	for _, w := range b.Wakers {
		if w.Stack == 0 || t.cancels(w.Stack) {
			n, sum = n+w.Count, sum+w.Time
		}
	}
	return sum / time.Duration(max(1, n))
}

// endedByClients is how many waits for an answer ended with the context of a request that the program was
// serving, as its client had closed the connection.
func endedByClients(t *traced, b *sched.Block) (n int64) {
	for _, w := range b.Wakers {
		if w.Stack != 0 && t.cancels(w.Stack) && slices.ContainsFunc(t.Frames(w.Stack), ofClient) {
			n += w.Count
		}
	}
	return n
}

// cancels tells whether a stack is of who ends a context.
func (t *traced) cancels(id stack.ID) bool { return t.through(id, "context.(*cancelCtx).cancel") }

// tellTimeLimit says of a finding what is to be done about calls of peers that a time limit has ended.
func tellTimeLimit(in *Input, t *traced, w *waiting, reason string, f *Finding) {
	if reason != "time_limit" || w.limit != nil {
		return
	}
	if mostInTime(w.count, madeCalls(t, w)) {
		f.Advice = tailAdvice
	}
	tellLimit(f, in.code, w.calledFrames(t), w.time/time.Duration(max(1, w.count)), w.group.All.Wall/unitCount(w.group))
}

// tellLimit adds to a finding where the source sets the time limit of calls with a stack, which
// have taken so long on average when it ended them, in units that take so long as a whole.
func tellLimit(f *Finding, c *code, frames []stack.Frame, took, whole time.Duration) {
	if at, ok := limitAround(c, frames, took, whole); ok {
		f.Evidence = append(f.Evidence, at)
		f.Advice += fmt.Sprintf(" The source sets the limit at %s:%d.", baseName(at.File), at.Line)
	}
}

// contextLimits are the functions that set a time limit for what is done with a context.
var contextLimits = []string{"context.WithTimeout", "context.WithTimeoutCause", "context.WithDeadline", "context.WithDeadlineCause"}

// timeLimit is one that the source sets on the way to a call; its length is 0 where that is not
// known.
type timeLimit struct {
	Evidence
	length time.Duration
}

// Parts of a wait, and of a unit, between which the limit lies that has ended it: chosen. On a busy
// machine a wait is seen to end late; several calls may share a limit.
const (
	limitLeast = 0.5
	limitMost  = 1.5
	limitWhole = 1.2
)

// fits tells whether the limit may have ended waits that took so long in units of such a length;
// near that it is about as long.
func (l timeLimit) fits(took, whole time.Duration) (fits, near bool) {
	d := float64(l.length)
	near = d >= limitLeast*float64(took) && d <= limitMost*float64(took)
	return near || d >= limitLeast*float64(took) && d <= limitWhole*float64(whole), near
}

// limitAround finds the line that sets the time limit which ended calls: of those in the functions
// on the way to the call, and of the only client of net/http, the shortest that fits what was
// measured. Where none of a known length does, it is the only one of unknown length.
func limitAround(c *code, frames []stack.Frame, took, whole time.Duration) (found Evidence, ok bool) {
	all := contextsAround(c, frames)
	if l, ok := clientLimit(c); ok {
		all = append(all, l)
	}
	slices.SortStableFunc(all, func(a, b timeLimit) int { return int(min(max(a.length-b.length, -1), 1)) })
	unknown := slices.IndexFunc(all, func(l timeLimit) bool { return l.length > 0 })
	if unknown < 0 {
		unknown = len(all)
	}
	for _, l := range all[unknown:] {
		if fits, near := l.fits(took, whole); near || fits && unknown == 0 {
			return l.Evidence, true
		}
	}
	if unknown != 1 {
		return found, false
	}
	return all[0].Evidence, true
}

// contextsAround are the limits that functions on the way to a call set for its context.
func contextsAround(c *code, frames []stack.Frame) (all []timeLimit) {
	for _, f := range frames {
		fn := c.scopeAt(f)
		if fn == nil {
			continue
		}
		var last *ast.CallExpr
		s := c.parse(f.File)
		ast.Inspect(fn.body, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is && slices.Contains(contextLimits, types.ExprString(call.Fun)) && len(call.Args) > 1 {
				if first, _ := s.lines(call); first <= f.Line {
					last = call
				}
			}
			return true
		})
		if last != nil {
			line, _ := s.lines(last)
			all = append(all, timeLimit{c.shownAt(f.File, line, "the source sets a time limit here (%s)", types.ExprString(last.Fun)), lengthOf(s, last.Args[1])})
		}
	}
	return all
}

// lengthOf is the length of a time limit: a duration, or the time from now on; 0 where the source
// does not tell.
func lengthOf(s *syntax, x ast.Expr) time.Duration {
	switch x := x.(type) {
	case *ast.CallExpr: // time.Now().Add(d)
		if len(x.Args) == 1 && types.ExprString(x.Fun) == "time.Now().Add" {
			return lengthOf(s, x.Args[0])
		}
	case *ast.Ident:
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				if i := slices.IndexFunc(v.Names, func(id *ast.Ident) bool { return id.Name == x.Name }); i >= 0 && i < len(v.Values) {
					return durationOf(v.Values[i])
				}
			}
		}
	}
	return durationOf(x)
}

// clientLimit is the one that the source sets for a client of net/http.
func clientLimit(c *code) (found timeLimit, ok bool) {
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
					found, n = timeLimit{c.shownAt(file, line, "the source sets a time limit here (%s)", name), lengthOf(s, kv.Value)}, n+1
				}
			}
			return true
		})
	})
	return found, n == 1 && clients <= 1 // of several it is not known which one calls
}

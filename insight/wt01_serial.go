package insight

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"time"

	"loupe/value/stack"
	"loupe/value/unit"
)

// Connections to different addresses, made one after another: they cannot be reused, but made at the same time.

// serialAddress tells of the stack of a wait for a connection that its address comes from the item of a loop, and which that is.
// An item that an earlier turn has given is none, as are turns that need what an earlier one has given.
func serialAddress(c *code, t *traced, id stack.ID) (loop string, ok bool) {
	frames := t.Frames(id)
	var own []stack.Frame // the outermost first
	for _, f := range slices.Backward(frames) {
		if t.Scope.IsUser(f) {
			own = append(own, f)
		}
	}
	if len(own) == 0 {
		return "", false
	}
	path := slices.Clone(own)
	slices.Reverse(path)
	if _, chained := chainedAround(c, path, innerOf(frames, path)); chained {
		return "", false
	}
	taint := &itemTaint{c: c, names: map[string]bool{}}
	for i, f := range own {
		if i > 0 {
			taint.inwards(own[i-1], f)
		}
		if loop == "" {
			if at, found := taint.begin(f); found {
				loop = fileLine(f.File, at)
			}
		}
		for fn := c.scopeAt(f); fn != nil; fn = fn.outer {
			taint.spread(fn.body)
		}
	}
	last := own[len(own)-1]
	for _, call := range (sourceHolders{c}).lineCalls(last) {
		if i := addressPlace(call); i >= 0 && taint.of(call.Args[i]) {
			return loop, loop != ""
		}
	}
	return "", false
}

// addressPlace is the place of the address among the arguments of a call that dials, behind the network; -1 for any other call.
func addressPlace(call *ast.CallExpr) int {
	if !strings.Contains(calledName(call), "Dial") {
		return -1
	}
	i := slices.IndexFunc(call.Args, func(x ast.Expr) bool {
		return isText(x, "tcp") || isText(x, "tcp4") || isText(x, "tcp6") || isText(x, "unix")
	}) + 1
	if i == 0 {
		i = map[string]int{"Dial": 1, "DialTimeout": 1, "DialContext": 2, "DialWithDialer": 2}[calledName(call)]
	}
	if i >= len(call.Args) {
		return -1
	}
	return i
}

// endedByLimit is how many waits for a connection a context has ended, and how long these took.
func endedByLimit(t *traced, at stack.Frame) (n int64, took time.Duration) {
	for _, b := range t.Blocks {
		if t.Site(b.Stack) != at {
			continue
		}
		for _, w := range b.Wakers {
			if w.Stack != 0 && slices.ContainsFunc(t.Frames(w.Stack), func(f stack.Frame) bool {
				return strings.HasPrefix(f.Func, "crypto/tls.(*Conn).handshakeContext.func") || strings.HasPrefix(f.Func, "net.(*netFD).connect.func") || ofLimit(f)
			}) {
				n, took = n+w.Count, took+w.Time
			}
		}
	}
	return n, took
}

// tellSerial says of waits for connections that each goes to another address: where one goroutine makes them one after
// another, they can be made at the same time; where others make them, more at a time. To reuse them is not possible.
func tellSerial(in *Input, t *traced, w *waiting, reason string, many, asks bool, f *Finding) {
	if asks || reason != "tls" && reason != "dial" || w.queues() {
		return
	}
	stacks := []stack.ID{w.site.Stack}
	itself := w.outside()
	for _, row := range w.rows {
		if id := row.Site.Stack; itself {
			stacks = append(stacks, id)
		}
	}
	if !itself {
		stacks = nil
		for _, row := range w.causes {
			stacks = append(stacks, row.Cause.Site.Stack)
		}
	}
	loop, ok := "", false
	for _, id := range stacks {
		if loop, ok = serialAddress(in.code, t, id); ok {
			break
		}
	}
	if !ok {
		return
	}
	const limit = "and give each a time limit that suits a peer that is up"
	if !itself {
		f.Advice = "By the source, each of these connections goes to another address (the item of the loop at " + loop + "): they cannot be reused. Let more of them be made at once, as far as the peers can handle that; " + limit + "."
		return
	}
	if !many {
		return
	}
	f.Title = "Connections to different addresses are made one after another"
	calls := w.calls()
	f.Summary += fmt.Sprintf("; by the source each goes to another address, that of an item of the loop at %s: %s, one after another in one goroutine", loop, plurals(calls, "connection"))
	if n, took := endedByLimit(t, w.site.Frame); n > 0 && n <= w.count {
		f.Summary += fmt.Sprintf("; %s ended by a time limit without an answer, %s of the time of all", unit.Plural(n, "wait"), unit.Percent(min(1, float64(took)/float64(max(1, w.time)))))
	}
	f.Advice = "Make them concurrently, with a limit (errgroup with SetLimit, or a few workers that receive the items of the loop at " + loop + "), so that one that does not answer holds up no other; " + limit + ". They cannot be reused, as each goes to another address, and no turn needs what an earlier one has given."
}

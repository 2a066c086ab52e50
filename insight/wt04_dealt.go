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

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// Work that is dealt to workers in turn, each with a channel of its own: it waits behind what takes long there while others
// have nothing to do.

// Chosen: see [narrow.dealt].
const (
	// dealtLost is the part of the time in a queue, at least, in which another worker could have begun.
	dealtLost = 0.25
	// dealtOwn is the part of the waits that the workers end, at least: who waits for others as well says nothing of them.
	dealtOwn = 0.9
	// dealtChanges bounds what is kept of a trace.
	dealtChanges = 1 << 21
)

// dealt are workers of which some have nothing to do while work waits for others.
type dealt struct {
	crew
	idle  float64     // of them, on average, while work waits for another
	lost  float64     // the part of the waiting in queues in which one of them was idle
	at    stack.Frame // the line that hands over work to them, by the trace
	stack stack.ID    // of it
	turns bool        // the source picks the channel there from several, by a count or by chance
	key   affinity    // by which the source picks it; how is empty where it does not
}

// dealt finds out whether work waits for a worker while others of its kind wait to receive some. Of those who wait for their work at least as
// many wait in a queue as there are more of them than busy workers; on one channel an idle worker would have taken it.
func (q *narrow) dealt(in *Input, t *traced) (d dealt, ok bool) {
	if !q.gate.Workers || q.gate.Kind.Key() != "channel" || q.gate.Frees.Frame.Func == "" {
		return d, false
	}
	root := userRoot(t, q.gate.Frees.Stack)
	if root == "" || !q.servedOnlyBy(t, root) {
		return d, false
	}
	if d.crew, ok = crewOf(t, q.gate.Frees.Stack); !ok || d.name != root {
		d.crew = crew{name: root}
		_, d.members = gangRan(t, root)
	}
	idleAt := stack.Frame{}
	if idleAt, d.at, d.stack = handedOver(t, root); d.at.Func == "" || d.members < 2 {
		return d, false
	}
	waits, idles, ok := queueChanges(in, t, q, root, idleAt)
	if !ok {
		return d, false
	}
	if d.idle, d.lost = lostTurns(waits, idles, int(d.members)); d.lost < dealtLost || d.idle < 1 {
		return d, false
	}
	frames := t.Frames(d.stack)
	d.key, _ = affinityAt(in.code, d.at, frames)
	d.turns = picksChannel(in.code, d.at, frames) && picksByTurn(in.code, d.at, frames)
	return d, true
}

// servedOnlyBy tells whether nearly all waits at the gates are ended by goroutines that begin with a function.
func (q *narrow) servedOnlyBy(t *traced, root string) bool {
	own, all := time.Duration(0), time.Duration(0)
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool { return q.isAt(t.Site(b.Stack)) }) {
		for _, by := range b.Wakers {
			if all += by.Time; by.Stack != 0 && userRoot(t, by.Stack) == root {
				own += by.Time
			}
		}
	}
	return all > 0 && float64(own) >= dealtOwn*float64(all)
}

// isAt tells of a line that the units wait for the workers there.
func (q *narrow) isAt(site stack.Frame) bool {
	return slices.ContainsFunc(q.gates(), func(g *facts.UnitGate) bool { return g.Site.Frame == site })
}

// takesWork are the reasons of a wait for something from a channel.
var takesWork = []exectrace.NameID{exectrace.NameChanReceive, exectrace.NameSelect}

// handedOver is the line at which goroutines that begin with a function wait for work, and the one from which they mostly get it: that of the
// wait which is the nearest to the beginning of their stacks.
func handedOver(t *traced, root string) (idle, at stack.Frame, from stack.ID) {
	depth, most := 0, int64(0)
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool { return slices.Contains(takesWork, b.Reason) && userRoot(t, b.Stack) == root }) {
		deep := 0
		for _, f := range t.Frames(b.Stack) {
			if t.Scope.IsUser(f) {
				deep++
			}
		}
		for _, by := range b.Wakers {
			sends := by.Stack != 0 && (t.through(by.Stack, "runtime.chansend1") || t.through(by.Stack, "runtime.selectgo")) && userRoot(t, by.Stack) != root
			if sends && (depth == 0 || deep < depth || deep == depth && by.Count > most) {
				depth, most = deep, by.Count
				idle, at, from = t.Site(b.Stack), t.Site(by.Stack), by.Stack
			}
		}
	}
	return idle, at, from
}

// waitChange is a moment at which one more, or one less, waits.
type waitChange struct {
	at timeline.Time
	by int
}

// queueChanges reads the trace for when units wait at a gate, and when workers wait for something to do.
func queueChanges(in *Input, t *traced, q *narrow, root string, idleAt stack.Frame) (waits, idles []waitChange, ok bool) {
	trace, _, err := in.Session.Trace()
	if err != nil {
		return nil, nil, false
	}
	const neither, queued, idle = 1, 2, 3
	kinds := map[stack.ID]int{}
	_, err = sched.Analyze(trace, sched.AnalyzeOptions{Each: func(r *exectrace.Reader, i *sched.Interval) {
		if i.State != exectrace.Waiting || i.Stack == 0 || len(waits)+len(idles) > dealtChanges {
			return
		}
		kind := kinds[i.Stack]
		if kind == 0 {
			frames := facts.Frames(r.Stacks(), i.Stack)
			site := facts.SiteOf(t.Scope, frames)
			last := slices.IndexFunc(frames, func(f stack.Frame) bool { return f.Func == root })
			switch kind = neither; {
			case q.isAt(site):
				kind = queued
			case site == idleAt && last >= 0:
				kind = idle
			}
			kinds[i.Stack] = kind
		}
		switch {
		case kind == queued:
			waits = append(waits, waitChange{i.Start, 1}, waitChange{i.End, -1})
		case kind == idle && slices.Contains(takesWork, i.Reason):
			idles = append(idles, waitChange{i.Start, 1}, waitChange{i.End, -1})
		}
	}})
	return waits, idles, err == nil && len(waits)+len(idles) <= dealtChanges && len(waits) > 0 && len(idles) > 0
}

// lostTurns is how many workers are idle on average while work waits in a queue, and the part of the time of that waiting in which an idle one
// could have done it.
func lostTurns(waits, idles []waitChange, members int) (idle, lost float64) {
	before := func(a, b waitChange) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) }
	slices.SortFunc(waits, before)
	slices.SortFunc(idles, before)
	waiting, free, last := 0, 0, timeline.Time(0)
	var queued, taken, idled, passed float64
	for len(waits) > 0 || len(idles) > 0 {
		next, count := &waits, &waiting
		if len(waits) == 0 || len(idles) > 0 && idles[0].at < waits[0].at {
			next, count = &idles, &free
		}
		c := (*next)[0]
		if in := waiting - (members - free); in > 0 && last > 0 {
			d := float64(c.at - last)
			queued, taken = queued+d*float64(in), taken+d*float64(min(in, free))
			idled, passed = idled+d*float64(free), passed+d
		}
		*next, last = (*next)[1:], c.at
		*count += c.by
	}
	if passed == 0 {
		return 0, 0
	}
	return idled / passed, taken / queued
}

// picksChannel tells of a line that sends whether the channel is one of several that the source picks there, or in a function on the way to it.
func picksChannel(c *code, at stack.Frame, frames []stack.Frame) (picks bool) {
	fn, s := c.scopeAt(at), c.parse(at.File)
	if fn == nil {
		return false
	}
	way := []stack.Frame{at}
	if i := slices.Index(frames, at); i >= 0 {
		way = frames[i:]
	}
	s.onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		if send, ok := n.(*ast.SendStmt); ok {
			picks = picks || pickedIn(c, fn, send.Chan, way, maxHandedDown)
		}
	})
	return picks
}

// pickedIn tells of an expression that it is a part of an element of a list, or of one of those a loop goes through; what a function is given,
// or is called on, is looked at where it is called.
func pickedIn(c *code, fn *scope, x ast.Expr, way []stack.Frame, depth int) bool {
	if hasNode(x, func(n ast.Node) bool { _, ok := n.(*ast.IndexExpr); return ok }) {
		return true
	}
	root := rootName(x)
	if call, ok := x.(*ast.CallExpr); ok {
		return returnsPicked(c, way[0], call)
	}
	if made := fn.made(root); made != nil && !mentions(made, root) {
		return pickedIn(c, fn, made, way, depth)
	}
	if rangesOver(fn.body, root) {
		return true
	}
	i := fn.parameter(root)
	if depth == 0 || len(way) < 2 || fn.name == "" || i < 0 && root != fn.receiver || root == "" {
		return false
	}
	caller := c.scopeAt(way[1])
	if caller == nil {
		return false
	}
	return slices.ContainsFunc(c.lineCalls(way[1]), func(call *ast.CallExpr) bool {
		sel, method := call.Fun.(*ast.SelectorExpr)
		switch {
		case calledName(call) != fn.name:
			return false
		case root == fn.receiver:
			return method && pickedIn(c, caller, sel.X, way[1:], depth-1)
		}
		return i < len(call.Args) && pickedIn(c, caller, call.Args[i], way[1:], depth-1)
	})
}

// returnsPicked tells of a call that a function of the sources returns an element of a list.
func returnsPicked(c *code, at stack.Frame, call *ast.CallExpr) bool {
	all := methodsOf(c, c.function(at), call.Fun)
	return len(all) == 1 && hasNode(all[0].Body, func(n ast.Node) bool {
		r, ok := n.(*ast.ReturnStmt)
		return ok && slices.ContainsFunc(r.Results, func(x ast.Expr) bool {
			in := scopeOf(all[0].FuncDecl)
			return pickedIn(c, in, x, []stack.Frame{at}, 0)
		})
	})
}

// picksByTurn tells of a line that sends that the channel is picked by a count or by chance, in the function of the line, in what that calls there, or
// in its callers on the way: then no job belongs to a certain worker.
func picksByTurn(c *code, at stack.Frame, frames []stack.Frame) bool {
	way := []stack.Frame{at}
	if i := slices.Index(frames, at); i >= 0 {
		way = frames[i:]
	}
	for _, f := range way[:min(len(way), maxHandedDown+1)] {
		fn := c.scopeAt(f)
		if fn == nil {
			return false
		}
		if indexesByCount(fn.body) || slices.ContainsFunc(c.lineCalls(f), func(call *ast.CallExpr) bool {
			all := methodsOf(c, c.function(f), call.Fun)
			return len(all) == 1 && all[0].Body != nil && indexesByCount(all[0].Body)
		}) {
			return true
		}
	}
	return false
}

// indexesByCount tells of a body that an element is taken from a list by a number that it counts up, or draws.
func indexesByCount(body *ast.BlockStmt) bool {
	counted := map[string]bool{}
	counts := func(x ast.Expr) bool {
		return hasNode(x, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			return ok && (calledName(call) == "Add" && len(call.Args) == 1 || strings.HasPrefix(types.ExprString(call.Fun), "rand.") || strings.HasPrefix(types.ExprString(call.Fun), "atomic.Add"))
		})
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			counted[types.ExprString(n.X)] = true
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				y, text := n.Rhs[min(i, len(n.Rhs)-1)], types.ExprString(x)
				if n.Tok == token.ADD_ASSIGN || n.Tok == token.ASSIGN && mentionsText(y, text) || counts(y) {
					counted[text] = true
				}
			}
		}
		return true
	})
	for grown := true; grown; { // i := n % len(list)
		grown = false
		ast.Inspect(body, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.DEFINE && len(a.Lhs) == 1 && len(a.Rhs) == 1 && !counted[types.ExprString(a.Lhs[0])] {
				for text := range counted {
					if mentionsText(a.Rhs[0], text) {
						counted[types.ExprString(a.Lhs[0])], grown = true, true
						return true
					}
				}
			}
			return true
		})
	}
	return hasNode(body, func(n ast.Node) bool {
		x, ok := n.(*ast.IndexExpr)
		if !ok {
			return false
		}
		for text := range counted {
			if mentionsText(x.Index, text) {
				return true
			}
		}
		return counts(x.Index)
	})
}

// says is the clause for it.
func (d *dealt) says() string {
	return fmt.Sprintf("%s of the %d goroutines that run %s are idle on average while requests wait for others of them, and an idle one could have begun for %s of that waiting", unit.Number(d.idle), d.members, stack.Short(d.name), unit.Percent(d.lost))
}

// dealtAdvice is what to do about it.
const dealtAdvice = "Let all workers receive from one channel, so that whoever is free takes the next, instead of dealing each job to a certain one (round robin): a job that takes long holds up only its own worker then. Or let idle workers take from the others' queues (work stealing), or deal to the shortest queue. More workers only make it rarer that a job is dealt to a busy one."

// tell says it in a finding about those who wait for the workers. The line that deals comes first.
func (d *dealt) tell(t *traced, f *Finding) {
	f.Summary = strings.Replace(f.Summary, fmt.Sprintf("; %s serve all of them", unit.Plural(d.members, "goroutine")), "", 1) + "; " + d.says()
	shown := t.seen(d.stack, "work is handed to the workers here")
	title := f.Title
	switch {
	case d.key.how != "":
		f.Advice, f.Severity = d.key.advice(), Info
		f.Evidence = slices.Insert(f.Evidence, 0, d.key.Evidence)
		if f.Rule != "WT01" {
			f.Title = "Requests queue for the worker that their key belongs to"
		}
		return
	case d.turns:
		shown.Text = stack.Short(d.at.Func) + ": each job is dealt to one of the workers here, whether it is idle or not"
		f.Advice = dealtAdvice
		f.Title = "Requests queue for one worker while others are idle"
	default:
		f.Severity = Info
		f.Doubts = append(f.Doubts, "the source does not show that a job is dealt by turns or by chance: if it belongs to its worker, by a key, an order, a lane of its own or what the worker has warm, it has to wait for that one")
		f.Advice = "Find out why those who wait here are not served by the workers that have nothing to do. If each has a channel of its own, and no job belongs to a certain one, let all of them receive from one, so that whoever is free takes the next."
		f.Title = "Requests queue for some workers while others are idle"
	}
	if f.Rule == "WT01" {
		f.Title = title // whose is of all waits
	}
	f.Evidence = slices.Insert(f.Evidence, 0, shown)
	f.Verify = "Record again under the same load: this wait should shrink, and no worker be idle while it lasts."
	f.Doubts = append(f.Doubts, pushedDoubt)
}

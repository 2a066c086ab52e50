package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/unit"
)

// A loop that polls loses a part of the last pause each time: what it waits for was ready before. The
// pauses before that one are no loss, since there was nothing yet. The longer they grow, the longer is the last one.

// cadence is how such a loop polled, as the trace has it.
type cadence struct {
	pauses int64         // that ended
	series int64         // of pauses, each of which ended when the loop did
	all    time.Duration // of the pauses of these series
	last   time.Duration // of the last one of each
	first  time.Duration // the shortest of all
	most   time.Duration // the longest
	before time.Duration // the pause before the last one, of a series that goes on
	began  time.Duration // the first ones of each series together
	longer int           // pauses that were longer than the one before in their series, by more than chance
	less   int           // those that were shorter
}

// Chosen: a pause is longer than the one before, and not by chance, from growsBy times on; and pauses grow from the shortest to
// the longest of them by grownTimes at least.
const (
	growsBy    = 1.25
	grownTimes = 2
)

// rises tells of pauses of which the source does not say how long they are that they grow, by the trace: the longest is twice the
// shortest or more, and within the series they become longer, and hardly ever shorter, as those of chance do.
func (k *cadence) rises() bool {
	return k.most >= grownTimes*k.first && k.last >= grownTimes*k.began && int64(k.longer) >= k.series && 5*k.less <= k.longer
}

// pollsWith finds, of the frames of a pause, the loop of the source that polls with it: it ends with what it learns in a turn,
// and not with its items or its time. grows tells that its pause is not the same in each turn.
func pollsWith(c *code, frames []stack.Frame, isUser func(stack.Frame) bool) (at stack.Frame, l loop, grows, ok bool) {
	for _, f := range frames {
		if !isUser(f) {
			continue
		}
		loops := loopsAround(c, f)
		if len(loops) == 0 {
			continue
		}
		l := loops[len(loops)-1]
		line := selectsTimer(l, f.Line)
		return f, l, growsIn(l, line), (line != f.Line || pausesOn(c, f)) && learns(c, l)
	}
	return at, l, false, false
}

// selectsTimer is the line of the clause of a select on a line that a timer ends; the line itself where there is none.
func selectsTimer(l loop, line int) int {
	timer := line
	l.source.onLine(line, func(n ast.Node, _ []ast.Node) {
		s, ok := n.(*ast.SelectStmt)
		if !ok {
			return
		}
		for _, x := range s.Body.List {
			comm := x.(*ast.CommClause).Comm
			if comm != nil && receivesTime(comm) {
				timer, _ = l.source.lines(comm)
			}
		}
	})
	return timer
}

// learns tells whether what a loop meets in a turn ends it, other than an error or the end of a context.
func learns(c *code, l loop) bool {
	n, ok := l.stmt.(*ast.ForStmt)
	if !ok || clockEnds(c, l, n.Cond) {
		return false
	}
	tells := func(x ast.Expr) bool {
		return x != nil && !errorCheck(x) && !clockEnds(c, l, x) && !hasNode(x, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			return ok && slices.Contains([]string{"Err", "Is"}, calledName(call))
		})
	}
	if n.Cond != nil && n.Post == nil && tells(n.Cond) {
		return true
	}
	return slices.ContainsFunc(exits(l.body.List), func(x exit) bool { return tells(x.cond) })
}

// growsIn tells whether something that the line of a pause names is changed in the loop: then it is not the same in each turn.
func growsIn(l loop, line int) (found bool) {
	named := map[string]bool{}
	l.source.onLine(line, func(n ast.Node, _ []ast.Node) {
		if id, ok := n.(*ast.Ident); ok {
			named[id.Name] = true
		}
	})
	eachInTurn(l.body, func(n ast.Node) {
		if n == nil {
			return
		}
		first, _ := l.source.lines(n)
		if first == line {
			return
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				id, ok := x.(*ast.Ident)
				found = found || ok && n.Tok != token.DEFINE && named[id.Name] || ok && n.Tok == token.DEFINE && named[id.Name] && strings.Contains(strings.ToLower(id.Name), "wait")
			}
		case *ast.IncDecStmt:
			id, ok := n.X.(*ast.Ident)
			found = found || ok && named[id.Name]
		}
	})
	return found
}

// cadenceIn reads the trace for how often the loop around a pause ended; nil where that is not seen. Where anew tells that the
// pauses of one series only grow, a short one after a longer one begins another series: the function has returned, and has
// been called again.
func cadenceIn(in *Input, at stack.Frame, l loop, anew bool) *cadence {
	trace, _, err := in.Session.Trace()
	if err != nil {
		return nil
	}
	first, last := l.source.lines(l.stmt)
	kinds := map[stack.ID]vainStay{}
	k, running := &cadence{}, map[exectrace.GoID]*cadence{}
	_, err = sched.Analyze(trace, sched.AnalyzeOptions{Each: func(r *exectrace.Reader, i *sched.Interval) {
		if i.State != exectrace.Waiting && i.State != exectrace.Syscall || i.Stack == 0 {
			return
		}
		kind, known := kinds[i.Stack]
		if !known {
			kind, _ = vainKind(facts.Frames(r.Stacks(), i.Stack), at, first, last)
			kinds[i.Stack] = kind
		}
		switch {
		case kind == vainPause:
			k.pauses++
			x := running[i.G]
			if x != nil && anew && x.begins(i.End.Sub(i.Start)) {
				k.ended(x)
				*x = cadence{}
			}
			if x != nil {
				x.add(i.End.Sub(i.Start))
			} else if len(running) < vainOpen {
				running[i.G] = &cadence{}
				running[i.G].add(i.End.Sub(i.Start))
			}
		case kind == vainBeyond && running[i.G] != nil:
			k.ended(running[i.G])
			delete(running, i.G)
		}
	}})
	if err != nil || k.series == 0 || k.pauses < k.series {
		return nil
	}
	return k
}

// countedSeries takes the number of series from the run that counts, where the function of the loop is called again at once: a pause
// belongs to a call as a turn does. It is false where that was not counted.
func (k *cadence) countedSeries(c *code, at stack.Frame, l loop) bool {
	counts := blockCountsOf(c)
	if counts == nil {
		return false
	}
	fn, loops, ok := counts.loopsAt(at)
	if !ok || len(loops) != 1 { // more, and it is not the calls that the pauses belong to
		return false
	}
	calls, known := counts.entered(fn.body().Lbrace)
	turns, counted := counts.entered(bodyOfLoop(loops[0]).Lbrace)
	if !known || !counted || calls == 0 || turns < calls {
		return false
	}
	k.series = max(1, k.pauses*calls/turns)
	return true
}

// begins tells of a pause that it is the first of another series, of pauses that are multiplied from turn to turn: it is about
// as long as the first one was, though that was not the one before, or that one was the whole series.
func (k *cadence) begins(d time.Duration) bool {
	return float64(d) < growsBy*float64(k.began) && (k.before == k.began || growsBy*float64(d) <= float64(k.before))
}

// add adds a pause to a series that goes on.
func (k *cadence) add(d time.Duration) {
	if k.first == 0 || d < k.first {
		k.first = d
	}
	switch {
	case k.began == 0:
		k.began = d
	case float64(d) >= growsBy*float64(k.before):
		k.longer++
	case growsBy*float64(d) <= float64(k.before):
		k.less++
	}
	k.before = d
	k.all, k.last, k.most = k.all+d, d, max(k.most, d)
}

// ended adds a series that has ended.
func (k *cadence) ended(x *cadence) {
	k.series++
	k.all, k.last, k.most = k.all+x.all, k.last+x.last, max(k.most, x.most)
	k.began, k.longer, k.less = k.began+x.began, k.longer+x.longer, k.less+x.less
	if k.first == 0 || x.first < k.first {
		k.first = x.first
	}
}

// takesAdvice is what to do about a loop that polls for something of the program itself which others have.
const takesAdvice = "Wait for it instead of looking again after a pause: a channel with as many places as there are slots (or golang.org/x/sync/semaphore, or a sync.Cond that is signalled when one is given back) wakes the next goroutine at once, in the order in which they came. Shorter pauses lose less, and cost more looks."

// manyAsleep is how many goroutines sleep at a line at once, on average, from which on they are in each other's way. Chosen.
const manyAsleep = 1.5

// asleepAt is how many goroutines sleep at the line of a wait at once, on average over the trace.
func asleepAt(t *traced, w *waiting) float64 {
	sum, at := time.Duration(0), lineOnly(w.site.Frame)
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool { return b.State == exectrace.Waiting && lineOnly(t.Site(b.Stack)) == at }) {
		sum += b.Wait.Sum
	}
	return float64(sum) / float64(max(1, t.Length()))
}

// takesInTurn tells of a loop that a function of the program which it asks in each turn changes something when it succeeds, and that another one
// changes that as well: one takes what the other gives back. What only time gives back, as the tokens of a rate, is not waited for by a signal.
func takesInTurn(c *code, l loop) (found bool) {
	givenBack := func(d declaration, x ast.Expr) bool {
		_, fields := chain(x)
		return len(fields) > 0 && slices.ContainsFunc(changesOf(c), func(change change) bool {
			return !change.starts && change.in.FuncDecl != d.FuncDecl && len(change.fields) > 0 && change.fields[len(change.fields)-1] == fields[len(fields)-1]
		})
	}
	asked := func(n ast.Node) bool {
		return hasCall(n, func(call *ast.CallExpr) bool {
			return slices.ContainsFunc(c.functions()[ownCallName(call)], func(d declaration) bool {
				return d.Body != nil && !timed(d.Body) && hasNode(d.Body, func(n ast.Node) bool {
					return slices.ContainsFunc(changedBy(n), func(x ast.Expr) bool { return outlivesCalls(d, x) && givenBack(d, x) })
				})
			})
		})
	}
	return slices.ContainsFunc(l.exits(), func(x exit) bool { return asked(x.cond) })
}

// tellCadence says of the pauses of a loop that polls what they cost at most: one for each time that it ended, where the rule
// has nothing better to say of them.
func tellCadence(r *Rule, w *waiting, in *Input, t *traced, generic string, f *Finding) {
	if w.kind != "sleep" && w.kind != "timer" || w.vain != nil || !w.there && (f.Advice != generic || f.Severity != Warning) {
		return
	}
	at, l, grows, ok := pollsWith(in.code, t.Frames(w.site.Stack), t.Scope.IsUser)
	if !ok && (!w.there || at.Func == "") || !w.there && tellPeerSays(w, in, t, f) {
		return
	}
	if asleep := asleepAt(t, w); asleep >= manyAsleep && takesInTurn(in.code, l) {
		f.Summary += fmt.Sprintf("; on average %s goroutines sleep there at once, and each looks by itself whether it can take what they all want: what is given back lies idle, or goes to who has just come, while the others sleep on", unit.Number(asleep))
		f.Advice = takesAdvice
		f.Doubts = append(f.Doubts, "if all of it is in use nearly all the time, they have to wait in any case: then more of it is needed, and waiting gains order alone")
		return
	}
	k := cadenceIn(in, at, l, seriesAnew(in.code, at, l))
	if k == nil {
		return
	}
	own, owns := pollsState(in.code, l)
	if k.series == 1 && k.pauses > 1 && !seriesAnew(in.code, at, l) && polledInTurns(in, t, w, at) && !k.countedSeries(in.code, at, l) {
		f.Summary += "; the function that polls there is called in a loop, and which of these pauses was the last one for something that is waited for does not show"
		f.Severity, f.Advice = Info, "If each thing that is waited for takes only a few of these pauses, one of each is lost at most: shorter ones, or short ones at first that grow, lose less. If it takes many, shorter pauses gain little: make what it waits for faster, or wait for several at once."
		if owns {
			own.tell(in.code, f)
		}
		return
	}
	if owns {
		defer own.tell(in.code, f)
	}
	if w.there && w.share() >= r.param("warning") {
		f.Severity = Warning // unless the pauses lose little
	}
	if grows && float64(k.most) >= growsBy*float64(k.first) || k.rises() {
		k.tellGrowing(r, w, in, f)
		return
	}
	part := float64(k.series) / float64(k.pauses)
	share, pause := w.share()*part, w.time/time.Duration(max(1, w.count))
	f.Summary += fmt.Sprintf("; the loop polls with a pause of %s, %s for each of %s: one pause of each is the most that is lost, %s of the time",
		unit.Duration(pause), plurals(1/part, "pause"), unit.Plural(k.series, "thing")+" waited for", unit.Percent(share))
	f.Advice = fmt.Sprintf("It polls at a fixed pause of %s, and what is ready early is seen only after it: poll more often, or begin with short pauses that let themselves grow up to today's (backoff), unless the peer says when to ask again (Retry-After). Better still, have it say when it is ready (a long poll, a callback, a notification).", unit.Duration(pause))
	f.Impact = exactly(ofAll(in, w.group, share), "share of the "+timeOfUnits(w.group))
	judgeLost(r, share, f)
}

// judgeLost judges a finding about polling by the part of the time that its pauses lose at most.
func judgeLost(r *Rule, share float64, f *Finding) {
	f.Score = score(share, r.param("share"), 0.9)
	if share < r.param("share") {
		f.Severity = Info
		f.Advice = "What it waits for takes longer than the pauses between two looks: make that faster, or wait for several at once. Shorter pauses gain little."
	}
}

// growingTitle is the title of a loop that polls with pauses that grow.
const growingTitle = "Pauses between polls grow: what is ready is seen late"

// tellGrowing says of pauses that grow what the last ones cost at most.
func (k *cadence) tellGrowing(r *Rule, w *waiting, in *Input, f *Finding) {
	share := w.share() * float64(k.last) / float64(max(1, k.all))
	last := k.last / time.Duration(k.series)
	f.Summary += fmt.Sprintf("; the loop polls with pauses that grow, from %s to %s, %s for each of %s: the last pause of each, %s on average, is the most that is lost, %s of the time, and half of that where what is waited for is ready at any moment of it",
		unit.Duration(k.first), unit.Duration(k.most), plurals(float64(k.pauses)/float64(k.series), "pause"), unit.Plural(k.series, "thing")+" waited for", unit.Duration(last), unit.Percent(share))
	f.Advice = fmt.Sprintf("Its pauses grow, and what is ready early in a long one is seen only at its end: let them grow no further than to a tenth of what has been waited so far, or keep them equal and short (%s lose half of that for each), unless the peer limits how often it may be asked or says when to ask again (Retry-After). Better still, have it say when it is ready (a long poll, a callback, a notification).", unit.Duration(max(k.first, last/4)))
	f.Impact = exactly(ofAll(in, w.group, share/2), "share of the "+timeOfUnits(w.group))
	f.Title = growingTitle
	judgeLost(r, share, f)
}

package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

var lk08 = &Rule{
	ID: "LK08", Title: "Goroutines wait to send on a channel",
	About: "Waiting senders have work that nobody takes: the receiver is slower than they are, or is itself waiting for something. " +
		"Goroutines that wait to receive, in a select or for a sync.Cond are left out, since an idle worker waits there.",
	Asks: []facts.Question{facts.Waits},
	Params: []Param{
		{"waiting", 2, "goroutines on average", "chosen: one may be a generator that is meant to wait"},
		{"waits", 100, "waits", "chosen: below this, chance dominates"},
		{"each", 100e-6, "s", "chosen: the mean wait; less is a hand-off (SC03)"},
		{"least", 1, "s", "chosen, for a profile without a duration: the total wait"},
		{"queue", 5, "goroutines", "chosen, for one snapshot, as for LK01"},
	},
	Part:  true,
	Check: checkSenders,
}

func checkSenders(r *Rule, in *Input) []Finding {
	sources, err := in.Facts.WaitsOf(recording.ExecTrace, recording.Block, recording.Goroutine)
	if len(sources) == 0 {
		if t := in.trace(); t.Err == nil {
			return []Finding{r.short("%v", err)}
		}
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	for i, w := range sources {
		if found := slowReceivers(r, in, w, sources, i > 0); len(found) > 0 {
			return found[:min(3, len(found))]
		}
	}
	best := max(0, slices.IndexFunc(sources, func(w *facts.AllWaits) bool { return len(w.Places(facts.ForSend)) > 0 }))
	return []Finding{nobodySends(r, sources[best])}
}

// slowReceivers are the places of one file at which goroutines wait to send. What only
// a file shows that comes after a better one may be of another moment.
func slowReceivers(r *Rule, in *Input, w *facts.AllWaits, sources []*facts.AllWaits, later bool) (found []Finding) {
	for _, p := range w.Places(facts.ForSend) {
		f, ok := slowReceiver(r, in, w, p)
		if !ok {
			continue
		}
		if later {
			f.Doubts = append(f.Doubts, "the "+sources[0].What+" does not show it: it may be from another moment")
		}
		for _, o := range sources {
			if text := facts.Differs(w, o, p, facts.ForSend); text != "" {
				f.Doubts = append(f.Doubts, text)
			}
		}
		found = append(found, f)
	}
	return found
}

// nobodySends is what the rule says of a file without such a place.
func nobodySends(r *Rule, w *facts.AllWaits) Finding {
	places := w.Places(facts.ForSend)
	switch {
	case w.Precision == facts.Glimpsed && len(places) > 0:
		return r.answer(TooLittle, "%s to send at %s in one goroutine snapshot; %g are needed: record -phases block or trace", unit.Plural(places[0].Count, "goroutine")+" waited", place(places[0].At), r.param("queue"))
	case w.Precision == facts.Glimpsed:
		return r.answer(TooLittle, "in the one goroutine snapshot, at no place were %g goroutines waiting to send: record -phases block or trace", r.param("queue"))
	case len(places) == 0:
		return r.answer(Fine, "no goroutine waited to send on a channel%s", unended(w))
	}
	return r.answer(Fine, "goroutines waited %s to send at %s%s, in %s; elsewhere less%s", unit.Duration(places[0].Time), place(places[0].At), w.Of(), unit.Plural(places[0].Count, "wait"), unended(w))
}

// givesBack tells whether the function of a line that sends to a channel receives from it, too, or one does whose name
// says that it gives a slot back: what is sent is then a slot that is taken.
func givesBack(c *code, at stack.Frame) (found bool) {
	fn, s, name := c.scopeAt(at), c.parse(at.File), ""
	s.onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		if send, ok := n.(*ast.SendStmt); ok {
			name = lastName(types.ExprString(send.Chan))
		}
	})
	if fn == nil || name == "" {
		return false
	}
	receives := func(in ast.Node) bool {
		return hasNode(in, func(n ast.Node) bool {
			x, ok := n.(*ast.UnaryExpr)
			return ok && x.Op == token.ARROW && lastName(types.ExprString(x.X)) == name
		})
	}
	for outer := fn; outer != nil; outer = outer.outer {
		found = found || receives(outer.body)
	}
	c.eachSource(func(_ string, s *syntax) {
		for _, d := range s.file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && slotNames.MatchString(fn.Name.Name) {
				found = found || receives(fn.Body)
			}
		}
	})
	return found
}

// slotNames are names of functions that give a slot back.
var slotNames = lazily(`(?i)^(release|leave|unlock|done|give_?back|free|exit)`)

// receivedAt is the stack that ended most waits of those at one line, and how many all stacks at that line did: each stack of
// the senders has its own list. 0 where the runtime ended most.
func receivedAt(by []sched.Waker, site func(stack.ID) stack.Frame) (id stack.ID, count int64) {
	sums, runtime := map[stack.Frame]int64{}, int64(0)
	for _, w := range by {
		if w.Stack == 0 {
			runtime += w.Count
		} else {
			sums[lineOnly(site(w.Stack))] += w.Count
		}
	}
	most := int64(0)
	for _, w := range by {
		if w.Stack == 0 {
			continue
		}
		if n := sums[lineOnly(site(w.Stack))]; n > count || n == count && w.Count > most {
			id, count, most = w.Stack, n, w.Count
		}
	}
	if runtime > count {
		return 0, 0
	}
	return id, count
}

// slowReceiver judges a place at which goroutines wait to send.
func slowReceiver(r *Rule, in *Input, w *facts.AllWaits, p *facts.Place) (f Finding, ok bool) {
	switch {
	case w.Precision == facts.Glimpsed:
		if float64(p.Count) < r.param("queue") {
			return f, false
		}
		f = r.answer(Found, "%s to send at %s in the goroutine snapshot (%s)", unit.Plural(p.Count, "goroutine")+" waited", place(p.At), w.What)
		f.Impact = exactly(float64(p.Count), "goroutines waiting, in one snapshot")
		f.Score = score(float64(p.Count), r.param("queue"), 20*r.param("queue"))
		f.Doubts = []string{"a snapshot shows one moment: a block profile (-phases block) shows the total wait"}
	case float64(p.Count) < r.param("waits") && float64(p.Open) < r.param("queue") || p.Time.Seconds() < r.param("each")*float64(p.Count):
		return f, false
	case w.Length > 0:
		mean := w.Mean(p.Time)
		if mean < r.param("waiting") {
			return f, false
		}
		f = r.answer(Found, "%s goroutines waited to send at %s on average: they waited %s together%s, in %s of %s each%s", unit.Number(mean), place(p.At), unit.Duration(p.Time), w.Of(),
			unit.Plural(p.Count, "wait"), unit.Duration(p.Time/time.Duration(p.Count)), stillWait(p))
		f.Impact = exactly(mean, "goroutines that wait, on average")
		f.Score = score(mean, r.param("waiting"), 10*r.param("waiting"))
	default:
		if p.Time.Seconds() < r.param("least") {
			return f, false
		}
		f = r.answer(Found, "goroutines waited %s to send at %s: %s of %s each", unit.Duration(p.Time), place(p.At), unit.Plural(p.Count, "wait"), unit.Duration(p.Time/time.Duration(p.Count)))
		f.Impact = exactly(p.Time.Seconds(), "seconds waited")
		f.Score = score(p.Time.Seconds(), r.param("least"), 100*r.param("least"))
		f.Doubts = []string{fmt.Sprintf("the %s does not say how long the program had run, nor whether several waited at a time or a single one that is meant to, such as a generator (record -phases block)", w.What)}
	}
	f.Severity, f.staysOpen = Info, w.Precision == facts.Glimpsed || 2*p.Open >= p.Count
	f.Evidence = []Evidence{in.fileAt(w.Entry, p.At, p.Frames, "waiting to send here: %s", unit.Plural(p.Count, map[bool]string{true: "goroutine", false: "wait"}[w.Precision == facts.Glimpsed]))}
	if len(p.By) > 0 {
		t := in.trace()
		if id, n := receivedAt(p.By, t.Site); id != 0 {
			f.Evidence = append(f.Evidence, t.seen(id, "received here, which ended %s of these waits", unit.Count(n)))
		}
	}
	f.Advice = "Look at the receiver: what it does for each item, and what it waits for. If the Ps are not busy, more receivers help; a larger buffer only delays the wait, unless it has room for all that is ever sent. If nobody receives any more, the senders wait forever (SC10): give the send a way out, or the channel a buffer for the one value that each sender sends."
	if s := semaphoreOn(in, p.At, p.Frames); s != nil && givesBack(in.code, p.At) {
		f.Summary += fmt.Sprintf("; by the source, they wait for a slot of a semaphore (%s), which those who have one give back", s.limit)
		f.Evidence = append(f.Evidence, s.made)
		f.Advice = "There is no receiver but those who are inside. Raise the semaphore's limit as far as what is behind it can take; or do less while a slot is held, and give it back sooner. If the limit is what a peer or the memory permits, this is where the program's limit is."
	}
	if a, ok := affinityAt(in.code, p.At, p.Frames); ok {
		f.Advice = a.advice()
		f.Evidence = append(f.Evidence, a.Evidence)
	}
	f.Verify = "Record again under the same load: the wait here should fall, and more should be done in the same time."
	if w.Precision == facts.Measured {
		f.Doubts = append(f.Doubts, in.traceDoubts(in.trace())...)
	}
	f.Doubts = append(f.Doubts, "a bounded channel is often meant to make senders wait (backpressure): then nothing is wrong, and this is where the limit is")
	return f, true
}

package insight

import (
	"cmp"
	"slices"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/unit"
)

var sc03 = &Rule{
	ID: "SC03", Title: "Goroutines hand over one item at a time",
	About: "An unbuffered channel makes sender and receiver wait for each other: each item costs a park, a wake-up and a context " +
		"switch, a few hundred nanoseconds. If the work on an item takes no longer, the program is busy with hand-offs.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"share", 0.5, "share of all wake-ups", "research"},
		{"run", 5e-6, "s", "mean run between; research has 10 µs, but a channel with a buffer of 256 comes to 7 on a machine where it is worked off in batches, to 2 where the reader is woken for each item (labs/sieve), one without to 1"},
		{"rate", 50e3, "hand-offs a second", "chosen: at 0.4 µs each this is 2% of a CPU"},
	},
	Part:  true,
	Check: onTrace(checkPingPong),
}

// handOver is a set of places that wake each other through channels.
type handOver struct {
	blocks      []*sched.Block // most frequent first
	count       int64          // wake-ups at all of them
	alternating int64
	run         sched.Histogram // of the goroutines that wait there
	all         int64           // wake-ups in the program
}

// handOvers are the channels of the program, most wake-ups first. A trace does
// not name channels: places belong together when one wakes the other, or when
// they are in one function.
func (t *traced) handOvers() []*handOver {
	waits := t.OwnBlocks(func(b *sched.Block) bool { return b.State == exectrace.Waiting && b.Reason != exectrace.NamePreempted })
	parent := map[string]string{}
	var root func(s string) string
	root = func(s string) string {
		if p, ok := parent[s]; ok && p != s {
			parent[s] = root(p)
			return parent[s]
		}
		return s
	}
	key := func(id stack.ID) string { return stack.Enclosing(t.Site(id).Func) }
	onChannel := func(b *sched.Block) bool {
		return b.Reason == exectrace.NameChanSend || b.Reason == exectrace.NameChanReceive || b.Reason == exectrace.NameSelect
	}
	total := int64(0)
	for _, b := range waits {
		total += b.Wait.Count
		if onChannel(b) && len(b.Wakers) > 0 && b.Wakers[0].Stack != 0 {
			parent[root(key(b.Stack))] = root(key(b.Wakers[0].Stack))
		}
	}
	sets := map[string]*handOver{}
	runs := map[string]map[exectrace.NameID]bool{}
	for _, b := range waits {
		if !onChannel(b) || len(b.Wakers) == 0 || b.Wakers[0].Stack == 0 {
			continue // nobody of the program, a timer
		}
		if t.inLibrary(b.Stack) || t.inLibrary(b.Wakers[0].Stack) {
			continue // nobody can change what net/http hands over to itself
		}
		k := root(key(b.Stack))
		h := sets[k]
		if h == nil {
			h = &handOver{all: total}
			sets[k], runs[k] = h, map[exectrace.NameID]bool{}
		}
		h.blocks = append(h.blocks, b)
		h.count += b.Wait.Count
		h.alternating += b.Alternating
		runs[k][b.Worst.Name] = true
	}
	var out []*handOver
	for k, h := range sets {
		for _, g := range t.Groups {
			if runs[k][g.Name] {
				h.run.Merge(&g.Run)
			}
		}
		slices.SortStableFunc(h.blocks, func(a, b *sched.Block) int { return cmp.Compare(b.Wait.Count, a.Wait.Count) })
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b *handOver) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.blocks[0].Stack, b.blocks[0].Stack))
	})
	return out
}

// inLibrary tells whether what a stack does with a channel the standard library does.
func (t *traced) inLibrary(id stack.ID) bool {
	for _, f := range t.Frames(id) {
		if o := t.Scope.Origin(f.Func); o != stack.Runtime {
			return o == stack.Standard
		}
	}
	return false
}

func checkPingPong(r *Rule, in *Input, t *traced) []Finding {
	all := t.handOvers()
	if len(all) == 0 {
		return []Finding{r.answer(Fine, "no goroutine waited for another at a channel")}
	}
	h := all[0]
	share, run := float64(h.count)/float64(max(1, h.all)), h.run.Mean()
	first := t.Site(h.blocks[0].Stack)
	if t.Rate(h.count) < r.param("rate") {
		return []Finding{r.answer(Fine, "the busiest channel, at %s, has %s hand-offs a second", place(first), unit.Number(t.Rate(h.count)))}
	}
	if share < r.param("share") || run.Seconds() >= r.param("run") {
		return []Finding{r.answer(Fine, "the busiest channel, at %s, has %s hand-offs a second, %s of all wake-ups, with runs of %s on average in between", place(first), unit.Number(t.Rate(h.count)), unit.Percent(share), unit.Duration(run))}
	}
	between := place(first)
	if by := t.Site(h.blocks[0].Wakers[0].Stack); by != first {
		between += " and " + place(by)
	}
	f := r.answer(Found, "%s hand-offs, %s a second, between %s: %s of all wake-ups; the runs in between take %s on average",
		unit.Count(h.count), unit.Number(t.Rate(h.count)), between, unit.Percent(share), unit.Duration(run))
	if 2*h.alternating > h.count {
		f.Summary += ", and the two take turns"
	}
	f.Impact = exactly(t.Rate(h.count), "hand-offs a second")
	f.Severity, f.Score = Warning, score(t.Rate(h.count), r.param("rate"), 10*r.param("rate"))
	for _, b := range h.blocks[:min(4, len(h.blocks))] {
		if 100*b.Wait.Count < h.count {
			break
		}
		what := t.Reader.Name(b.Reason)
		e := t.seen(b.Stack, "%s waits at this %s, half of them under %s", unit.Count(b.Wait.Count), what, unit.Duration(b.Wait.Quantile(0.5)))
		if 2*b.Alternating > b.Wait.Count {
			e.Text += "; " + unit.Percent(float64(b.Alternating)/float64(b.Wait.Count)) + " were ended by the goroutine that it had itself woken"
		}
		f.Evidence = append(f.Evidence, e)
	}
	f.Advice = "Hand over more at a time: a slice of items (a row, a block of 256) in each message, or a channel with a buffer of a few hundred (make(chan T, 256)). If the order is fixed anyway, let one goroutine do both."
	f.Verify = "Record again: the number of hand-offs should fall by about the batch size, and CPU time with it."
	f.Doubts = in.traceDoubts(t, "tracing makes each hand-off more expensive", "a hand-off may be intended: a message that must have arrived before the sender continues")
	return []Finding{f}
}

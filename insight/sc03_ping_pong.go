package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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

// inLibrary tells whether what a stack does with a channel the standard library does, or the runtime for itself, as where an allocation starts a
// collection and waits until its workers are there.
func (t *traced) inLibrary(id stack.ID) bool {
	frames := t.Frames(id)
	for i, f := range frames {
		switch {
		case t.Scope.Of(f) != stack.Runtime:
			return t.Scope.Of(f) == stack.Standard
		case strings.HasPrefix(f.Func, "runtime.gc") || i == len(frames)-1 && f.Func != "": // or nobody of the program is on the stack
			return true
		}
	}
	return false
}

// pair is two places that wake each other.
type pair struct {
	ends        [2]stack.Frame // who waits most, and who wakes it
	count       int64          // waits at either that the other one has ended
	alternating int64
	more        []*pair // of the same two functions, which answer each other
}

// pairs divides hand-overs by who wakes whom at which lines, most wake-ups first. Where a line
// and another function wake each other at several lines of that, as by the cases of a select, it
// is one pair, and so are a question and its answer. Waits that the runtime has ended are nobody's.
func (t *traced) pairs(h *handOver) (all []*pair) {
	for _, b := range h.blocks { // the most frequent first
		at := t.Site(b.Stack)
		for _, w := range b.Wakers {
			if w.Stack == 0 || t.inLibrary(w.Stack) {
				continue
			}
			by := t.Site(w.Stack)
			i := slices.IndexFunc(all, func(p *pair) bool { return p.is(at, by) })
			if i < 0 {
				i, all = len(all), append(all, &pair{ends: [2]stack.Frame{at, by}})
			}
			all[i].count += w.Count
			if w == b.Wakers[0] {
				all[i].alternating += b.Alternating
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *pair) int { return cmp.Compare(b.count, a.count) })
	var merged []*pair
	for _, p := range all {
		i := slices.IndexFunc(merged, func(m *pair) bool {
			return m.takesTurns() && p.takesTurns() && m.isBetween(p.ends[0].Func, p.ends[1].Func)
		})
		if i < 0 {
			merged = append(merged, p)
			continue
		}
		merged[i].count, merged[i].alternating = merged[i].count+p.count, merged[i].alternating+p.alternating
		merged[i].more = append(merged[i].more, p)
	}
	slices.SortStableFunc(merged, func(a, b *pair) int { return cmp.Compare(b.count, a.count) })
	return merged
}

// takesTurns tells that most waits were ended by the goroutine that had been woken before.
func (p *pair) takesTurns() bool { return 2*p.alternating > p.count }

// isBetween tells whether the pair is of two functions.
func (p *pair) isBetween(f, g string) bool {
	return p.ends[0].Func == f && p.ends[1].Func == g || p.ends[0].Func == g && p.ends[1].Func == f
}

// is tells whether two places are those of the pair.
func (p *pair) is(at, by stack.Frame) bool {
	same := func(a, b stack.Frame) bool { return a.File == b.File && a.Line == b.Line && a.Func == b.Func }
	one := func(a, b stack.Frame) bool {
		return same(a, p.ends[0]) && b.Func == p.ends[1].Func || same(b, p.ends[1]) && a.Func == p.ends[0].Func
	}
	return one(at, by) || one(by, at) || slices.ContainsFunc(p.more, func(m *pair) bool { return m.is(at, by) })
}

// pairOf is the position of the pair that a block is most of.
func (t *traced) pairOf(pairs []*pair, b *sched.Block) int {
	at, by := t.Site(b.Stack), t.Site(b.Wakers[0].Stack)
	if i := slices.IndexFunc(pairs, func(p *pair) bool { return p.is(at, by) }); i >= 0 {
		return i
	}
	return len(pairs)
}

// othersOf counts the pairs after the first that matter.
func othersOf(pairs []*pair) string {
	others := int64(0)
	n := 0
	for _, p := range pairs[1:] {
		if 20*p.count >= pairs[0].count {
			n, others = n+1, others+p.count
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("; there are %s more between %s and %s", unit.Count(others), place(pairs[1].ends[0]), place(pairs[1].ends[1]))
	}
	return fmt.Sprintf("; %d other pairs have %s more, the next of them between %s and %s", n, unit.Count(others), place(pairs[1].ends[0]), place(pairs[1].ends[1]))
}

// handingOver are the operations on channels at which goroutines wait for each other, and wake each other: each of them goes where more is handed over
// at a time.
func handingOver(t *traced, h *handOver) (costs []cost) {
	add := func(at stack.Frame) {
		if c := (cost{file: at.File, line: at.Line, within: "channel"}); at.Line > 0 && !slices.Contains(costs, c) {
			costs = append(costs, c)
		}
	}
	for _, b := range h.blocks {
		add(t.Site(b.Stack))
		for _, w := range b.Wakers {
			if w.Stack != 0 && !t.inLibrary(w.Stack) {
				add(t.Site(w.Stack))
			}
		}
	}
	return costs
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
	pairs := t.pairs(h)
	p := pairs[0]
	between := place(p.ends[0])
	if p.ends[1] != p.ends[0] {
		between += " and " + place(p.ends[1])
	}
	f := r.answer(Found, "%s hand-offs, %s a second, between %s: %s of all wake-ups; the runs in between take %s on average",
		unit.Count(p.count), unit.Number(t.Rate(p.count)), between, unit.Percent(float64(p.count)/float64(max(1, h.all))), unit.Duration(run))
	if p.takesTurns() {
		f.Summary += ", and the two take turns"
	}
	f.Summary += othersOf(pairs)
	f.Impact = exactly(t.Rate(p.count), "hand-offs a second")
	f.Severity, f.Score = Warning, score(t.Rate(h.count), r.param("rate"), 10*r.param("rate"))
	slices.SortStableFunc(h.blocks, func(a, b *sched.Block) int { return cmp.Compare(t.pairOf(pairs, a), t.pairOf(pairs, b)) })
	for _, b := range h.blocks[:min(4, len(h.blocks))] {
		if 100*b.Wait.Count < h.count {
			continue
		}
		what := t.Reader.Name(b.Reason)
		e := t.seen(b.Stack, "%s waits at this %s, half of them under %s", unit.Count(b.Wait.Count), what, unit.Duration(b.Wait.Quantile(0.5)))
		if 2*b.Alternating > b.Wait.Count {
			e.Text += "; " + unit.Percent(float64(b.Alternating)/float64(b.Wait.Count)) + " were ended by the goroutine that it had itself woken"
		}
		f.Evidence = append(f.Evidence, e)
	}
	f.costs, f.saves, f.handsOver = handingOver(t, h), true, min(share, 1)
	f.Advice = "Hand over more at a time: a slice of items (a row, a block of 256) in each message, or a channel with a buffer of a few hundred (make(chan T, 256)). If the order is fixed anyway, let one goroutine do both."
	adviseHandOver(in.code, &f, p.ends[:])
	f.Verify = "Record again: the number of hand-offs should fall by about the batch size, and CPU time with it."
	f.Doubts = in.traceDoubts(t, "tracing makes each hand-off more expensive", "a hand-off may be intended: a message that must have arrived before the sender continues")
	return []Finding{f}
}

package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Those who serve a queue, or have a slot, may themselves wait most of the time: for a lock, or for other goroutines that
// send or receive. More of them would only wait there as well.

// behind is where those who serve a queue wait themselves.
type behind struct {
	lock    bool
	site    stack.Frame
	stack   stack.ID
	share   float64 // of their time, but for the waits for work; 0 where it is not known
	workers bool    // they are goroutines that serve, and not those who have a slot
	cause   facts.UnitCause
	work    string // what is done under the lock, by CPU samples, if that keeps it
}

// behind finds out whether those who serve the queue mostly wait for a lock or for goroutines that they have not started.
func (q *narrow) behind(in *Input, t *traced) (b behind, ok bool) {
	if q.gate.Kind.Key() == "pool" || len(q.rows) == 0 {
		return b, false
	}
	b.cause = q.rows[0].Cause
	if !q.gate.Workers {
		return b, q.slotsWait(&b)
	}
	b.workers = true
	root := userRoot(t, q.gate.Frees.Stack)
	if root == "" || q.gate.Frees.Frame.Func == "" {
		return b, false
	}
	if !b.find(t, root, q.gate.Frees.Frame) {
		return b, false
	}
	if b.lock {
		if b.cause = q.ofHolder(in, t, t.Frames(b.stack), b.site); !waitsItself(b.cause.Kind) {
			b.work = underWork(in, b.site)
		}
	}
	return b, true
}

// find looks for the line at which the goroutines that begin with a function wait for most of the time that they do not
// wait for work in, which they take at a line.
func (b *behind) find(t *traced, root string, takes stack.Frame) bool {
	idle, _, _ := handedOver(t, root)
	busy, _ := gangRan(t, root)
	at := map[stack.Frame]time.Duration{}
	stacks := map[stack.Frame]*sched.Block{}
	for _, x := range t.OwnBlocks(func(x *sched.Block) bool { return x.Stack != 0 && userRoot(t, x.Stack) == root }) {
		site := t.Site(x.Stack)
		if slices.Contains(takesWork, x.Reason) && (site == idle || site == takes) {
			continue
		}
		busy += x.Wait.Sum
		if b.isLock(t, x) || b.forOthers(t, x, root) {
			if at[site] += x.Wait.Sum; stacks[site] == nil || x.Wait.Sum > stacks[site].Wait.Sum {
				stacks[site] = x
			}
		}
	}
	most := time.Duration(0)
	for _, site := range sortedLines(at, func(a, c time.Duration) int { return cmp.Compare(c, a) }) {
		most, b.site, b.stack = at[site], site, stacks[site].Stack
		b.lock = b.isLock(t, stacks[site])
		break
	}
	b.share = float64(most) / float64(max(1, busy))
	return b.share >= halfOfAll && b.site.Func != ""
}

// isLock tells of waits that they are for a mutex of the program.
func (b *behind) isLock(t *traced, x *sched.Block) bool {
	_, locks := facts.LockedBy(t.Frames(x.Stack), false)
	return locks && x.State == exectrace.Waiting
}

// atChannel are the reasons of waits at a channel.
var atChannel = []exectrace.NameID{exectrace.NameChanReceive, exectrace.NameChanSend}

// forOthers tells of waits at a channel that goroutines of the program end which began with another function and were not
// started by those that wait: who waits for what it has started itself does its own work that way. What the queue is for
// is done by others in that case, as the end of the chain tells.
func (b *behind) forOthers(t *traced, x *sched.Block, root string) bool {
	if !slices.Contains(atChannel, x.Reason) || x.State != exectrace.Waiting || b.cause.Site.Frame.Func == "" || userRoot(t, b.cause.Site.Stack) == root {
		return false
	}
	others, all := time.Duration(0), time.Duration(0)
	for _, by := range x.Wakers {
		all += by.Time
		if from := userRoot(t, by.Stack); by.Stack != 0 && from != "" && from != root && !startedBy(t, from, root) {
			others += by.Time
		}
	}
	return all > 0 && float64(others) >= nearlyAll*float64(all)
}

// startedBy tells whether goroutines that begin with a function are started by those that begin with another.
func startedBy(t *traced, function, by string) bool {
	if strings.HasPrefix(function, by+".") {
		return true // a closure of it
	}
	return slices.ContainsFunc(t.Creators, func(g *sched.Group) bool {
		return g.Creator != 0 && t.Reader.Name(g.Name) == function && userRoot(t, g.Creator) == by
	})
}

// littleOfIt is the part of a wait that is followed through others up to which units that wait at its end themselves do
// not count: chosen.
const littleOfIt = 0.1

// slotsWait finds out whether units that have a slot wait for a lock whose holder does what those who queue are told to wait
// for, and do not do that themselves.
func (q *narrow) slotsWait(b *behind) bool {
	own, most, queued := time.Duration(0), (*facts.UnitRow)(nil), map[stack.Frame]bool{}
	for _, gate := range q.gates() {
		queued[gate.Site.Frame] = true
	}
	for i := range q.group.All.Rows {
		row := &q.group.All.Rows[i]
		switch {
		case row.Cause.Kind.Key() == "none" && row.Kind == b.cause.Kind && row.Site.Frame == b.cause.Site.Frame:
			own += row.Time
		case row.Kind.Key() == "lock" && !queued[row.Site.Frame] && row.Cause.Kind == b.cause.Kind && row.Cause.Site.Frame == b.cause.Site.Frame:
			if most == nil || row.Time > most.Time {
				most = row
			}
		}
	}
	if most == nil || float64(own) > littleOfIt*float64(most.Time) {
		return false
	}
	b.lock, b.site, b.stack = true, most.Site.Frame, most.Site.Stack
	return true
}

// told says what is done at the end of the chain: ", whose holder is waiting for a peer's answer in main.ask at main.go:20".
func (b *behind) told() string {
	if kind := b.cause.Kind.Key(); kind == "unknown" || kind == "none" || kind == "" {
		return ""
	}
	who := ", whose holder is "
	if !b.lock {
		who = ", where the one that they wait for is "
	}
	if b.cause.Kind.Key() == "running" {
		return who + b.cause.Kind.Clause() + inFunction(b.cause.Site)
	}
	if !b.cause.Site.User {
		return who + b.cause.Kind.Clause()
	}
	return who + b.cause.Kind.Clause() + atPlace(b.cause.Site)
}

// says is what those who serve do: " mostly wait for Store.mu, taken at …, whose holder is …".
func (b *behind) says(c *code) string {
	text := "mostly wait"
	if b.share > 0 {
		text += fmt.Sprintf(" (%s of the time in which they have work)", unit.Percent(b.share))
	}
	if b.lock {
		return text + " for " + c.named(b.site) + b.told() + b.work
	}
	return text + " for other goroutines in " + place(b.site) + b.told()
}

// advice is what to do.
func (b *behind) advice(in *Input, t *traced) string {
	more := "More slots do not help: those who have one would wait"
	if b.workers {
		more = "More workers do not help: they would wait"
	}
	switch {
	case !b.lock:
		return more + fmt.Sprintf(" at %s as well. Look at the goroutines that end this wait, and at what these wait for: that is the limit.", fileLine(b.site.File, b.site.Line))
	case waitsItself(b.cause.Kind):
		work := t.Frames(b.cause.Site.Stack)
		return more + " for the same lock. " + tellLock(in, heldAcrossCall{at: b.site, waiter: t.Frames(b.stack), work: work, kind: b.cause.Kind, syncs: syncs(work)}).says()
	}
	if does := workAdvice(in, b.site); does != "" {
		return more + " for the same lock. " + does
	}
	return more + " for the same lock. Hold it for a shorter time, or split what it guards."
}

// tell says it in a finding about those who queue.
func (b *behind) tell(in *Input, t *traced, f *Finding) {
	who := "slots whose holders wait "
	if b.workers {
		who = "workers that wait "
	}
	if what := "for a lock"; f.Rule == "WT04" {
		if !b.lock {
			what = "for others"
		}
		f.Title = "Requests queue for " + who + what
	}
	f.Advice = b.advice(in, t)
	f.Verify = "Record again under the same load: the wait of those who serve should shrink, and this one with it."
	shown := "those who serve wait for the lock here"
	if !b.lock {
		shown = "those who serve wait for others here"
	}
	f.Evidence = slices.Insert(f.Evidence, min(1, len(f.Evidence)), t.seen(b.stack, "%s", shown))
	if b.lock {
		workEvidence(in, b.site, f)
		f.lockAt = evidenceLine(Evidence{File: b.site.File, Line: b.site.Line})
	}
}

// serversWait are those who serve the queue that a wait is, where they mostly wait themselves; else nil.
func serversWait(in *Input, t *traced, w *waiting) *behind {
	if !w.queues() || w.kind != "channel" && w.kind != "cond" {
		return nil
	}
	if q := queueOf(in, t, w); q != nil {
		if b, ok := q.behind(in, t); ok {
			return &b
		}
	}
	return nil
}

// queueOf is the queue that a wait is in; nil where it is in none.
func queueOf(in *Input, t *traced, w *waiting) *narrow {
	for _, q := range queuesOf(in.Facts.Units(), t, w.group) {
		if slices.ContainsFunc(w.rows, func(row *facts.UnitRow) bool { return slices.Contains(q.rows, row) }) {
			return q
		}
	}
	return nil
}

// tellServing says of a wait in a queue what WT04 knows of those who serve it, or have a slot.
func tellServing(in *Input, t *traced, w *waiting, pushes bool, f *Finding) {
	if w.servers != nil {
		w.servers.tell(in, t, f)
		return
	}
	if w.queues() && w.kind != "lock" && !pushes {
		if q := queueOf(in, t, w); q != nil && q.tellLimit(in, t, f) {
			return
		}
	}
	if q := servedAt(in, t, w); q != nil && !pushes && w.queues() {
		q.tellServers(in, t, f)
	} else if w.queues() {
		tellKeptSlot(in, t, w, f)
	}
}

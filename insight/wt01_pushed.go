package insight

import (
	"fmt"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Work that is handed to a certain worker while others have none.

// pushed is who waits for work while a unit waits to hand it over.
type pushed struct {
	idle    float64 // of the receivers, on average and at least, while the unit waits
	workers int64
	at      stack.Frame
}

// idleWorkers is the least share of the receivers that wait for work; chosen: with less, another way to hand work over would
// gain little.
const idleWorkers = 0.25

// pushes finds out whether a unit that waits to send on a channel, such as main, waits for one of several goroutines of one origin while
// others of them wait to receive at the same line. These receive from other channels: on the same one nobody would wait to send.
func (w *waiting) pushes(t *traced) (p pushed, ok bool) {
	if w.kind != "channel" || w.group.Wall.Count != 1 { // when one of several waits, and for how long none does, is not known
		return p, false
	}
	var most sched.Waker
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool {
		return b.Reason == exectrace.NameChanSend && t.Site(b.Stack) == w.site.Frame
	}) {
		for _, by := range b.Wakers {
			if by.Time > most.Time && by.Stack != 0 {
				most = by
			}
		}
	}
	if most.Time == 0 {
		return p, false
	}
	p.at = t.Site(most.Stack)
	frames := t.Frames(most.Stack)
	var origin *sched.Group
	for _, g := range t.Creators {
		if len(frames) == 0 || t.Reader.Name(g.Name) != frames[len(frames)-1].Func {
			continue
		}
		if origin != nil && origin.Creator != g.Creator {
			return p, false // workers of several kinds, such as the stages of a pipeline
		}
		origin = g
	}
	if origin == nil || origin.Creator == 0 { // of those that are older than the trace nobody knows whether they do the same
		return p, false
	}
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool {
		return b.Reason == exectrace.NameChanReceive && t.Site(b.Stack) == p.at
	}) {
		p.idle += t.Share(b.Wait.Sum)
	}
	p.workers = origin.Peak
	// At worst all of them are idle while it does not wait.
	p.idle = min(p.idle, float64(p.workers)) - float64(p.workers)*max(0, 1-t.Share(w.time))
	return p, p.idle >= 1 && p.idle >= idleWorkers*float64(p.workers)
}

// String is the clause for it.
func (p pushed) String() string {
	return fmt.Sprintf("; meanwhile at least %s of the %s goroutines that receive at %s wait for work there, on other channels", unit.Number(p.idle), unit.Count(p.workers), place(p.at))
}

// pushedAdvice is what to do about it.
const pushedAdvice = "Let all of them receive from one channel, so that whoever is free takes the next, instead of handing each item to a certain one (round robin): an item that takes long holds up only its own worker then."

// pushedDoubt is what may speak against it.
const pushedDoubt = "if an item belongs to a certain worker (a shard by key, an order to keep, a stage of a pipeline), they cannot share a channel: then larger buffers, or another division, help"

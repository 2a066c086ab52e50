package exectrace

import (
	"fmt"

	"loupe/value/timeline"
)

// output is what the reader says next: the current event, and those that follow it
// whatever the Ms have to say.
type output struct {
	// ev is where the current event is made: one of the reader's own, or of those that
	// [Reader.Fill] fills. To make it here and copy it there cost as much as making it,
	// since what was stored in small pieces cannot be loaded in large ones at once.
	ev *Event
	// The numbers in the generation of the event's stacks, or 0.
	stackRef, subjectRef uint64
	queue                []Event // events that come before those of the frontier
	queued               int     // how many of them have been given
	syncs                uint64
	wrong                string // why an event could not happen

	symbols *symbols // what the events refer to
}

// pop makes the first queued event the current one, if there is one.
func (o *output) pop() bool {
	if o.queued >= len(o.queue) {
		return false
	}
	*o.ev, o.stackRef, o.subjectRef = o.queue[o.queued], 0, 0
	if o.queued++; o.queued == len(o.queue) {
		o.queue, o.queued = o.queue[:0], 0
	}
	return true
}

// fail says why the event of c cannot happen.
func (o *output) fail(c *cursor, format string, args ...any) outcome {
	o.wrong = specs[c.op].name + ": " + fmt.Sprintf(format, args...)
	return broken
}

// lacks fails because the M of c does not run what its event needs.
func (o *output) lacks(c *cursor) outcome {
	switch {
	case c.thread == NoThread:
		return o.fail(c, "no thread")
	case c.m.p == NoProc:
		return o.fail(c, "thread %d has no P", c.thread)
	}
	return o.fail(c, "thread %d runs no goroutine", c.thread)
}

// event begins the current event: what every event has.
func (o *output) event(c *cursor, kind Kind) *Event {
	e := o.ev
	*e = Event{}
	o.stackRef, o.subjectRef = 0, 0
	e.Time, e.M, e.Kind, e.op, e.SubjectSlot = c.time, c.thread, kind, c.op, NoSlot
	e.G, e.GSlot, e.P = c.m.g, c.m.slot, c.m.p
	c.m.known = true
	return e
}

// goes makes the current event a transition of a goroutine.
func (o *output) goes(c *cursor, g GoID, slot Slot, from, to State) *Event {
	e := o.event(c, KindGoTransition)
	e.Subject, e.SubjectSlot, e.From, e.To = int64(g), slot, from, to
	return e
}

// turns makes the current event a transition of a P.
func (o *output) turns(c *cursor, p ProcID, from, to State) *Event {
	e := o.event(c, KindProcTransition)
	e.Subject, e.From, e.To = int64(p), from, to
	return e
}

// at says where the event happened: the stack with this number.
func (o *output) at(e *Event, id uint64) {
	e.Stack, o.stackRef = o.symbols.stack(id), id
}

// sync makes the current event the next sync.
func (o *output) sync(at timeline.Time, reset bool) {
	o.syncs++
	o.stackRef, o.subjectRef = 0, 0
	*o.ev = Event{Time: at, Kind: KindSync, G: NoGoroutine, GSlot: NoSlot, P: NoProc, M: NoThread, SubjectSlot: NoSlot, Args: [3]uint64{o.syncs}}
	if reset {
		o.ev.Args[1] = 1
	}
}

// sample makes the current event a sample of the CPU profiler.
func (o *output) sample(s *sample, slot Slot) {
	o.subjectRef = 0
	*o.ev = Event{Time: s.time, Kind: KindStackSample, G: s.g, GSlot: slot, P: s.p, M: s.m, SubjectSlot: NoSlot, op: evCPUSample}
	o.at(o.ev, s.stack)
}

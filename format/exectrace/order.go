package exectrace

import (
	"fmt"

	"loupe/stack"
)

// outcome says what became of an event that an M offers next.
type outcome uint8

const (
	blocked  outcome = iota // another M has to go first
	advanced                // it happened; r.ev tells it
	broken                  // it cannot happen; r.wrong says why
)

// collector is the state of the garbage collector.
type collector uint8

const (
	collectorUnknown collector = iota
	collectorIdle
	collectorRunning
)

// advance lets the event of c happen if the state of the program allows it,
// and turns it into r.ev. The rules are those of internal/trace/order.go: an
// event that names another goroutine or P waits until that one is in the right
// state and its sequence number is next; every other event must be possible at
// once, because its M wrote it.
func (r *Reader) advance(c *cursor) outcome {
	switch c.op {
	case evGoStart:
		return r.goStart(c)
	case evGoUnblock:
		return r.goUnblock(c)
	case evGoBlock, evGoStop, evGoDestroy:
		return r.goLeave(c)
	case evGoCreate, evGoCreateBlocked:
		return r.goCreate(c)
	case evGoSyscallBegin:
		return r.goSyscallBegin(c)
	case evGoSyscallEnd:
		return r.goSyscallEnd(c)
	case evGoSyscallEndBlocked:
		return r.goSyscallEndBlocked(c)
	case evProcStart:
		return r.procStart(c)
	case evProcStop:
		return r.procStop(c)
	case evProcSteal:
		return r.procSteal(c)
	case evProcStatus:
		return r.procStatus(c)
	case evGoStatus, evGoStatusStack:
		return r.goStatus(c)
	case evGoSwitch, evGoSwitchDestroy:
		return r.goSwitch(c)
	case evGoCreateSyscall:
		return r.goCreateSyscall(c)
	case evGoDestroySyscall:
		return r.goDestroySyscall(c)
	case evUserTaskBegin, evUserTaskEnd:
		return r.userTask(c)
	case evUserRegionBegin, evUserRegionEnd:
		return r.userRegion(c)
	case evUserLog, evGoLabel, evProcsChange:
		return r.annotation(c)
	case evHeapAlloc, evHeapGoal:
		return r.heapMetric(c)
	case evGCActive, evGCBegin, evGCEnd:
		return r.gcRange(c)
	case evGCSweepActive, evGCSweepBegin, evGCSweepEnd:
		return r.sweepRange(c)
	case evGCMarkAssistActive, evGCMarkAssistBegin, evGCMarkAssistEnd:
		return r.assistRange(c)
	case evSTWBegin, evSTWEnd:
		return r.stopTheWorld(c)
	}
	if c.op >= evSpan && c.op <= evGoroutineStackFree {
		return r.experimental(c)
	}
	return r.fail(c, "%d is no type of event that an M writes", c.op)
}

// fail says why the event of c cannot happen.
func (r *Reader) fail(c *cursor, format string, args ...any) outcome {
	r.wrong = specs[c.op].name + ": " + fmt.Sprintf(format, args...)
	return broken
}

// event begins r.ev: what every event has.
func (r *Reader) event(c *cursor, kind Kind) *Event {
	e := &r.ev
	*e = Event{}
	r.stackRef, r.subjectRef = 0, 0
	e.Time, e.M, e.Kind, e.op, e.SubjectSlot = c.time, c.thread, kind, c.op, NoSlot
	e.G, e.GSlot, e.P = c.m.g, c.m.slot, c.m.p
	c.m.known = true
	return e
}

// goes makes r.ev a transition of a goroutine.
func (r *Reader) goes(c *cursor, g GoID, slot Slot, from, to State) *Event {
	e := r.event(c, KindGoTransition)
	e.Subject, e.SubjectSlot, e.From, e.To = int64(g), slot, from, to
	return e
}

// at says where the event happened: the stack with this number.
func (r *Reader) at(e *Event, id uint64) {
	e.Stack, r.stackRef = r.stack(id), id
}

// stack returns the interned stack with this number.
func (r *Reader) stack(id uint64) stack.ID {
	if dense := r.tables.stacks.dense; id < uint64(len(dense)) && dense[id].off != 0 { // nearly always
		return dense[id].id
	}
	s, ok := r.tables.stacks.get(id)
	if !ok {
		r.missing("stack", id)
	}
	return s.id
}

// name returns the interned string with this number.
func (r *Reader) name(id uint64) NameID {
	n, ok := r.tables.name(id, r.names)
	if !ok {
		r.missing("string", id)
	}
	return n
}

// lacks fails because the M of c does not run what its event needs.
func (r *Reader) lacks(c *cursor) outcome {
	switch {
	case c.thread == NoThread:
		return r.fail(c, "no thread")
	case c.m.p == NoProc:
		return r.fail(c, "thread %d has no P", c.thread)
	}
	return r.fail(c, "thread %d runs no goroutine", c.thread)
}

// running returns the goroutine that c's M runs, which must be in this state.
func (r *Reader) running(c *cursor, status uint8) *goroutine {
	g := r.gs.at(c.m.slot)
	if g.status != status || g.id != c.m.g {
		r.fail(c, "goroutine %d is not %v", c.m.g, goStates[status])
		return nil
	}
	return g
}

func (r *Reader) goStart(c *cursor) outcome {
	id := GoID(c.args[0])
	slot := r.gs.find(id)
	if slot == NoSlot {
		return blocked
	}
	g := r.gs.at(slot)
	if g.status != goRunnable || !g.seq.follows(r.gen, c.args[1]) {
		return blocked
	}
	if c.m.p == NoProc {
		return r.lacks(c)
	}
	if c.m.g != NoGoroutine {
		return r.fail(c, "thread %d runs goroutine %d already", c.thread, c.m.g)
	}
	r.goes(c, id, slot, Runnable, Running)
	g.status = goRunning
	g.seq.n++
	c.m.g, c.m.slot = id, slot
	return advanced
}

func (r *Reader) goUnblock(c *cursor) outcome {
	id := GoID(c.args[0])
	slot := r.gs.find(id)
	if slot == NoSlot {
		return blocked
	}
	g := r.gs.at(slot)
	if g.status != goWaiting || !g.seq.follows(r.gen, c.args[1]) {
		return blocked
	}
	g.status = goRunnable
	g.seq.n++
	r.at(r.goes(c, id, slot, Waiting, Runnable), c.args[2])
	return advanced
}

// goLeave is a goroutine that stops running on its own.
func (r *Reader) goLeave(c *cursor) outcome {
	if !c.m.runsGo() {
		return r.lacks(c)
	}
	g := r.running(c, goRunning)
	if g == nil {
		return broken
	}
	to, status := NotExist, uint8(0)
	switch c.op {
	case evGoBlock:
		to, status = Waiting, goWaiting
	case evGoStop:
		to, status = Runnable, goRunnable
	}
	e := r.goes(c, c.m.g, c.m.slot, Running, to)
	if c.op == evGoDestroy {
		r.gs.remove(c.m.slot)
	} else {
		e.Name = r.name(c.args[0])
		r.at(e, c.args[1])
		e.SubjectStack, r.subjectRef = e.Stack, r.stackRef
		g.status = status
	}
	c.m.g, c.m.slot = NoGoroutine, NoSlot
	return advanced
}

func (r *Reader) goCreate(c *cursor) outcome {
	if c.m.p == NoProc {
		return r.lacks(c)
	}
	if c.m.g != NoGoroutine && r.running(c, goRunning) == nil {
		return broken
	}
	id := GoID(c.args[0])
	if r.gs.find(id) != NoSlot {
		return r.fail(c, "goroutine %d exists already", id)
	}
	status, to := uint8(goRunnable), Runnable
	if c.op == evGoCreateBlocked {
		status, to = goWaiting, Waiting
	}
	slot := r.gs.add(id, status, sequence{gen: r.gen})
	e := r.goes(c, id, slot, NotExist, to)
	e.SubjectStack, r.subjectRef = r.stack(c.args[1]), c.args[1]
	r.at(e, c.args[2])
	return advanced
}

func (r *Reader) goSyscallBegin(c *cursor) outcome {
	if !c.m.runsGo() {
		return r.lacks(c)
	}
	g := r.running(c, goRunning)
	if g == nil {
		return broken
	}
	p := r.proc(c.m.p)
	if p == nil || p.status == 0 {
		return r.fail(c, "P %d has no state", c.m.p)
	}
	if !p.seq.follows(r.gen, c.args[0]) {
		return r.fail(c, "P %d is at %d of generation %d, and the event at %d of %d", c.m.p, p.seq.n, p.seq.gen, c.args[0], r.gen)
	}
	g.status = goSyscall
	p.status = procSyscall
	p.seq.n++
	e := r.goes(c, c.m.g, c.m.slot, Running, Syscall)
	r.at(e, c.args[1])
	e.SubjectStack, r.subjectRef = e.Stack, r.stackRef
	return advanced
}

func (r *Reader) goSyscallEnd(c *cursor) outcome {
	if !c.m.runsGo() {
		return r.lacks(c)
	}
	g := r.running(c, goSyscall)
	if g == nil {
		return broken
	}
	p := r.proc(c.m.p)
	if p == nil || p.status != procSyscall {
		return r.fail(c, "P %d is not in a system call", c.m.p)
	}
	g.status = goRunning
	p.status = procRunning
	r.goes(c, c.m.g, c.m.slot, Syscall, Running)
	return advanced
}

// goSyscallEndBlocked is the end of a system call that has lost its P: the
// loss must have been seen before.
func (r *Reader) goSyscallEndBlocked(c *cursor) outcome {
	if c.m.p != NoProc {
		p := r.proc(c.m.p)
		if p == nil || p.status == 0 {
			return r.fail(c, "P %d has no state", c.m.p)
		}
		if p.status == procSyscall {
			return blocked
		}
	}
	if c.m.g == NoGoroutine {
		return r.lacks(c)
	}
	g := r.running(c, goSyscall)
	if g == nil {
		return broken
	}
	g.status = goRunnable
	r.goes(c, c.m.g, c.m.slot, Syscall, Runnable)
	c.m.g, c.m.slot = NoGoroutine, NoSlot
	return advanced
}

// goSwitch is a coroutine that hands over to another: three events in one.
func (r *Reader) goSwitch(c *cursor) outcome {
	if !c.m.runsGo() {
		return r.lacks(c)
	}
	g := r.running(c, goRunning)
	if g == nil {
		return broken
	}
	id, slot := c.m.g, c.m.slot
	next := GoID(c.args[0])
	nextSlot := r.gs.find(next)
	if nextSlot == NoSlot {
		return blocked
	}
	n := r.gs.at(nextSlot)
	if n.status != goWaiting || !n.seq.follows(r.gen, c.args[1]) {
		return blocked
	}
	leave := *r.goes(c, id, slot, Running, Waiting)
	if c.op == evGoSwitchDestroy {
		leave.To = NotExist
	}
	start := *r.goes(c, next, nextSlot, Runnable, Running)
	start.G, start.GSlot = NoGoroutine, NoSlot
	r.queue = append(r.queue, leave, start)
	r.goes(c, next, nextSlot, Waiting, Runnable)

	n.status = goRunning
	n.seq.n++
	g.status = goWaiting
	if c.op == evGoSwitchDestroy {
		r.gs.remove(slot)
	}
	c.m.g, c.m.slot = next, nextSlot
	return advanced
}

// goCreateSyscall is a C thread that calls into Go.
func (r *Reader) goCreateSyscall(c *cursor) outcome {
	if c.thread == NoThread {
		return r.lacks(c)
	}
	id := GoID(c.args[0])
	if c.m.g != NoGoroutine {
		return r.fail(c, "thread %d runs goroutine %d already", c.thread, c.m.g)
	}
	if r.gs.find(id) != NoSlot {
		return r.fail(c, "goroutine %d exists already", id)
	}
	slot := r.gs.add(id, goSyscall, sequence{gen: r.gen})
	r.goes(c, id, slot, NotExist, Syscall)
	c.m.g, c.m.slot = id, slot
	return advanced
}

// goDestroySyscall is a C thread that goes away. The system may give its id to
// another thread, so that it must let go of its P here.
func (r *Reader) goDestroySyscall(c *cursor) outcome {
	if c.m.g == NoGoroutine {
		return r.lacks(c)
	}
	g := r.running(c, goSyscall)
	if g == nil {
		return broken
	}
	var p *proc
	if c.m.p != NoProc {
		if p = r.proc(c.m.p); p == nil || p.status != procSyscall {
			return r.fail(c, "P %d is not in a system call", c.m.p)
		}
	}
	e := r.goes(c, c.m.g, c.m.slot, Syscall, NotExist)
	if p != nil {
		p.status = procAbandoned
		r.queue = append(r.queue, *e)
		e = r.event(c, KindProcTransition)
		e.Subject, e.From, e.To, e.op = int64(c.m.p), Running, Idle, evProcSteal
		c.m.p = NoProc
	}
	r.gs.remove(c.m.slot)
	c.m.g, c.m.slot = NoGoroutine, NoSlot
	return advanced
}

func (r *Reader) goStatus(c *cursor) outcome {
	id, thread, status := GoID(c.args[0]), ThreadID(c.args[1]), c.args[2]
	if status >= uint64(len(goStates)) {
		return r.fail(c, "goroutine %d is in state %d, which does not exist", id, status)
	}
	if status == goSyscall {
		if out := r.checkSyscall(c, id, thread); out != advanced {
			return out
		}
	}
	from := goStates[status]
	slot := r.gs.find(id)
	switch {
	case slot != NoSlot:
		g := r.gs.at(slot)
		if uint64(g.status) != status {
			return r.fail(c, "goroutine %d was %v and is %v", id, goStates[g.status], goStates[status])
		}
		g.seq = sequence{gen: r.gen}
	case r.gen == r.firstGen:
		slot = r.gs.add(id, uint8(status), sequence{gen: r.gen})
		from = Undetermined
	default:
		return r.fail(c, "goroutine %d appears in the middle of the trace", id)
	}
	e := r.goes(c, id, slot, from, goStates[status])
	switch status {
	case goRunning:
		if c.thread != NoThread {
			c.m.g, c.m.slot = id, slot
		}
	case goSyscall:
		r.bindSyscall(c, e, thread)
	}
	if c.op == evGoStatusStack {
		r.at(e, c.args[3])
		e.SubjectStack, r.subjectRef = e.Stack, r.stackRef
	}
	return advanced
}

// checkSyscall says whether a goroutine can be in a system call on this thread.
func (r *Reader) checkSyscall(c *cursor, id GoID, thread ThreadID) outcome {
	if thread == NoThread {
		return r.fail(c, "goroutine %d is in a system call on no thread", id)
	}
	m := c.m
	if thread != c.thread {
		if m = r.machines[thread]; m == nil || !m.known {
			return advanced // it has been there since before the trace
		}
	} else if r.gen == r.firstGen {
		return advanced
	}
	if m.g != id {
		return r.fail(c, "goroutine %d is in a system call on thread %d, which runs goroutine %d", id, thread, m.g)
	}
	return advanced
}

// bindSyscall ties the goroutine of e to the thread of its system call.
func (r *Reader) bindSyscall(c *cursor, e *Event, thread ThreadID) {
	id, slot := e.Goroutine(), e.SubjectSlot
	if thread == c.thread {
		c.m.g, c.m.slot = id, slot
		return
	}
	if m := r.machine(thread); m.known {
		e.G, e.GSlot = id, slot
	} else {
		m.g, m.slot, m.known = id, slot, true
	}
	e.M = thread
}

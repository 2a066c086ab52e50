package exectrace

// outcome says what became of an event that an M offers next.
type outcome uint8

const (
	blocked  outcome = iota // another M has to go first
	advanced                // it happened; the output has it
	broken                  // it cannot happen; the output says why
)

// program is what the events so far say of the program: the state that the order of
// the following ones depends on.
type program struct {
	gs        *goroutines
	procs     procs
	machines  machines
	tasks     taskTable
	collector collector

	gen   uint32 // counts the generations read
	first bool   // states may be news, as nothing was known before this generation
	fresh bool   // nothing is known
}

// forget drops all that is known of the program.
func (w *program) forget() {
	if w.gs == nil || len(w.gs.blocks) > minBlocks {
		w.gs = newGoroutines()
	}
	w.gs.reset()
	w.procs = w.procs[:0]
	w.machines = make(machines)
	w.tasks = newTaskTable()
	w.collector = collector{}
	w.fresh = true
}

// begin is the begin of a generation.
func (w *program) begin() {
	w.gen++
	w.first, w.fresh = w.fresh, false
}

// advance lets the event of c happen if the state of the program allows it,
// and tells it by o. The rules are those of internal/trace/order.go: an
// event that names another goroutine or P waits until that one is in the right
// state and its sequence number is next; every other event must be possible at
// once, because its M wrote it.
func (w *program) advance(o *output, c *cursor) outcome {
	switch c.op {
	case evGoStart:
		return w.goStart(o, c)
	case evGoUnblock:
		return w.goUnblock(o, c)
	case evGoBlock, evGoStop, evGoDestroy:
		return w.goLeave(o, c)
	case evGoCreate, evGoCreateBlocked:
		return w.goCreate(o, c)
	case evGoSyscallBegin:
		return w.goSyscallBegin(o, c)
	case evGoSyscallEnd:
		return w.goSyscallEnd(o, c)
	case evGoSyscallEndBlocked:
		return w.goSyscallEndBlocked(o, c)
	case evProcStart:
		return procStart(&w.procs, o, c, w.gen)
	case evProcStop:
		return procStop(&w.procs, o, c)
	case evProcSteal:
		return w.procSteal(o, c)
	case evProcStatus:
		return w.procStatus(o, c)
	case evGoStatus, evGoStatusStack:
		return w.goStatus(o, c)
	case evGoSwitch, evGoSwitchDestroy:
		return w.goSwitch(o, c)
	case evGoCreateSyscall:
		return w.goCreateSyscall(o, c)
	case evGoDestroySyscall:
		return w.goDestroySyscall(o, c)
	case evUserTaskBegin, evUserTaskEnd:
		return userTask(&w.tasks, o, c)
	case evUserRegionBegin, evUserRegionEnd:
		return userRegion(w.gs, o, c)
	case evUserLog, evGoLabel, evProcsChange:
		return annotation(o, c)
	case evHeapAlloc, evHeapGoal:
		return heapMetric(o, c)
	case evGCActive, evGCBegin, evGCEnd:
		return gcRange(&w.collector, o, c, w.first)
	case evGCSweepActive, evGCSweepBegin, evGCSweepEnd:
		return sweepRange(&w.procs, o, c, w.first)
	case evGCMarkAssistActive, evGCMarkAssistBegin, evGCMarkAssistEnd:
		return assistRange(w.gs, o, c, w.first)
	case evSTWBegin, evSTWEnd:
		return stopTheWorld(w.gs, o, c)
	}
	if c.op >= evSpan && c.op <= evGoroutineStackFree {
		return experimental(o, c)
	}
	return o.fail(c, "%d is not an event type that an M writes", c.op)
}

// running returns the goroutine that c's M runs, which must be in this state.
func (w *program) running(o *output, c *cursor, status uint8) *goroutine {
	g := w.gs.at(c.m.slot)
	if g.status != status || g.id != c.m.g {
		o.fail(c, "goroutine %d is not %v", c.m.g, goStates[status])
		return nil
	}
	return g
}

func (w *program) goStart(o *output, c *cursor) outcome {
	id := GoID(c.args[0])
	slot := w.gs.find(id)
	if slot == NoSlot {
		return blocked
	}
	g := w.gs.at(slot)
	if g.status != goRunnable || !g.seq.follows(w.gen, c.args[1]) {
		return blocked
	}
	if c.m.p == NoProc {
		return o.lacks(c)
	}
	if c.m.g != NoGoroutine {
		return o.fail(c, "thread %d runs goroutine %d already", c.thread, c.m.g)
	}
	o.goes(c, id, slot, Runnable, Running)
	g.status = goRunning
	g.seq.n++
	c.m.g, c.m.slot = id, slot
	return advanced
}

func (w *program) goUnblock(o *output, c *cursor) outcome {
	id := GoID(c.args[0])
	slot := w.gs.find(id)
	if slot == NoSlot {
		return blocked
	}
	g := w.gs.at(slot)
	if g.status != goWaiting || !g.seq.follows(w.gen, c.args[1]) {
		return blocked
	}
	g.status = goRunnable
	g.seq.n++
	o.at(o.goes(c, id, slot, Waiting, Runnable), c.args[2])
	return advanced
}

// goLeave is a goroutine that stops running on its own.
func (w *program) goLeave(o *output, c *cursor) outcome {
	if !c.m.runsGo() {
		return o.lacks(c)
	}
	g := w.running(o, c, goRunning)
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
	e := o.goes(c, c.m.g, c.m.slot, Running, to)
	if c.op == evGoDestroy {
		w.gs.remove(c.m.slot)
	} else {
		e.Name = o.symbols.name(c.args[0])
		o.at(e, c.args[1])
		e.SubjectStack, o.subjectRef = e.Stack, o.stackRef
		g.status = status
	}
	c.m.g, c.m.slot = NoGoroutine, NoSlot
	return advanced
}

func (w *program) goCreate(o *output, c *cursor) outcome {
	if c.m.p == NoProc {
		return o.lacks(c)
	}
	if c.m.g != NoGoroutine && w.running(o, c, goRunning) == nil {
		return broken
	}
	id := GoID(c.args[0])
	if w.gs.find(id) != NoSlot {
		return o.fail(c, "goroutine %d exists already", id)
	}
	status, to := uint8(goRunnable), Runnable
	if c.op == evGoCreateBlocked {
		status, to = goWaiting, Waiting
	}
	slot := w.gs.add(id, status, sequence{gen: w.gen})
	e := o.goes(c, id, slot, NotExist, to)
	e.SubjectStack, o.subjectRef = o.symbols.stack(c.args[1]), c.args[1]
	o.at(e, c.args[2])
	return advanced
}

func (w *program) goSyscallBegin(o *output, c *cursor) outcome {
	if !c.m.runsGo() {
		return o.lacks(c)
	}
	g := w.running(o, c, goRunning)
	if g == nil {
		return broken
	}
	p := w.procs.at(c.m.p)
	if p == nil || p.status == 0 {
		return o.fail(c, "P %d has no state", c.m.p)
	}
	if !p.seq.follows(w.gen, c.args[0]) {
		return o.fail(c, "P %d is at %d of generation %d, and the event at %d of %d", c.m.p, p.seq.n, p.seq.gen, c.args[0], w.gen)
	}
	g.status = goSyscall
	p.status = procSyscall
	p.seq.n++
	e := o.goes(c, c.m.g, c.m.slot, Running, Syscall)
	o.at(e, c.args[1])
	e.SubjectStack, o.subjectRef = e.Stack, o.stackRef
	return advanced
}

func (w *program) goSyscallEnd(o *output, c *cursor) outcome {
	if !c.m.runsGo() {
		return o.lacks(c)
	}
	g := w.running(o, c, goSyscall)
	if g == nil {
		return broken
	}
	p := w.procs.at(c.m.p)
	if p == nil || p.status != procSyscall {
		return o.fail(c, "P %d is not in a system call", c.m.p)
	}
	g.status = goRunning
	p.status = procRunning
	o.goes(c, c.m.g, c.m.slot, Syscall, Running)
	return advanced
}

// goSyscallEndBlocked is the end of a system call that has lost its P: the
// loss must have been seen before.
func (w *program) goSyscallEndBlocked(o *output, c *cursor) outcome {
	if c.m.p != NoProc {
		p := w.procs.at(c.m.p)
		if p == nil || p.status == 0 {
			return o.fail(c, "P %d has no state", c.m.p)
		}
		if p.status == procSyscall {
			return blocked
		}
	}
	if c.m.g == NoGoroutine {
		return o.lacks(c)
	}
	g := w.running(o, c, goSyscall)
	if g == nil {
		return broken
	}
	g.status = goRunnable
	o.goes(c, c.m.g, c.m.slot, Syscall, Runnable)
	c.m.g, c.m.slot = NoGoroutine, NoSlot
	return advanced
}

// goSwitch is a coroutine that hands over to another: three events in one.
func (w *program) goSwitch(o *output, c *cursor) outcome {
	if !c.m.runsGo() {
		return o.lacks(c)
	}
	g := w.running(o, c, goRunning)
	if g == nil {
		return broken
	}
	id, slot := c.m.g, c.m.slot
	next := GoID(c.args[0])
	nextSlot := w.gs.find(next)
	if nextSlot == NoSlot {
		return blocked
	}
	n := w.gs.at(nextSlot)
	if n.status != goWaiting || !n.seq.follows(w.gen, c.args[1]) {
		return blocked
	}
	leave := *o.goes(c, id, slot, Running, Waiting)
	if c.op == evGoSwitchDestroy {
		leave.To = NotExist
	}
	start := *o.goes(c, next, nextSlot, Runnable, Running)
	start.G, start.GSlot = NoGoroutine, NoSlot
	o.queue = append(o.queue, leave, start)
	o.goes(c, next, nextSlot, Waiting, Runnable)

	n.status = goRunning
	n.seq.n++
	g.status = goWaiting
	if c.op == evGoSwitchDestroy {
		w.gs.remove(slot)
	}
	c.m.g, c.m.slot = next, nextSlot
	return advanced
}

// goCreateSyscall is a C thread that calls into Go.
func (w *program) goCreateSyscall(o *output, c *cursor) outcome {
	if c.thread == NoThread {
		return o.lacks(c)
	}
	id := GoID(c.args[0])
	if c.m.g != NoGoroutine {
		return o.fail(c, "thread %d runs goroutine %d already", c.thread, c.m.g)
	}
	if w.gs.find(id) != NoSlot {
		return o.fail(c, "goroutine %d exists already", id)
	}
	slot := w.gs.add(id, goSyscall, sequence{gen: w.gen})
	o.goes(c, id, slot, NotExist, Syscall)
	c.m.g, c.m.slot = id, slot
	return advanced
}

// goDestroySyscall is a C thread that goes away. The system may give its id to
// another thread, so that it must let go of its P here.
func (w *program) goDestroySyscall(o *output, c *cursor) outcome {
	if c.m.g == NoGoroutine {
		return o.lacks(c)
	}
	g := w.running(o, c, goSyscall)
	if g == nil {
		return broken
	}
	var p *proc
	if c.m.p != NoProc {
		if p = w.procs.at(c.m.p); p == nil || p.status != procSyscall {
			return o.fail(c, "P %d is not in a system call", c.m.p)
		}
	}
	e := o.goes(c, c.m.g, c.m.slot, Syscall, NotExist)
	if p != nil {
		p.status = procAbandoned
		o.queue = append(o.queue, *e)
		e = o.event(c, KindProcTransition)
		e.Subject, e.From, e.To, e.op = int64(c.m.p), Running, Idle, evProcSteal
		c.m.p = NoProc
	}
	w.gs.remove(c.m.slot)
	c.m.g, c.m.slot = NoGoroutine, NoSlot
	return advanced
}

func (w *program) goStatus(o *output, c *cursor) outcome {
	id, thread, status := GoID(c.args[0]), ThreadID(c.args[1]), c.args[2]
	if status >= uint64(len(goStates)) {
		return o.fail(c, "goroutine %d is in state %d, which does not exist", id, status)
	}
	if status == goSyscall {
		if out := w.checkSyscall(o, c, id, thread); out != advanced {
			return out
		}
	}
	from := goStates[status]
	slot := w.gs.find(id)
	switch {
	case slot != NoSlot:
		g := w.gs.at(slot)
		if uint64(g.status) != status {
			return o.fail(c, "goroutine %d was %v and is %v", id, goStates[g.status], goStates[status])
		}
		g.seq = sequence{gen: w.gen}
	case w.first:
		slot = w.gs.add(id, uint8(status), sequence{gen: w.gen})
		from = Undetermined
	default:
		return o.fail(c, "goroutine %d appears in the middle of the trace", id)
	}
	e := o.goes(c, id, slot, from, goStates[status])
	switch status {
	case goRunning:
		if c.thread != NoThread {
			c.m.g, c.m.slot = id, slot
		}
	case goSyscall:
		w.bindSyscall(c, e, thread)
	}
	if c.op == evGoStatusStack {
		o.at(e, c.args[3])
		e.SubjectStack, o.subjectRef = e.Stack, o.stackRef
	}
	return advanced
}

// checkSyscall says whether a goroutine can be in a system call on this thread.
func (w *program) checkSyscall(o *output, c *cursor, id GoID, thread ThreadID) outcome {
	if thread == NoThread {
		return o.fail(c, "goroutine %d is in a system call on no thread", id)
	}
	m := c.m
	if thread != c.thread {
		if m = w.machines[thread]; m == nil || !m.known {
			return advanced // it has been there since before the trace
		}
	} else if w.first {
		return advanced
	}
	if m.g != id {
		return o.fail(c, "goroutine %d is in a system call on thread %d, which runs goroutine %d", id, thread, m.g)
	}
	return advanced
}

// bindSyscall ties the goroutine of e to the thread of its system call.
func (w *program) bindSyscall(c *cursor, e *Event, thread ThreadID) {
	id, slot := e.Goroutine(), e.SubjectSlot
	if thread == c.thread {
		c.m.g, c.m.slot = id, slot
		return
	}
	if m := w.machines.of(thread); m.known {
		e.G, e.GSlot = id, slot
	} else {
		m.g, m.slot, m.known = id, slot, true
	}
	e.M = thread
}

package tiles

import "loupe/exectrace"

// proc is the lane of a P.
type proc struct {
	column
	id      exectrace.ProcID
	runner  *life // the goroutine that it runs
	thread  *thread
	known   bool
	fresh   bool // it was found running, and what it runs is not known yet
	runs    bool // a thread has it
	syscall bool
	sweeps  bool
}

// thread is the lane of an M.
type thread struct {
	column
	id exectrace.ThreadID
}

// gcLane is the lane of the collector.
type gcLane struct {
	column
	marks         bool
	stops, sweeps int
}

// classify returns the class of what the collector does.
func (c *gcLane) classify() uint8 {
	switch {
	case c.stops > 0:
		return uint8(GCSTW)
	case c.marks:
		return uint8(GCMark)
	case c.sweeps > 0:
		return uint8(GCSweep)
	}
	return uint8(ClassRest)
}

// proc returns the P with a number, nil for no P. A reader gives no number
// above 65536.
func (b *Builder) proc(id exectrace.ProcID) *proc {
	if id < 0 {
		return nil
	}
	for len(b.procs) <= int(id) {
		b.procs = append(b.procs, nil)
	}
	p := b.procs[id]
	if p == nil {
		p = &proc{id: id}
		b.procs[id] = p
	}
	return p
}

// thread returns the M with an id, nil for no M.
func (b *Builder) thread(id exectrace.ThreadID) *thread {
	m := b.threads[id]
	if m == nil && id != exectrace.NoThread {
		m = &thread{id: id}
		m.begin(b.now, uint8(ClassRest))
		b.threads[id] = m
	}
	return m
}

// idle takes the thread away from a P.
func (p *proc) idle(at tick) {
	p.runner, p.thread = nil, nil
	p.runs, p.syscall, p.fresh = false, false, false
	p.turn(at, uint8(ClassRest))
}

// threadClass returns what the thread of a P does when it loses it: in a
// system call it goes on with that.
func (p *proc) threadClass() uint8 {
	if p.syscall {
		return uint8(ThreadSyscall)
	}
	return uint8(ClassRest)
}

// procTransition is a P that a thread takes or gives back.
func (b *Builder) procTransition(e *exectrace.Event) {
	p := b.proc(e.Proc())
	if p == nil || e.From == e.To && p.known {
		return
	}
	was := p.runs
	if p.runs = e.To == exectrace.Running; !p.known {
		p.known = true
		if e.From == exectrace.Undetermined {
			p.begin(b.lastSync, uint8(ClassRest))
			p.fresh = p.runs
		} else {
			p.begin(b.now, uint8(ClassRest))
		}
		if p.runs {
			p.class = uint8(ProcSchedule)
		}
	}
	if p.runs {
		p.thread = b.thread(e.M)
		b.turnThread(p.thread, uint8(ThreadRuns))
		b.turnProc(p)
	} else {
		b.turnThread(p.thread, p.threadClass())
		p.idle(b.now)
	}
	if was != p.runs {
		d := -1.0
		if p.runs {
			d = 1
		}
		b.busyProcs.add(b.now, d)
	}
}

func (b *Builder) turnThread(m *thread, class uint8) {
	if m == nil || m.class == class {
		return
	}
	switch uint8(ThreadRuns) {
	case class:
		b.busyMs.add(b.now, +1)
	case m.class:
		b.busyMs.add(b.now, -1)
	}
	m.turn(b.now, class)
}

// enter puts a goroutine on a P: it starts, begins a system call there or
// returns from one.
func (b *Builder) enter(g *life, e *exectrace.Event) {
	p := b.proc(e.P)
	if e.From != exectrace.Running && e.To == exectrace.Syscall && (p == nil || !p.runs) {
		b.turnThread(b.thread(e.M), uint8(ThreadSyscall)) // one that has no P
	}
	if p == nil || !p.known {
		return
	}
	if e.From == exectrace.Undetermined && e.To == exectrace.Syscall && p.runner != nil {
		return // told by another thread, which runs on this P
	}
	p.runner, p.syscall = g, e.To == exectrace.Syscall
	if p.fresh && e.From == exectrace.Undetermined {
		p.class = p.classify() // what it runs it has run since the sync
	}
	p.fresh = false
	b.turnProc(p)
}

// leave takes a goroutine from its P.
func (b *Builder) leave(g *life, e *exectrace.Event) {
	p := b.proc(e.P)
	if e.From == exectrace.Syscall && (p == nil || p.runner != g) {
		b.turnThread(b.thread(e.M), uint8(ClassRest)) // it has lost its P before
	}
	if p == nil || p.runner != g {
		return
	}
	p.runner, p.syscall, p.fresh = nil, false, false
	b.turnProc(p)
}

// turnProc gives a P the class of what it does now.
func (b *Builder) turnProc(p *proc) {
	if p.known {
		p.turn(b.now, p.classify())
	}
}

// classify returns the class of what a P does.
func (p *proc) classify() uint8 {
	switch {
	case !p.runs:
		return uint8(ClassRest)
	case p.syscall:
		return uint8(ProcSyscall)
	case p.runner == nil:
		if p.sweeps {
			return uint8(ProcSweep)
		}
		return uint8(ProcSchedule)
	}
	switch flags := p.runner.flags; {
	case flags&flagSTW != 0:
		return uint8(ProcSTW)
	case p.sweeps:
		return uint8(ProcSweep)
	case flags&flagAssist != 0:
		return uint8(ProcAssist)
	case flags&flagWorker != 0:
		return uint8(ProcGC)
	}
	return uint8(ProcRuns)
}

// rangeEvent is the begin or the end of something that the collector does. An
// active range repeats at each generation what is known already.
func (b *Builder) rangeEvent(e *exectrace.Event) {
	on := e.Kind != exectrace.KindRangeEnd
	d := -1
	if on {
		d = +1
	}
	switch {
	case e.Name == exectrace.NameMarkPhase:
		b.gc.marks = on
	case e.Name == exectrace.NameSweep:
		p := b.proc(e.Proc())
		if p == nil || p.sweeps == on {
			return
		}
		p.sweeps = on
		b.gc.sweeps += d
		b.turnProc(p)
	case e.SubjectSlot == exectrace.NoSlot:
		return
	case e.Name == exectrace.NameMarkAssist:
		b.flag(e, e.SubjectSlot, flagAssist, on)
	case e.Scope() == exectrace.ScopeGoroutine: // stop-the-world (KIND)
		if b.flag(e, e.SubjectSlot, flagSTW, on) {
			b.gc.stops += d
		}
	}
	b.gc.turn(b.now, b.gc.classify())
}

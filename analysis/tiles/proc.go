package tiles

import (
	"maps"
	"slices"

	"loupe/format/exectrace"
)

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

// forget ends what the collector does.
func (c *gcLane) forget(at tick) {
	c.marks, c.stops, c.sweeps = false, 0, 0
	c.turn(at, c.classify())
}

// machines are the lanes of Ps and Ms.
type machines struct {
	fold              *folding
	procs             []*proc
	threads           map[exectrace.ThreadID]*thread
	busyProcs, busyMs counter
}

// proc returns the P with a number, nil for no P. A reader gives no number
// above 65536.
func (x *machines) proc(id exectrace.ProcID) *proc {
	if id < 0 {
		return nil
	}
	for len(x.procs) <= int(id) {
		x.procs = append(x.procs, nil)
	}
	p := x.procs[id]
	if p == nil {
		p = &proc{id: id}
		p.fold = x.fold
		x.procs[id] = p
	}
	return p
}

// thread returns the M with an id, nil for no M.
func (x *machines) thread(id exectrace.ThreadID, at tick) *thread {
	m := x.threads[id]
	if m == nil && id != exectrace.NoThread {
		m = &thread{id: id}
		m.fold = x.fold
		m.begin(at, uint8(ClassRest))
		x.threads[id] = m
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

// transition is a P that a thread takes or gives back.
func (x *machines) transition(e *exectrace.Event, at, lastSync tick) {
	p := x.proc(e.Proc())
	if p == nil || e.From == e.To && p.known {
		return
	}
	was := p.runs
	if p.runs = e.To == exectrace.Running; !p.known {
		p.known = true
		if e.From == exectrace.Undetermined {
			p.begin(lastSync, uint8(ClassRest))
			p.fresh = p.runs
		} else {
			p.begin(at, uint8(ClassRest))
		}
		if p.runs {
			p.class = uint8(ProcSchedule)
		}
	}
	if p.runs {
		p.thread = x.thread(e.M, at)
		x.turn(p.thread, uint8(ThreadRuns), at)
		p.retell(at)
	} else {
		x.turn(p.thread, p.threadClass(), at)
		p.idle(at)
	}
	if was != p.runs {
		d := -1.0
		if p.runs {
			d = 1
		}
		x.busyProcs.add(at, d)
	}
}

// turn gives an M the class of what it does now.
func (x *machines) turn(m *thread, class uint8, at tick) {
	if m == nil || m.class == class {
		return
	}
	switch uint8(ThreadRuns) {
	case class:
		x.busyMs.add(at, +1)
	case m.class:
		x.busyMs.add(at, -1)
	}
	m.turn(at, class)
}

// enter puts a goroutine on a P: it starts, begins a system call there or
// returns from one.
func (x *machines) enter(g *life, e *exectrace.Event, at tick) {
	p := x.proc(e.P)
	if e.From != exectrace.Running && e.To == exectrace.Syscall && (p == nil || !p.runs) {
		x.turn(x.thread(e.M, at), uint8(ThreadSyscall), at) // one that has no P
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
	p.retell(at)
}

// leave takes a goroutine from its P.
func (x *machines) leave(g *life, e *exectrace.Event, at tick) {
	p := x.proc(e.P)
	if e.From == exectrace.Syscall && (p == nil || p.runner != g) {
		x.turn(x.thread(e.M, at), uint8(ClassRest), at) // it has lost its P before
	}
	if p == nil || p.runner != g {
		return
	}
	p.runner, p.syscall, p.fresh = nil, false, false
	p.retell(at)
}

// retell gives a P the class of what it does now.
func (p *proc) retell(at tick) {
	if p.known {
		p.turn(at, p.classify())
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

// forget takes all Ps from their threads, and those from what they do.
func (x *machines) forget(at tick) {
	for _, p := range x.procs {
		if p != nil {
			p.idle(at)
		}
	}
	for _, m := range x.threads {
		m.turn(at, uint8(ClassRest))
	}
	x.busyProcs.set(at, 0)
	x.busyMs.set(at, 0)
}

// each visits the lanes of all Ps and Ms.
func (x *machines) each(visit func(c *column, kind Kind, subject int64)) {
	for _, p := range x.procs {
		if p != nil {
			visit(&p.column, KindProc, int64(p.id))
		}
	}
	for _, m := range x.threads {
		visit(&m.column, KindThread, int64(m.id))
	}
}

func (x *machines) clone() machines {
	c := *x
	c.procs = slices.Clone(x.procs)
	for i, p := range x.procs {
		if p != nil {
			p := *p
			p.column = p.column.clone()
			c.procs[i] = &p
		}
	}
	c.threads = maps.Clone(x.threads)
	for id, m := range x.threads {
		m := *m
		m.column = m.column.clone()
		c.threads[id] = &m
	}
	return c
}

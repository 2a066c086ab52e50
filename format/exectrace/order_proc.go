package exectrace

// maxProcs bounds the number of Ps that a trace may name. Go has no bound; the
// largest machines have some thousand.
const maxProcs = 1 << 16

// proc returns the state of a P, or nil for one that cannot be.
func (r *Reader) proc(id ProcID) *proc {
	if uint64(id) < uint64(len(r.procs)) {
		return &r.procs[id]
	}
	if id < 0 || id >= maxProcs {
		return nil
	}
	r.procs = append(r.procs, make([]proc, int(id)+1-len(r.procs))...)
	return &r.procs[id]
}

// procOf is [Reader.proc] for a number of the file.
func (r *Reader) procOf(id uint64) (ProcID, *proc) {
	if id >= maxProcs {
		return NoProc, nil
	}
	return ProcID(id), r.proc(ProcID(id))
}

// turns makes r.ev a transition of a P.
func (r *Reader) turns(c *cursor, p ProcID, from, to State) *Event {
	e := r.event(c, KindProcTransition)
	e.Subject, e.From, e.To = int64(p), from, to
	return e
}

func (r *Reader) procStart(c *cursor) outcome {
	id, p := r.procOf(c.args[0])
	if p == nil || p.status != procIdle || !p.seq.follows(r.gen, c.args[1]) {
		return blocked
	}
	if c.thread == NoThread {
		return r.lacks(c)
	}
	if c.m.p != NoProc {
		return blocked // in a system call whose P is about to be stolen
	}
	r.turns(c, id, Idle, Running)
	p.status = procRunning
	p.seq.n++
	c.m.p = id
	return advanced
}

func (r *Reader) procStop(c *cursor) outcome {
	if c.m.p == NoProc {
		return r.lacks(c)
	}
	p := r.proc(c.m.p)
	if p == nil || p.status != procRunning && p.status != procSyscall {
		return r.fail(c, "P %d is not running", c.m.p)
	}
	r.turns(c, c.m.p, Running, Idle)
	p.status = procIdle
	c.m.p = NoProc
	return advanced
}

func (r *Reader) procSteal(c *cursor) outcome {
	id, p := r.procOf(c.args[0])
	if p == nil || p.status != procSyscall && p.status != procAbandoned || !p.seq.follows(r.gen, c.args[1]) {
		return blocked
	}
	if c.thread == NoThread {
		return r.lacks(c)
	}
	from := Running
	if p.status == procAbandoned {
		from = Idle // nothing is known of the thread that had it
	}
	thread := ThreadID(c.args[2])
	var victim *machine
	if from == Running {
		if victim = c.m; thread != c.thread {
			victim = r.machines[thread]
		}
		if victim == nil {
			return r.fail(c, "P %d is stolen from thread %d, which does not exist", id, thread)
		}
		if victim.p != id {
			return r.fail(c, "P %d is stolen from thread %d, which has P %d", id, thread, victim.p)
		}
	}
	r.turns(c, id, from, Idle)
	p.status = procIdle
	p.seq.n++
	if victim != nil {
		victim.p = NoProc
	}
	return advanced
}

func (r *Reader) procStatus(c *cursor) outcome {
	id, p := r.procOf(c.args[0])
	status := c.args[1]
	if status >= uint64(len(procStates)) {
		return r.fail(c, "P %d is in state %d, which does not exist", c.args[0], status)
	}
	if p == nil {
		return r.fail(c, "P %d, and %d is the most there can be", c.args[0], maxProcs)
	}
	from, to := procStates[status], procStates[status]
	promoted := false
	switch {
	case p.status == 0:
		p.status = uint8(status)
		from = NotExist
		if r.gen == r.firstGen {
			from = Undetermined
		}
	case status == procAbandoned && p.status == procSyscall:
		// Nothing is lost: the thread is known.
		from, to, promoted = Running, Running, true
	case status == procAbandoned && p.status == procAbandoned:
	case uint64(p.status) != status:
		return r.fail(c, "P %d was %v and is %v", id, procStates[p.status], procStates[status])
	}
	p.seq = sequence{gen: r.gen}
	e := r.turns(c, id, from, to)
	if promoted {
		// The event belongs to the thread that has the P.
		found := false
		for thread, m := range r.machines {
			if m.p == id {
				e.M, e.P, e.G, e.GSlot = thread, id, m.g, m.slot
				found = true
			}
		}
		if !found {
			return r.fail(c, "no thread has P %d, which is about to be stolen", id)
		}
	}
	if (status == procRunning || status == procSyscall) && c.thread != NoThread {
		c.m.p = id
	}
	return advanced
}

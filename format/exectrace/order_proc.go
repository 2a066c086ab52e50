package exectrace

// maxProcs bounds the number of Ps that a trace may name. Go has no bound; the
// largest machines have some thousand.
const maxProcs = 1 << 16

// procs are the states of the Ps.
type procs []proc

// at returns the state of a P, or nil for one that cannot be.
func (ps *procs) at(id ProcID) *proc {
	if uint64(id) < uint64(len(*ps)) {
		return &(*ps)[id]
	}
	if id < 0 || id >= maxProcs {
		return nil
	}
	*ps = append(*ps, make([]proc, int(id)+1-len(*ps))...)
	return &(*ps)[id]
}

// of is [procs.at] for a number of the file.
func (ps *procs) of(id uint64) (ProcID, *proc) {
	if id >= maxProcs {
		return NoProc, nil
	}
	return ProcID(id), ps.at(ProcID(id))
}

func procStart(ps *procs, o *output, c *cursor, gen uint32) outcome {
	id, p := ps.of(c.args[0])
	if p == nil || p.status != procIdle || !p.seq.follows(gen, c.args[1]) {
		return blocked
	}
	if c.thread == NoThread {
		return o.lacks(c)
	}
	if c.m.p != NoProc {
		return blocked // in a system call whose P is about to be stolen
	}
	o.turns(c, id, Idle, Running)
	p.status = procRunning
	p.seq.n++
	c.m.p = id
	return advanced
}

func procStop(ps *procs, o *output, c *cursor) outcome {
	if c.m.p == NoProc {
		return o.lacks(c)
	}
	p := ps.at(c.m.p)
	if p == nil || p.status != procRunning && p.status != procSyscall {
		return o.fail(c, "P %d is not running", c.m.p)
	}
	o.turns(c, c.m.p, Running, Idle)
	p.status = procIdle
	c.m.p = NoProc
	return advanced
}

func (w *program) procSteal(o *output, c *cursor) outcome {
	id, p := w.procs.of(c.args[0])
	if p == nil || p.status != procSyscall && p.status != procAbandoned || !p.seq.follows(w.gen, c.args[1]) {
		return blocked
	}
	if c.thread == NoThread {
		return o.lacks(c)
	}
	from := Running
	if p.status == procAbandoned {
		from = Idle // nothing is known of the thread that had it
	}
	thread := ThreadID(c.args[2])
	var victim *machine
	if from == Running {
		if victim = c.m; thread != c.thread {
			victim = w.machines[thread]
		}
		if victim == nil {
			return o.fail(c, "P %d is stolen from thread %d, which does not exist", id, thread)
		}
		if victim.p != id {
			return o.fail(c, "P %d is stolen from thread %d, which has P %d", id, thread, victim.p)
		}
	}
	o.turns(c, id, from, Idle)
	p.status = procIdle
	p.seq.n++
	if victim != nil {
		victim.p = NoProc
	}
	return advanced
}

func (w *program) procStatus(o *output, c *cursor) outcome {
	id, p := w.procs.of(c.args[0])
	status := c.args[1]
	if status >= uint64(len(procStates)) {
		return o.fail(c, "P %d is in state %d, which does not exist", c.args[0], status)
	}
	if p == nil {
		return o.fail(c, "P %d, and %d is the most there can be", c.args[0], maxProcs)
	}
	from, to := procStates[status], procStates[status]
	promoted := false
	switch {
	case p.status == 0:
		p.status = uint8(status)
		from = NotExist
		if w.first {
			from = Undetermined
		}
	case status == procAbandoned && p.status == procSyscall:
		// Nothing is lost: the thread is known.
		from, to, promoted = Running, Running, true
	case status == procAbandoned && p.status == procAbandoned:
	case uint64(p.status) != status:
		return o.fail(c, "P %d was %v and is %v", id, procStates[p.status], procStates[status])
	}
	p.seq = sequence{gen: w.gen}
	e := o.turns(c, id, from, to)
	if promoted {
		// The event belongs to the thread that has the P.
		found := false
		for thread, m := range w.machines {
			if m.p == id {
				e.M, e.P, e.G, e.GSlot = thread, id, m.g, m.slot
				found = true
			}
		}
		if !found {
			return o.fail(c, "no thread has P %d, which is about to be stolen", id)
		}
	}
	if (status == procRunning || status == procSyscall) && c.thread != NoThread {
		c.m.p = id
	}
	return advanced
}

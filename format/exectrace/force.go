package exectrace

import "slices"

// Where events are lost, those that depend on them wait for ever: a goroutine
// cannot be woken up that the trace has not seen fall asleep. Then the
// earliest event is taken for true, and what it presupposes is told first, by
// events that are not in the file ([Event.Bridged]).

// force lets the event of the first cursor happen against the state of the
// program. Where that cannot be, the event is left out.
func (m *merger) force(c *cursor) {
	b := &m.losses.bridges
	*b = (*b)[:0]
	b.build(&m.program, c)
	if m.program.advance(&m.out, c) != advanced {
		m.losses.skipped++
		// What was told of others holds all the same.
		m.out.queue = append(m.out.queue[:0], *b...)
		return
	}
	m.losses.forced++
	m.out.queue = slices.Insert(slices.Insert(m.out.queue, 0, *m.out.ev), 0, *b...)
}

// bridges are events that are not in the file: what must have happened for a later
// one to be possible.
type bridges []Event

// build brings the goroutine or P that the event of c names into the state
// that the event needs.
func (b *bridges) build(w *program, c *cursor) {
	switch c.op {
	case evGoStart:
		b.goroutine(w, c, GoID(c.args[0]), goRunnable, c.args[1])
	case evGoUnblock, evGoSwitch, evGoSwitchDestroy:
		b.goroutine(w, c, GoID(c.args[0]), goWaiting, c.args[1])
	case evProcStart:
		if c.m.p != NoProc {
			b.proc(w, c, c.m.p, procIdle)
		}
		if id, p := w.procs.of(c.args[0]); p != nil {
			b.proc(w, c, id, procIdle)
			p.seq = before(w.gen, c.args[1])
		}
	case evProcSteal:
		if id, p := w.procs.of(c.args[0]); p != nil {
			if p.status != procSyscall && p.status != procAbandoned {
				p.status = procAbandoned // nothing is known of the thread that had it
			}
			p.seq = before(w.gen, c.args[1])
			if v := w.machines[ThreadID(c.args[2])]; v == nil || v.p != id {
				p.status = procAbandoned
			}
		}
	case evGoSyscallEndBlocked:
		if c.m.p != NoProc {
			b.proc(w, c, c.m.p, procIdle)
		}
	case evGCActive, evGCBegin, evGCEnd:
		w.collector.seq = c.args[0] - 1
		w.collector.state = collectorRunning
		if c.op == evGCBegin {
			w.collector.state = collectorIdle
		}
	}
}

// before is the sequence in front of the number n.
func before(gen uint32, n uint64) sequence {
	return sequence{gen: gen, n: uint32(n - 1)}
}

// goroutine tells that a goroutine is in this state.
func (b *bridges) goroutine(w *program, c *cursor, id GoID, status uint8, seq uint64) {
	slot := w.gs.find(id)
	from := Undetermined
	if slot == NoSlot {
		slot = w.gs.add(id, status, before(w.gen, seq))
	} else {
		g := w.gs.at(slot)
		g.seq = before(w.gen, seq)
		if g.status == status {
			return
		}
		from = goStates[g.status]
		for _, m := range w.machines {
			if m.slot == slot {
				m.g, m.slot = NoGoroutine, NoSlot
			}
		}
		g.status = status
	}
	*b = append(*b, Event{Time: c.time, G: NoGoroutine, GSlot: NoSlot, P: NoProc, M: NoThread, Kind: KindGoTransition,
		Subject: int64(id), SubjectSlot: slot, From: from, To: goStates[status], bridged: true})
}

// proc tells that a P is in this state, and takes it from who has it.
func (b *bridges) proc(w *program, c *cursor, id ProcID, status uint8) {
	p := w.procs.at(id)
	if p == nil || p.status == status {
		return
	}
	from := procStates[p.status]
	for _, m := range w.machines {
		if m.p == id {
			m.p = NoProc
		}
	}
	p.status = status
	*b = append(*b, Event{Time: c.time, G: NoGoroutine, GSlot: NoSlot, P: NoProc, M: NoThread, SubjectSlot: NoSlot, Kind: KindProcTransition,
		Subject: int64(id), From: from, To: procStates[status], bridged: true, op: evProcSteal})
}

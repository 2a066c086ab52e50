package exectrace

import "fmt"

// Where events are lost, those that depend on them wait for ever: a goroutine
// cannot be woken up that the trace has not seen fall asleep. Then the
// earliest event is taken for true, and what it presupposes is told first, by
// events that are not in the file ([Event.Bridged]).

// force lets the event of the first cursor happen against the state of the
// program. It returns false when that cannot be; then the event is left out.
func (r *Reader) force(c *cursor) bool {
	r.bridges = r.bridges[:0]
	r.bridge(c)
	if r.advance(c) != advanced {
		r.skipped++
		// What was told of others holds all the same.
		r.queue = append(r.queue[:0], r.bridges...)
		return false
	}
	r.forced++
	if len(r.bridges) > 0 {
		rest := append([]Event{r.ev}, r.queue...)
		r.queue = append(append(r.queue[:0], r.bridges...), rest...)
	} else {
		r.queue = append([]Event{r.ev}, r.queue...)
	}
	return true
}

// bridge brings the goroutine or P that the event of c names into the state
// that the event needs.
func (r *Reader) bridge(c *cursor) {
	switch c.op {
	case evGoStart:
		r.bridgeGo(c, GoID(c.args[0]), goRunnable, c.args[1])
	case evGoUnblock, evGoSwitch, evGoSwitchDestroy:
		r.bridgeGo(c, GoID(c.args[0]), goWaiting, c.args[1])
	case evProcStart:
		if c.m.p != NoProc {
			r.bridgeProc(c, c.m.p, procIdle)
		}
		if id, p := r.procOf(c.args[0]); p != nil {
			r.bridgeProc(c, id, procIdle)
			p.seq = before(r.gen, c.args[1])
		}
	case evProcSteal:
		if id, p := r.procOf(c.args[0]); p != nil {
			if p.status != procSyscall && p.status != procAbandoned {
				p.status = procAbandoned // nothing is known of the thread that had it
			}
			p.seq = before(r.gen, c.args[1])
			if v := r.machines[ThreadID(c.args[2])]; v == nil || v.p != id {
				p.status = procAbandoned
			}
		}
	case evGoSyscallEndBlocked:
		if c.m.p != NoProc {
			r.bridgeProc(c, c.m.p, procIdle)
		}
	case evGCActive, evGCBegin, evGCEnd:
		r.gcSeq = c.args[0] - 1
		r.collector = collectorRunning
		if c.op == evGCBegin {
			r.collector = collectorIdle
		}
	}
}

// before is the sequence in front of the number n.
func before(gen uint32, n uint64) sequence {
	return sequence{gen: gen, n: uint32(n - 1)}
}

// bridgeGo tells that a goroutine is in this state.
func (r *Reader) bridgeGo(c *cursor, id GoID, status uint8, seq uint64) {
	slot := r.gs.find(id)
	from := Undetermined
	if slot == NoSlot {
		slot = r.gs.add(id, status, before(r.gen, seq))
	} else {
		g := r.gs.at(slot)
		g.seq = before(r.gen, seq)
		if g.status == status {
			return
		}
		from = goStates[g.status]
		for _, m := range r.machines {
			if m.slot == slot {
				m.g, m.slot = NoGoroutine, NoSlot
			}
		}
		g.status = status
	}
	r.bridges = append(r.bridges, Event{Time: c.time, G: NoGoroutine, GSlot: NoSlot, P: NoProc, M: NoThread, Kind: KindGoTransition,
		Subject: int64(id), SubjectSlot: slot, From: from, To: goStates[status], bridged: true})
}

// bridgeProc tells that a P is in this state, and takes it from who has it.
func (r *Reader) bridgeProc(c *cursor, id ProcID, status uint8) {
	p := r.proc(id)
	if p == nil || p.status == status {
		return
	}
	from := procStates[p.status]
	for _, m := range r.machines {
		if m.p == id {
			m.p = NoProc
		}
	}
	p.status = status
	r.bridges = append(r.bridges, Event{Time: c.time, G: NoGoroutine, GSlot: NoSlot, P: NoProc, M: NoThread, SubjectSlot: NoSlot, Kind: KindProcTransition,
		Subject: int64(id), From: from, To: procStates[status], bridged: true, op: evProcSteal})
}

// tellForced says what was guessed in the generation that ends.
func (r *Reader) tellForced() {
	if r.forced+r.skipped == 0 {
		return
	}
	r.problem(-1, fmt.Sprintf("%d events come where their times say, because what they depend on is lost; %d that make no sense without it are left out", r.forced, r.skipped))
	r.forced, r.skipped = 0, 0
}

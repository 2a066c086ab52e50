package exectrace

// gcRange is the concurrent mark phase. Its begin and end come from different
// threads and are counted, so that neither is taken for that of another cycle.
func (r *Reader) gcRange(c *cursor) outcome {
	seq := c.args[0]
	var kind Kind
	switch c.op {
	case evGCActive:
		kind = KindRangeActive
		if r.gen == r.firstGen {
			if r.collector != collectorUnknown {
				return r.fail(c, "not the first event of the collector in the first generation")
			}
			r.collector = collectorRunning
			break
		}
		if seq != r.gcSeq+1 {
			return blocked
		}
		if r.collector != collectorRunning {
			return r.fail(c, "no collection is in progress")
		}
	case evGCBegin:
		kind = KindRangeBegin
		if r.collector != collectorUnknown {
			if seq != r.gcSeq+1 {
				return blocked
			}
			if r.collector == collectorRunning {
				return r.fail(c, "a collection is in progress already")
			}
		}
		r.collector = collectorRunning
	case evGCEnd:
		kind = KindRangeEnd
		if seq != r.gcSeq+1 {
			return blocked
		}
		if r.collector != collectorRunning {
			return r.fail(c, "no collection is in progress")
		}
		r.collector = collectorIdle
	}
	r.gcSeq = seq
	e := r.event(c, kind)
	e.Name = NameMarkPhase
	if c.op == evGCBegin {
		r.at(e, c.args[1])
	}
	return advanced
}

// sweepRange is a P that sweeps.
func (r *Reader) sweepRange(c *cursor) outcome {
	if c.op == evGCSweepActive {
		id, p := r.procOf(c.args[0])
		if p == nil || p.status == 0 {
			return r.fail(c, "P %d has no state", c.args[0])
		}
		if p.sweeps == (r.gen == r.firstGen) {
			return r.fail(c, "P %d sweeps: %t", id, p.sweeps)
		}
		p.sweeps = true
		e := r.event(c, KindRangeActive)
		e.Name, e.Subject = NameSweep, int64(id)
		return advanced
	}
	if c.m.p == NoProc {
		return r.lacks(c)
	}
	p := r.proc(c.m.p)
	if p == nil || p.sweeps == (c.op == evGCSweepBegin) {
		return r.fail(c, "P %d, out of turn", c.m.p)
	}
	kind := KindRangeBegin
	if c.op == evGCSweepEnd {
		kind = KindRangeEnd
	}
	p.sweeps = c.op == evGCSweepBegin
	e := r.event(c, kind)
	e.Name, e.Subject = NameSweep, int64(c.m.p)
	if c.op == evGCSweepBegin {
		r.at(e, c.args[0])
	} else {
		e.Args[0], e.Args[1] = c.args[0], c.args[1]
	}
	return advanced
}

// assistRange is a goroutine that helps the collector to mark.
func (r *Reader) assistRange(c *cursor) outcome {
	if c.op == evGCMarkAssistActive {
		id := GoID(c.args[0])
		slot := r.gs.find(id)
		if slot == NoSlot {
			return r.fail(c, "goroutine %d does not exist", id)
		}
		g := r.gs.at(slot)
		if g.assists == (r.gen == r.firstGen) {
			return r.fail(c, "goroutine %d assists: %t", id, g.assists)
		}
		g.assists = true
		e := r.event(c, KindRangeActive)
		e.Name, e.Subject, e.SubjectSlot = NameMarkAssist, int64(id), slot
		return advanced
	}
	if !c.m.runsGo() {
		return r.lacks(c)
	}
	g := r.gs.at(c.m.slot)
	if g.assists == (c.op == evGCMarkAssistBegin) {
		return r.fail(c, "goroutine %d, out of turn", c.m.g)
	}
	kind := KindRangeBegin
	if c.op == evGCMarkAssistEnd {
		kind = KindRangeEnd
	}
	g.assists = c.op == evGCMarkAssistBegin
	e := r.event(c, kind)
	e.Name, e.Subject, e.SubjectSlot = NameMarkAssist, int64(c.m.g), c.m.slot
	if c.op == evGCMarkAssistBegin {
		r.at(e, c.args[0])
	}
	return advanced
}

func (r *Reader) stopTheWorld(c *cursor) outcome {
	if !c.m.runsGo() {
		return r.lacks(c)
	}
	g := r.gs.extra(r.gs.at(c.m.slot))
	if (g.stw != 0) == (c.op == evSTWBegin) {
		return r.fail(c, "goroutine %d, out of turn", c.m.g)
	}
	kind := KindRangeBegin
	var stack uint64
	if c.op == evSTWBegin {
		g.stw = r.stwName(r.name(c.args[0])) + 1
		stack = c.args[1]
	} else {
		kind = KindRangeEnd
	}
	e := r.event(c, kind)
	e.Name, e.Subject, e.SubjectSlot = g.stw-1, int64(c.m.g), c.m.slot
	r.at(e, stack)
	if c.op == evSTWEnd {
		g.stw = 0
	}
	return advanced
}

// stwName is the name of the range of one kind of stop-the-world.
func (r *Reader) stwName(kind NameID) NameID {
	if n, ok := r.stwNames[kind]; ok {
		return n
	}
	n := r.names.intern("stop-the-world (" + r.names.list[kind] + ")")
	r.stwNames[kind] = n
	return n
}

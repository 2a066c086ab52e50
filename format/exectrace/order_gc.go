package exectrace

// collector is the state of the garbage collector.
type collector struct {
	state collectorState
	seq   uint64 // of the last event that was counted
}

type collectorState uint8

const (
	collectorUnknown collectorState = iota
	collectorIdle
	collectorRunning
)

// gcRange is the concurrent mark phase. Its begin and end come from different
// threads and are counted, so that neither is taken for that of another cycle.
func gcRange(k *collector, o *output, c *cursor, first bool) outcome {
	seq := c.args[0]
	var kind Kind
	switch c.op {
	case evGCActive:
		kind = KindRangeActive
		if first {
			if k.state != collectorUnknown {
				return o.fail(c, "not the first event of the collector in the first generation")
			}
			k.state = collectorRunning
			break
		}
		if seq != k.seq+1 {
			return blocked
		}
		if k.state != collectorRunning {
			return o.fail(c, "no collection is in progress")
		}
	case evGCBegin:
		kind = KindRangeBegin
		if k.state != collectorUnknown {
			if seq != k.seq+1 {
				return blocked
			}
			if k.state == collectorRunning {
				return o.fail(c, "a collection is in progress already")
			}
		}
		k.state = collectorRunning
	case evGCEnd:
		kind = KindRangeEnd
		if seq != k.seq+1 {
			return blocked
		}
		if k.state != collectorRunning {
			return o.fail(c, "no collection is in progress")
		}
		k.state = collectorIdle
	}
	k.seq = seq
	e := o.event(c, kind)
	e.Name = NameMarkPhase
	if c.op == evGCBegin {
		o.at(e, c.args[1])
	}
	return advanced
}

// sweepRange is a P that sweeps.
func sweepRange(ps *procs, o *output, c *cursor, first bool) outcome {
	if c.op == evGCSweepActive {
		id, p := ps.of(c.args[0])
		if p == nil || p.status == 0 {
			return o.fail(c, "P %d has no state", c.args[0])
		}
		if p.sweeps == (first) {
			return o.fail(c, "P %d sweeps: %t", id, p.sweeps)
		}
		p.sweeps = true
		e := o.event(c, KindRangeActive)
		e.Name, e.Subject = NameSweep, int64(id)
		return advanced
	}
	if c.m.p == NoProc {
		return o.lacks(c)
	}
	p := ps.at(c.m.p)
	if p == nil || p.sweeps == (c.op == evGCSweepBegin) {
		return o.fail(c, "P %d, out of turn", c.m.p)
	}
	kind := KindRangeBegin
	if c.op == evGCSweepEnd {
		kind = KindRangeEnd
	}
	p.sweeps = c.op == evGCSweepBegin
	e := o.event(c, kind)
	e.Name, e.Subject = NameSweep, int64(c.m.p)
	if c.op == evGCSweepBegin {
		o.at(e, c.args[0])
	} else {
		e.Args[0], e.Args[1] = c.args[0], c.args[1]
	}
	return advanced
}

// assistRange is a goroutine that helps the collector to mark.
func assistRange(gs *goroutines, o *output, c *cursor, first bool) outcome {
	if c.op == evGCMarkAssistActive {
		id := GoID(c.args[0])
		slot := gs.find(id)
		if slot == NoSlot {
			return o.fail(c, "goroutine %d does not exist", id)
		}
		g := gs.at(slot)
		if g.assists == (first) {
			return o.fail(c, "goroutine %d assists: %t", id, g.assists)
		}
		g.assists = true
		e := o.event(c, KindRangeActive)
		e.Name, e.Subject, e.SubjectSlot = NameMarkAssist, int64(id), slot
		return advanced
	}
	if !c.m.runsGo() {
		return o.lacks(c)
	}
	g := gs.at(c.m.slot)
	if g.assists == (c.op == evGCMarkAssistBegin) {
		return o.fail(c, "goroutine %d, out of turn", c.m.g)
	}
	kind := KindRangeBegin
	if c.op == evGCMarkAssistEnd {
		kind = KindRangeEnd
	}
	g.assists = c.op == evGCMarkAssistBegin
	e := o.event(c, kind)
	e.Name, e.Subject, e.SubjectSlot = NameMarkAssist, int64(c.m.g), c.m.slot
	if c.op == evGCMarkAssistBegin {
		o.at(e, c.args[0])
	}
	return advanced
}

func stopTheWorld(gs *goroutines, o *output, c *cursor) outcome {
	if !c.m.runsGo() {
		return o.lacks(c)
	}
	g := gs.extra(gs.at(c.m.slot))
	if (g.stw != 0) == (c.op == evSTWBegin) {
		return o.fail(c, "goroutine %d, out of turn", c.m.g)
	}
	kind := KindRangeBegin
	var stack uint64
	if c.op == evSTWBegin {
		g.stw = o.symbols.stwName(o.symbols.name(c.args[0])) + 1
		stack = c.args[1]
	} else {
		kind = KindRangeEnd
	}
	e := o.event(c, kind)
	e.Name, e.Subject, e.SubjectSlot = g.stw-1, int64(c.m.g), c.m.slot
	o.at(e, stack)
	if c.op == evSTWEnd {
		g.stw = 0
	}
	return advanced
}

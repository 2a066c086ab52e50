package exectrace

// task is a user task that has begun and not ended.
type task struct {
	name   NameID
	parent TaskID
}

// annotation is an event that the running goroutine writes about itself.
func (r *Reader) annotation(c *cursor) outcome {
	if !c.m.runsGo() {
		return r.lacks(c)
	}
	switch c.op {
	case evProcsChange:
		e := r.event(c, KindMetric)
		e.Name, e.Args[0] = NameGOMAXPROCS, c.args[0]
		r.at(e, c.args[1])
	case evGoLabel:
		r.event(c, KindLabel).Name = r.name(c.args[0])
	case evUserLog:
		e := r.event(c, KindLog)
		e.Args[0], e.Args[2] = c.args[0], c.args[2]
		e.Name = r.name(c.args[1])
		if !r.tables.strings.has(c.args[2]) && c.args[2] != 0 {
			r.missing("string", c.args[2])
		}
		r.at(e, c.args[3])
	}
	return advanced
}

func (r *Reader) heapMetric(c *cursor) outcome {
	if c.m.p == NoProc {
		return r.lacks(c)
	}
	e := r.event(c, KindMetric)
	e.Args[0] = c.args[0]
	e.Name = NameHeapObjects
	if c.op == evHeapGoal {
		e.Name = NameHeapGoal
	}
	return advanced
}

func (r *Reader) experimental(c *cursor) outcome {
	if c.thread == NoThread {
		return r.lacks(c)
	}
	e := r.event(c, KindExperimental)
	copy(e.Args[:argCounts[c.op]], c.args[:])
	e.Name = r.names.intern(specs[c.op].name)
	return advanced
}

func (r *Reader) userTask(c *cursor) outcome {
	if !c.m.runsGo() {
		return r.lacks(c)
	}
	id := TaskID(c.args[0])
	if c.op == evUserTaskBegin {
		if _, ok := r.tasks[id]; ok {
			return r.fail(c, "task %d has begun already", id)
		}
		parent := TaskID(c.args[1])
		if parent == BackgroundTask {
			parent = NoTask // here 0 means that there is none
		}
		t := task{name: r.name(c.args[2]), parent: parent}
		r.tasks[id] = t
		e := r.event(c, KindTaskBegin)
		e.Args[0], e.Args[1], e.Name = uint64(id), uint64(t.parent), t.name
		r.at(e, c.args[3])
		return advanced
	}
	// A task may end more than once, and in another generation than that which
	// has its name.
	t, ok := r.tasks[id]
	if !ok {
		t.parent = NoTask
	}
	delete(r.tasks, id)
	e := r.event(c, KindTaskEnd)
	e.Args[0], e.Args[1], e.Name = uint64(id), uint64(t.parent), t.name
	r.at(e, c.args[1])
	return advanced
}

func (r *Reader) userRegion(c *cursor) outcome {
	if !c.m.runsGo() {
		return r.lacks(c)
	}
	g := r.gs.at(c.m.slot)
	this := region{TaskID(c.args[0]), r.name(c.args[1])}
	kind := KindRegionBegin
	if c.op == evUserRegionBegin {
		m := r.gs.extra(g)
		m.regions = append(m.regions, this)
	} else {
		kind = KindRegionEnd
		if g.more != 0 && len(r.gs.extra(g).regions) > 0 { // else it has begun before the trace
			m := r.gs.extra(g)
			n := len(m.regions) - 1
			if top := m.regions[n]; top != this {
				return r.fail(c, "goroutine %d ends region %q of task %d inside of region %q of task %d",
					g.id, r.names.list[this.name], this.task, r.names.list[top.name], top.task)
			}
			m.regions = m.regions[:n]
		}
	}
	e := r.event(c, kind)
	e.Args[0], e.Name = c.args[0], this.name
	r.at(e, c.args[2])
	return advanced
}

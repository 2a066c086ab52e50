package exectrace

import (
	"math/bits"
	"math/rand/v2"
)

// task is a user task that has begun and not ended.
type task struct {
	name   NameID
	parent TaskID
}

// taskTable holds the tasks that have begun and not ended, in a hash table with
// linear probing.
//
// Note: with a Go map the look-ups were an eighteenth of the instructions for
// reading a trace that is full of tasks; with this they are a fortieth.
type taskTable struct {
	entries []taskEntry // a power of two, at most three quarters full
	live    int
	shift   uint8
	seed    uint64 // odd and random: no input can be made to collide
}

type taskEntry struct {
	id   TaskID
	task task
	used bool
}

func newTaskTable() taskTable {
	t := taskTable{seed: rand.Uint64() | 1}
	t.resize(16)
	return t
}

func (t *taskTable) resize(n int) {
	old := t.entries
	t.entries = make([]taskEntry, n)
	t.shift = uint8(64 - (bits.Len(uint(n)) - 1))
	for _, e := range old {
		if e.used {
			t.entries[t.place(e.id)] = e
		}
	}
}

// place returns where a task is, or where it would be put.
func (t *taskTable) place(id TaskID) uint64 {
	mask := uint64(len(t.entries) - 1)
	i := t.home(id)
	for t.entries[i].used && t.entries[i].id != id {
		i = (i + 1) & mask
	}
	return i
}

func (t *taskTable) home(id TaskID) uint64 { return uint64(id) * t.seed >> t.shift }

// add begins a task; false says that it has begun already.
func (t *taskTable) add(id TaskID, v task) bool {
	if 4*t.live >= 3*len(t.entries) {
		t.resize(2 * len(t.entries))
	}
	e := &t.entries[t.place(id)]
	if e.used {
		return false
	}
	*e = taskEntry{id, v, true}
	t.live++
	return true
}

// remove ends a task; false says that it has not begun.
func (t *taskTable) remove(id TaskID) (v task, ok bool) {
	gap := t.place(id)
	if !t.entries[gap].used {
		return v, false
	}
	v = t.entries[gap].task
	t.live--
	// Close the gap: an entry behind it moves up unless its home lies between.
	mask := uint64(len(t.entries) - 1)
	for j := gap; ; {
		j = (j + 1) & mask
		if !t.entries[j].used {
			break
		}
		if (j-t.home(t.entries[j].id))&mask >= (j-gap)&mask {
			t.entries[gap] = t.entries[j]
			gap = j
		}
	}
	t.entries[gap] = taskEntry{}
	return v, true
}

// annotation is an event that the running goroutine writes about itself.
func annotation(o *output, c *cursor) outcome {
	if !c.m.runsGo() {
		return o.lacks(c)
	}
	switch c.op {
	case evProcsChange:
		e := o.event(c, KindMetric)
		e.Name, e.Args[0] = NameGOMAXPROCS, c.args[0]
		o.at(e, c.args[1])
	case evGoLabel:
		o.event(c, KindLabel).Name = o.symbols.name(c.args[0])
	case evUserLog:
		e := o.event(c, KindLog)
		e.Args[0], e.Args[2] = c.args[0], c.args[2]
		e.Name = o.symbols.name(c.args[1])
		if !o.symbols.tables.strings.has(c.args[2]) && c.args[2] != 0 {
			o.symbols.missing("string", c.args[2])
		}
		o.at(e, c.args[3])
	}
	return advanced
}

func heapMetric(o *output, c *cursor) outcome {
	if c.m.p == NoProc {
		return o.lacks(c)
	}
	e := o.event(c, KindMetric)
	e.Args[0] = c.args[0]
	e.Name = NameHeapObjects
	if c.op == evHeapGoal {
		e.Name = NameHeapGoal
	}
	return advanced
}

func experimental(o *output, c *cursor) outcome {
	if c.thread == NoThread {
		return o.lacks(c)
	}
	e := o.event(c, KindExperimental)
	copy(e.Args[:argCounts[c.op]], c.args[:])
	e.Name = o.symbols.names.intern(specs[c.op].name)
	return advanced
}

func userTask(tasks *taskTable, o *output, c *cursor) outcome {
	if !c.m.runsGo() {
		return o.lacks(c)
	}
	id := TaskID(c.args[0])
	if c.op == evUserTaskBegin {
		parent := TaskID(c.args[1])
		if parent == BackgroundTask {
			parent = NoTask // here 0 means that there is none
		}
		t := task{name: o.symbols.name(c.args[2]), parent: parent}
		if !tasks.add(id, t) {
			return o.fail(c, "task %d has begun already", id)
		}
		e := o.event(c, KindTaskBegin)
		e.Args[0], e.Args[1], e.Name = uint64(id), uint64(t.parent), t.name
		o.at(e, c.args[3])
		return advanced
	}
	// A task may end more than once, and in another generation than that which
	// has its name.
	t, ok := tasks.remove(id)
	if !ok {
		t.parent = NoTask
	}
	e := o.event(c, KindTaskEnd)
	e.Args[0], e.Args[1], e.Name = uint64(id), uint64(t.parent), t.name
	o.at(e, c.args[1])
	return advanced
}

func userRegion(gs *goroutines, o *output, c *cursor) outcome {
	if !c.m.runsGo() {
		return o.lacks(c)
	}
	g := gs.at(c.m.slot)
	this := region{TaskID(c.args[0]), o.symbols.name(c.args[1])}
	kind := KindRegionBegin
	if c.op == evUserRegionBegin {
		m := gs.extra(g)
		m.regions = append(m.regions, this)
	} else {
		kind = KindRegionEnd
		if g.more != 0 && len(gs.more[g.more-1].regions) > 0 { // else it has begun before the trace
			m := &gs.more[g.more-1]
			n := len(m.regions) - 1
			if top := m.regions[n]; top != this {
				return o.fail(c, "goroutine %d ends region %q of task %d inside of region %q of task %d",
					g.id, o.symbols.Name(this.name), this.task, o.symbols.Name(top.name), top.task)
			}
			m.regions = m.regions[:n]
		}
	}
	e := o.event(c, kind)
	e.Args[0], e.Name = c.args[0], this.name
	o.at(e, c.args[2])
	return advanced
}

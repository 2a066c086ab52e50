package account

import (
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// open is a unit that goes on.
type open struct {
	unit  Unit
	start timeline.Time
	g     exectrace.GoID
	slot  exectrace.Slot // of g, of a task
	name  string
	depth int
	task  exectrace.TaskID
	// real tells of a request that it has come, lost of a task that its goroutine has
	// ended.
	real, lost bool
	undivided  bool // see [sampler]
	// older is how long a wait of main went on that was under way when the trace began, of which the trace has no
	// stack, and which no goroutine ended.
	older timeline.Time
	next  *open

	rows    []tallied
	index   map[keyID]int32 // of rows, when there are many
	samples []sampled
	calls   []called
	fans    []fanned
	wall    map[wallKey]*Spent
	steps   []stretch
	stepped bool // steps are wanted
	more    bool // there were more steps than are kept
}

// tallied is a row of one unit or of many.
type tallied struct {
	key   keyID
	d     timeline.Time
	n     int64
	units int64
	q     timeline.Time // of d: waiting for other units
}

// sampled is how many CPU samples hit a stack.
type sampled struct {
	stack stack.ID
	n     int64
}

// stretch is a step that ends where the next one begins.
type stretch struct {
	start, end timeline.Time
	key        keyID
}

const (
	fewRows  = 32 // up to here rows are searched one by one
	maxSteps = 4096
	maxOpen  = 16 // units that a goroutine works on at a time
)

// add adds time to a unit.
func (u *open) add(k keyID, d timeline.Time, n int64, q timeline.Time) {
	if d <= 0 {
		return
	}
	if i, ok := u.find(k); ok {
		u.rows[i].d += d
		u.rows[i].n += n
		u.rows[i].q += q
		return
	}
	u.rows = append(u.rows, tallied{k, d, n, 1, q})
	switch {
	case u.index != nil:
		u.index[k] = int32(len(u.rows) - 1)
	case len(u.rows) > fewRows:
		u.index = map[keyID]int32{}
		for i, r := range u.rows {
			u.index[r.key] = int32(i)
		}
	}
}

// allButLittle is the part of the waits of main from which on those at one line may stand for one without a stack, and
// onlyALittle how much longer than one of them it may be: chosen.
const (
	allButLittle = 0.9
	onlyALittle  = 1.25
)

// placeOlder counts the wait that was under way when the trace began, if it is no longer than others are, at the line
// at which nearly all the other waits of main are that no goroutine ended.
func (c *collector) placeOlder(u *open) (placed timeline.Time) {
	if u.older == 0 {
		return 0
	}
	old, best, all := -1, -1, timeline.Time(0)
	for i, r := range u.rows {
		switch k := c.w.keys[r.key]; {
		case k.kind == Other && k.site == 0 && k.cause == None && r.d == u.older:
			old = i
		case k.cause == None && (k.kind == Sleep || k.kind == Timer || k.kind == Limit || k.kind.Network() || k.kind == Pipe || k.kind == Child || k.kind == Other):
			if all += r.d; best < 0 || r.d > u.rows[best].d {
				best = i
			}
		}
	}
	if old < 0 || best < 0 {
		return 0
	}
	from, to := u.rows[old], &u.rows[best]
	if float64(to.d) < allButLittle*float64(all) || float64(from.d) > onlyALittle*float64(to.d)/float64(to.n) {
		return 0
	}
	to.d += from.d
	to.n += from.n
	for i := range u.steps {
		if u.steps[i].key == from.key {
			u.steps[i].key = to.key
		}
	}
	for k, s := range u.wall {
		if k.key == from.key {
			delete(u.wall, k)
			count(u.wall, wallKey{to.key, c.w.sites[c.w.keys[to.key].site].Stack}, *s)
		}
	}
	u.rows, u.index = append(u.rows[:old], u.rows[old+1:]...), nil
	return from.d
}

func (u *open) find(k keyID) (int, bool) {
	if u.index != nil {
		i, ok := u.index[k]
		return int(i), ok
	}
	for i := range u.rows {
		if u.rows[i].key == k {
			return i, true
		}
	}
	return 0, false
}

// step notes a stretch, where that is wanted.
func (u *open) step(start, end timeline.Time, k keyID) {
	if !u.stepped || start >= end {
		return
	}
	if n := len(u.steps); n > 0 && u.steps[n-1].key == k && u.steps[n-1].end == start {
		u.steps[n-1].end = end
		return
	}
	if u.more = len(u.steps) >= maxSteps; !u.more {
		u.steps = append(u.steps, stretch{start, end, k})
	}
}

// sample counts a CPU sample.
func (u *open) sample(id stack.ID) {
	for i := range u.samples {
		if u.samples[i].stack == id {
			u.samples[i].n++
			return
		}
	}
	u.samples = append(u.samples, sampled{id, 1})
}

// named gives a unit the name of what handles it.
func (u *open) named(pl *place) {
	switch u.unit {
	case Request:
		if pl.depth > u.depth {
			u.name, u.depth = pl.handler, pl.depth
		}
	case Benchmark, Test:
		if u.name == "" {
			u.name = pl.handler
		}
	}
}

// await begins what will be a request when its handler is seen.
func (c *collector) await(t *track, at timeline.Time) {
	t.request = c.open(Request, at, t.id)
	t.request.next, t.units = t.units, t.request
}

// drop forgets a request that has not come.
func (c *collector) drop(t *track) {
	u := t.request
	t.unlink(u)
	c.free(u)
}

// done ends the request of a connection.
func (c *collector) done(t *track, at timeline.Time) {
	u := t.request
	t.unlink(u)
	t.fans = t.fans[:0]
	if u.real {
		c.end(u, at)
	} else {
		c.free(u)
	}
}

// unlink takes a unit from the goroutine that works on it.
func (t *track) unlink(u *open) {
	for at := &t.units; *at != nil; at = &(*at).next {
		if *at == u {
			*at = u.next
			break
		}
	}
	if t.request == u {
		t.request = nil
	}
	u.next = nil
}

// abandonAll cuts off what a goroutine works on.
func (c *collector) abandonAll(t *track) {
	for u := t.units; u != nil; {
		next := u.next
		c.abandon(u)
		u = next
	}
	t.units, t.request, t.turn.unit = nil, nil, nil
}

// taskBegin begins a user task on the goroutine that has made it.
func (b *Builder) taskBegin(e *exectrace.Event) {
	t := b.living(e.GSlot)
	if t == nil {
		return
	}
	b.ran(t, e.Stack, 0, e.Time)
	u := b.units.open(Task, e.Time, t.id)
	u.name, u.task, u.slot = b.r.Name(e.Name), e.Task(), e.GSlot
	u.next, t.units = t.units, u
	if old := b.tasks[u.task]; old != nil { // ids can be used again
		b.forget(old)
		b.units.cut++
	}
	b.tasks[u.task] = u
	n, oldest := 0, (*open)(nil)
	for x := t.units; x != nil; x = x.next {
		if n++; x.unit == Task {
			oldest = x
		}
	}
	if n > maxOpen && oldest != nil { // nobody ends them: the newer ones count
		t.unlink(oldest)
		oldest.lost = true
	}
}

// forget leaves out a task.
func (b *Builder) forget(u *open) {
	if t := b.living(u.slot); t != nil && t.id == u.g && !u.lost {
		t.unlink(u)
	}
	b.units.free(u)
}

// taskEnd ends a user task. Where another goroutine ends it than has begun it, its time
// is what led to that one.
func (b *Builder) taskEnd(e *exectrace.Event) {
	u := b.tasks[e.Task()]
	delete(b.tasks, e.Task())
	t := b.living(e.GSlot)
	switch {
	case u == nil:
		b.units.cut++ // it is older than the trace
		return
	case t == nil:
		b.forget(u)
		b.units.cut++
		return
	}
	b.ran(t, e.Stack, 0, e.Time)
	if t.id == u.g && !u.lost {
		t.unlink(u)
		b.leave(t)
		b.units.end(u, e.Time)
		return
	}
	began := &open{unit: Task, start: u.start, g: u.g, name: u.name, stepped: u.stepped, undivided: u.undivided}
	b.units.going++ // as it does until the end of it
	if !u.undivided {
		b.units.divided++
	}
	b.forget(u)
	if began.undivided {
		b.units.end(began, e.Time)
		return
	}
	b.cut = b.cut[:0]
	known := b.between(t, e.Stack, u.start, e.Time)
	if known > began.start {
		b.cut = append(b.cut, amount{b.w.id(key{kind: Unknown}), known - began.start})
	}
	at := began.start
	for i := len(b.cut) - 1; i >= 0; i-- {
		c := b.cut[i]
		began.add(c.key, c.d, 1, 0)
		began.step(at, at+c.d, c.key)
		b.units.draw(began, c.key, b.w.sites[b.w.keys[c.key].site].Stack, c.d)
		at += c.d
	}
	b.units.end(began, e.Time)
}

package tiles

import (
	"cmp"
	"maps"
	"slices"

	"loupe/format/exectrace"
)

// lanes are all that a set will have, while it is made.
type lanes struct {
	fold     *folding // nil to keep everything
	lives    lives
	ended    ended
	machines machines
	gc       gcLane
	groups   groups
	states   *gauges
	values   values
	latency  *latencies
}

func newLanes(opts *Options) (l lanes) {
	l.fold = opts.newFolding()
	l.machines.fold, l.groups.fold, l.gc.fold = l.fold, l.fold, l.fold
	if l.fold != nil {
		l.ended.leaders = &leaders{most: opts.Fold.Lanes}
	}
	l.machines.threads = make(map[exectrace.ThreadID]*thread)
	l.values.heap.name, l.values.goal.name, l.values.maxProcs.name = "heap", "heap goal", "GOMAXPROCS"
	l.machines.busyProcs.name, l.machines.busyMs.name = "Ps used", "threads with a P"
	return l
}

// begin is the begin of the set.
func (l *lanes) begin() {
	for _, c := range l.counters() {
		c.fold = l.fold
	}
	base := l.fold.firstBase()
	l.groups.list = []*counts{newCounts(exectrace.NameNone, 0, base)}
	l.states = newGauges(0, base)
	l.latency = newLatencies(base)
	l.gc.begin(0, uint8(ClassRest))
}

// counters returns those of one value.
func (l *lanes) counters() [5]*counter {
	return [...]*counter{&l.values.heap, &l.values.goal, &l.machines.busyProcs, &l.values.maxProcs, &l.machines.busyMs}
}

// end ends a life and files its lane.
func (l *lanes) end(g *life, at tick) {
	l.states.change(at, g.state, -1)
	g.count.change(at, g.class, -1)
	g.push(at)
	g.state = exectrace.Undetermined
	l.ended.add(g)
}

// eachColumn visits all lanes of spans.
func (l *lanes) eachColumn(visit func(*column)) {
	l.lives.each(func(g *life) { visit(&g.column) })
	for _, g := range l.ended.long {
		visit(&g.column)
	}
	l.machines.each(func(c *column, _ Kind, _ int64) { visit(c) })
	visit(&l.gc.column)
}

// eachPyramid visits the pyramids that have no spans below them.
func (l *lanes) eachPyramid(r *exectrace.Reader, visit func(m *marks, name laneName, settled tick)) {
	lost := func(c *column, kind Kind, subject int64) {
		if c.more != nil && c.more.lost {
			visit(&c.more.pyramid.marks, laneName{kind: kind, subject: subject}, c.since)
		}
	}
	l.lives.each(func(g *life) { lost(&g.column, KindGoroutine, int64(g.id)) })
	for _, g := range l.ended.long {
		lost(&g.column, KindGoroutine, int64(g.id))
	}
	l.machines.each(lost)
	for _, c := range l.groups.list {
		visit(&c.pyramid.marks, laneName{kind: KindGroup, title: r.Name(c.name)}, always)
	}
	for _, c := range l.counters() {
		if c.started {
			visit(&c.pyramid.marks, laneName{kind: KindCounter, title: c.name}, always)
		}
	}
	for i := range l.states.pyramids {
		visit(&l.states.pyramids[i].marks, laneName{kind: KindCounter, title: gaugeNames[i]}, always)
	}
	visit(&l.latency.pyramid.marks, laneName{kind: KindLatency, title: latencyName}, always)
}

// size returns the bytes of what the set will have.
func (l *lanes) size() int64 {
	n := int64(l.ended.short.bytes())
	l.lives.each(func(g *life) {
		if g.more != nil {
			n += g.size()
		}
	})
	for _, g := range l.ended.long {
		n += g.size()
	}
	l.machines.each(func(c *column, _ Kind, _ int64) { n += c.size() })
	for _, c := range l.groups.list {
		n += c.pyramid.size()
	}
	for _, c := range l.counters() {
		n += c.pyramid.size()
	}
	for i := range l.states.pyramids {
		n += l.states.pyramids[i].size()
	}
	return n + l.latency.pyramid.size() + l.gc.size()
}

// finish ends all that goes on, and closes the pyramids.
func (l *lanes) finish(at tick, top uint8) {
	l.lives.each(func(g *life) { l.end(g, at) })
	columns := []*column{&l.gc.column}
	l.machines.each(func(c *column, _ Kind, _ int64) { columns = append(columns, c) })
	for _, c := range columns {
		c.finish(at)
	}
	for _, g := range l.ended.long {
		columns = append(columns, &g.column)
	}
	for _, c := range columns {
		if c.more != nil {
			c.build()
			c.more.pyramid.finish(top)
		}
	}
	for _, c := range l.groups.list {
		c.finish(at, top)
	}
	for _, c := range l.counters() {
		if c.started {
			c.finish(at, top)
		}
	}
	l.states.finish(at, top)
	l.latency.finish(at, top)
}

// write writes all lanes. The columns of goroutines are released.
func (l *lanes) write(w *setWriter, r *exectrace.Reader) {
	for _, p := range l.machines.procs {
		if p != nil && p.known {
			w.spanLane(laneRecord{kind: KindProc, subject: int64(p.id)}, &p.column)
		}
	}
	threads := slices.SortedFunc(maps.Values(l.machines.threads), func(x, y *thread) int { return cmp.Compare(x.id, y.id) })
	for _, m := range threads {
		w.spanLane(laneRecord{kind: KindThread, subject: int64(m.id)}, &m.column)
	}
	w.spanLane(laneRecord{kind: KindGC}, &l.gc.column)
	for _, c := range l.counters() {
		if c.started {
			w.counter(c.name, c.changes, &c.pyramid)
		}
	}
	for i, name := range gaugeNames {
		w.counter(name, l.states.changes, &l.states.pyramids[i])
	}
	one := laneRecord{kind: KindLatency, last: w.length, spans: uint64(l.latency.starts)}
	w.name(&one, latencyName)
	writePyramid(w, one, &l.latency.pyramid)
	for _, c := range l.groups.list {
		one := laneRecord{kind: KindGroup, first: c.pyramid.first, last: w.length, members: uint32(min(c.members, 1<<32-1)), spans: uint64(c.changes)}
		w.name(&one, r.Name(c.name))
		writePyramid(w, one, &c.pyramid)
	}
	slices.SortFunc(l.ended.long, func(x, y *longLife) int { return cmp.Compare(x.id, y.id) })
	for i, g := range l.ended.long {
		w.spanLane(laneRecord{kind: KindGoroutine, subject: int64(g.id), group: g.group}, &g.column)
		l.ended.long[i] = nil // it may be a lot
	}
}

// clone returns a copy of all that finish and write change. The two share the bytes of
// what stays as it is, for as long as the snapshot lives. Of what is used again
// from its begin (words, the rows of tiles that are not full), and where both
// append bytes, each has its own. Where both append pieces to a list they share
// the room behind it: so the copy is to be finished before the builder goes on.
func (l *lanes) clone() lanes {
	c := *l
	c.ended, c.machines, c.groups = l.ended.clone(), l.machines.clone(), l.groups.clone()
	c.lives = l.lives.clone(c.groups.list)
	c.gc.column = l.gc.column.clone()
	for _, k := range c.counters() {
		k.pyramid = k.pyramid.clone()
	}
	states := *l.states
	for i := range states.pyramids {
		states.pyramids[i] = states.pyramids[i].clone()
	}
	latency := *l.latency
	latency.pyramid = latency.pyramid.clone()
	c.states, c.latency = &states, &latency
	return c
}

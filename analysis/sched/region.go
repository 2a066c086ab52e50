package sched

import (
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/timeline"
)

// rangeEvent counts the time of mark assists, sweeps and stop-the-worlds. A
// sweep belongs to a P; it counts for a goroutine when it begins and ends on
// it.
func (s *Summarizer) rangeEvent(e *exectrace.Event) {
	slot := e.SubjectSlot
	if e.Scope() == exectrace.ScopeProc {
		slot = e.GSlot
		p := s.procs.of(e.Proc())
		if e.Kind != exectrace.KindRangeEnd {
			if slot == exectrace.NoSlot || !s.lives.at(slot).known {
				return
			}
			p.sweep, p.sweeper = slot+1, e.G
		} else {
			if p.sweep == 0 || p.sweeper != e.G {
				p.sweep = 0
				return
			}
			p.sweep = 0
		}
	}
	if slot == exectrace.NoSlot || e.Scope() == exectrace.ScopeNone {
		return
	}
	g := s.lives.at(slot)
	if !g.known {
		return
	}
	switch e.Kind {
	case exectrace.KindRangeBegin:
		s.lives.extra(g).open(e.Name, e.Time)
	case exectrace.KindRangeActive:
		m := s.lives.extra(g)
		if since, ok := m.close(e.Name); ok {
			m.ranged.add(e.Name, time.Duration(s.gs.LastSync()-since))
		}
		m.open(e.Name, s.gs.LastSync())
	case exectrace.KindRangeEnd:
		m := s.lives.had(g)
		if m == nil {
			return
		}
		if since, ok := m.close(e.Name); ok {
			m.ranged.add(e.Name, time.Duration(e.Time-since))
		}
	}
}

// open begins a range; one of the same name that was left open begins anew.
func (m *lifeMore) open(name exectrace.NameID, at timeline.Time) {
	for i := range m.ranges {
		if m.ranges[i].name == name {
			m.ranges[i].since = at
			return
		}
	}
	m.ranges = append(m.ranges, openRange{name, at})
}

// close ends a range and returns when it has begun.
func (m *lifeMore) close(name exectrace.NameID) (since timeline.Time, ok bool) {
	for i, o := range m.ranges {
		if o.name == name {
			m.ranges = append(m.ranges[:i], m.ranges[i+1:]...)
			return o.since, true
		}
	}
	return 0, false
}

// regions are the figures of a goroutine from one instant to another: those of its
// regions, which may lie in each other, and those of its whole life.
type regions struct {
	gs     *sweep.Goroutines
	lives  *lives
	tasks  *tasks
	sink   func(*Region) // nil: nobody wants them
	compat bool          // [SummaryOptions.Compat]

	done Region // what the sink gets; here so that it is not allocated
}

func (r *regions) begin(e *exectrace.Event) {
	if e.GSlot == exectrace.NoSlot {
		return
	}
	g := r.lives.at(e.GSlot)
	m := r.lives.extra(g)
	n := len(m.regions)
	if n < cap(m.regions) {
		m.regions = m.regions[:n+1]
	} else {
		m.regions = append(m.regions, openRegion{})
	}
	o := &m.regions[n]
	o.start, o.task, o.name, o.stack = e.Time, e.Task(), e.Name, e.Stack
	r.mark(g, r.gs.In(e.GSlot), e.Time, &o.from)
	r.tasks.region(e)
}

func (r *regions) end(e *exectrace.Event) {
	if e.GSlot == exectrace.NoSlot {
		return
	}
	g := r.lives.at(e.GSlot)
	m := r.lives.had(g)
	if m == nil || len(m.regions) == 0 { // it has begun before the trace
		r.tasks.region(e)
		if r.sink != nil {
			r.close(g, e, &openRegion{task: e.Task(), name: e.Name})
		}
		return
	}
	n := len(m.regions) - 1
	if r.sink != nil {
		r.close(g, e, &m.regions[n])
	}
	m.marks = m.marks[:m.regions[n].from.first]
	m.regions = m.regions[:n]
}

// finish hands over the regions that g has left open. A system
// goroutine is in no region, even though it inherits the task of whoever
// happened to start it.
func (r *regions) finish(g *life, now, pending *sweep.Goroutine, at, end timeline.Time) {
	m := r.lives.had(g)
	if m == nil || r.sink == nil || isSystemGoroutine(r.gs.Reader().Name(now.Name)) {
		return
	}
	for i := range m.regions {
		r.handOver(g, &m.regions[i], now.ID, pending, at, end)
	}
}

// close hands over a region that ends with an event of its goroutine.
func (r *regions) close(g *life, e *exectrace.Event, o *openRegion) {
	var now *sweep.Goroutine
	id := exectrace.GoID(0)
	if g.known {
		now = r.gs.In(e.GSlot)
		id = now.ID
	}
	r.handOver(g, o, id, now, e.Time, e.Time)
}

// handOver hands over a region whose figures are those up to an instant.
func (r *regions) handOver(g *life, o *openRegion, id exectrace.GoID, pending *sweep.Goroutine, at, end timeline.Time) {
	done := &r.done
	done.G, done.Task, done.Name = id, o.task, o.name
	done.Start, done.End, done.Stack = o.start, end, o.stack
	r.stats(g, pending, at, &o.from, &done.Stats)
	r.sink(done)
}

// mark notes the figures of g as they are at an instant. Whoever begins a
// region runs; only the time of that is pending.
func (r *regions) mark(g *life, now *sweep.Goroutine, at timeline.Time, m *mark) {
	m.exec, m.schedWait = g.exec, g.schedWait
	m.syscall, m.syscallBlock = g.syscall, g.syscallBlock
	m.total = at - g.created
	m.blockedFor = g.blockedFor
	if g.known && now.State == exectrace.Running {
		m.exec += at - now.Told
	}
	m.first, m.blocked, m.ranged = 0, 0, 0
	if l := r.lives.had(g); l != nil {
		m.first = uint32(len(l.marks))
		if !l.plain() {
			l.mark(at, m)
		}
	}
}

// plain says that a goroutine has regions alone, as nearly all that are here.
func (l *lifeMore) plain() bool { return l.blocked.n|l.ranged.n|len(l.ranges) == 0 }

// mark is [regions.mark] for what most goroutines do not have.
func (l *lifeMore) mark(at timeline.Time, m *mark) {
	for _, o := range l.ranges {
		l.ranged.add(o.name, 0) // so that it has a place
	}
	m.blocked = uint16(min(l.blocked.count(), 1<<16-1))
	m.ranged = uint16(min(l.ranged.count(), 1<<16-1))
	for i := range int(m.blocked) {
		l.marks = append(l.marks, l.blocked.at(i).d)
	}
	for i := range int(m.ranged) {
		n := l.ranged.at(i)
		for _, o := range l.ranges {
			if o.name == n.name {
				n.d += time.Duration(at - o.since)
			}
		}
		l.marks = append(l.marks, n.d)
	}
}

// stats sets st to what g has spent from a mark up to an instant, the pending
// state included unless it is nil.
func (r *regions) stats(g *life, pending *sweep.Goroutine, at timeline.Time, from *mark, st *Stats) {
	st.Exec, st.SchedWait = time.Duration(g.exec-from.exec), time.Duration(g.schedWait-from.schedWait)
	st.Syscall, st.SyscallBlock = time.Duration(g.syscall-from.syscall), time.Duration(g.syscallBlock-from.syscallBlock)
	st.Total = time.Duration(at - g.created - from.total)
	st.Blocked.reset()
	st.Ranges.reset()
	for i := range g.blockedFor {
		if d := g.blockedFor[i] - from.blockedFor[i]; d != 0 {
			st.Blocked.add(g.blockedBy[i], time.Duration(d))
		}
	}
	if l := r.lives.had(g); l != nil && !l.plain() {
		l.stats(at, from, st)
	}
	if pending == nil {
		return
	}
	d := time.Duration(at - pending.Told)
	switch pending.State {
	case exectrace.Running:
		st.Exec += d
	case exectrace.Runnable:
		st.SchedWait += d
	case exectrace.Waiting:
		st.Blocked.add(g.reason, d)
	case exectrace.Syscall:
		switch {
		case g.syscallBlockedAt == 0:
			st.Syscall += d
		case r.compat:
			st.Syscall += d
			st.SchedWait += time.Duration(at - g.syscallBlockedAt)
		default:
			st.Syscall += time.Duration(g.syscallBlockedAt - pending.Told)
			st.SyscallBlock += time.Duration(at - g.syscallBlockedAt)
		}
	}
}

// stats is [regions.stats] for what most goroutines do not have.
func (l *lifeMore) stats(at timeline.Time, from *mark, st *Stats) {
	since := func(t *Times, marks []time.Duration, to *Times) {
		for i := range t.count() {
			n := t.at(i)
			if i < len(marks) {
				n.d -= marks[i]
			}
			if n.d != 0 {
				to.add(n.name, n.d)
			}
		}
	}
	ranged := from.first + uint32(from.blocked)
	since(&l.blocked, l.marks[from.first:ranged], &st.Blocked)
	since(&l.ranged, l.marks[ranged:ranged+uint32(from.ranged)], &st.Ranges)
	for _, o := range l.ranges {
		st.Ranges.add(o.name, time.Duration(at-o.since))
	}
}

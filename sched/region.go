package sched

import (
	"time"

	"loupe/exectrace"
	"loupe/timeline"
)

// rangeEvent counts the time of mark assists, sweeps and stop-the-worlds. A
// sweep belongs to a P; it counts for a goroutine when it begins and ends on
// it.
func (s *Summarizer) rangeEvent(e *exectrace.Event) {
	slot := e.SubjectSlot
	if e.Scope() == exectrace.ScopeProc {
		slot = e.GSlot
		p := s.proc(e.Proc())
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
			m.ranged.add(e.Name, time.Duration(s.lastSync-since))
		}
		m.open(e.Name, s.lastSync)
	case exectrace.KindRangeEnd:
		if g.more == nil {
			return
		}
		if since, ok := g.more.close(e.Name); ok {
			g.more.ranged.add(e.Name, time.Duration(e.Time-since))
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

func (s *Summarizer) regionBegin(e *exectrace.Event) {
	if e.GSlot == exectrace.NoSlot {
		return
	}
	g := s.lives.at(e.GSlot)
	m := s.lives.extra(g)
	m.regions = append(m.regions, openRegion{task: e.Task(), name: e.Name, start: e.Time, stack: e.Stack})
	s.snapshot(g, e.Time, &m.regions[len(m.regions)-1].at)
	s.tasks.region(e)
}

func (s *Summarizer) regionEnd(e *exectrace.Event) {
	if e.GSlot == exectrace.NoSlot {
		return
	}
	g := s.lives.at(e.GSlot)
	var o openRegion
	if g.more != nil && len(g.more.regions) > 0 {
		n := len(g.more.regions) - 1
		o, g.more.regions = g.more.regions[n], g.more.regions[:n]
	} else { // it has begun before the trace
		o = openRegion{task: e.Task(), name: e.Name}
		s.tasks.region(e)
	}
	if s.sink.Region == nil {
		return
	}
	r := &s.doneRegion
	*r = Region{G: g.id, Task: o.task, Name: o.name, Start: o.start, End: e.Time, Stack: o.stack}
	s.snapshot(g, e.Time, &r.Stats)
	r.Stats.sub(&o.at)
	s.sink.Region(r)
}

// finishRegions hands over the regions that g, whose final stats are in
// s.done, has left open. A system goroutine is in no region, even though it
// inherits the task of whoever happened to start it.
func (s *Summarizer) finishRegions(g *life, end timeline.Time) {
	if g.more == nil || s.sink.Region == nil || IsSystem(s.r.Name(g.name)) {
		return
	}
	for i := range g.more.regions {
		o := &g.more.regions[i]
		r := &s.doneRegion
		*r = Region{G: g.id, Task: o.task, Name: o.name, Start: o.start, End: end, Stack: o.stack, Stats: s.done.Stats}
		r.Blocked, r.Ranges = s.done.Blocked.clone(), s.done.Ranges.clone()
		r.Stats.sub(&o.at)
		s.sink.Region(r)
	}
}

package sched

import (
	"math"

	"loupe/exectrace"
	"loupe/timeline"
)

// window is the part of a trace's time that an analysis counts. Stays are cut to
// it one by one, by [Filter.Interval]; what is counted along, how many goroutines
// ran side by side and what the collector did, begins anew at its start and is put
// away at its end, so that most events cost one comparison.
type window struct {
	timeline.Span
	edge   timeline.Time // the next of the two, or far away
	opened bool
	closed bool
	timed  bool // it is not all of the time
	did    map[exectrace.GoID]*Stats
	cut    Goroutine // that is handed on; here so that it is not allocated
}

// one is what an event adds to a number that counts those in the window.
func (w *window) one() int64 {
	if w.closed {
		return 0
	}
	return 1
}

const never = timeline.Time(math.MaxInt64)

// openWindow finds out what the window is, when the trace begins.
func (a *analyzer) openWindow(begin timeline.Time) {
	w := &a.window
	w.Span = timeline.Span{Start: begin, End: never}
	if f := a.opts.Filter; f != nil {
		f.Begin(begin)
		w.Span = f.span()
	}
	w.edge, w.timed = w.Start, w.Start > begin || w.End != never
	if w.timed {
		w.did = map[exectrace.GoID]*Stats{}
	}
	if w.Start <= begin {
		w.Start, w.edge, w.opened = begin, w.End, true
	}
}

// crossEdge begins or ends the window, when the trace has come so far.
func (a *analyzer) crossEdge(at timeline.Time) {
	w := &a.window
	if !w.opened && at >= w.Start {
		a.countAnew(w.Start)
		w.opened, w.edge = true, w.End
	}
	if w.opened && !w.closed && at >= w.End {
		a.putAway(w.End)
	}
}

// closeWindow puts away what has not been yet, at the end of the trace.
func (a *analyzer) closeWindow() {
	w := &a.window
	if !w.opened { // it begins behind the trace
		a.countAnew(a.last)
		w.Start = a.last
	}
	if !w.closed {
		a.putAway(max(w.Start, a.last))
	}
}

// countAnew forgets what was counted before the window. What goes on is cut: its
// begin is the window's.
func (a *analyzer) countAnew(at timeline.Time) {
	a.par.restart(at)
	a.gc.restart(at)
	for _, list := range [][]*Group{a.byName, a.byGo} {
		for _, g := range list {
			if g != nil {
				g.Created, g.Ended, g.Peak = 0, 0, g.alive
			}
		}
	}
	for _, page := range a.tracks {
		for i := range page {
			t := &page[i]
			if t.assist != 0 {
				t.assist, t.assistRan = at, 0
			}
			if t.stw != 0 {
				t.stw = at
			}
		}
	}
}

// putAway keeps what was counted. What goes on is counted up to here.
func (a *analyzer) putAway(at timeline.Time) {
	a.untilNow(at)
	for _, page := range a.tracks {
		for i := range page {
			t := &page[i]
			if t.assist != 0 && t.state != exectrace.NotExist && a.window.End != never {
				a.assist(at, t)
			}
			if t.stw != 0 && a.window.End != never {
				a.pause(at, t)
			}
		}
	}
	a.par.end(at)
	a.out.Parallel, a.par.out = a.par.out, Parallel{Procs: a.par.max.n}
	clear(a.par.held)
	a.par.out.Use.begin(at)
	a.out.GC, a.gc = a.gc.finish(at), gcWatch{}
	a.out.Covers = timeline.Span{Start: a.window.Start, End: max(a.window.Start, at)}
	a.window.closed, a.window.edge = true, never
}

// untilNow counts the stays that go on, as a window or all that is known ends.
func (a *analyzer) untilNow(at timeline.Time) {
	for _, page := range a.tracks {
		for i := range page {
			if t := &page[i]; a.window.timed && t.known {
				a.within(t, at)
			}
		}
	}
}

// within counts the stay of a goroutine in its state, up to an instant.
func (a *analyzer) within(t *track, at timeline.Time) {
	if !a.window.closed { // else it was counted when it closed
		a.stayed(t, t.state, t.reason, timeline.Span{Start: t.since, End: at})
	}
}

// early counts the first state of a goroutine that is older than the trace, from
// the begin of the generation on, which may be before the end of a window that is
// over. [Summarizer] does so too.
func (a *analyzer) early(t *track, e *exectrace.Event) {
	a.stayed(t, e.To, e.Name, timeline.Span{Start: a.sum.lastSync, End: e.Time})
}

// stayed counts a stay for the part that lies in the window.
func (a *analyzer) stayed(t *track, state exectrace.State, reason exectrace.NameID, span timeline.Span) {
	d := span.Overlap(a.window.Span)
	if d <= 0 {
		return
	}
	if t.did == nil {
		t.did = &Stats{}
		a.window.did[t.id] = t.did
	}
	switch state {
	case exectrace.Running:
		t.did.Exec += d
	case exectrace.Runnable:
		t.did.SchedWait += d
	case exectrace.Syscall:
		t.did.Syscall += d
	case exectrace.Waiting:
		t.did.Blocked.add(reason, d)
	}
}

// cut is a goroutine with what it did in the window alone. Time in system calls
// is not divided by who had the P, and ranges are not counted.
func (a *analyzer) cut(g *Goroutine) *Goroutine {
	c := &a.window.cut
	*c = *g
	c.Stats = Stats{}
	if did := a.window.did[g.ID]; did != nil {
		c.Stats = *did
		delete(a.window.did, g.ID)
	}
	end := g.Created.Add(g.Total)
	c.Total = max(0, min(end, a.window.End).Sub(max(g.Created, a.window.Start)))
	return c
}

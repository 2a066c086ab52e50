package sched

import (
	"math"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/timeline"
)

// window is the part of a trace's time that an analysis counts. Stays are cut to
// it one by one, by [Filter.Stays]; what is counted along, how many goroutines
// ran side by side and what the collector did, begins anew at its start and is put
// away at its end, so that most events cost one comparison.
type window struct {
	timeline.Span
	edge   timeline.Time // the next of the two, or far away
	whole  bool          // nobody wants to see or to cut single stays
	opened bool
	closed bool
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
	w.edge = w.Start
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
	a.tracks.eachRare(func(t *rareTrack, _ *sweep.Goroutine) {
		if t.assist != 0 {
			t.assist, t.assistRan = at, 0
		}
		if t.stw != 0 {
			t.stw = at
		}
	})
}

// putAway keeps what was counted. What goes on is counted up to here.
func (a *analyzer) putAway(at timeline.Time) {
	if a.window.End != never {
		a.tracks.eachRare(func(t *rareTrack, g *sweep.Goroutine) {
			if t.assist != 0 && g.State != exectrace.NotExist {
				a.gc.assist(at, t, g)
			}
			if t.stw != 0 {
				a.gc.pause(at, t, g.ID)
			}
		})
	}
	a.par.end(at)
	a.out.Parallel, a.par.out = a.par.out, Parallel{Procs: a.par.max.n}
	clear(a.par.held)
	a.par.out.Use.begin(at)
	a.out.GC = a.gc.finish(at)
	a.gc.clear()
	a.out.Covers = timeline.Span{Start: a.window.Start, End: max(a.window.Start, at)}
	a.window.closed, a.window.edge = true, never
}

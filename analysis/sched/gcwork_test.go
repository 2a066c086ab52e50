package sched

import (
	"testing"

	"loupe/value/stack"
	"loupe/value/timeline"
)

// TestLostCycles: mark phases of which a damaged trace has the ends alone lie one after the
// other: together they are never longer than the trace.
func TestLostCycles(t *testing.T) {
	var w gcWatch
	for _, end := range []timeline.Time{300, 500, 900} {
		w.unbegun(100)
		w.endCycle(end, true)
	}
	sum := timeline.Time(0)
	for _, c := range w.finish(1000).Cycles {
		sum += c.Span.End - c.Span.Start
		if c.Whole {
			t.Errorf("%+v is whole", c)
		}
	}
	if sum != 800 {
		t.Errorf("marking for %d of 900", sum)
	}
}

// TestStops: stops are kept apart by what they are for and by where they were asked for, as
// far as there is room.
func TestStops(t *testing.T) {
	var w gcWatch
	add := func(at stack.ID, from, to timeline.Time) {
		w.place(Pause{Kind: 7, Stack: at, Span: timeline.Span{Start: from, End: to}, Stopping: 1})
	}
	add(1, 0, 10)
	add(1, 20, 60)
	add(2, 70, 75)
	stops := w.finish(100).Stops
	if len(stops) != 2 || stops[0].Stack != 1 || stops[0].Count != 2 || stops[0].Sum != 50 || stops[0].Stopping != 2 || stops[0].Worst.Span.Start != 20 {
		t.Errorf("stops = %+v", stops)
	}
	for n := range stack.ID(2 * maxStops) {
		add(n+10, 0, 1)
	}
	w.out = GCWork{}
	stops = w.finish(100).Stops
	if len(stops) > maxStops+1 || stops[0].Stack != 0 {
		t.Errorf("%d places, the first %+v", len(stops), stops[0])
	}
}

// TestStopped: while the world stands still nobody delays anybody.
func TestStopped(t *testing.T) {
	var p parallelism
	p.start(100)
	p.runnable(100, &track{}, +1)
	p.stopped(130, +1)
	p.stopped(190, -1)
	p.advance(200)
	if p.delay != 40 || p.out.Waited != 40 || p.out.WaitedStopped != 60 || p.haltedAt(200) != 60 {
		t.Errorf("waited %v and %v while the world was stopped, for %v", p.out.Waited, p.out.WaitedStopped, p.haltedAt(200))
	}
	p.stopped(210, -1) // whose begin is lost
	p.advance(220)
	if p.out.Waited != 60 {
		t.Errorf("waited %v after an end without a begin", p.out.Waited)
	}
}

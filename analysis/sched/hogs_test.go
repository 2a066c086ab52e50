package sched

import (
	"testing"
	"time"

	"loupe/format/exectrace"
	"loupe/value/timeline"
)

// TestHogs: a run counts from ten milliseconds on, when others waited for a
// tenth of it.
func TestHogs(t *testing.T) {
	const ms = time.Millisecond
	var h hogs
	var all waits
	add := func(name exectrace.NameID, run, delay time.Duration, system bool) {
		all.from, all.to = all.to, all.to+delay
		h.add(&Interval{Name: name, Start: 1e9, End: timeline.Time(1e9).Add(run)}, &track{system: system}, 0, all)
	}
	add(1, 20*ms, 40*ms, false)
	add(1, 10*ms, 5*ms, false)
	add(2, 30*ms, 60*ms, false)
	add(3, 9*ms, 90*ms, false)  // gave up its P in time
	add(4, 20*ms, 1*ms, false)  // nobody waited for it
	add(5, 20*ms, 100*ms, true) // of the runtime
	got := h.sorted()
	if len(got) != 2 || got[0].Name != 2 || got[1].Name != 1 {
		t.Fatalf("hogs = %+v, want 2 and 1", got)
	}
	if g := got[1]; g.Runs.Count != 2 || g.Delay != 45*ms || g.WorstDelay != 40*ms || g.Worst.Len() != 20*ms {
		t.Errorf("hog = %+v", g)
	}
}

// TestHogsSideBySide: a wait counts once however many runs of one function it is met by,
// and never when the world was stopped.
func TestHogsSideBySide(t *testing.T) {
	const ms = time.Millisecond
	var h hogs
	run := func(name exectrace.NameID, length, halted, from, to time.Duration) {
		h.add(&Interval{Name: name, End: timeline.Time(length)}, &track{}, halted, waits{from, to})
	}
	run(1, 20*ms, 0, 0, 30*ms)
	run(1, 20*ms, 0, 10*ms, 40*ms) // side by side with the first
	run(1, 20*ms, 0, 50*ms, 70*ms)
	run(1, 90*ms, 0, 5*ms, 80*ms) // around most of it
	run(2, 20*ms, 15*ms, 0, 50*ms)
	got := h.sorted()
	if len(got) != 1 || got[0].Delay != 80*ms || got[0].Runs.Count != 4 || got[0].WorstDelay != 75*ms {
		t.Errorf("hogs = %+v", got)
	}
}

// TestDelay: what goroutines of the program wait for a P is added up, however
// many wait at once; those of the runtime do not count.
func TestDelay(t *testing.T) {
	var p parallelism
	p.start(100)
	a, b, system := &track{}, &track{}, &track{system: true}
	p.runnable(100, a, +1)
	p.runnable(110, b, +1)
	p.runnable(110, system, +1)
	p.runnable(130, a, -1)
	p.runnable(140, b, -1)
	p.advance(200)
	if p.delay != 60 || p.queued != 1 || p.waiting != 0 {
		t.Errorf("delay = %d, queued %d, waiting %d; want 60, 1, 0", p.delay, p.queued, p.waiting)
	}
}

// TestIdleLong: stretches from 100 µs on are added up.
func TestIdleLong(t *testing.T) {
	var p parallelism
	p.out.Procs, p.max.n = 2, 2
	p.start(0)
	stretch := func(from timeline.Time, d time.Duration) {
		p.runnable(from, &track{}, +1)
		p.runnable(from.Add(d), &track{queued: true}, -1)
		p.advance(from.Add(d + time.Microsecond))
	}
	stretch(1e6, 50*time.Microsecond)
	stretch(2e6, 100*time.Microsecond)
	stretch(3e6, 300*time.Microsecond)
	if o := &p.out; o.IdleLong != 400*time.Microsecond || o.IdleWhileQueued != 450*time.Microsecond || o.LongestIdle != 300*time.Microsecond || o.LongestIdleAt != 3e6 {
		t.Errorf("idle: long %v, all %v, longest %v at %d", o.IdleLong, o.IdleWhileQueued, o.LongestIdle, o.LongestIdleAt)
	}
}

func TestMerge(t *testing.T) {
	var a, b Histogram
	a.Add(10)
	b.Add(20)
	b.Add(3000)
	a.Merge(&b)
	if a.Count != 3 || a.Sum != 3030 || a.Max != 3000 || a.Below(100) != 2.0/3 {
		t.Errorf("merged = %d, %v, %v, %v below 100 ns", a.Count, a.Sum, a.Max, a.Below(100))
	}
}

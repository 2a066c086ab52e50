package sched

import (
	"slices"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
)

// Latency is how long goroutines waited for a P, from their creation or
// wake-up to their start.
type Latency struct {
	All   Histogram
	Worst []Interval // longest first
}

// add counts a wait for a P of a goroutine, and tells whether it is one of the longest.
// The waits of all are those of the groups, see [addUp].
func (l *Latency) add(a *analyzer, d time.Duration, t *track) bool {
	if t.group != nil {
		t.group.Wait.Add(d)
	} else {
		l.All.Add(d)
		t.late(d, a)
	}
	n := len(l.Worst)
	return n < a.opts.Top || d > l.Worst[n-1].Len()
}

// lateGroup are stays of goroutines that came before anything told of their group: they
// are in the sums of all already.
type lateGroup struct{ run, wait Histogram }

// addUp adds up the runs and the waits of all groups.
func addUp(a *analyzer) {
	for _, g := range a.groups.byName {
		if g == nil {
			continue
		}
		runs := &a.out.Runs.All
		if IsSystem(a.out.Reader.Name(g.Name)) {
			runs = &a.out.Runs.System
		}
		runs.Merge(&g.Run)
		a.out.Latency.All.Merge(&g.Wait)
		if g.late != nil {
			g.Run.Merge(&g.late.run)
			g.Wait.Merge(&g.late.wait)
		}
	}
}

// lateStays are stays of a goroutine whose function no event has told yet, for the
// histograms of its group: how long it waited for a P, and below zero how long it
// ran.
type lateStays []time.Duration

// maxLateStays bounds them. A goroutine that has had as many without being named is
// one of an old trace, which never names it.
const maxLateStays = 64

// late keeps a stay of a goroutine that has no group yet.
func (t *track) late(d time.Duration, a *analyzer) {
	r := t.more()
	if r.late = append(r.late, d); len(r.late) == maxLateStays {
		t.flushLate(a.groups.of(exectrace.NameNone))
	}
}

// flushLate gives the stays that were kept to a group.
func (t *track) flushLate(g *Group) {
	if t.rare == nil || len(t.rare.late) == 0 {
		return
	}
	if g.late == nil {
		g.late = &lateGroup{}
	}
	for _, d := range t.rare.late {
		if d < 0 {
			g.late.run.Add(-d)
		} else {
			g.late.wait.Add(d)
		}
	}
	if t.rare.late = nil; t.rare.assist == 0 && t.rare.stw == 0 {
		t.rare = nil // where most have nothing there, nobody has to look
	}
}

// name names the waits of a goroutine whose function is known now.
func (l *Latency) name(g *sweep.Goroutine) {
	if !g.Older {
		return
	}
	for i := range l.Worst {
		if w := &l.Worst[i]; w.G == g.ID && w.Name == exectrace.NameNone {
			w.Name = g.Name
		}
	}
}

// Runs are the stretches for which goroutines ran without giving up their P.
type Runs struct {
	All     Histogram // of the program's own goroutines
	System  Histogram // of the runtime's
	Longest []Interval
}

// add counts a run of a goroutine, and tells whether it is one of the longest. The runs of
// all are those of the groups, see [addUp].
func (r *Runs) add(a *analyzer, d time.Duration, t *track) bool {
	if t.group != nil {
		t.group.Run.Add(d)
	} else {
		r.All.Add(d)
		t.late(-d, a)
	}
	n := len(r.Longest)
	return !t.system && (n < a.opts.Top || d > r.Longest[n-1].Len())
}

// keepLongest adds i to the n longest, which are in descending order.
func keepLongest(list []Interval, i *Interval, n int) []Interval {
	d := i.Len()
	if len(list) == n && (n == 0 || d <= list[n-1].Len()) {
		return list
	}
	at, _ := slices.BinarySearchFunc(list, d, func(a Interval, d time.Duration) int {
		if a.Len() >= d {
			return -1
		}
		return 1
	})
	list = slices.Insert(list, at, *i)
	return list[:min(n, len(list))]
}

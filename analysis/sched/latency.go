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
	top   int
}

func (l *Latency) add(i *Interval, t *track) {
	d := i.Len()
	l.All.Add(d)
	if t.group != nil {
		t.group.Wait.Add(d)
	}
	l.Worst = keepLongest(l.Worst, i, l.top)
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
		t.flushLate(a.groupByName(exectrace.NameNone))
	}
}

// flushLate gives the stays that were kept to a group.
func (t *track) flushLate(g *Group) {
	if t.rare == nil {
		return
	}
	for _, d := range t.rare.late {
		if d < 0 {
			g.Run.Add(-d)
		} else {
			g.Wait.Add(d)
		}
	}
	t.rare.late = nil
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
	top     int
}

func (r *Runs) add(i *Interval, t *track) {
	d := i.Len()
	if t.group != nil {
		t.group.Run.Add(d)
	}
	if t.system {
		r.System.Add(d)
		return
	}
	r.All.Add(d)
	r.Longest = keepLongest(r.Longest, i, r.top)
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

package sched

import (
	"cmp"
	"slices"

	"loupe/format/exectrace/sweep"
	"loupe/value/timeline"
)

// census finds the most goroutines of a group that were alive at one time. Those
// that are older than the trace become known in the middle of it, as they first do
// something, but have been there since it began: they count from then on.
//
// Note: how many are older is known at the end alone. Until then the census goes
// without them, below zero when they end, and keeps the highest it came to.
type census struct {
	old, alive, most int64
}

// begins counts a goroutine that has come into being, or is older than the trace.
func (c *census) begins(old bool) {
	if old {
		c.old++
		return
	}
	c.alive++
	c.most = max(c.most, c.alive)
}

// ends counts a goroutine that has ended.
func (c *census) ends() { c.alive-- }

// peak returns the most, and begins anew.
func (c *census) peak() int64 {
	n := c.old + c.most
	*c = census{}
	return n
}

// endCensus ends the census of all groups: the trace ends, or all that is known.
func (a *analyzer) endCensus() {
	a.tracks.each(func(t *track, g *sweep.Goroutine) {
		if t.known && t.group == nil {
			a.nameless(t, g)
		}
	})
	if a.picked != nil { // who counts is known with the last stay alone
		return
	}
	for _, list := range [][]*Group{a.groups.byName, a.groups.byGo} {
		for _, g := range list {
			if g != nil {
				g.Peak = max(g.Peak, g.census.peak())
			}
		}
	}
}

// peakOf returns how many of the lives go on at one time at most.
func peakOf(lives []timeline.Span) (most int64) {
	ends := make([]timeline.Time, len(lives))
	for i, l := range lives {
		ends[i] = l.End
	}
	slices.Sort(ends)
	slices.SortFunc(lives, func(a, b timeline.Span) int { return cmp.Compare(a.Start, b.Start) })
	over := 0
	for i, l := range lives {
		for ends[over] <= l.Start {
			over++
		}
		most = max(most, int64(i+1-over))
	}
	return most
}

// one is what an event adds to a number of goroutines. With a filter they are
// counted as they are picked.
func (a *analyzer) one() int64 {
	if a.picked != nil {
		return 0
	}
	return 1
}

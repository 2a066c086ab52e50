package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"loupe/analysis/tiles"
	"loupe/value/timeline"
)

// timelineStats says how a range was spent.
type timelineStats struct {
	Within timeline.Span `json:"within"`
	// Exact is false where spans were left out of the timeline, and the figures
	// are of lanes that have theirs alone.
	Exact bool `json:"exact"`
	// Procs and Goroutines are the times of all Ps and goroutines together, by
	// class. What lanes do not cover is in none.
	Procs      []classTime `json:"procs"`
	Goroutines []classTime `json:"goroutines"`
	// Groups are the goroutines by function, those first that ran longest.
	Groups      []groupTime `json:"groups"`
	GroupsTotal int         `json:"groupsTotal"`
	// Stops are the stops of the world, Marks the mark phases of the collector.
	Stops classTime `json:"stops"`
	Marks classTime `json:"marks"`
}

// classTime is the time that lanes spent in one class.
type classTime struct {
	Class tiles.Class `json:"class"`
	Name  string      `json:"name"`
	// Spans counts the spans, also those of which a part is in the range.
	Spans   int           `json:"spans"`
	Time    time.Duration `json:"time_ns"`
	Longest time.Duration `json:"longest_ns"` // in the range
}

// groupTime is the time that the goroutines of one function spent.
type groupTime struct {
	Lane    tiles.LaneID `json:"lane"`
	Name    string       `json:"name"`
	Members int          `json:"members"` // with something in the range
	Classes []classTime  `json:"classes"`
}

// classTimes are sums by class.
type classTimes [8]classTime

func (c *classTimes) add(s tiles.Span, within timeline.Span) {
	d := s.Overlap(within)
	x := &c[s.Class&7]
	x.Spans++
	x.Time += d
	x.Longest = max(x.Longest, d)
}

// list returns the classes that occur.
func (c *classTimes) list(k tiles.Kind) []classTime {
	out := []classTime{}
	for i := range c {
		if c[i].Spans > 0 {
			c[i].Class, c[i].Name = tiles.Class(i), tiles.ClassName(k, tiles.Class(i))
			out = append(out, c[i])
		}
	}
	return out
}

// groupsInReply is how many groups are told.
const groupsInReply = 50

// timelineStatsOf adds up a range.
func timelineStatsOf(ctx context.Context, s *subject, q *query) (*timelineStats, error) {
	t, err := s.timeline(ctx, false)
	if err != nil {
		return nil, err
	}
	on, err := q.span(t.On(t.Whole))
	if err != nil {
		return nil, err
	}
	return t.stats(ctx, on)
}

func (t *traced) stats(ctx context.Context, on timeline.Span) (*timelineStats, error) {
	within := t.Own(on)
	d := t.Dropped()
	out := &timelineStats{Within: on, Exact: !d.ProcSpans && !d.GoroutineSpans && d.Goroutines == 0}
	var procs, goroutines, gc classTimes
	n := 0
	stopped := func() bool { n++; return n&0xffff == 0 && ctx.Err() != nil }
	for _, s := range t.SpansOf(tiles.KindProc, within) {
		if procs.add(s, within); stopped() {
			return nil, ctx.Err()
		}
	}
	for _, s := range t.SpansOf(tiles.KindGC, within) {
		gc.add(s, within)
	}
	type group struct {
		classTimes
		members int
	}
	groups := map[tiles.LaneID]*group{}
	var last tiles.Owner
	var g *group
	for o, s := range t.SpansOf(tiles.KindGoroutine, within) {
		if o != last || g == nil {
			if g = groups[o.Group]; g == nil {
				g = &group{}
				groups[o.Group] = g
			}
			g.members++
			last = o
		}
		goroutines.add(s, within)
		if g.add(s, within); stopped() {
			return nil, ctx.Err()
		}
	}
	out.Procs, out.Goroutines = procs.list(tiles.KindProc), goroutines.list(tiles.KindGoroutine)
	gc.list(tiles.KindGC)
	out.Stops, out.Marks = gc[tiles.GCSTW], gc[tiles.GCMark]
	out.Groups, out.GroupsTotal = []groupTime{}, len(groups)
	for id, g := range groups {
		out.Groups = append(out.Groups, groupTime{id, t.Lane(id).Name, g.members, g.list(tiles.KindGoroutine)})
	}
	ran := func(g groupTime) (d time.Duration) {
		for _, c := range g.Classes {
			if c.Class == tiles.GoRuns || c.Class == tiles.GoGC {
				d += c.Time
			}
		}
		return d
	}
	slices.SortFunc(out.Groups, func(a, b groupTime) int { return cmp.Or(cmp.Compare(ran(b), ran(a)), cmp.Compare(a.Lane, b.Lane)) })
	out.Groups = out.Groups[:min(len(out.Groups), groupsInReply)]
	return out, nil
}

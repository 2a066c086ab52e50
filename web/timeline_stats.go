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

// classTimes lists the classes that occur.
func classTimes(k tiles.Kind, sums *tiles.Sums) []classTime {
	out := []classTime{}
	for i, c := range sums {
		if c.Spans > 0 {
			out = append(out, classTimeOf(k, tiles.Class(i), c))
		}
	}
	return out
}

func classTimeOf(k tiles.Kind, class tiles.Class, c tiles.ClassSum) classTime {
	if c.Spans == 0 {
		return classTime{}
	}
	return classTime{class, tiles.ClassName(k, class), c.Spans, c.Time, c.Longest}
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
	stop := func() bool { return ctx.Err() != nil }
	procs, _ := t.Totals(tiles.KindProc, within, stop)
	gc, _ := t.Totals(tiles.KindGC, within, stop)
	goroutines, groups := t.Totals(tiles.KindGoroutine, within, stop)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out.Procs, out.Goroutines = classTimes(tiles.KindProc, &procs), classTimes(tiles.KindGoroutine, &goroutines)
	out.Stops, out.Marks = classTimeOf(tiles.KindGC, tiles.GCSTW, gc[tiles.GCSTW]), classTimeOf(tiles.KindGC, tiles.GCMark, gc[tiles.GCMark])
	out.Groups, out.GroupsTotal = []groupTime{}, len(groups)
	for id, g := range groups {
		out.Groups = append(out.Groups, groupTime{id, t.Lane(id).Name, g.Members, classTimes(tiles.KindGoroutine, &g.Sums)})
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

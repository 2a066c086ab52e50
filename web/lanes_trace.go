package web

import (
	"context"
	"errors"
	"math"
	"time"

	"loupe/analysis/tiles"
	"loupe/session"
	"loupe/value/timeline"
)

// The lanes of an execution trace are read off its tiles: at any zoom that
// takes milliseconds.

const noTrace = "No execution trace. Record one: loupe run -phases bare,trace ./cmd/server"

// grid is columns of a trace: buckets of one level.
type grid struct {
	*traced
	level    uint8
	first, n int64 // buckets since the set's origin
}

// grid returns columns that cover the part of the view that the trace does;
// nil when there is none.
func (v *laneView) grid(ctx context.Context) (*grid, error) {
	t, err := v.s.traced(ctx)
	if errors.Is(err, session.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, own := t.Span(), t.Own(v.Span)
	span := timeline.Span{Start: max(all.Start, own.Start), End: min(all.End, own.End)}
	if span.Len() <= 0 {
		return nil, nil
	}
	g := &grid{traced: t, level: tiles.MinLevel}
	for float64(int64(1)<<g.level) < v.width() && int(g.level) < t.Top() {
		g.level++
	}
	g.first = int64(span.Start-t.Origin()) >> g.level
	g.n = int64(span.End-1-t.Origin())>>g.level - g.first + 1
	return g, nil
}

// at is where a column begins on the axis, but within the trace.
func (g *grid) at(i int64) timeline.Time {
	own := g.Origin() + timeline.Time((g.first+i)<<g.level)
	all := g.Span()
	return g.Clock.At(int64(min(max(own, all.Start), all.End)))
}

// covered is how much of a column lies in the trace, from 0 to 1.
func (g *grid) covered(i int64) float64 {
	start := g.Origin() + timeline.Time((g.first+i)<<g.level)
	column := timeline.Span{Start: start, End: start + timeline.Time(int64(1)<<g.level)}
	return float64(column.Overlap(g.Span())) / float64(column.Len())
}

// each gives the tiles of a lane that the columns lie in, and the columns that
// are to be taken from each: of a coarser tile only those that were asked for.
func (g *grid) each(lane tiles.LaneID, take func(t *tiles.Tile, from, to int64)) {
	for index := g.first >> 10; index <= (g.first+g.n-1)>>10; index++ {
		t := g.Tile(tiles.TileID{Lane: lane, Level: g.level, Index: uint32(index)})
		take(&t, max(g.first, index<<10), min(g.first+g.n, (index+1)<<10))
	}
}

// columns gives the columns that bucket i of a tile covers, of those from up to to.
func (g *grid) columns(t *tiles.Tile, i int, from, to int64) (int64, int64) {
	shift := max(t.Level, g.level) - g.level
	b := int64(t.Index)<<10 + int64(i)
	return max(from, b<<shift) - g.first, min(to, (b+1)<<shift) - g.first
}

// occupied adds how much of each column a lane spends in each class.
func (g *grid) occupied(lane tiles.LaneID, add func(column int64, class tiles.Class, share float64)) {
	origin := g.Origin()
	g.each(lane, func(t *tiles.Tile, from, to int64) {
		switch t.Form {
		case tiles.FormBuckets:
			for i, b := range t.Buckets() {
				for c, to := g.columns(t, i, from, to); c < to; c++ {
					for class, n := range b.Occupancy {
						if n > 0 || class < 7 && b.Present>>class&1 != 0 {
							add(c, tiles.Class(class), float64(n)/255)
						}
					}
				}
			}
		case tiles.FormSpans:
			for s := range t.Spans(origin) {
				start, end := max(int64(s.Start-origin), from<<g.level), min(int64(s.End-origin), to<<g.level)
				if start > end || start == end && start >= to<<g.level {
					continue
				}
				for c := start >> g.level; c <= max(start, end-1)>>g.level; c++ {
					part := min(end, (c+1)<<g.level) - max(start, c<<g.level)
					add(c-g.first, s.Class, float64(part)/float64(int64(1)<<g.level))
				}
			}
		}
	})
}

// lanesOf gives the lanes of a kind.
func (g *grid) lanesOf(kind tiles.Kind) []tiles.Lane {
	lanes, _ := g.Lanes(tiles.Filter{Kinds: []tiles.Kind{kind}}, 0, 1<<20)
	return lanes
}

// class is a class of a stack, with what it is called in the pages.
type class struct {
	key, title string
	of         []tiles.Class
}

var procClasses = []class{
	{"running", "running", []tiles.Class{tiles.ProcRuns}},
	{"syscall", "in a system call", []tiles.Class{tiles.ProcSyscall}},
	{"assist", "GC assist", []tiles.Class{tiles.ProcAssist, tiles.ProcSweep}},
	{"mark", "GC work", []tiles.Class{tiles.ProcGC}},
	{"stw", "stop-the-world", []tiles.Class{tiles.ProcSTW}},
	{"scheduling", "scheduler", []tiles.Class{tiles.ProcSchedule}},
	{"idle", "idle", []tiles.Class{tiles.ClassRest}},
}

var groupClasses = []class{
	{"running", "running", []tiles.Class{tiles.GoRuns}},
	{"runnable", "ready to run", []tiles.Class{tiles.GoRunnable}},
	{"mark", "GC work", []tiles.Class{tiles.GoGC}},
	{"syscall", "system call", []tiles.Class{tiles.GoSyscall}},
	{"sync", "lock or group", []tiles.Class{tiles.GoSync}},
	{"net", "network", []tiles.Class{tiles.GoNet}},
	{"chan", "channel or select", []tiles.Class{tiles.GoChan}},
}

// bounded keeps the sums of lanes to what there are of them. A bucket that is
// coarser than a column goes on beyond the trace's end: in the last columns it
// brings more than lies in the trace.
func bounded(sums [][8]float64, lanes int, covered func(int64) float64) {
	for i := range sums {
		total := 0.0
		for _, n := range sums[i] {
			total += n
		}
		most := float64(lanes) * covered(int64(i))
		if total <= most {
			continue
		}
		for c := range sums[i] {
			sums[i][c] *= most / total
		}
	}
}

// stacked makes the lines of classes out of sums by column and class.
func (g *grid) stacked(v *laneView, l *lane, classes []class, sums [][8]float64) {
	for _, k := range classes {
		var c course
		present := false
		for i := range sums {
			var n float64
			for _, of := range k.of {
				n += sums[i][of]
			}
			present = present || n > 0
			// Of a column of which the trace has hardly anything, the
			// rounding of the tiles would be most of the value.
			if part := g.covered(int64(i)); part < 0.1 {
				n = math.NaN()
			} else {
				n /= part
			}
			c.add(g.at(int64(i)), n)
		}
		c.add(g.at(g.n), math.NaN())
		if present {
			l.Lines = append(l.Lines, v.line(k.key, k.title, &c, true))
		}
	}
}

// procsLane is what the Ps did.
func procsLane(ctx context.Context, v *laneView) (*lane, error) {
	l := &lane{Title: "Ps", Unit: "count", Shape: "stack", Source: "execution trace"}
	g, err := v.grid(ctx)
	if err != nil || g == nil {
		l.Missing = noTrace
		return l, err
	}
	sums := make([][8]float64, g.n)
	procs := g.lanesOf(tiles.KindProc)
	for _, p := range procs {
		g.occupied(p.ID, func(c int64, class tiles.Class, share float64) { sums[c][class] += share })
	}
	bounded(sums, len(procs), g.covered)
	g.stacked(v, l, procClasses, sums)
	return l, nil
}

// states sums up what the goroutines of all groups do, column by column.
func (g *grid) states(ctx context.Context) ([][8]float64, error) {
	sums := make([][8]float64, g.n)
	for k, lane := range g.lanesOf(tiles.KindGroup) {
		if k&0xff == 0xff && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		g.each(lane.ID, func(t *tiles.Tile, from, to int64) {
			for i, n := range t.Counts() {
				for c, to := g.columns(t, i, from, to); c < to; c++ {
					for class := range n {
						sums[c][class] += n[class]
					}
				}
			}
		})
	}
	return sums, nil
}

// statesLane is what the goroutines did that were not asleep.
func statesLane(ctx context.Context, v *laneView) (*lane, error) {
	l := &lane{Title: "What goroutines do", Unit: "count", Shape: "stack", Source: "execution trace, within a percent"}
	g, err := v.grid(ctx)
	if err != nil || g == nil {
		l.Missing = noTrace
		return l, err
	}
	sums, err := g.states(ctx)
	if err != nil {
		return nil, err
	}
	g.stacked(v, l, groupClasses, sums)
	return l, nil
}

// waitLane is how long goroutines waited for a P.
func waitLane(ctx context.Context, v *laneView) (*lane, error) {
	l := &lane{Title: "Waits for a P", Unit: "ns", Shape: "heat", Source: "execution trace, by when the goroutines started"}
	g, err := v.grid(ctx)
	if err != nil || g == nil {
		l.Missing = noTrace
		return l, err
	}
	found := g.lanesOf(tiles.KindLatency)
	if len(found) == 0 {
		l.Missing = "No goroutine waited for a P in the trace."
		return l, nil
	}
	const rows = tiles.LatencyRows
	// Some columns become one: a heat map needs no more than it has pixels.
	wide := max(1, (g.n+int64(v.loadColumns())-1)/int64(v.loadColumns()))
	columns := (g.n + wide - 1) / wide
	counts := make([][rows]float64, columns)
	g.each(found[0].ID, func(t *tiles.Tile, from, to int64) {
		for i, n := range t.Latencies() {
			first, last := g.columns(t, i, from, to)
			parts := float64(int64(1) << (max(t.Level, g.level) - g.level))
			for c := first; c < last; c++ {
				for r := range n {
					counts[c/wide][r] += n[r] / parts
				}
			}
		}
	})
	low, high := rows, 0
	for _, c := range counts {
		for r, n := range c {
			if n > 0 {
				low, high = min(low, r), max(high, r)
			}
		}
	}
	if low > high {
		l.Missing = "No goroutine waited for a P in this time."
		return l, nil
	}
	width := time.Duration(wide << g.level)
	h := &laneHeat{Start: g.Clock.At(int64(g.Origin()) + g.first<<g.level), Width: float64(width)}
	for r := low; r <= high; r++ {
		from, to := tiles.LatencyRow(r)
		if r == low {
			h.Rows = append(h.Rows, max(1, float64(from)))
		}
		if to <= from { // the last row has no upper bound
			to = 2 * from
		}
		h.Rows = append(h.Rows, float64(to))
	}
	var p50, p99 course
	for i, c := range counts {
		h.Counts = append(h.Counts, c[low:high+1]...)
		at := h.Start.Add(width * time.Duration(i))
		p50.add(at, rowQuantile(c, 0.5, 20))
		p99.add(at, rowQuantile(c, 0.99, 1000))
	}
	l.Heat = h
	end := h.Start.Add(width * time.Duration(columns))
	p50.add(end, math.NaN())
	p99.add(end, math.NaN())
	l.with(v, "p50", "p50", p50, true)
	l.with(v, "p99", "p99", p99, true)
	return l, nil
}

// rowQuantile is a quantile of counts by rows, as the upper bound of its row;
// NaN of fewer than enough.
func rowQuantile(counts [tiles.LatencyRows]float64, q, enough float64) float64 {
	sum := 0.0
	for _, n := range counts {
		sum += n
	}
	if sum < enough {
		return math.NaN()
	}
	seen := 0.0
	for r, n := range counts {
		if seen += n; seen >= q*sum {
			from, to := tiles.LatencyRow(r)
			return float64(max(from, to))
		}
	}
	return math.NaN()
}

// heapOfTrace adds the heap as the events of a trace have it.
func (v *laneView) heapOfTrace(ctx context.Context, l *lane) error {
	g, err := v.grid(ctx)
	if err != nil || g == nil {
		return err
	}
	l.Source = "execution trace"
	for _, k := range [][3]string{{"heap", "objects", "heap"}, {"goal", "goal", "heap goal"}} {
		id, ok := g.Find(tiles.KindCounter, 0, k[2])
		if !ok {
			continue
		}
		line := laneLine{Key: k[0], Title: k[1], Step: true, At: []timeline.Time{}, Mean: Numbers{}}
		g.each(id, func(t *tiles.Tile, from, to int64) {
			for i, n := range t.Values() {
				if c, end := g.columns(t, i, from, to); c < end {
					line.point(g.at(c), float64(n.Min), float64(n.Max), float64(n.Mean))
				}
			}
		})
		if n := len(line.At); n > 0 {
			line.point(g.at(g.n), math.NaN(), math.NaN(), math.NaN())
			l.Lines = append(l.Lines, line)
		}
	}
	return nil
}

var gcClasses = []class{
	{"mark", "marking", []tiles.Class{tiles.GCMark}},
	{"stw", "stop-the-world", []tiles.Class{tiles.GCSTW}},
	{"spinning", "sweeping", []tiles.Class{tiles.GCSweep}},
}

// collectorOfTrace is how much of the time the collector was at what.
func (v *laneView) collectorOfTrace(ctx context.Context, l *lane) error {
	g, err := v.grid(ctx)
	if err != nil || g == nil {
		return err
	}
	l.Title, l.Shape, l.Unit, l.Top, l.Source = "Collector at work", "stack", "share", 1, "execution trace"
	sums := make([][8]float64, g.n)
	for _, lane := range g.lanesOf(tiles.KindGC) {
		g.occupied(lane.ID, func(c int64, class tiles.Class, share float64) { sums[c][class] += share })
	}
	g.stacked(v, l, gcClasses, sums)
	return nil
}

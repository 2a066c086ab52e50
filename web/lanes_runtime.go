package web

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"loupe/analysis/sched"
	"loupe/format/godebug"
	"loupe/format/metrics"
	"loupe/session"
	"loupe/value/timeline"
)

// The lanes of what the runtime and the system tell while they run.

const (
	noCollections = "No collections. The runtime tells of them with GODEBUG=gctrace=1, which is set by: loupe run ./cmd/server"
	noSamples     = "No samples of the scheduler. The runtime tells of it with GODEBUG=schedtrace=1000, which is set by: loupe run ./cmd/server"
)

// sets are the samples of runtime/metrics of all processes, one after the other.
func (v *laneView) sets() (all []*metrics.Set) {
	for run := range max(1, len(v.in.Manifest().Target.Runs)) {
		if set, err := v.in.Metrics(run); err == nil {
			all = append(all, set)
		}
	}
	return all
}

// logs are the lines of the runtime of all processes.
func (v *laneView) logs() (all []*session.RuntimeLog) {
	for run := range max(1, len(v.in.Manifest().Target.Runs)) {
		if l, err := v.in.Runtime(run); err == nil {
			all = append(all, l)
		}
	}
	return all
}

// eachCycle visits the collections of all processes with their instants on the
// axis, and ends the courses behind those of each.
func (v *laneView) eachCycle(visit func(at timeline.Time, y *godebug.Cycle), ends ...*course) {
	for _, log := range v.logs() {
		for i := range log.Cycles {
			visit(log.Clock.At(int64(log.Cycles[i].At)), &log.Cycles[i])
		}
		endAll(ends)
	}
}

func endAll(courses []*course) {
	for _, c := range courses {
		c.end()
	}
}

// gauge is the course of a metric that is a state, of all processes. The names
// are tried in turn: those of runtime/metrics, and those of /debug/vars.
func gauge(sets []*metrics.Set, names ...string) (c course) {
	for _, set := range sets {
		for _, name := range names {
			s := set.Series(name)
			if len(s.Times) == 0 {
				continue
			}
			for i, at := range s.Times {
				c.add(at, s.Values[i])
			}
			break
		}
		c.end()
	}
	return c
}

// rate is the course of how much a cumulative metric grew a second.
func rate(sets []*metrics.Set, names ...string) (c course) {
	for _, set := range sets {
		for _, name := range names {
			s := set.Series(name)
			if len(s.Times) < 2 {
				continue
			}
			c.grow(s.Times, s.Values)
			break
		}
		c.end()
	}
	return c
}

// leastGrowth is the least time over which a rate is taken. The system counts
// CPU time in ticks of 10 ms, and samples may follow closely where a phase ends.
const leastGrowth = 50 * time.Millisecond

// grow adds how much a cumulative figure grew a second between two samples.
func (c *course) grow(at []timeline.Time, values []float64) {
	from := 0
	for i := 1; i < len(at); i++ {
		d := at[i].Sub(at[from])
		switch {
		case values[i] < values[from]: // another process
			c.add(at[from], math.NaN())
		case d < leastGrowth:
			continue
		default:
			c.add(at[from], (values[i]-values[from])/d.Seconds())
		}
		from = i
	}
	if n := len(at); n > 0 {
		c.add(at[n-1], math.NaN())
	}
}

// atMost takes back what is beyond all there is: the system counts in ticks.
func (c *course) atMost(top float64) {
	for i := range c.v {
		if top > 0 && c.v[i] > top {
			c.v[i] = top
		}
	}
}

// with adds a line to a lane if there is anything in it.
func (l *lane) with(v *laneView, key, title string, c course, step bool) {
	if c.known(v.Span) {
		l.Lines = append(l.Lines, v.line(key, title, &c, step))
	}
}

// or says what to record when the lane has no line.
func (l *lane) or(missing string) *lane {
	if len(l.Lines) == 0 {
		l.Missing = missing
	}
	return l
}

const noMetrics = "No samples of runtime/metrics. Record them: loupe run ./cmd/server"

// heapLane is how large the heap was, and what it was to grow to.
func heapLane(ctx context.Context, v *laneView) (*lane, error) {
	l := &lane{Title: "Heap", Unit: "bytes", Shape: "lines"}
	var saw, live, goal course
	v.eachCycle(func(at timeline.Time, y *godebug.Cycle) {
		if y.HeapEnd == 0 { // the dialect of Go 1.4
			return
		}
		end := at.Add(y.Clock())
		saw.add(at, float64(y.HeapStart))
		saw.add(end, float64(y.HeapEnd))
		saw.add(end, float64(y.HeapLive))
		live.add(end, float64(y.HeapLive))
		if y.Goal > 0 {
			goal.add(at, float64(y.Goal))
		}
	}, &saw, &live, &goal)
	if saw.known(v.Span) {
		l.Source = "gctrace: whole MB, at each collection"
		l.with(v, "heap", "heap", saw, false)
		l.with(v, "live", "live", live, true)
		l.with(v, "goal", "goal", goal, true)
		return l, nil
	}
	sets := v.sets()
	l.with(v, "heap", "objects", gauge(sets, "/memory/classes/heap/objects:bytes", "memstats.HeapAlloc"), false)
	l.with(v, "live", "live", gauge(sets, "/gc/heap/live:bytes"), true)
	l.with(v, "goal", "goal", gauge(sets, "/gc/heap/goal:bytes", "memstats.NextGC"), true)
	if len(l.Lines) > 0 {
		l.Source = "runtime/metrics"
		return l, nil
	}
	if err := v.heapOfTrace(ctx, l); err != nil {
		return nil, err
	}
	return l.or(noCollections), nil
}

// collectionsLane is when the collector was at work, and how long it stopped the
// world.
func collectionsLane(ctx context.Context, v *laneView) (*lane, error) {
	l := &lane{Title: "Collections", Unit: "ns", Shape: "spans", Source: "gctrace"}
	var all []stretch
	v.eachCycle(func(at timeline.Time, y *godebug.Cycle) {
		all = append(all, stretch{timeline.Span{Start: at, End: at.Add(y.Clock())}, float64(max(y.STW1, y.STW2))})
	})
	if len(all) == 0 {
		if err := v.collectorOfTrace(ctx, l); err != nil || len(l.Lines) > 0 {
			return l, err
		}
		l.Missing = noCollections
		return l, nil
	}
	slices.SortStableFunc(all, func(a, b stretch) int { return cmp.Compare(a.Start, b.Start) })
	l.Spans = v.reduce(all)
	if len(l.Spans.Start) == 0 {
		l.Missing = "No collection in this time."
	}
	return l, nil
}

// pausesLane is how long each collection stopped the world.
func pausesLane(_ context.Context, v *laneView) (*lane, error) {
	l := &lane{Title: "Pauses", Unit: "ns", Shape: "points", Source: "gctrace"}
	var before, after course
	v.eachCycle(func(at timeline.Time, y *godebug.Cycle) {
		before.add(at, float64(y.STW1))
		after.add(at.Add(y.STW1+y.Mark), float64(y.STW2))
	})
	l.with(v, "stw1", "before marking", before, false)
	l.with(v, "stw2", "after marking", after, false)
	return l.or("No pauses of gctrace in this time."), nil
}

// allocLane is how much the program allocated a second.
func allocLane(_ context.Context, v *laneView) (*lane, error) {
	l := &lane{Title: "Allocated a second", Unit: "bytes", Shape: "lines", Source: "runtime/metrics"}
	l.with(v, "alloc", "allocated", rate(v.sets(), "/gc/heap/allocs:bytes", "memstats.TotalAlloc"), true)
	if len(l.Lines) > 0 {
		return l, nil
	}
	var c course
	for _, log := range v.logs() {
		for i := 1; i < len(log.Cycles); i++ {
			// Between two collections the heap grew from what was live to what it
			// was when the next one began.
			a, b := &log.Cycles[i-1], &log.Cycles[i]
			from, to := a.At+a.Clock(), b.At
			if d := (to - from).Seconds(); d > 0 && b.N == a.N+1 && b.HeapStart >= a.HeapLive {
				c.add(log.Clock.At(int64(from)), float64(b.HeapStart-a.HeapLive)/d)
			}
		}
		c.end()
	}
	l.Source = "gctrace: growth from one collection to the next"
	l.with(v, "alloc", "allocated", c, true)
	return l.or(noMetrics), nil
}

// gcKinds are what the collector uses CPUs for: key and title.
var gcKinds = [][2]string{{"dedicated", "dedicated workers"}, {"assist", "assists"}, {"idlemark", "idle Ps"}, {"pause", "pauses"}}

// gcCPULane is how many CPUs the collector had, by what for.
func gcCPULane(_ context.Context, v *laneView) (*lane, error) {
	l := &lane{Title: "CPU of the collector", Unit: "cpus", Shape: "stack", Source: "runtime/metrics, an estimate of the runtime"}
	sets := v.sets()
	for k, name := range []string{"mark/dedicated", "mark/assist", "mark/idle", "pause"} {
		l.with(v, gcKinds[k][0], gcKinds[k][1], rate(sets, "/cpu/classes/gc/"+name+":cpu-seconds"), true)
	}
	if len(l.Lines) > 0 {
		return l, nil
	}
	// The lines of gctrace have it too: Ps' time in each collection.
	var kinds [4]course
	v.eachCycle(func(at timeline.Time, y *godebug.Cycle) {
		clock := y.Clock()
		if clock <= 0 {
			return
		}
		for k, d := range []time.Duration{y.Background, y.Assist, y.Idle, y.CPUSTW1 + y.CPUSTW2} {
			kinds[k].add(at, float64(d)/float64(clock))
			kinds[k].add(at.Add(clock), 0)
		}
	})
	l.Source = "gctrace: Ps' time in each collection; of stops at most this"
	for k, name := range gcKinds {
		l.with(v, name[0], name[1], kinds[k], true)
	}
	return l.or(noMetrics), nil
}

// goroutinesLane is how many goroutines there were.
func goroutinesLane(ctx context.Context, v *laneView) (*lane, error) {
	l := &lane{Title: "Goroutines", Unit: "count", Shape: "lines", Source: "runtime/metrics"}
	sets := v.sets()
	l.with(v, "goroutines", "goroutines", gauge(sets, "/sched/goroutines:goroutines", "goroutines"), false)
	l.with(v, "runnable", "ready to run", gauge(sets, "/sched/goroutines/runnable:goroutines"), false)
	return l.or(noMetrics), nil
}

const noOS = "No samples of the system. Record them: loupe run ./cmd/server"

// cpuLane is how many CPUs were in use, by whom.
func cpuLane(_ context.Context, v *laneView) (*lane, error) {
	samples, err := v.in.OS()
	if err != nil {
		return &lane{Title: "CPUs in use", Missing: noOS}, nil
	}
	l := &lane{Title: "CPUs in use", Unit: "cpus", Shape: "lines", Source: "the system", Top: float64(v.in.Manifest().Host.CPUs)}
	var program, self, machine course
	var at []timeline.Time
	var mine, busy, used []float64
	pid := 0
	flush := func() {
		program.grow(at, used)
		program.end()
	}
	var runAt []timeline.Time
	for _, o := range samples {
		if o.PID != pid {
			flush()
			pid, at, used = o.PID, nil, nil
		}
		if o.PID != 0 {
			at, used = append(at, o.At), append(used, (o.User+o.System).Seconds())
		}
		runAt = append(runAt, o.At)
		mine, busy = append(mine, o.Self.Seconds()), append(busy, o.Busy.Seconds())
	}
	flush()
	self.grow(runAt, mine)
	machine.grow(runAt, busy)
	for _, c := range []*course{&program, &self, &machine} {
		c.atMost(l.Top)
	}
	l.with(v, "machine", "the machine", machine, true)
	l.with(v, "program", "the program", program, true)
	l.with(v, "loupe", "loupe and its load", self, true)
	return l.or(noOS), nil
}

// rssLane is how much memory the process had.
func rssLane(_ context.Context, v *laneView) (*lane, error) {
	l := &lane{Title: "Memory of the process", Unit: "bytes", Shape: "lines", Source: "the system"}
	samples, _ := v.in.OS()
	var rss course
	pid := 0
	for _, o := range samples {
		if o.PID != pid {
			rss.end()
			pid = o.PID
		}
		if o.RSS > 0 {
			rss.add(o.At, float64(o.RSS))
		}
	}
	l.with(v, "rss", "resident", rss, false)
	sets := v.sets()
	total := gauge(sets, "/memory/classes/total:bytes", "memstats.Sys")
	l.with(v, "mapped", "mapped by Go", total, false)
	return l.or(noOS), nil
}

// sampled is what one line of a lane shows of a sample of schedtrace.
type sampled struct {
	key, title string
	of         func(m *godebug.SchedSample) float64
}

// sampleLane shows figures of the samples of all processes, one upon the other,
// up to the number of Ps if they are of them.
func (v *laneView) sampleLane(title string, ofPs bool, lines ...sampled) *lane {
	l := &lane{Title: title, Unit: "count", Shape: "stack", Source: "schedtrace"}
	courses := make([]course, len(lines))
	for _, log := range v.logs() {
		for i := range log.Samples {
			m := &log.Samples[i]
			for k := range lines {
				courses[k].add(log.Clock.At(int64(m.At)), lines[k].of(m))
			}
			if ofPs {
				l.Top = max(l.Top, float64(m.Procs))
			}
		}
		for k := range courses {
			courses[k].end()
		}
	}
	for k, line := range lines {
		l.with(v, line.key, line.title, courses[k], true)
	}
	return l.or(noSamples)
}

// samplesLane is how many Ps ran in each sample of schedtrace.
func samplesLane(_ context.Context, v *laneView) (*lane, error) {
	return v.sampleLane("Ps at samples", true,
		sampled{"running", "running", func(m *godebug.SchedSample) float64 { return float64(sched.Running(m)) }},
		sampled{"spinning", "looking for work", func(m *godebug.SchedSample) float64 { return float64(max(0, m.Procs-m.IdleProcs-sched.Running(m))) }},
		sampled{"idle", "idle", func(m *godebug.SchedSample) float64 { return float64(m.IdleProcs) }},
	), nil
}

// queueLane is how many goroutines waited for a P in each sample of schedtrace.
func queueLane(_ context.Context, v *laneView) (*lane, error) {
	return v.sampleLane("Run queues", false,
		sampled{"local", "in the Ps' queues", func(m *godebug.SchedSample) float64 { return float64(sched.Waiting(m) - m.RunQueue) }},
		sampled{"global", "in the global queue", func(m *godebug.SchedSample) float64 { return float64(m.RunQueue) }},
	), nil
}

// phasesLane is what was done when.
func phasesLane(_ context.Context, v *laneView) (*lane, error) {
	m := v.in.Manifest()
	l := &lane{Title: "Phases", Shape: "spans", Spans: &laneSpans{Start: []timeline.Time{}, End: []timeline.Time{}, Count: []int{}}}
	s := l.Spans
	add := func(span timeline.Span, row int, label string) {
		if span.Start >= v.End || span.End < v.Start {
			return
		}
		s.Start, s.End, s.Count = append(s.Start, span.Start), append(s.End, span.End), append(s.Count, 1)
		s.Row, s.Label = append(s.Row, row), append(s.Label, label)
	}
	if v.s.Kind == "recording" {
		for _, p := range m.Phases {
			add(p.Span, 0, p.Name)
		}
	}
	for _, k := range m.Marks {
		add(timeline.Span{Start: k.At, End: k.At}, 1, k.Text)
	}
	if len(s.Start) == 0 {
		l.Missing = "No phases: this is not a recording."
	}
	return l, nil
}

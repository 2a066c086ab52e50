package leak

import (
	"fmt"
	"math"
	"slices"

	"loupe/analysis/facts"
	"loupe/format/metrics"
	"loupe/insight"
	"loupe/recording"
	"loupe/session"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// Matter is what may leak.
type Matter string

// The matters.
const (
	Heap       Matter = "heap"
	Goroutines Matter = "goroutines"
	Files      Matter = "file descriptors"
	Outside    Matter = "memory outside Go"
	// Resident is all of the process's memory, where nothing says how much of it is Go's.
	Resident Matter = "resident memory"
)

// Looked is one thing that was measured again and again, and what became of it.
type Looked struct {
	What Matter `json:"what"`
	// By says what was measured: "10 heap profiles".
	By string `json:"by"`
	Judgement
	// Rise is the slope with its interval: per second, or per look where the times are not known.
	Rise [3]float64 `json:"rise"`
	// Per is "s" or "look".
	Per string `json:"per"`

	growth *facts.Growth
}

// Least rises, chosen: below them it is noise, buffers and connections.
const (
	leastSampled    = 4 << 20 // of a heap profile with a sample each 512 KiB
	leastLive       = 2 << 20 // of the runtime's own count
	leastTraced     = 8 << 20 // of gctrace, which counts whole MiB, garbage of the mark phase included
	leastOutside    = 16 << 20
	leastGoroutines = 20
	leastFiles      = 20
)

// gatherer reads what a recording has measured again and again.
type gatherer struct {
	in    *insight.Input
	least float64
	all   []*Looked
}

func (g *gatherer) add(what Matter, by string, q Quantity) *Looked {
	j := judge(q, g.least)
	l := &Looked{What: what, By: by, Judgement: j, Per: "s"}
	l.Rise = [3]float64{j.Slope.Low, j.Slope.Estimate, j.Slope.High}
	for i, v := range l.Rise {
		if math.IsNaN(v) {
			l.Rise[i] = 0
		}
	}
	if q.Untimed {
		l.Per = "look"
	}
	g.all = append(g.all, l)
	return l
}

// gather is all of it: of the heap and the goroutines the best witness first.
func gather(in *insight.Input, least float64) []*Looked {
	g := &gatherer{in: in, least: least}
	run, span := longestRun(in.Session)
	set, err := in.Session.Metrics(run)
	if err != nil {
		set = nil
	}
	g.looks(Heap, "heap profile", recording.Heap, "inuse_space", leastSampled, set)
	g.live(run, span, set)
	g.looks(Goroutines, "goroutine profile", recording.Goroutine, "goroutine", leastGoroutines, nil)
	if set != nil {
		if s := set.Series("/sched/goroutines:goroutines").In(span); len(s.Values) > 0 {
			g.add(Goroutines, readings(len(s.Values), "runtime/metrics"), quantity(s, leastGoroutines))
		}
	}
	g.system(run, span)
	g.resident(span)
	return g.all
}

func readings(n int, of string) string { return fmt.Sprintf("%d readings of %s", n, of) }

func quantity(s timeline.Series, least float64) Quantity {
	q := Quantity{Values: s.Values, Least: least}
	for _, t := range s.Times {
		q.Times = append(q.Times, t.Seconds())
	}
	return q
}

// longestRun is the process that was recorded for the longest, and when.
func longestRun(s *session.Session) (run int, span timeline.Span) {
	m := s.Manifest()
	for _, p := range m.Phases {
		one := timeline.Span{Start: p.Span.Start, End: p.Span.End}
		for _, o := range m.Phases {
			if o.Run == p.Run {
				one.Start, one.End = min(one.Start, o.Span.Start), max(one.End, o.Span.End)
			}
		}
		if one.Len() > span.Len() {
			run, span = max(0, p.Run), one
		}
	}
	return run, span
}

// looks judges profiles that were taken one after another.
func (g *gatherer) looks(what Matter, name string, kind recording.Kind, sample string, least float64, set *metrics.Set) {
	growth := g.in.Facts.Growth(kind, sample, 2)
	if growth == nil {
		return
	}
	q := Quantity{Times: growth.Times, Values: growth.Totals, Untimed: growth.Untimed, Least: least}
	if set != nil {
		for _, t := range growth.Times {
			q.Load = append(q.Load, allocatedPerSecond(set, t, (growth.Times[len(growth.Times)-1]-growth.Times[0])/6))
		}
	}
	g.add(what, fmt.Sprintf("%d %ss", len(growth.Times), name), q).growth = growth
}

// allocatedPerSecond is how fast the program allocated around a moment; 0 where that is not known.
func allocatedPerSecond(set *metrics.Set, at, width float64) float64 {
	around := timeline.Span{Start: timeline.Time((at - width) * 1e9), End: timeline.Time((at + width) * 1e9)}
	s := set.Series("/gc/heap/allocs:bytes").In(around)
	n := len(s.Values)
	if n < 2 || s.Times[n-1] <= s.Times[0] {
		return 0
	}
	return (s.Values[n-1] - s.Values[0]) / s.Times[n-1].Sub(s.Times[0]).Seconds()
}

// live judges what collections have found alive: by the runtime's own count, or by gctrace.
func (g *gatherer) live(run int, span timeline.Span, set *metrics.Set) {
	if set != nil {
		var q Quantity
		q.Least = leastLive
		s := set.Series("/gc/heap/live:bytes").In(span)
		width := span.Len().Seconds() / 12
		for i, v := range s.Values {
			if n := len(q.Values); v > 0 && (n == 0 || v != q.Values[n-1]) { // one reading of each collection
				q.Times, q.Values = append(q.Times, s.Times[i].Seconds()), append(q.Values, v)
				q.Load = append(q.Load, allocatedPerSecond(set, s.Times[i].Seconds(), width))
			}
		}
		if len(q.Values) >= fewest {
			g.add(Heap, readings(len(q.Values), "the live heap"), q)
			return
		}
		if g.size(set, span) {
			return
		}
	}
	log, err := g.in.Session.Runtime(run)
	if err != nil || len(log.Cycles) == 0 {
		return
	}
	forced := 0
	for i := range log.Cycles {
		if log.Cycles[i].Forced {
			forced++
		}
	}
	q := Quantity{Least: leastTraced}
	by := "collections in gctrace"
	before := -1
	for i := range log.Cycles {
		c := &log.Cycles[i]
		if forced >= fewest && !c.Forced { // what survives a forced one is in use
			continue
		}
		at := log.Clock.At(int64(c.At))
		q.Times, q.Values = append(q.Times, at.Seconds()), append(q.Values, float64(c.HeapLive))
		rate := 0.0
		if i > 0 {
			if b := &log.Cycles[i-1]; c.At > b.At {
				rate = float64(c.HeapStart-b.HeapLive) / (c.At - b.At).Seconds()
			}
		}
		q.Load = append(q.Load, rate)
		before = i
	}
	if before < 0 {
		return
	}
	if forced >= fewest {
		by, q.Least = "forced "+by, leastLive
	}
	g.add(Heap, fmt.Sprintf("%d %s", len(q.Values), by), q)
}

// size judges the size of the heap where there were too few collections: a heap that doubles is
// collected but a few times. What is not collected yet is in it, so that a heap profile, which
// is taken after a collection, has to have kept most of the rise.
func (g *gatherer) size(set *metrics.Set, span timeline.Span) bool {
	size, live, _ := facts.HeapSeries(set, span)
	if len(size.Values) == 0 {
		return false
	}
	l := g.add(Heap, readings(len(size.Values), "the heap's size"), quantity(size, leastTraced))
	if l.Shape != Grows {
		if l.Shape.rises() {
			l.Shape, l.Why = Short, fmt.Sprintf("it was collected only %s", times(len(live)))
		}
		return true
	}
	kept, err := g.in.Facts.Kept()
	first := size.Values[0]
	if len(live) > 0 {
		first = min(first, live[0])
	}
	switch {
	case err != nil:
		l.Shape, l.Why = Short, fmt.Sprintf("it was collected only %s, and there is no heap profile after a collection: what grows may be garbage", times(len(live)))
	case float64(kept.Bytes) < first+keptShare*(l.To-first):
		l.Shape, l.Why = Steady, "most of what grew was garbage, by the heap profile"
	default:
		l.By += ", and a heap profile after a collection"
	}
	return true
}

// keptShare is how much of the rise of the heap's size must be in use after a collection (as
// for GC08).
const keptShare = 0.5

func times(n int) string { return unit.Plural(int64(n), "time") }

// resident judges all of the memory that the operating system counts, where the parts of it are
// not known.
func (g *gatherer) resident(span timeline.Span) {
	if judged(g.all, Heap) || judged(g.all, Outside) {
		return
	}
	samples, _ := g.in.Session.OS()
	var s timeline.Series
	for _, x := range samples {
		if x.Anon > 0 && span.Start <= x.At && x.At < span.End {
			s.Times, s.Values = append(s.Times, x.At), append(s.Values, float64(x.Anon))
		}
	}
	if len(s.Values) > 0 {
		g.add(Resident, readings(len(s.Values), "the operating system"), quantity(s, leastOutside))
	}
}

// system judges what the operating system counts.
func (g *gatherer) system(run int, span timeline.Span) {
	if out := facts.OutsideIn(g.in.Facts, run, span); len(out.Values) > 0 {
		g.add(Outside, readings(len(out.Values), "resident memory and runtime/metrics"), quantity(out, leastOutside))
	}
	if loads := g.in.Facts.Loads(); len(loads) > 0 {
		var most facts.OpenFiles
		for i := range loads {
			if d := g.in.Facts.OpenFiles(&loads[i]); len(d.Open) > len(most.Open) {
				most = d
			}
		}
		if len(most.Open) > 0 {
			g.add(Files, readings(len(most.Open), "the operating system, without the load's connections"), quantity(timeline.Series{Times: most.Times, Values: most.Open}, leastFiles))
		}
		return
	}
	samples, err := g.in.Session.OS()
	if err != nil {
		return
	}
	var s timeline.Series
	for _, x := range samples {
		if x.FDs > 0 && span.Start <= x.At && x.At < span.End {
			s.Times, s.Values = append(s.Times, x.At), append(s.Values, float64(x.FDs))
		}
	}
	if len(s.Values) > 0 {
		g.add(Files, readings(len(s.Values), "the operating system"), quantity(s, leastFiles))
	}
}

// judged tells whether a matter was measured well enough.
func judged(all []*Looked, what Matter) bool {
	return slices.ContainsFunc(all, func(l *Looked) bool { return l.What == what && l.Shape != Short })
}

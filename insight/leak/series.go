package leak

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"loupe/analysis/facts"
	"loupe/format/godebug"
	"loupe/format/metrics"
	"loupe/insight"
	"loupe/recording"
	"loupe/value/stats"
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
	// Process says of which process it is, where there are several: "web-1".
	Process string `json:"process,omitempty"`

	growth *facts.Growth
	// span is in seconds from when to when it was measured; nothing where times are not known.
	span [2]float64
	// counted tells that it was counted in full: nothing of it is sampled.
	counted bool
	// unseen is how much of it may be there, in bytes, without being seen.
	unseen float64
	// uncollected tells that what it shows may not be in use.
	uncollected bool
}

// Subject is what it is of, with the process where there are several: "heap of web-1".
func (l *Looked) Subject() string { return subject(l.What, l.Process) }

func subject(what Matter, process string) string {
	if process == "" {
		return string(what)
	}
	return fmt.Sprintf("%s of %s", what, process)
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
	order Order
	// untimed tells that something was measured by profiles that do not tell their time.
	untimed bool
	all     []*Looked
}

func (g *gatherer) add(what Matter, by string, q Quantity) *Looked {
	q.Counted = !what.bytes()
	j := judge(q, g.least)
	l := &Looked{What: what, By: by, Judgement: j, Per: "s"}
	l.Rise = [3]float64{j.Slope.Low, j.Slope.Estimate, j.Slope.High}
	for i, v := range l.Rise {
		if math.IsNaN(v) {
			l.Rise[i] = 0
		}
	}
	if n := len(q.Times); q.Untimed {
		l.Per = "look"
	} else if n > 0 {
		l.span = [2]float64{q.Times[0], q.Times[n-1]}
	}
	g.all = append(g.all, l)
	return l
}

// gather is all of it: of the heap and the goroutines the best witness first. untimed tells that
// something was measured by profiles that do not tell their time.
func gather(in *insight.Input, least float64, order Order) (all []*Looked, untimed bool) {
	g := &gatherer{in: in, least: least, order: order}
	run, span := facts.LongestRun(in.Session.Manifest())
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
	return g.all, g.untimed
}

func readings(n int, of string) string { return fmt.Sprintf("%d readings of %s", n, of) }

func quantity(s timeline.Series, least float64) Quantity {
	q := Quantity{Values: s.Values, Least: least}
	for _, t := range s.Times {
		q.Times = append(q.Times, t.Seconds())
	}
	return q
}

// looks judges profiles that were taken one after another.
func (g *gatherer) looks(what Matter, name string, kind recording.Kind, sample string, least float64, set *metrics.Set) {
	growth := g.in.Facts.Growth(kind, sample, 2)
	if growth == nil {
		return
	}
	g.judgeParts(growth, what, name, least, set)
}

// judgeParts judges each part of the looks by itself.
func (g *gatherer) judgeParts(growth *facts.Growth, what Matter, name string, least float64, set *metrics.Set) {
	for _, p := range growth.Parts(what == Heap) {
		q := Quantity{Times: p.Times, Values: p.Totals, Untimed: p.Untimed, Least: least}
		q.Same = p.Looks[0].Placed != "" || p.AllocatedIn() != nil
		if what == Heap {
			q.sampled(p.AllocatedIn(), grainOf(p.Growth))
		}
		if set != nil {
			for _, t := range p.Times {
				q.Load = append(q.Load, allocatedPerSecond(set, t, (p.Times[len(p.Times)-1]-p.Times[0])/6))
			}
		}
		l := g.add(what, unit.Plural(int64(len(p.Times)), name), q)
		l.growth, l.Process = p.Growth, p.Process
		if p.Why != "" {
			l.Shape, l.Why, l.uncollected = Short, p.Why, true
		}
		if p.Untimed && g.order.By != "" {
			l.ordered(g.order, q)
			g.untimed = true
		}
	}
}

// ordered takes back what was judged of measurements whose order is not known, where it depends on
// that: what hardly changes is steady in any order, and by chance nothing rises all the time.
func (l *Looked) ordered(o Order, q Quantity) {
	if !l.Shape.judged() || o.Known || slices.Max(q.Values)-slices.Min(q.Values) < q.Least || l.Shape == Grows && o.Against == "" {
		return
	}
	l.Shape = Unordered
	l.Why = "they do not tell when they were made, and nor do their names: name them in the order of their time"
	if o.Against != "" {
		l.Why = "they do not tell when they were made, and it is not known in which order that was: " + o.Against + " (name them in the order of their time, or set the times of the files)"
	}
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
		s := facts.LiveReadings(set, span)
		width := span.Len().Seconds() / 12
		for i, v := range s.Values {
			q.Times, q.Values = append(q.Times, s.Times[i].Seconds()), append(q.Values, v)
			q.Load = append(q.Load, allocatedPerSecond(set, s.Times[i].Seconds(), width))
		}
		if len(q.Values) >= fewest {
			g.add(Heap, readings(len(q.Values), "the live heap"), q).counted = true
			return
		}
		if g.size(set, span) {
			return
		}
	}
	g.logs(run)
}

// logs judges what gctrace says: every process that is in the log by itself.
func (g *gatherer) logs(run int) {
	log, err := g.in.Session.Runtime(run)
	if err != nil || len(log.Cycles) == 0 {
		return
	}
	at := func(c *godebug.Cycle) float64 { return log.Clock.At(int64(c.At)).Seconds() }
	l := g.traced(log.Cycles, at)
	if len(log.Rest) == 0 || l == nil {
		return
	}
	named := log.Name != ""
	first := cmp.Or(log.Name, fmt.Sprintf("process %d", log.Cycles[0].Run+1))
	l.Process = first
	names := map[string]int{first: 1}
	for _, r := range log.Rest {
		name := cmp.Or(r.Name, fmt.Sprintf("process %d", r.Number+1))
		if names[name]++; named && names[name] > 1 {
			name = fmt.Sprintf("%s, run %d", name, names[name])
		}
		if o := g.traced(r.Cycles, func(c *godebug.Cycle) float64 { return c.At.Seconds() }); o != nil {
			o.Process = name
		}
	}
}

// traced judges what collections of one process have found alive.
func (g *gatherer) traced(cycles []godebug.Cycle, when func(*godebug.Cycle) float64) *Looked {
	forced := 0
	for i := range cycles {
		if cycles[i].Forced {
			forced++
		}
	}
	q := Quantity{Least: leastTraced}
	by := "collection"
	for i := range cycles {
		c := &cycles[i]
		if forced >= fewest && !c.Forced { // what survives a forced one is in use
			continue
		}
		q.Times, q.Values = append(q.Times, when(c)), append(q.Values, float64(c.HeapLive))
		rate := 0.0
		if i > 0 {
			if b := &cycles[i-1]; c.At > b.At {
				rate = float64(c.HeapStart-b.HeapLive) / (c.At - b.At).Seconds()
			}
		}
		q.Load = append(q.Load, rate)
	}
	if len(q.Values) == 0 {
		return nil
	}
	if forced >= fewest {
		by, q.Least = "forced "+by, leastLive
	}
	return g.add(Heap, unit.Plural(int64(len(q.Values)), by)+" in gctrace", q)
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
			l.Shape, l.Why = Short, fmt.Sprintf("it was collected only %s", times(len(live.Values)))
		}
		return true
	}
	kept, err := g.in.Facts.Kept()
	first := size.Values[0]
	if len(live.Values) > 0 {
		first = min(first, live.Values[0])
	}
	switch {
	case err != nil:
		l.Shape, l.Why = Short, fmt.Sprintf("it was collected only %s, and there is no heap profile after a collection: what grows may be garbage", times(len(live.Values)))
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

// resident judges all of the memory that the operating system counts: without the pages of files
// where nothing tells the parts of it, and with them beside the heap, as files that are mapped again
// and again are memory too.
func (g *gatherer) resident(span timeline.Span) {
	heap := slices.ContainsFunc(g.all, func(l *Looked) bool { return l.What == Heap })
	if !heap && judged(g.all, Outside) {
		return
	}
	by := "the operating system"
	if heap {
		by += ", with the pages of files"
	}
	samples, _ := g.in.Session.OS()
	var s timeline.Series
	for _, x := range samples {
		v := x.Anon
		if heap {
			v = max(x.RSS, x.Anon)
		}
		if v > 0 && span.Start <= x.At && x.At < span.End {
			s.Times, s.Values = append(s.Times, x.At), append(s.Values, float64(v))
		}
	}
	if len(s.Values) > 0 {
		g.add(Resident, readings(len(s.Values), by), quantity(s, leastOutside))
	}
}

// system judges what the operating system counts.
func (g *gatherer) system(run int, span timeline.Span) {
	if out, held, untouched := facts.OutsideIn(g.in.Facts, run, span); len(out.Values) > 0 {
		g.outside(out, held.Values, untouched)
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

// outside judges what is beyond the memory that the runtime holds. Large buffers that Go has and
// that are touched bit by bit, and pages that come back late, move the difference as well: what
// rises by less than Go's own memory went up and down in the same time says nothing of C. After
// a quick start of Go the second half may show it alone.
func (g *gatherer) outside(out timeline.Series, held []float64, untouched float64) {
	l := g.add(Outside, readings(len(out.Values), "resident memory and runtime/metrics"), quantity(out, leastOutside))
	l.unseen = leastOutside + untouched
	half := len(held) / 2
	if (l.Shape.rises() || l.Shape == Slight) && within(out.Values, held) && within(out.Values[half:], held[half:]) {
		l.Shape, l.Why = WithHeap, fmt.Sprintf("it rises by no more than what the memory of Go itself moves in the same time (from %s to %s)", unit.BytesOf(slices.Min(held)), unit.BytesOf(slices.Max(held)))
	}
}

// within tells whether the rise of one series is no more than the other goes up and down.
func within(rising, held []float64) bool {
	edge := max(1, len(rising)/10)
	rise := stats.Median(rising[len(rising)-edge:]) - stats.Median(rising[:edge])
	return rise <= slices.Max(held)-slices.Min(held)
}

// judged tells whether a matter was measured well enough.
func judged(all []*Looked, what Matter) bool {
	return slices.ContainsFunc(all, func(l *Looked) bool { return l.What == what && l.Shape.judged() })
}

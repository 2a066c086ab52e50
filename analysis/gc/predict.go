package gc

import (
	"fmt"
	"math"
	"time"
)

// Recorded is what the log showed, in the units of a [Prediction].
type Recorded struct {
	// Settings are nil when the log does not tell which they were.
	Settings    *Settings `json:"settings"`
	Collections int64     `json:"collections"`
	PeakHeapMB  Figure    `json:"peak_heap_mb"`
	GCCPUMS     Figure    `json:"gc_cpu_ms"`
	GCPercent   Figure    `json:"gc_percent"`
	AssistMS    Figure    `json:"assist_ms"`
	MarkPercent Figure    `json:"mark_percent"`
	DurationMS  Figure    `json:"duration_ms"`
	AllocatedMB Figure    `json:"allocated_mb"`
	// LiveMB is the mean of what marking found reachable, without what was
	// allocated meanwhile.
	LiveMB Figure `json:"live_mb"`
}

// Range is an estimate with what it may miss by, see [Grade]. An upper end that
// is unknown is one that cannot be told.
type Range struct {
	Low      Figure `json:"low"`
	Estimate Figure `json:"estimate"`
	High     Figure `json:"high"`
}

func around(x, miss float64) Range {
	return Range{Figure(x * (1 - miss)), Figure(x), Figure(x * (1 + miss))}
}

func unknownRange() Range { return Range{Unknown(), Unknown(), Unknown()} }

// State says what a memory limit does to the collector.
type State string

// The states.
const (
	// Unlimited: GOGC alone decides.
	Unlimited State = "gogc"
	// Limited: the limit starts some of the collections, or all.
	Limited State = "limit"
	// Thrashing: the limit leaves so little above the live heap that the
	// collector runs without end, until the runtime's limiter (50 % of the
	// CPU) lets the heap grow beyond the limit.
	Thrashing State = "thrashing"
	// Unbounded: no collection at all; the heap grows by what is allocated.
	Unbounded State = "unbounded"
)

// Prediction is what a replay under other settings gives, for the same work.
type Prediction struct {
	Settings    Settings `json:"settings"`
	Collections Range    `json:"collections"`
	PeakHeapMB  Range    `json:"peak_heap_mb"`
	// MemoryMB is what the Go runtime has mapped, which is what the limit is
	// compared with and most of the resident memory. Its upper end holds the
	// tenth that the scavenger leaves mapped.
	MemoryMB Range `json:"memory_mb"`
	// GCCPUMS is the Ps' time in marking and pauses, idle Ps included: what
	// the collector has used of the machine. GCPercent is its share of the
	// Ps' time in the predicted duration.
	GCCPUMS    Range  `json:"gc_cpu_ms"`
	GCPercent  Figure `json:"gc_percent"`
	DurationMS Figure `json:"duration_ms"`
	// AssistMS is the part that allocating goroutines do because the
	// collection would not end in time otherwise; a few assists come with
	// every collection and are not in it.
	AssistMS    Figure `json:"assist_ms"`
	MarkPercent Figure `json:"mark_percent"`
	// CPUMS is the CPU time of the whole program. It is unknown until a second
	// run has told what a collection costs, see [Replay.Calibrate].
	CPUMS Range `json:"cpu_ms"`
	State State `json:"state"`
	// LimitedShare is the share of the collections that the limit started.
	LimitedShare float64 `json:"limited_share,omitempty"`
	Grade        Grade   `json:"grade"`
	// GradeWhy is what keeps the grade from being good.
	GradeWhy []string `json:"grade_why,omitempty"`
	// Refused says why it is not predicted how often the collector would run, and what that
	// would cost; empty where it is. The lower ends of the ranges, and GCPercent, are then
	// what it would be at least.
	Refused string `json:"refused,omitempty"`
}

// Recorded returns what the log itself showed.
func (r *Replay) Recorded() Recorded { return r.recorded }

// Predict runs the course again under other settings.
func (r *Replay) Predict(s Settings) Prediction {
	t := r.run(s, 0)
	scale := r.scale()
	p := Prediction{Settings: s, State: t.state(s)}
	p.Grade, p.GradeWhy = r.grade(s, t)
	miss := misses[p.Grade]
	p.Collections = around(t.cycles*scale, miss.collections)
	p.PeakHeapMB = around(t.peak/(1<<20), miss.heap)
	memory := t.peak + r.overhead(t.peak)
	p.MemoryMB = around(memory/(1<<20), miss.heap)
	p.MemoryMB.High = Figure(max(float64(p.MemoryMB.High), 1.1*memory/(1<<20)))
	holdPeak(r, &p, highestPeak(r, t))
	p.GCCPUMS = around(t.cpu*scale, miss.cpu)
	p.DurationMS, p.AssistMS = Figure(t.now*scale), Figure(t.assist*scale)
	p.MarkPercent, p.GCPercent = ratio(100*t.mark, t.now), ratio(100*t.cpu, t.now*r.c.procs)
	p.LimitedShare = t.share(t.limited)
	if p.CPUMS = unknownRange(); r.perGC > 0 {
		p.CPUMS = around(r.ownCPU+r.perGC*t.cpu*scale, miss.program)
	}
	if p.State == Limited || p.State == Thrashing {
		worst := r.run(s, fragmentation)
		p.Collections.High = Figure(max(float64(p.Collections.High), worst.cycles*scale*(1+miss.collections)))
		p.GCCPUMS.High = Figure(max(float64(p.GCCPUMS.High), worst.cpu*scale*(1+miss.collections)))
		if p.CPUMS.High.Known() {
			p.CPUMS.High = Figure(max(float64(p.CPUMS.High), (r.ownCPU+r.perGC*worst.cpu*scale)*(1+miss.program)))
		}
		if worst.state(s) == Thrashing {
			p.State = Thrashing
		}
		if p.State == Limited {
			// The limit holds, whatever the heap would have been without it.
			most := max(float64(s.Limit)/(1<<20), float64(p.MemoryMB.Estimate), (r.c.mostLive()+r.overhead(r.c.mostLive()))/(1<<20))
			p.MemoryMB.High = min(p.MemoryMB.High, Figure(most))
		}
		if r.c.rises() {
			p.refuse()
		}
	}
	return p
}

// holdPeak raises the upper ends of a prediction to hold a peak heap, in bytes.
func holdPeak(r *Replay, p *Prediction, peak float64) {
	p.PeakHeapMB.High = Figure(max(float64(p.PeakHeapMB.High), peak/(1<<20)))
	p.MemoryMB.High = Figure(max(float64(p.MemoryMB.High), (peak+r.overhead(peak))/(1<<20)))
}

// refuse takes back what cannot be told of a limit that a rising heap comes to: the closer it
// is the more collections there are, and where it ends the recording does not tell. Such
// predictions were off by half to nearly all of the collections and of the CPU time.
func (p *Prediction) refuse() {
	p.Refused = "the live heap rises towards the limit, and how close it comes decides how often the collector runs"
	for _, r := range []*Range{&p.Collections, &p.GCCPUMS, &p.CPUMS} {
		r.Estimate, r.High = Unknown(), Unknown()
	}
}

// fragmentation is the part of the live heap that free slots in spans in use
// take at worst, and with it of the room that a limit leaves. In what
// docs/benchmarks.md ran it was next to nothing in programs whose objects die
// together, and this where they die at random.
const fragmentation = 0.35

// Calibrate takes the CPU time that the program used in a second run, under
// other settings, for the same work. Two runs tell what marking costs in CPU
// time, which gctrace does not: its times are of Ps, whether they had a CPU or
// not. The first run's is ReplayOptions.CPU.
//
// Note: this is the law of the Go garbage collection guide, CPU = own + cost of
// collections, with the replay's collections in place of 1/GOGC.
func (r *Replay) Calibrate(s Settings, cpu time.Duration) {
	if r.opt.CPU <= 0 || cpu <= 0 || r.base == nil {
		return
	}
	here, there := float64(r.Predict(*r.base).GCCPUMS.Estimate), float64(r.Predict(s).GCCPUMS.Estimate)
	if apart := math.Abs(here - there); apart < 0.2*max(here, there) || apart == 0 {
		return // too near to each other
	}
	perGC := (float64(r.opt.CPU-cpu) / 1e6) / (here - there)
	if perGC <= 0 || math.IsInf(perGC, 0) || math.IsNaN(perGC) {
		return // noise is larger than what the collector costs
	}
	r.perGC = perGC
	r.ownCPU = max(0, float64(r.opt.CPU)/1e6-perGC*here)
}

// overhead is the memory beside the objects of a heap of a size.
func (r *Replay) overhead(heap float64) float64 {
	other := r.opt.Overhead.of(heap)
	if !r.opt.Overhead.Measured {
		other += r.c.stacks
	}
	return other
}

// turn is the state of a replay, and its sums.
type turn struct {
	r                 *Replay
	s                 Settings
	lost              float64 // see fragmentation
	allocated         float64 // bytes since the start
	heap, live        float64 // bytes now, and after the last collection
	scan              float64 // bytes of stacks and globals at the last collection
	cons              [consMarks]float64
	last              float64 // ms at the end of the last collection
	delay             float64 // ms that marking has cost beyond the course
	bucket            float64 // ms of the CPU limiter
	forced            int     // index of the next forced collection
	cycles            float64
	limited, throttle float64 // collections that the limit started, that the limiter cut short
	peak              float64
	cpu, assist, mark float64 // ms
	now               float64 // ms
}

// mostCycles bounds a replay. What is left is taken to go on like that.
const mostCycles = 200_000

// run replays the course. lost is the share of the live heap that a limit
// counts beside it.
func (r *Replay) run(s Settings, lost float64) *turn {
	t := &turn{r: r, s: s, lost: lost}
	first := &r.c.points[0]
	if !r.c.fromStart {
		t.allocated, t.scan = first.end, first.scan
		goal, _ := t.goal(first.reachable)
		t.live = first.reachable + t.room(first, goal, first.reachable)
		t.heap = t.live
		t.forced = 1
	}
	start := r.c.clock.at(t.allocated)
	t.now, t.last = start, start
	from := t.allocated
	for t.allocated < r.c.total && t.cycles < mostCycles {
		if !t.step() {
			break
		}
	}
	if left := r.c.total - t.allocated; left > 0 && t.cycles >= mostCycles {
		more := (r.c.total - from) / max(1, t.allocated-from)
		t.cycles, t.cpu, t.assist, t.mark = t.cycles*more, t.cpu*more, t.assist*more, t.mark*more
		t.throttle, t.limited, t.delay = t.throttle*more, t.limited*more, t.delay*more
	}
	t.peak = max(t.peak, t.heap)
	t.now = r.c.clock.at(r.c.total) + t.delay
	if !r.c.fromStart {
		t.now -= start
	}
	return t
}

// goal is the size that the heap may grow to, and whether the limit says so.
func (t *turn) goal(live float64) (goal float64, limited bool) {
	goal = HeapGoal(t.s.GOGC, live, t.scan, 0)
	if t.s.Limit <= 0 {
		return goal, false
	}
	// What the heap displaces grows with it: fragmentation is of the heap
	// that there will be.
	o := t.r.opt.Overhead
	fixed := t.r.overhead(0)
	limit := LimitGoal(t.s.Limit, live, fixed+t.lost*live)
	if bounded := limit / (1 + o.Share); bounded < goal {
		return max(live, bounded), true
	}
	return goal, false
}

// runway is what the pacer expects to be allocated while it marks.
func (t *turn) runway(p *point) float64 {
	most := p.cons
	for _, c := range t.cons {
		most = max(most, c)
	}
	return most * (1 - backgroundShare) / backgroundShare
}

// room is how much the program gets to allocate while p marks towards a goal.
func (t *turn) room(p *point, goal, live float64) float64 {
	return min(p.black, max(goal-Trigger(live, goal, t.runway(p)), minRunway))
}

// step runs until the end of the next collection, or of the course; then it
// returns false.
func (t *turn) step() bool {
	r := t.r
	p := r.c.at(t.allocated)
	goal, limited := t.goal(t.live)
	trigger := Trigger(t.live, goal, t.runway(&p))
	start := t.allocated + max(0, trigger-t.heap)
	// A collection that the program forces, or that is due by time.
	forced := false
	for t.forced < len(r.c.points) && (!r.c.points[t.forced].forced || r.c.points[t.forced].start < t.allocated) {
		t.forced++
	}
	if t.forced < len(r.c.points) && r.c.points[t.forced].start <= start {
		start, forced = r.c.points[t.forced].start, true
		t.forced++
	}
	if t.s.GOGC >= 0 && r.c.clock.at(start)+t.delay > t.last+forcePeriod {
		due := between(r.c.clock.y, r.c.clock.x, t.last+forcePeriod-t.delay)
		start, forced = min(start, max(due, t.allocated+minRunway)), true
	}
	if start >= r.c.total {
		if whole := start - t.allocated; whole > 0 && !forced && goal < endless {
			t.part(&p, (r.c.total-t.allocated)/whole, limited)
		}
		t.heap += r.c.total - t.allocated
		t.allocated = r.c.total
		return false
	}
	t.heap += start - t.allocated
	t.allocated = start
	p = r.c.at(start)
	t.collect(&p, goal, limited && !forced)
	return true
}

// part counts the collection that the course ends before.
func (t *turn) part(p *point, share float64, limited bool) {
	share = min(1, max(0, share))
	t.cycles += share
	t.cpu += share * (p.cpu + p.pause)
	if limited {
		t.limited += share
	}
}

// collect runs a collection that begins now.
func (t *turn) collect(p *point, goal float64, limited bool) {
	procs := t.r.c.procs
	black, util := p.black, p.util
	room := max(goal-t.heap, 0)
	full := t.bucket >= limiterCapacity*procs
	switch {
	case full:
		// The limiter: no assists, the heap grows beyond its goal.
		t.throttle++
		util = backgroundShare
	case black > room:
		// Assists hold the program back: with less allocated meanwhile, more
		// of the Ps mark. It is endCycle's equation, solved for the share.
		black = max(room, minRunway)
		util = (p.cons - black*p.idle) / (p.cons + black)
		util = min(max(util, p.util), 0.95)
	}
	mark := p.mark
	if all := util + p.idle; all > 0 && p.mark > 0 {
		mark = p.mark * (p.util + p.idle) / all
	}
	own := t.r.c.clock.at(t.allocated+black) - t.r.c.clock.at(t.allocated)
	t.delay += max(0, mark-own) + p.stw
	if util > p.util {
		t.assist += (util - p.util) * mark * procs
	}
	cpu := p.cpu + p.pause
	clock := mark + p.stw
	// The limiter weighs what the collector takes against what the program
	// gets; marking for want of other work takes nothing.
	taken := min(util*mark*procs+p.pause, clock*procs)
	quiet := max(0, t.r.c.clock.at(t.allocated)+t.delay-clock-t.last)
	t.bucket += taken - (clock*procs - taken) - quiet*procs
	t.bucket = min(max(t.bucket, 0), limiterCapacity*procs)
	t.cycles++
	if limited {
		t.limited++
	}
	t.cpu += cpu
	t.mark += mark
	t.heap += black
	t.allocated += black
	t.peak = max(t.peak, t.heap)
	t.live = min(t.heap, p.reachable+black)
	t.heap, t.scan = t.live, p.scan
	t.last = t.r.c.clock.at(t.allocated) + t.delay
	copy(t.cons[:], t.cons[1:])
	t.cons[len(t.cons)-1] = p.cons
}

func (t *turn) share(n float64) float64 {
	if t.cycles == 0 {
		return 0
	}
	return n / t.cycles
}

// thrashDuty is the share of time in the mark phase from which on a limit is
// taken to be too low: the collector has no time to rest.
const thrashDuty = 0.8

func (t *turn) state(s Settings) State {
	switch {
	case t.cycles == 0 || s.GOGC < 0 && s.Limit <= 0:
		return Unbounded
	case t.limited > 0 && (t.throttle > 0 || t.mark > thrashDuty*t.now):
		return Thrashing
	case t.limited > 0:
		return Limited
	}
	return Unlimited
}

// Grade says how far a prediction is to be trusted.
type Grade string

// The grades.
const (
	Good Grade = "good"
	Fair Grade = "fair"
	Poor Grade = "poor"
)

// misses are by what share of it each estimate may be wrong: of collections and
// heap, nine of ten of the predictions in docs/benchmarks.md were nearer. The
// Ps' time of gctrace differs by more from one run to the next wherever the
// machine does other work.
//
// program is that of the CPU time of the whole program, predicted from two runs, on a
// machine with other work.
var misses = map[Grade]struct{ collections, heap, cpu, program float64 }{
	Good: {0.12, 0.10, 0.50, 0.15},
	Fair: {0.30, 0.30, 0.70, 0.25},
	Poor: {0.60, 0.50, 0.80, 0.40},
}

// Misses are by what share of it the collections, the peak heap and the GC CPU
// of a prediction may be off, nine times of ten.
func (g Grade) Misses() (collections, heap, cpu float64) {
	m := misses[g]
	return m.collections, m.heap, m.cpu
}

// SelfCheck is what the replay of the recording's own settings gives:
// predicted by recorded collections; unknown when the settings are not known.
func (r *Replay) SelfCheck() Figure { return r.self }

// checkSelf replays the settings of the recording itself.
func (r *Replay) checkSelf() {
	r.self, r.selfPeak = Unknown(), Unknown()
	if r.base != nil {
		t := r.run(*r.base, 0)
		r.self = ratio(t.cycles*r.scale(), float64(r.recorded.Collections))
		r.selfPeak = ratio(t.peak/(1<<20), float64(r.recorded.PeakHeapMB))
	}
}

// scale is for a log that begins in the middle: it holds one collection more
// than there are stretches between collections, which is what is replayed.
func (r *Replay) scale() float64 {
	if n := float64(r.recorded.Collections); !r.c.fromStart && n > 1 {
		return n / (n - 1)
	}
	return 1
}

// missOfPeak is by what share the peak heap of a replay of the recording's own settings may be off.
const missOfPeak = 0.10

// gradePeak judges a replay by how large the heap gets.
func gradePeak(r *Replay, t *turn, take func(by int, format string, args ...any)) {
	recorded := float64(r.recorded.PeakHeapMB)
	if r.selfPeak.Known() {
		// A line has whole MB.
		off := math.Abs(float64(r.selfPeak)-1) - 1/max(recorded, 1)
		by := 1
		if off > 3*missOfPeak {
			by = 2
		}
		if off > missOfPeak {
			take(by, "with its own settings the replay's peak heap is %.2f times the recorded one", float64(r.selfPeak))
		}
	}
	if live := r.c.mostLive(); live > 1.05*t.peak+(1<<20) {
		take(2, "the live heap was once %.0f MB, above the predicted peak heap of %.0f MB", live/(1<<20), t.peak/(1<<20))
	}
	if before, after, ok := r.c.steps(); ok {
		take(1, "the live heap stepped from %.0f MB to %.0f MB shortly before the recording ended, and how it goes on is not known", before/(1<<20), after/(1<<20))
	}
}

// highestPeak is what the peak heap, in bytes, may be at least at the upper end: with its own
// settings what was recorded, with others as much more than replayed as with its own, and never less
// than what was once live.
func highestPeak(r *Replay, t *turn) float64 {
	peak := max(t.peak, r.c.mostLive())
	if r.selfPeak.Known() && r.selfPeak > 0 && r.selfPeak < 1 {
		peak = max(peak, t.peak/float64(r.selfPeak))
	}
	return peak
}

// grade judges a replay, and says what is against it.
func (r *Replay) grade(s Settings, t *turn) (Grade, []string) {
	c := &r.recorded
	var why []string
	worse := 0
	take := func(by int, format string, args ...any) {
		worse += by
		why = append(why, fmt.Sprintf(format, args...))
	}
	if c.Collections < FewCycles {
		take(1, "%d collections are few; %d are a fair basis", c.Collections, FewCycles)
	}
	switch duty := float64(c.MarkPercent); {
	case duty > 60:
		take(2, "a mark phase was in progress %.0f%% of the time", duty)
	case duty > 35:
		take(1, "a mark phase was in progress %.0f%% of the time", duty)
	}
	if t.state(s) == Thrashing {
		take(2, "the limit leaves next to no room")
	}
	if t.limited > 0 && !r.opt.Overhead.Measured {
		take(1, "the limit starts collections, and memory outside the heap is only assumed")
	}
	if !r.self.Known() {
		take(1, "the settings it was recorded with are not known")
	} else if math.Abs(float64(r.self)-1) > 0.1 {
		take(1, "with its own settings the replay makes %.2f times the recorded collections", float64(r.self))
	}
	gradePeak(r, t, take)
	if r.of.Runs > 1 {
		take(1, "the log holds %d runs, and this is of one of them", r.of.Runs)
	}
	switch {
	case worse == 0:
		return Good, nil
	case worse == 1:
		return Fair, why
	}
	return Poor, why
}

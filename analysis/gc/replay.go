package gc

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"time"

	"loupe/format/godebug"
)

// leastCycles is below how many collections nothing is predicted: the curves
// that a replay follows would be made of chance.
const leastCycles = 8

// Overhead is the memory of the Go runtime that holds no objects.
type Overhead struct {
	// Fixed is in bytes: stacks, the runtime's own structures.
	Fixed float64
	// Share is of the heap: what is lost in spans that are not full, bitmaps
	// and the structures that describe spans.
	Share float64
	// Measured tells that both are the program's own, by runtime/metrics.
	Measured bool
}

// assumedOverhead is that of the programs of docs/benchmarks.md, for logs that
// tell nothing of it.
var assumedOverhead = Overhead{Fixed: 5 << 20, Share: 0.06}

// of is the memory that is mapped beside objects when the heap is of a size.
func (o Overhead) of(heap float64) float64 { return o.Fixed + o.Share*heap }

// ReplayOptions say what the caller knows beyond the collections.
type ReplayOptions struct {
	// Base are the settings that the program ran with, nil when they are not
	// known. They are then looked for among those that explain the goals.
	Base *Settings
	// Overhead, when measured, replaces the assumed one.
	Overhead Overhead
	// CPU is the CPU time of the program in the window; 0 when unknown.
	CPU time.Duration
}

// Replay is a program's course through its collections, against what it has
// allocated: how much it kept alive, how fast it allocated, what marking cost.
// None of these depends on when collections come, so that the course can be run
// again under other settings.
//
// What is assumed: the program does the same work; what is reachable when a
// collection begins lies between what the neighbouring ones have found; marking
// costs what it cost there. Objects that are allocated while a collection marks
// survive it. How many they are depends on the settings, so they are taken out
// of what was found and put back by the replay (black allocation).
//
// Note: a cost law fitted on the means (GC CPU ~ 1/GOGC) needs no replay, but
// is wrong for every program whose heap grows, has phases, is below the 4 MB
// minimum or marks more than a third of the time.
type Replay struct {
	opt    ReplayOptions
	points []point
	// first is the heap when the replay starts, in bytes; a log from the
	// program's start begins with none.
	first float64
	// fromStart tells that it does.
	fromStart bool
	total     float64 // bytes allocated
	procs     float64
	stacks    float64 // bytes, the largest
	clock     course  // ms of the program's own time by bytes allocated
	base      *Settings
	recorded  Recorded
	self      Figure // see SelfCheck
	// perGC is the CPU time per ms of Ps' time of collections, ownCPU the
	// program's own in ms; zero until two runs have told them.
	perGC, ownCPU float64
}

// point is a collection on the course.
type point struct {
	start, end float64 // bytes allocated when it began and ended marking
	reachable  float64 // bytes, without what was allocated meanwhile
	scan       float64 // bytes of stacks and globals, which count for the goal
	black      float64 // bytes that it would have allocated unhindered
	cons       float64 // consMark times the work of this scan, bytes
	mark       float64 // ms of the mark phase
	util       float64 // share of the Ps that marked, idle ones included
	idle       float64 // share of the Ps that marked for want of other work
	cpu        float64 // ms of all marking, idle Ps included
	pause      float64 // ms of CPU in both stops, as far as they were stops
	stw        float64 // ms of clock in both pauses
	forced     bool
}

// course is a growing function through points.
type course struct{ x, y []float64 }

func (c *course) add(x, y float64) {
	if n := len(c.x); n > 0 {
		x, y = max(x, c.x[n-1]), max(y, c.y[n-1])
	}
	c.x, c.y = append(c.x, x), append(c.y, y)
}

func (c *course) at(x float64) float64 { return between(c.x, c.y, x) }

// between interpolates y at x, for growing xs; outside it is the end's.
func between(xs, ys []float64, x float64) float64 {
	i := sort.SearchFloat64s(xs, x)
	switch {
	case len(xs) == 0:
		return 0
	case i == 0:
		return ys[0]
	case i == len(xs):
		return ys[i-1]
	case xs[i] == xs[i-1]:
		return ys[i]
	}
	f := (x - xs[i-1]) / (xs[i] - xs[i-1])
	return ys[i-1] + f*(ys[i]-ys[i-1])
}

// NewReplay reads the course from the rows of a Summary: those of the run with
// the most collections. An error says why nothing can be told.
func NewReplay(s *Summary, opt ReplayOptions) (*Replay, error) {
	rows, err := replayable(s.Cycles)
	if err != nil {
		return nil, err
	}
	if opt.Overhead == (Overhead{}) {
		opt.Overhead = assumedOverhead
	}
	r := &Replay{opt: opt, fromStart: rows[0].GC == 1}
	if r.base = opt.Base; r.base == nil || contradicted(rows, *r.base) {
		r.base = explain(rows)
	}
	r.read(rows)
	r.settle()
	if r.total <= 0 {
		return nil, errors.New("cannot tell: the program allocated less than the log's resolution of 1 MB between its collections")
	}
	r.record(rows)
	r.checkSelf()
	return r, nil
}

// mainRows are the rows of the run with the most of them, in order: most often those that
// are given, which nobody changes. There may be millions.
func mainRows(all []Row) (rows []Row) {
	counts := map[int]int{}
	best := -1
	for i := range all {
		run := all[i].Run
		if counts[run]++; best < 0 || counts[run] > counts[best] {
			best = run
		}
	}
	follows := func(last, y *Row) bool { // not another process's, nor a line that is there twice
		return y.Run == best && (last == nil || y.GC > last.GC && y.AtS >= last.AtS)
	}
	var last *Row
	whole := 0 // rows from the first on that are all of it
	for ; whole < len(all) && follows(last, &all[whole]); whole++ {
		last = &all[whole]
	}
	rows = all[:whole:whole]
	for i := whole; i < len(all); i++ {
		if y := &all[i]; follows(last, y) {
			rows, last = append(rows, *y), y
		}
	}
	return rows
}

// replayable are the rows of the main run when a replay can follow them.
func replayable(all []Row) ([]Row, error) {
	rows := mainRows(all)
	forced := 0
	for i := range rows {
		if rows[i].Dialect != godebug.Go118.String() {
			return nil, errors.New("cannot tell: the log is of Go 1.17 or older, whose pacer followed other rules (build with Go 1.18 or later)")
		}
		if rows[i].Forced {
			forced++
		}
	}
	if len(rows) < leastCycles {
		return nil, fmt.Errorf("cannot tell: %d collections are too few to follow, %d are needed (record longer, or under load)", len(rows), leastCycles)
	}
	if 2*forced > len(rows) {
		return nil, fmt.Errorf("cannot tell: the program forced %d of its %d collections (runtime.GC); the settings do not decide about those", forced, len(rows))
	}
	if n := rows[len(rows)-1].GC - rows[0].GC + 1; int64(len(rows))*10 < n*9 {
		return nil, fmt.Errorf("cannot tell: %d of %d collections have no line in the log", n-int64(len(rows)), n)
	}
	return rows, nil
}

// middle is a size that the line truncates to whole MB, in bytes: it is taken
// to lie in the middle.
func middle(mb float64) float64 { return (sane(mb) + 0.5) * (1 << 20) }

// sane bounds what a log may claim, so that no sum overflows or is NaN.
func sane(x float64) float64 {
	if math.IsNaN(x) || x < 0 {
		return 0
	}
	return min(x, 1<<30)
}

// read fills in the course.
func (r *Replay) read(rows []Row) {
	allocated := 0.0
	if r.fromStart {
		allocated = middle(rows[0].HeapStartMB)
	} else {
		r.first = middle(rows[0].HeapLiveMB)
	}
	rate := allocationRate(rows)
	r.clock.add(0, 0)
	now := 0.0
	if r.fromStart {
		now = sane(rows[0].AtS) * 1e3
		r.clock.add(allocated, now)
	}
	took := accountOf(rows, 1)
	stopped := took.stopped()
	for i := range rows {
		y := &rows[i]
		p := pointOf(y)
		p.pause *= stopped
		p.start, p.end = allocated, allocated+max(0, sane(y.HeapEndMB)-sane(y.HeapStartMB))*(1<<20)
		// What the mark phase would have taken without marking.
		now += min(p.mark, (p.end-p.start)*rate)
		r.clock.add(p.end, now)
		r.procs = max(r.procs, float64(y.Procs), 1)
		r.stacks = max(r.stacks, sane(y.StacksMB)*(1<<20))
		r.points = append(r.points, p)
		if i+1 == len(rows) {
			allocated = p.end
			break
		}
		next := &rows[i+1]
		grown := max(0, sane(next.HeapStartMB)-sane(y.HeapLiveMB)) * (1 << 20)
		gap := max(0, (sane(next.AtS)-sane(y.AtS))*1e3-p.mark-p.stw)
		// Lines that are missing stand for collections like this one.
		missed := float64(min(next.GC-y.GC, int64(len(rows))))
		if missed > 1 {
			grown *= missed
		}
		allocated, now = p.end+grown, now+gap
		r.clock.add(allocated, now)
	}
	r.total = allocated
	r.scanned(rows)
}

// scanned takes what stacks and globals count for from the goals, which are
// twice as sharp as the line's own sizes. Go 1.18 and 1.19 print how large the
// stacks are and count what of them is used.
func (r *Replay) scanned(rows []Row) {
	if r.base == nil || r.base.GOGC < 75 || r.base.Limit > 0 {
		return
	}
	percent := float64(r.base.GOGC) / 100
	for i := 1; i < len(rows); i++ {
		a, b := &rows[i-1], &rows[i]
		live, goal := middle(a.HeapLiveMB), middle(b.GoalMB)
		if b.GC != a.GC+1 || goal <= heapMinimum*percent+(1<<20) {
			continue
		}
		r.points[i-1].scan = min(max((goal-live)/percent-live, -1<<20), r.points[i-1].scan+(2<<20))
	}
}

// allocationRate is how many ms the program takes to allocate a byte when no
// collection is under way.
func allocationRate(rows []Row) float64 {
	ms, bytes := 0.0, 0.0
	for i := 1; i < len(rows); i++ {
		a, b := &rows[i-1], &rows[i]
		if b.GC != a.GC+1 {
			continue
		}
		ms += max(0, (sane(b.AtS)-sane(a.AtS))*1e3-sane(a.STW1MS)-sane(a.MarkMS)-sane(a.STW2MS))
		bytes += max(0, sane(b.HeapStartMB)-sane(a.HeapLiveMB)) * (1 << 20)
	}
	if bytes == 0 {
		return 0
	}
	return ms / bytes
}

func pointOf(y *Row) point {
	p := point{
		mark: sane(y.MarkMS), stw: sane(y.STW1MS) + sane(y.STW2MS), pause: sane(y.CPUSTW1MS) + sane(y.CPUSTW2MS),
		scan: (sane(y.StacksMB) + sane(y.GlobalsMB)) * (1 << 20),
		cpu:  sane(y.CPUAssist) + sane(y.CPUBackground) + sane(y.CPUIdle), forced: y.Forced,
	}
	black := max(0, sane(y.HeapEndMB)-sane(y.HeapStartMB)) * (1 << 20)
	p.reachable = max(0, middle(y.HeapLiveMB)-black)
	p.black, p.util = black, backgroundShare
	if all := p.mark * float64(max(y.Procs, 1)); all > 0 {
		p.idle = min(sane(y.CPUIdle)/all, 1-backgroundShare)
		p.util = min(backgroundShare+sane(y.CPUAssist)/all, 0.95)
	}
	// As endCycle has it: the bytes allocated, weighed by how the Ps' time
	// was divided.
	p.cons = black * (p.util + p.idle) / (1 - p.util)
	if goal := middle(y.GoalMB); middle(y.HeapEndMB) > goal-(1<<20) && p.util > backgroundShare {
		// Assists held the heap at its goal: left alone, the program would
		// have allocated this.
		// How much more an equation tells that noise gets far too large: what
		// it gives is bounded.
		p.black = min(max(black, p.cons*(1-backgroundShare)/(backgroundShare+p.idle)), 2*black)
	}
	return p
}

// settle takes the resolution of 1 MB out of what is nearly constant, by the
// mean of neighbours: of black allocation above all, whose truncated sizes are
// a difference.
func (r *Replay) settle() {
	const reach = 2
	n := len(r.points)
	black, cons, live, scan := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range r.points {
		from, to := max(0, i-reach), min(n, i+reach+1)
		for _, p := range r.points[from:to] {
			black[i] += p.black / float64(to-from)
			cons[i] += p.cons / float64(to-from)
			live[i] += p.reachable / float64(to-from)
			scan[i] += p.scan / float64(to-from)
		}
	}
	for i := range r.points {
		p := &r.points[i]
		p.black, p.cons, p.scan = black[i], cons[i], max(0, scan[i])
		// A live heap of a few MB is mostly resolution; a larger one has
		// movements of its own.
		if p.reachable < 16<<20 {
			p.reachable = live[i]
		}
	}
}

// candidates are settings of GOGC that are looked for in a log.
var candidates = []int{100, 50, 200, 400, 25, 75, 150, 300, 500, 800, 1000, 10, 20}

// explain returns the settings that a log's goals follow from, nil when none
// of the usual ones does.
func explain(rows []Row) *Settings {
	for _, gogc := range candidates {
		fit, of := goalsExplained(rows, gogc)
		if of >= leastCycles/2 && fit*10 >= of*9 {
			return &Settings{GOGC: gogc}
		}
	}
	return nil
}

// contradicted tells that a log's goals do not follow from a GOGC that the
// environment had: the program sets another.
func contradicted(rows []Row, s Settings) bool {
	if s.GOGC < 0 || s.Limit > 0 {
		return false // a limit's goals depend on what no log tells
	}
	fit, of := goalsExplained(rows, s.GOGC)
	return of >= leastCycles/2 && 2*fit < of
}

// goalsExplained counts the goals that follow from a GOGC, within the line's
// resolution.
func goalsExplained(rows []Row, gogc int) (fit, of int) {
	for i := 1; i < len(rows); i++ {
		a, b := &rows[i-1], &rows[i]
		if b.GC != a.GC+1 || a.Dialect != godebug.Go118.String() {
			continue
		}
		of++
		if low, high := GoalBounds(a, b, gogc); low <= b.GoalMB && b.GoalMB <= high {
			fit++
		}
	}
	return fit, of
}

// GoalBounds are the least and the largest goal in whole MB that the pacer can
// have printed for a collection, by the line of the one before it, whose sizes
// are truncated to whole MB.
//
// The goal may be moved: to leave the sweeper 1 MB, and to 64 KB above the heap
// at which the collection began. Go 1.19 prints how large the stacks are and
// counts what of them was scanned, so that the least counts none.
func GoalBounds(before, y *Row, gogc int) (low, high float64) {
	const mb = 1 << 20
	live, stacks, globals := sane(before.HeapLiveMB)*mb, sane(before.StacksMB)*mb, sane(before.GlobalsMB)*mb
	low = math.Floor(HeapGoal(gogc, live, 0, globals) / mb)
	most := HeapGoal(gogc, live+mb, stacks+mb, globals+mb)
	most = max(most, live+mb+sweepDistance, (sane(y.HeapStartMB)+1)*mb+minRunway)
	return low, math.Floor(most / mb)
}

package gc

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"loupe/format/godebug"
)

// course is what a program has done, as its collections tell: how much it kept alive,
// how fast it allocated, what marking cost, against what it had allocated. Nothing
// changes it once it is read.
type course struct {
	points []point
	// fromStart tells that the log begins with the program, whose heap was empty.
	fromStart bool
	total     float64 // bytes allocated
	procs     float64
	stacks    float64 // bytes, the largest
	clock     curve   // ms of the program's own time by bytes allocated
}

// courseOf reads the course from the rows of one run. base are the settings that it ran
// with, nil when they are not known.
func courseOf(rows []Row, base *Settings) *course {
	c := &course{fromStart: rows[0].GC == 1}
	c.read(rows)
	c.scanned(rows, base)
	return c
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

// curve is a growing function through points.
type curve struct{ x, y []float64 }

func (c *curve) add(x, y float64) {
	if n := len(c.x); n > 0 {
		x, y = max(x, c.x[n-1]), max(y, c.y[n-1])
	}
	c.x, c.y = append(c.x, x), append(c.y, y)
}

func (c *curve) at(x float64) float64 { return between(c.x, c.y, x) }

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
			return nil, errors.New("cannot tell: the log is from Go 1.17 or older, whose pacer followed other rules (build with Go 1.18 or later)")
		}
		if rows[i].Forced {
			forced++
		}
	}
	if len(rows) < leastCycles {
		return nil, fmt.Errorf("cannot tell: %d collections are too few; %d are needed (record longer, or under load)", len(rows), leastCycles)
	}
	if 2*forced > len(rows) {
		return nil, fmt.Errorf("cannot tell: the program forced %d of its %d collections (runtime.GC); the settings have no effect on those", forced, len(rows))
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
func (c *course) read(rows []Row) {
	allocated := 0.0
	if c.fromStart {
		allocated = middle(rows[0].HeapStartMB)
	}
	rate := allocationRate(rows)
	c.clock.add(0, 0)
	now := 0.0
	if c.fromStart {
		now = sane(rows[0].AtS) * 1e3
		c.clock.add(allocated, now)
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
		c.clock.add(p.end, now)
		c.procs = max(c.procs, float64(y.Procs), 1)
		c.stacks = max(c.stacks, sane(y.StacksMB)*(1<<20))
		c.points = append(c.points, p)
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
		c.clock.add(allocated, now)
	}
	c.total = allocated
}

// scanned takes what stacks and globals count for from the goals, which are
// twice as sharp as the line's own sizes. Go 1.18 and 1.19 print how large the
// stacks are and count what of them is used.
func (c *course) scanned(rows []Row, base *Settings) {
	if base == nil || base.GOGC < 75 || base.Limit > 0 {
		return
	}
	percent := float64(base.GOGC) / 100
	for i := 1; i < len(rows); i++ {
		a, b := &rows[i-1], &rows[i]
		live, goal := middle(a.HeapLiveMB), middle(b.GoalMB)
		if b.GC != a.GC+1 || goal <= heapMinimum*percent+(1<<20) {
			continue
		}
		c.points[i-1].scan = min(max((goal-live)/percent-live, -1<<20), c.points[i-1].scan+(2<<20))
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
func (c *course) settle() {
	const reach = 2
	n := len(c.points)
	black, cons, live, scan := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range c.points {
		from, to := max(0, i-reach), min(n, i+reach+1)
		for _, p := range c.points[from:to] {
			black[i] += p.black / float64(to-from)
			cons[i] += p.cons / float64(to-from)
			live[i] += p.reachable / float64(to-from)
			scan[i] += p.scan / float64(to-from)
		}
	}
	for i := range c.points {
		p := &c.points[i]
		p.black, p.cons, p.scan = black[i], cons[i], max(0, scan[i])
		// A live heap of a few MB is mostly resolution; a larger one has
		// movements of its own.
		if p.reachable < 16<<20 {
			p.reachable = live[i]
		}
	}
}

// recorded is what the log itself says.
func (c *course) recorded(rows []Row, base *Settings) (out Recorded) {
	first, last := &rows[0], &rows[len(rows)-1]
	out.Settings = base
	out.Collections = last.GC - first.GC + 1
	missing := float64(out.Collections) / float64(len(rows))
	var cpu, assist, mark, peak, live float64
	for i := range rows {
		y, p := &rows[i], &c.points[i]
		cpu, assist, mark = cpu+p.cpu+p.pause, assist+sane(y.CPUAssist), mark+p.mark
		peak = max(peak, sane(y.HeapStartMB), sane(y.HeapEndMB))
		live += p.reachable / float64(len(rows))
	}
	span := (sane(last.AtS)-sane(first.AtS))*1e3 + c.points[len(rows)-1].mark + c.points[len(rows)-1].stw
	if c.fromStart {
		span += sane(first.AtS) * 1e3
	}
	out.PeakHeapMB, out.LiveMB = Figure(peak), Figure(live/(1<<20))
	out.GCCPUMS, out.AssistMS = Figure(cpu*missing), Figure(assist*missing)
	out.DurationMS, out.AllocatedMB = Figure(span), Figure(c.total/(1<<20))
	out.MarkPercent, out.GCPercent = ratio(100*mark*missing, span), ratio(100*cpu*missing, span*c.procs)
	return out
}

// at returns the collection that would begin after so many bytes: its values
// lie between those of the recorded neighbours.
func (c *course) at(allocated float64) point {
	i := sort.Search(len(c.points), func(i int) bool { return c.points[i].start >= allocated })
	switch {
	case i == 0:
		return c.points[0]
	case i == len(c.points):
		return c.points[i-1]
	}
	a, b := &c.points[i-1], &c.points[i]
	f := 0.0
	if b.start > a.start {
		f = (allocated - a.start) / (b.start - a.start)
	}
	mix := func(x, y float64) float64 { return x + f*(y-x) }
	return point{
		start: allocated, reachable: mix(a.reachable, b.reachable), scan: mix(a.scan, b.scan), black: mix(a.black, b.black), cons: mix(a.cons, b.cons),
		mark: mix(a.mark, b.mark), util: mix(a.util, b.util), idle: mix(a.idle, b.idle),
		cpu: mix(a.cpu, b.cpu), pause: mix(a.pause, b.pause), stw: mix(a.stw, b.stw),
	}
}

// rises tells whether the live heap of the last third is far above that of the
// second.
func (c *course) rises() bool {
	third := len(c.points) / 3
	if third == 0 {
		return false
	}
	mean := func(points []point) (sum float64) {
		for _, p := range points {
			sum += p.reachable / float64(len(points))
		}
		return sum
	}
	before, after := mean(c.points[third:2*third]), mean(c.points[2*third:])
	return after > 1.15*before && after-before > 2<<20
}

// mostLive is the largest live heap, in bytes.
func (c *course) mostLive() (most float64) {
	for i := range c.points {
		most = max(most, c.points[i].reachable)
	}
	return most
}

// steps tells whether the live heap went up shortly before the end, and stayed: how large it was
// before on average, and after, in bytes.
func (c *course) steps() (before, after float64, ok bool) {
	const tail = 3
	n := len(c.points)
	if n < 4*tail {
		return 0, 0, false
	}
	earlier := c.points[:n-n/3]
	for _, p := range earlier {
		before += p.reachable / float64(len(earlier))
	}
	after = math.Inf(1)
	for _, p := range c.points[n-tail:] {
		after = min(after, p.reachable)
	}
	most := 0.0
	for _, p := range earlier {
		most = max(most, p.reachable)
	}
	return before, after, after > 1.25*most && after-most > 2<<20
}

// ended is the mean live heap of the last tenth, in bytes: where it was when the recording ended.
func (c *course) ended() (sum float64) {
	last := c.points[len(c.points)-max(1, len(c.points)/10):]
	for _, p := range last {
		sum += p.reachable / float64(len(last))
	}
	return sum
}

// lastThird is the mean live heap of the last third, in bytes.
func (c *course) lastThird() (sum float64) {
	last := c.points[len(c.points)-max(1, len(c.points)/3):]
	for _, p := range last {
		sum += p.reachable / float64(len(last))
	}
	return sum
}

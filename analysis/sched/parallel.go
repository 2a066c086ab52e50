package sched

import (
	"time"

	"loupe/format/exectrace"
	"loupe/value/timeline"
)

// Parallel says how many goroutines ran side by side.
type Parallel struct {
	// Procs is the largest GOMAXPROCS; 0 when the trace does not say.
	Procs int
	// InForce is the GOMAXPROCS that held for the longest part of the time; 0
	// when the trace does not say.
	InForce int
	// Running[k] is the time for which exactly k goroutines of the program
	// ran; the collector's and other goroutines of the runtime are left out.
	Running []time.Duration
	// Busy[k] is the same with those of the runtime.
	Busy []time.Duration
	// Queued[k] is the time for which k goroutines waited for a P; the last
	// one is of that many and more.
	Queued []time.Duration
	// IdleWhileQueued is the time for which a goroutine waited while a P was
	// idle; LongestIdle the longest such stretch and when it began.
	IdleWhileQueued time.Duration
	LongestIdle     time.Duration
	LongestIdleAt   timeline.Time
	// IdleLong is the time of those stretches that were no shorter than
	// [LongIdle].
	IdleLong time.Duration
	// Waited are the waits of the program's goroutines for a P, all together: that of two
	// that wait at once counts twice. WaitedStopped are those while the world was stopped,
	// which are no part of Waited: then nobody gets a P, and whoever has one keeps it.
	Waited, WaitedStopped time.Duration
	// Steals counts the Ps taken away from goroutines in system calls.
	Steals int64
	// Use is the number of Ps that ran anything, over time.
	Use Course
}

// LongIdle is for how long a P may stay idle while a goroutine waits before it
// is more than the time that the system takes to wake up a thread.
const LongIdle = 100 * time.Microsecond

// Mean returns how many goroutines of the program ran at once while any did.
func (p *Parallel) Mean() float64 {
	var sum, weighted float64
	for k, d := range p.Running {
		if k > 0 {
			sum += float64(d)
			weighted += float64(k) * float64(d)
		}
	}
	if sum == 0 {
		return 0
	}
	return weighted / sum
}

// Share returns the share of the time in which any goroutine of the program
// ran for which exactly k did.
func (p *Parallel) Share(k int) float64 {
	var busy time.Duration
	for n, d := range p.Running {
		if n > 0 {
			busy += d
		}
	}
	if busy == 0 || k >= len(p.Running) {
		return 0
	}
	return float64(p.Running[k]) / float64(busy)
}

// maxQueued is the longest queue that is counted for itself.
const maxQueued = 4096

// parallelism counts along: how many run when that changes, and how many wait when that
// does. With all numbers at every event, this took twice as long.
type parallelism struct {
	out Parallel
	// all are the goroutines that run, user those of the program, since ranTo.
	all, user int
	ranTo     timeline.Time
	// queued are those that wait for a P, waiting those of the program, since waitedTo.
	queued, waiting int
	waitedTo        timeline.Time
	delay           time.Duration // waits of the program's together, up to waitedTo, those while the world was stopped left out

	// What decides whether a P is idle while a goroutine waits: these and
	// queued, and since when they have been so.
	procs     int                   // running Ps
	max       level                 // GOMAXPROCS
	held      map[int]time.Duration // for how long each GOMAXPROCS held
	stops     int                   // stop-the-worlds in progress: then idle Ps are meant to be
	halted    time.Duration         // for how long the world was stopped, up to haltedTo
	haltedTo  timeline.Time
	idleSince timeline.Time
	idleFrom  timeline.Time
	// stoodStill is when a P last went idle while the world was stopped.
	stoodStill timeline.Time
}

// level is a number, and since when it has been that.
type level struct {
	n     int
	since timeline.Time
}

// pass returns for how long the number has been what it is, and counts anew.
func (l *level) pass(at timeline.Time) time.Duration {
	d := max(0, at-l.since)
	l.since += d
	return time.Duration(d)
}

func (p *parallelism) start(at timeline.Time) {
	p.ranTo, p.waitedTo, p.max.since, p.idleSince = at, at, at, at
	p.out.Use.begin(at)
}

// restart forgets what was counted before an instant, but not what holds there.
func (p *parallelism) restart(at timeline.Time) {
	p.advance(at)
	p.changeMax(at, p.max.n)
	p.out = Parallel{Procs: p.max.n}
	clear(p.held)
	p.out.Use.begin(at)
	if p.idleFrom != 0 {
		p.idleFrom = at
	}
}

// end counts up to an instant, a stretch that is not over included.
func (p *parallelism) end(at timeline.Time) {
	p.advance(at)
	p.stretch()
	p.changeMax(at, p.max.n)
	for n, d := range p.held {
		if was := p.held[p.out.InForce]; n > 0 && (d > was || d == was && n > p.out.InForce) {
			p.out.InForce = n
		}
	}
	if p.out.InForce == 0 {
		p.out.InForce = p.out.Procs
	}
}

// changeMax counts for how long GOMAXPROCS has been what it was.
func (p *parallelism) changeMax(at timeline.Time, to int) {
	if p.held == nil {
		p.held = map[int]time.Duration{}
	}
	p.held[p.max.n] += p.max.pass(at)
	p.max.n = to
}

// reset is the loss of all states.
func (p *parallelism) reset(at timeline.Time) {
	p.advance(at)
	p.user, p.all, p.queued, p.waiting, p.procs, p.stops, p.idleFrom = 0, 0, 0, 0, 0, 0, 0
}

// advance counts the time up to at in the state that held.
func (p *parallelism) advance(at timeline.Time) {
	p.run(at)
	p.idle(at)
	p.wait(at)
}

// run counts the time up to at in which as many ran as do.
func (p *parallelism) run(at timeline.Time) {
	if d := time.Duration(at - p.ranTo); d > 0 {
		addAt(&p.out.Running, p.user, d)
		addAt(&p.out.Busy, p.all, d)
		p.out.Use.add(p.ranTo, at, p.all)
		p.ranTo = at
	}
}

// wait counts the time up to at in which as many waited for a P as do.
func (p *parallelism) wait(at timeline.Time) {
	d := time.Duration(at - p.waitedTo)
	if d <= 0 {
		return
	}
	p.waitedTo = at
	addAt(&p.out.Queued, min(p.queued, maxQueued), d)
	waited := d * time.Duration(max(p.waiting, 0))
	if p.stops > 0 {
		p.out.WaitedStopped += waited
	} else {
		p.delay += waited
		p.out.Waited += waited
	}
}

// delayAt returns the waits of the program's goroutines together, up to at.
func (p *parallelism) delayAt(at timeline.Time) time.Duration {
	p.wait(at)
	return p.delay
}

// idle counts the time up to at in which a P may have been idle while a
// goroutine waited. It is for whoever changes what decides that.
func (p *parallelism) idle(at timeline.Time) {
	if at <= p.idleSince {
		return
	}
	if p.queued > 0 && p.procs < p.max.n && p.stops == 0 {
		p.out.IdleWhileQueued += time.Duration(at - p.idleSince)
		if p.idleFrom == 0 {
			p.idleFrom = p.idleSince
		}
	} else {
		p.stretch()
	}
	p.idleSince = at
}

// stretch ends the one in which a P was idle while a goroutine waited.
func (p *parallelism) stretch() {
	if p.idleFrom == 0 {
		return
	}
	l := time.Duration(p.idleSince - p.idleFrom)
	if l >= LongIdle {
		p.out.IdleLong += l
	}
	if l > p.out.LongestIdle {
		p.out.LongestIdle, p.out.LongestIdleAt = l, p.idleFrom
	}
	p.idleFrom = 0
}

// addAt adds d to the k-th of a list, the first if k is negative, which only a
// damaged trace makes it.
func addAt(list *[]time.Duration, k int, d time.Duration) {
	if uint(k) >= uint(len(*list)) {
		k = growTo(list, k)
	}
	(*list)[k] += d
}

// growTo makes room for the k-th of a list and returns where that is.
func growTo(list *[]time.Duration, k int) int {
	k = max(k, 0)
	for len(*list) <= k {
		*list = append(*list, 0)
	}
	return k
}

func (p *parallelism) running(at timeline.Time, t *track, by int) {
	p.run(at)
	p.all += by
	// A goroutine may be known as one of the runtime's only later: what counts
	// is what it counted as when it began to run.
	if by > 0 {
		t.counted = !t.system
	}
	if t.counted {
		p.user += by
	}
}

func (p *parallelism) runnable(at timeline.Time, t *track, by int) {
	p.idle(at)
	p.wait(at)
	p.queued += by
	if by > 0 {
		t.queued = !t.system
	}
	if t.queued {
		p.waiting += by
	}
}

// stopped counts the stop-the-worlds in progress.
func (p *parallelism) stopped(at timeline.Time, by int) {
	p.idle(at)
	p.wait(at)
	p.haltedAt(at)
	p.stops = max(0, p.stops+by)
}

// haltedAt returns for how long the world was stopped, up to at.
func (p *parallelism) haltedAt(at timeline.Time) time.Duration {
	if p.stops > 0 {
		p.halted += max(0, at.Sub(p.haltedTo))
	}
	p.haltedTo = max(at, p.haltedTo)
	return p.halted
}

func (p *parallelism) proc(e *exectrace.Event) {
	if e.From == e.To {
		return
	}
	p.idle(e.Time)
	switch e.To {
	case exectrace.Running:
		p.procs++
	case exectrace.Idle:
		if p.stops > 0 {
			p.stoodStill = e.Time
		}
		if e.From == exectrace.Running {
			p.procs--
		}
		if e.From == exectrace.Running && e.Proc() != e.P {
			p.out.Steals++
		}
	}
}

func (p *parallelism) gomaxprocs(e *exectrace.Event) {
	p.idle(e.Time)
	n := int(min(e.Value(), 1<<20))
	p.changeMax(e.Time, n)
	p.out.Procs = max(p.out.Procs, n)
}

// Course is a number that changes over time, as means over equal stretches.
type Course struct {
	Start timeline.Time
	Width time.Duration // of a stretch
	sums  []float64     // number × ns
	area  int64         // what is to be added to the last of them
	end   timeline.Time // of the last stretch
}

// maxStretches is where a course halves its resolution.
const maxStretches = 2048

func (c *Course) begin(at timeline.Time) { c.Start, c.Width = at, 100*time.Microsecond }

// add counts n for the time from one instant to the next; the instants never
// go back.
func (c *Course) add(from, to timeline.Time, n int) {
	if to <= c.end && len(c.sums) > 0 { // nearly always
		c.area += int64(n) * int64(to-from)
		return
	}
	c.goOn(from, to, n)
}

// goOn is add where a new stretch begins.
func (c *Course) goOn(from, to timeline.Time, n int) {
	if k := len(c.sums) - 1; k >= 0 {
		c.sums[k] += float64(c.area)
		c.area = 0
	}
	for time.Duration(to-c.Start) > maxStretches*c.Width {
		c.halve()
	}
	for from < to {
		k := int(time.Duration(from-c.Start) / c.Width)
		for len(c.sums) <= k {
			c.sums = append(c.sums, 0)
		}
		c.end = c.Start + timeline.Time(time.Duration(k+1)*c.Width)
		until := min(to, c.end)
		c.sums[k] += float64(n) * float64(until-from)
		from = until
	}
}

// halve makes each stretch twice as long.
func (c *Course) halve() {
	half := c.sums[:(len(c.sums)+1)/2]
	for i := range half {
		sum := c.sums[2*i]
		if 2*i+1 < len(c.sums) {
			sum += c.sums[2*i+1]
		}
		half[i] = sum
	}
	c.sums = half
	c.Width *= 2
	c.end = c.Start + timeline.Time(time.Duration(len(half))*c.Width)
}

// Values returns the mean of each stretch.
func (c *Course) Values() []float64 {
	out := make([]float64, len(c.sums))
	for i, s := range c.sums {
		if i == len(c.sums)-1 {
			s += float64(c.area)
		}
		out[i] = s / float64(c.Width)
	}
	return out
}

package godebug

import "time"

// Dialect tells the grammars of the gctrace line apart.
type Dialect uint8

// The dialects of the gctrace line, named by the first Go version that
// prints them.
const (
	// Go14 has no time, no goal and no CPU times; the whole cycle stops the
	// world.
	Go14 Dialect = iota + 1
	// Go15 has five clock phases.
	Go15
	// Go16 has three clock phases. Printed by Go 1.6 to 1.17.
	Go16
	// Go118 adds stacks and globals. Printed by Go 1.18 and later.
	Go118
)

var dialectNames = [...]string{"", "1.4", "1.5", "1.6", "1.18"}

// String returns the first Go version that prints the dialect.
func (d Dialect) String() string {
	if int(d) < len(dialectNames) {
		return dialectNames[d]
	}
	return "unknown"
}

// Cycle is one garbage collection: one line of gctrace=1. Times are in
// nanoseconds and sizes in bytes, but the line is coarser: clocks are
// truncated to two digits (below 100 µs to whole microseconds), sizes to
// whole MiB, At to milliseconds.
//
// What the line calls "ms cpu" is the wall time of Ps, not CPU time; with
// fewer CPUs than Ps it overstates.
type Cycle struct {
	Position
	N       int64         // number of the collection since program start, from 1
	At      time.Duration // start of the cycle since program start; 0 in Go14
	Percent int           // the runtime's share of time in GC since program start

	// STW1 is the stop-the-world sweep termination, Mark the concurrent mark
	// phase, STW2 the stop-the-world mark termination, in wall time.
	STW1, Mark, STW2 time.Duration
	// Scan and Sync are parts of Mark that Go15 prints apart.
	Scan, Sync time.Duration

	// CPUSTW1 and CPUSTW2 are the pauses times the number of Ps stopped.
	// Assist is mark work done by allocating goroutines, Background by
	// dedicated and fractional workers, Idle by workers on idle Ps.
	CPUSTW1, Assist, Background, Idle, CPUSTW2 time.Duration
	// CPUScan and CPUSync are printed by Go15 only.
	CPUScan, CPUSync time.Duration

	// HeapStart and HeapEnd are the heap when the mark phase starts and
	// ends, HeapLive what it found to be live, Goal the size that it was to
	// end at. Stacks and Globals are scannable bytes, Go118 only.
	HeapStart, HeapEnd, HeapLive, Goal, Stacks, Globals int64

	// Objects and Goroutines are printed by Go14 only.
	Objects, Goroutines int64

	Procs   int  // GOMAXPROCS; in Go14 the Ps that took part
	Forced  bool // the program called runtime.GC, or gcstoptheworld is set
	Leaks   bool // the cycle looked for leaked goroutines, Go 1.26
	Dialect Dialect
	// Stale marks a cycle of Go 1.5 to 1.8 whose printed assist, background
	// and idle times were those of the cycle before; they are set to zero.
	Stale bool
}

// Kind returns [KindCycle].
func (*Cycle) Kind() Kind { return KindCycle }

// Clock returns the wall time of the whole cycle.
func (y *Cycle) Clock() time.Duration { return y.STW1 + y.Mark + y.STW2 }

// Pause returns the wall time during which the world was stopped.
func (y *Cycle) Pause() time.Duration { return y.STW1 + y.STW2 }

// CPU returns the wall time of Ps that the cycle took from the program: all
// but the work done on idle Ps.
func (y *Cycle) CPU() time.Duration {
	return y.CPUSTW1 + y.CPUScan + y.CPUSync + y.Assist + y.Background + y.CPUSTW2
}

// MarkCPU returns the wall time of Ps spent in the mark phase, idle Ps
// included.
func (y *Cycle) MarkCPU() time.Duration {
	return y.CPUScan + y.CPUSync + y.Assist + y.Background + y.Idle
}

// parse reads a gctrace line of Go 1.5 and later. It returns whether the text
// looks like one even where c turns out bad.
func (y *Cycle) parse(c *cursor) (near bool) {
	c.lit("gc ")
	n := c.int()
	c.lit(" @")
	if !c.digit() {
		c.bad = true
		return false
	}
	*y = Cycle{Position: y.Position, N: n, Dialect: Go16}
	y.At = c.seconds()
	c.lit("s ")
	y.Percent = c.int32()
	c.lit("%")
	y.Leaks = c.has(" (checking for goroutine leaks)")
	c.lit(": ")
	y.parseTimes(c)

	y.HeapStart = c.mega()
	c.arrow()
	y.HeapEnd = c.mega()
	c.arrow()
	y.HeapLive = c.mega()
	c.lit(" MB, ")
	y.Goal = c.mega()
	c.lit(" MB goal, ")
	start := c.i
	y.Procs = c.int32()
	if c.has(" MB stacks, ") {
		y.Dialect = Go118
		c.i = start // the number was not that of Ps
		y.Stacks = c.mega()
		c.lit(" MB stacks, ")
		y.Globals = c.mega()
		c.lit(" MB globals, ")
		y.Procs = c.int32()
	}
	c.lit(" P")
	y.Forced = c.has(" (forced)")

	// A concurrent mark phase never takes less than a microsecond, so a
	// forced cycle with a mark clock of exactly 0 was done with the world
	// stopped, as by Go 1.5 to 1.8. Those versions did not reset the counters
	// and printed the figures of the last concurrent cycle again.
	if y.Forced && y.Mark == 0 && y.Assist|y.Background|y.Idle != 0 {
		y.Assist, y.Background, y.Idle, y.Stale = 0, 0, 0, true
	}
	y.check(c)
	return true
}

// check refuses numbers that no runtime prints.
func (y *Cycle) check(c *cursor) {
	if y.Procs <= 0 || y.N <= 0 {
		c.bad = true
	}
}

// parseTimes reads the clock and cpu fields: three phases, or five in Go 1.5.
func (y *Cycle) parseTimes(c *cursor) {
	y.STW1 = c.millis()
	c.lit("+")
	y.Mark = c.millis()
	c.lit("+")
	y.STW2 = c.millis()
	if c.has("+") {
		y.Dialect = Go15
		y.Scan, y.Sync = y.Mark, y.STW2
		y.Mark = y.Scan + y.Sync + c.millis()
		c.lit("+")
		y.STW2 = c.millis()
	}
	c.lit(" ms clock, ")
	y.CPUSTW1 = c.millis()
	c.lit("+")
	if y.Dialect == Go15 {
		y.CPUScan = c.millis()
		c.lit("+")
		y.CPUSync = c.millis()
		c.lit("+")
	}
	y.Assist = c.millis()
	c.lit("/")
	y.Background = c.millis()
	c.lit("/")
	y.Idle = c.millis()
	c.lit("+")
	y.CPUSTW2 = c.millis()
	c.lit(" ms cpu, ")
}

// parseGo14 reads a gctrace line of Go 1.4. Its four clocks are stopping the
// world, finishing the sweep, marking, and waiting for helpers; all of them
// stop the world.
func (y *Cycle) parseGo14(c *cursor) (near bool) {
	c.lit("gc")
	n := c.int()
	c.lit("(")
	procs := c.int32()
	c.lit("): ")
	if !c.digit() {
		c.bad = true
		return false
	}
	*y = Cycle{Position: y.Position, N: n, Procs: procs, Dialect: Go14}
	y.STW1 = c.micros()
	c.lit("+")
	y.STW1 += c.micros()
	c.lit("+")
	y.STW2 = c.micros()
	c.lit("+")
	y.STW2 += c.micros()
	c.lit(" us, ")
	y.HeapStart = c.mega()
	c.lit(" ")
	c.arrow()
	c.lit(" ")
	y.HeapEnd = c.mega()
	y.HeapLive = y.HeapEnd
	c.lit(" MB, ")
	y.Objects = c.int()
	c.lit(" (")
	c.int()
	c.lit("-")
	c.int()
	c.lit(") objects, ")
	y.Goroutines = c.int()
	c.lit(" goroutines, ")
	c.threeInts()
	c.lit(" sweeps, ")
	c.twoInts()
	c.lit(" handoff, ")
	c.twoInts()
	c.lit(" steal, ")
	c.threeInts()
	c.lit(" yields")
	y.check(c)
	return true
}

// micros reads whole microseconds, less than a month of them.
func (c *cursor) micros() time.Duration {
	v := c.int()
	if v < 0 || v > 1e12*2 {
		c.bad = true
		return 0
	}
	return time.Duration(v) * time.Microsecond
}

// threeInts skips "a/b/c".
func (c *cursor) threeInts() {
	c.int()
	c.lit("/")
	c.int()
	c.lit("/")
	c.int()
}

// twoInts skips "a(b)".
func (c *cursor) twoInts() {
	c.int()
	c.lit("(")
	c.int()
	c.lit(")")
}

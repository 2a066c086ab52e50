package tiles

import "loupe/format/exectrace"

// firstBase is the level with which counts and counters begin, 1 µs: they
// have no spans below it. It rises while there are too few changes for it.
const firstBase = 4

// changeDensity is what density is to lanes of spans. There is nothing below
// the base, but who looks at so little time sees the goroutines themselves.
const changeDensity = 128

// fewBuckets is how many buckets such a lane may have however few changes.
const fewBuckets = 1024

// counts is the lane of a group: how many of its goroutines are in each
// class. What a change touches lies together; the open bucket gets it when it
// ends. The times are as if nothing changed until then, so that a change costs
// two additions.
type counts struct {
	end     tick
	changes int64
	cells   [classes]cell
	name    exectrace.NameID
	gc      bool // they work for the collector
	members uint64
	pyramid pyramid[groupSums, *groupSums]
	folded  foldedGroup // what its goroutines with few spans come to, in a set that is folded
}

// cell is one class: how many goroutines are in it, and for how long they are,
// added up, until the end of the bucket.
type cell struct{ n, time int64 }

func newCounts(name exectrace.NameID, at tick, base uint8) *counts {
	c := &counts{name: name, pyramid: newPyramid[groupSums, *groupSums](groupRow, base, at)}
	c.end = c.pyramid.end()
	return c
}

// move takes one goroutine from a class to another.
func (c *counts) move(at tick, from, to uint8) {
	if at >= c.end {
		c.advance(at)
	}
	c.changes++
	rest := c.end - at
	a, b := &c.cells[from&7], &c.cells[to&7]
	a.n--
	a.time -= rest
	b.n++
	b.time += rest
}

// change adds goroutines to a class, or takes them away.
func (c *counts) change(at tick, class uint8, d int64) {
	if at >= c.end {
		c.advance(at)
	}
	c.changes++
	c.cells[class&7].n += d
	c.cells[class&7].time += d * (c.end - at)
}

// advance goes on to the bucket that an instant lies in.
func (c *counts) advance(at tick) {
	c.flush()
	p := &c.pyramid
	for p.buckets(at) > max(fewBuckets, c.changes/changeDensity) && p.base < maxTop-1 {
		p.coarsen()
	}
	for {
		if p.end() == c.end {
			p.close()
		}
		d := p.end() - c.end
		for i := range c.cells {
			c.cells[i].time = c.cells[i].n * d
		}
		if c.end = p.end(); at < c.end {
			return
		}
		c.flush()
	}
}

// flush puts the times into the open bucket.
func (c *counts) flush() {
	open := c.pyramid.open()
	for i := range c.cells {
		open.time[i] += c.cells[i].time
	}
}

// finish ends the lane at an instant, which must not lie before its last
// change.
func (c *counts) finish(at tick, top uint8) {
	if at >= c.end {
		c.advance(at)
	}
	for i := range c.cells {
		c.cells[i].time -= c.cells[i].n * (c.end - at)
	}
	c.flush()
	c.pyramid.finish(top)
}

// gauges are the counters of goroutines in each state. They are one value for
// each state, but as they change two at a time they share their buckets.
type gauges struct {
	since, end tick // what is counted here, and not in the pyramids yet
	changes    int64
	cells      [gaugeStates]gauge
	pyramids   [gaugeStates]pyramid[counterSums, *counterSums]
}

// gauge is one state: how many goroutines are in it, and since when counting
// began for how long, added up as in a cell, how few and how many at most.
type gauge struct{ n, area, low, high int64 }

// gaugeStates are the states of a goroutine, from Runnable to Syscall.
const gaugeStates = 4

var gaugeNames = [gaugeStates]string{
	exectrace.Runnable - exectrace.Runnable: "goroutines runnable",
	exectrace.Running - exectrace.Runnable:  "goroutines running",
	exectrace.Waiting - exectrace.Runnable:  "goroutines waiting",
	exectrace.Syscall - exectrace.Runnable:  "goroutines in system calls",
}

func newGauges(at tick, base uint8) *gauges {
	g := &gauges{}
	for i := range g.pyramids {
		g.pyramids[i] = newPyramid[counterSums, *counterSums](counterRow, base, at)
	}
	g.since, g.end = at, g.pyramids[0].end()
	return g
}

// change adds goroutines to a state, or takes them away.
func (g *gauges) change(at tick, s exectrace.State, d int64) {
	if at >= g.end {
		g.advance(at)
	}
	g.changes++
	c := &g.cells[(s-exectrace.Runnable)%gaugeStates]
	c.area += d * (g.end - at)
	c.n += d
	c.low, c.high = min(c.low, c.n), max(c.high, c.n)
}

// move takes a goroutine from one state to another.
func (g *gauges) move(at tick, from, to exectrace.State) {
	if at >= g.end {
		g.advance(at)
	}
	g.changes++
	rest := g.end - at
	a, b := &g.cells[(from-exectrace.Runnable)%gaugeStates], &g.cells[(to-exectrace.Runnable)%gaugeStates]
	a.n--
	a.area -= rest
	a.low = min(a.low, a.n)
	b.n++
	b.area += rest
	b.high = max(b.high, b.n)
}

// advance goes on to the bucket that an instant lies in.
func (g *gauges) advance(at tick) {
	g.flush()
	p := &g.pyramids[0]
	for p.buckets(at) > max(fewBuckets, g.changes/(gaugeStates*changeDensity)) && p.base < maxTop-1 {
		for s := range g.pyramids {
			g.pyramids[s].coarsen()
		}
	}
	for {
		if p.end() == g.end {
			for s := range g.pyramids {
				g.pyramids[s].close()
			}
		}
		g.since, g.end = g.end, p.end()
		for i := range g.cells {
			n := g.cells[i].n
			g.cells[i] = gauge{n, n * (g.end - g.since), n, n}
		}
		if at < g.end {
			return
		}
		g.flush()
	}
}

// flush puts what was counted since into the open buckets.
func (g *gauges) flush() {
	for i, c := range g.cells {
		g.pyramids[i].open().merge(&counterSums{
			area: float64(c.area), covered: g.end - g.since,
			min: float64(c.low), max: float64(c.high), last: float64(c.n),
		})
	}
}

func (g *gauges) finish(at tick, top uint8) {
	if at >= g.end {
		g.advance(at)
	}
	for i := range g.cells {
		g.cells[i].area -= g.cells[i].n * (g.end - at)
	}
	g.end = at
	g.flush()
	for s := range g.pyramids {
		g.pyramids[s].finish(top)
	}
}

// counter is the lane of a value. It is kept as counts are.
type counter struct {
	name    string
	fold    *folding
	value   float64
	started bool
	changes int64
	end     tick
	pyramid pyramid[counterSums, *counterSums]
}

// set gives the counter a new value.
func (c *counter) set(at tick, v float64) {
	if !c.started {
		c.started, c.value = true, v
		c.pyramid = newPyramid[counterSums, *counterSums](counterRow, c.fold.firstBase(), at)
		c.end = c.pyramid.end()
		*c.pyramid.open() = counterSums{area: v * float64(c.end-at), covered: c.end - at, min: v, max: v, last: v}
	}
	if at >= c.end {
		c.advance(at)
	}
	c.changes++
	open := c.pyramid.open()
	open.area += (v - c.value) * float64(c.end-at)
	open.min, open.max, open.last = min(open.min, v), max(open.max, v), v
	c.value = v
}

// add changes the value by d.
func (c *counter) add(at tick, d float64) { c.set(at, c.value+d) }

func (c *counter) advance(at tick) {
	p := &c.pyramid
	for p.buckets(at) > max(fewBuckets, c.changes/changeDensity) && p.base < maxTop-1 {
		p.coarsen()
		c.fill(p.end() - c.end)
	}
	for at >= c.end {
		p.close()
		c.fill(p.end() - c.end)
	}
}

// fill lets the value last for so long.
func (c *counter) fill(d tick) {
	open, v := c.pyramid.open(), c.value
	if d < 0 {
		open.area += v * float64(d)
		open.covered += d
	} else if d > 0 {
		open.merge(&counterSums{area: v * float64(d), covered: d, min: v, max: v, last: v})
	}
	c.end += d
}

func (c *counter) finish(at tick, top uint8) {
	if at >= c.end {
		c.advance(at)
	}
	c.fill(at - c.end)
	c.pyramid.finish(top)
}

// values are the counters of what the program tells of itself.
type values struct{ heap, goal, maxProcs counter }

// set takes a metric.
func (x *values) set(e *exectrace.Event, at tick) {
	v := float64(e.Value())
	switch e.Name {
	case exectrace.NameHeapObjects:
		x.heap.set(at, v)
	case exectrace.NameHeapGoal:
		x.goal.set(at, v)
	case exectrace.NameGOMAXPROCS:
		x.maxProcs.set(at, v)
	}
}

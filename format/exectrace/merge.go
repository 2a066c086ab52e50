package exectrace

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"loupe/value/timeline"
)

// order is the Ms of a generation in the order of their next events.
type order struct {
	frontier frontier
	limit    timeline.Time // the first cursor is first up to here
	storm    *storm        // nil at most times
	stalls   stalls
}

// sift puts the first cursor, which has moved on, where it belongs, and sets
// the limit up to which the one that is first now stays first. It returns that
// one, or nil if a sample comes before it, the first of which is at sample.
func (q *order) sift(sample timeline.Time) *cursor {
	f := q.frontier
	f[0].time = f[0].c.time
	f.down(0)
	q.limit = min(f.second(), sample)
	if sample < f[0].time {
		return nil
	}
	return f[0].c
}

// resift is sift after any other change of the frontier.
func (q *order) resift() {
	q.limit = math.MinInt64
	if len(q.frontier) > 0 {
		q.frontier[0].time = q.frontier[0].c.time
	}
}

// sort puts all in the order of time, as the first one is blocked.
func (q *order) sort() {
	f := q.frontier
	f[0].time = f[0].c.time
	if q.storm == nil {
		// A sorted heap is a heap. The sort must break ties as that of
		// internal/trace does: the same function on the same order.
		slices.SortFunc(f, func(a, b front) int { return cmp.Compare(a.time, b.time) })
		q.gathers()
	} else {
		q.storm.changed = false // all are sorted
	}
	q.limit = math.MinInt64
}

// update puts the cursor at i, which has moved on, where it belongs.
func (q *order) update(i int) {
	if q.storm != nil {
		q.moved(i)
	} else {
		q.frontier.update(i)
	}
}

// remove takes the cursor at i out.
func (q *order) remove(i int) {
	q.frontier.remove(i)
	q.resift()
}

// merger merges what the Ms and the CPU profiler wrote in one generation, in an order
// in which it can have happened.
type merger struct {
	order   order
	program program
	out     output
	losses  losses
	samples samples
	g       *generation
	strict  bool
}

// begin adds the Ms of a generation.
func (m *merger) begin(g *generation) {
	m.g = g
	for i := range g.threads {
		th := &g.threads[i]
		if len(th.batches) == 0 {
			continue
		}
		c := &cursor{thread: th.id, batches: th.batches, m: m.program.machines.of(th.id)}
		if m.next(c) {
			m.order.frontier.insert(c)
		}
		m.losses.damaged(c)
	}
	m.order.resift()
}

// next decodes the following event of c, if there is one.
func (m *merger) next(c *cursor) bool { return c.next(m.g, &m.out.symbols.tables) }

// hindered is what follows when the event of c, which is first, did not happen.
// It returns whether another has.
func (m *merger) hindered(c *cursor, out outcome) bool {
	if out == blocked {
		return m.another()
	}
	if m.order.storm != nil {
		m.order.calm()
	}
	m.drop(0)
	return false
}

// another lets another M than the first go on, in the order of time. It
// returns false when none can, which it has told then.
func (m *merger) another() bool {
	q := &m.order
	q.sort()
	f := q.frontier
	for i := 1; i < len(f); i++ {
		if q.storm != nil {
			if i = q.storm.free(i); i == len(f) {
				break
			}
		}
		switch m.advance(f[i].c, i) {
		case advanced:
			m.goneOn(i)
			return true
		case broken:
			q.endStorm()
			m.drop(i)
			return false
		}
	}
	q.endStorm()
	c := f[0].c
	if m.strict {
		m.abandon(c)
		return false
	}
	m.losses.lossy = true
	m.force(c)
	if !m.next(c) {
		m.end(0)
	}
	return m.out.pop()
}

// advance is [program.advance], which in a storm says what it has done.
func (m *merger) advance(c *cursor, i int) outcome {
	if m.order.storm == nil {
		return m.program.advance(&m.out, c)
	}
	op, arg, g, p := c.op, c.args[0], c.m.g, c.m.p
	out := m.program.advance(&m.out, c)
	switch out {
	case advanced:
		m.order.wake(c, op, arg, g, p)
	case blocked:
		m.order.storm.stick(i, c)
	}
	return out
}

// goneOn is what follows the event of the cursor at i, which is not the first.
func (m *merger) goneOn(i int) {
	c := m.order.frontier[i].c
	switch {
	case m.next(c):
		m.order.update(i)
	case m.order.storm != nil:
		m.losses.damaged(c)
		m.order.gone(i)
	default:
		m.end(i)
	}
}

// end takes the cursor at i out, at its end or because what follows is damaged.
func (m *merger) end(i int) {
	m.losses.damaged(m.order.frontier[i].c)
	m.order.remove(i)
}

// drop gives up the rest of what the thread at i has written, because its next
// event cannot happen. The other threads go on.
func (m *merger) drop(i int) {
	c := m.order.frontier[i].c
	if m.losses.lossy && !m.strict { // it may be for what is lost: only this event
		m.losses.skipped++
		if m.next(c) {
			m.order.frontier.update(i)
			m.order.limit = math.MinInt64
		} else {
			m.end(i)
		}
		return
	}
	m.losses.lose(c, fmt.Sprintf("thread %d: %s", c.thread, m.out.wrong), c.left())
	m.order.remove(i)
}

// abandon gives up the rest of a generation because no thread can go on; c is
// the one whose turn it was.
func (m *merger) abandon(c *cursor) {
	q := &m.order
	var left int64
	for _, f := range q.frontier {
		left += f.c.left()
	}
	m.losses.lose(c, fmt.Sprintf("%s: goroutine, P or collection %d never gets where this event needs it; %d threads cannot go on",
		specs[c.op].name, c.args[0], len(q.frontier)), left)
	q.frontier = q.frontier[:0]
	q.resift()
}

// takeSample makes the next CPU sample the current event.
func (m *merger) takeSample() {
	s, slot := &m.samples[0], NoSlot
	if s.g != NoGoroutine {
		slot = m.program.gs.find(s.g)
	}
	m.out.sample(s, slot)
	m.samples = m.samples[1:]
	m.order.resift()
}

package exectrace

import (
	"fmt"

	"loupe/value/timeline"
)

// cursor walks the events that one M wrote in one generation. Its fields hold
// the event that comes next.
type cursor struct {
	time timeline.Time
	op   byte
	args [maxArgs]uint64

	thread  ThreadID
	m       *machine
	data    []byte
	off     int
	quick   int     // an event that begins before it can be read without checks
	batches []batch // those not begun yet
	at      int64   // where data begins in the file, for problems
	wrong   string  // why next has returned false, if not for the end
}

// next decodes the following event. It returns false at the end, and where the
// data is damaged: then c.wrong says how.
//
// Note: nearly all numbers have one to three bytes, and are read here, in place.
// Not in a loop, so that each has branches of its own, and without a call on
// the way, so that nothing need be kept in memory meanwhile. All other events
// begin anew in nextRare. Without branches, eight bytes at a time by a table,
// reading took 15 % longer: what a branch says is foreseen well.
func (c *cursor) next(g *generation, t *tables) bool {
	if c.off >= c.quick {
		return c.nextRare(g, t)
	}
	b := (*[window]byte)(c.data[c.off:])
	op := b[0]
	n := argCounts[op]
	dt, size := short(b, 1)
	if size == 0 {
		return c.nextRare(g, t)
	}
	i := 1 + size
	if n > 0 {
		if c.args[0], size = short(b, i); size == 0 {
			return c.nextRare(g, t)
		}
		i += size
	}
	if n > 1 {
		if c.args[1], size = short(b, i); size == 0 {
			return c.nextRare(g, t)
		}
		i += size
	}
	if n > 2 {
		if c.args[2], size = short(b, i); size == 0 {
			return c.nextRare(g, t)
		}
		i += size
	}
	if n > 3 {
		if c.args[3], size = short(b, i); size == 0 || n > maxArgs {
			return c.nextRare(g, t)
		}
		i += size
	}
	c.op = op
	c.time += timeline.Time(int64(dt) * t.clock.whole)
	c.off += int(i)
	return true
}

// nextRare is next for every event: at the end of a batch, with long numbers,
// with any clock.
func (c *cursor) nextRare(g *generation, t *tables) bool {
	for c.off >= len(c.data) {
		if !c.nextBatch(g, t) {
			return false
		}
	}
	if len(c.data)-c.off < window {
		return c.nextNearEnd(t)
	}
	b := (*[window]byte)(c.data[c.off:])
	n := argCounts[b[0]]
	dt, i := number(b, 1)
	for k := range uint(n) {
		c.args[k%maxArgs], i = number(b, i)
	}
	if n > maxArgs || i >= maxEvent {
		return c.nextNearEnd(t)
	}
	c.op = b[0]
	c.time += t.clock.ns(dt)
	c.off += int(i)
	return true
}

// nextBatch begins the following batch, if there is one.
func (c *cursor) nextBatch(g *generation, t *tables) bool {
	if len(c.batches) == 0 {
		return false
	}
	b := c.batches[0]
	c.data, c.off, c.at = g.slice(t.data, b), 0, b.offset
	c.quick = len(c.data) - window + 1
	if t.clock.whole == 0 {
		c.quick = 0
	}
	c.time = t.clock.ns(b.time)
	c.batches = c.batches[1:]
	return true
}

// nextNearEnd is next with every index checked.
func (c *cursor) nextNearEnd(t *tables) bool {
	b := c.data
	op := b[c.off]
	n := argCounts[op]
	if n > maxArgs {
		c.wrong = fmt.Sprintf("%d is not a timed event type", op)
		return false
	}
	dt, i := uvarint(b, c.off+1)
	for k := range n {
		c.args[k], i = uvarint(b, i)
	}
	if i == bad {
		c.wrong = "an event is cut"
		return false
	}
	c.op = op
	c.time += t.clock.ns(dt)
	c.off = i
	return true
}

// left returns how many bytes of events c has not given yet.
func (c *cursor) left() int64 {
	n := int64(len(c.data) - c.off)
	for _, b := range c.batches {
		n += int64(b.size)
	}
	return n
}

// frontier is a heap of cursors by the time of their next events.
//
// Note: where two events have the same time, the shape of the heap decides
// which comes first, and with it the order of the whole trace. So that our
// order is that of internal/trace, the operations are exactly those of its
// heap (batchcursor.go): the same sifts in the same places.
type frontier []front

type front struct {
	time timeline.Time
	c    *cursor
}

func (f *frontier) insert(c *cursor) {
	*f = append(*f, front{c.time, c})
	f.up(len(*f) - 1)
}

// update restores the heap after the cursor at i has moved on.
func (f frontier) update(i int) {
	f[i].time = f[i].c.time
	if f.up(i) == i {
		f.down(i)
	}
}

func (f *frontier) remove(i int) {
	h := *f
	for i > 0 {
		h[(i-1)/2], h[i] = h[i], h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[0], h[len(h)-1] = h[len(h)-1], h[0]
	if h = h[:len(h)-1]; len(h) > 0 {
		h.down(0)
	}
	*f = h
}

func (f frontier) up(i int) int {
	for i > 0 && f[(i-1)/2].time > f[i].time {
		f[(i-1)/2], f[i] = f[i], f[(i-1)/2]
		i = (i - 1) / 2
	}
	return i
}

func (f frontier) down(i int) {
	x := f[i]
	for {
		child := 2*i + 1
		if child >= len(f) {
			break
		}
		if child+1 < len(f) && f[child+1].time < f[child].time {
			child++
		}
		if f[child].time >= x.time {
			break
		}
		f[i] = f[child]
		i = child
	}
	f[i] = x
}

// second returns the time of the earliest cursor but the first.
func (f frontier) second() timeline.Time {
	switch len(f) {
	case 1:
		return maxTime
	case 2:
		return f[1].time
	}
	return min(f[1].time, f[2].time)
}

package godebug

const (
	// maxOpen is how many lines can be in the making at once: one under the
	// print lock, one SCHED, one init line, and one false start.
	maxOpen = 4
	// maxForeign bytes or maxWrites of other output end the wait for a
	// line's next piece. A thread can be off its CPU for a scheduler's
	// time slice while others log at full speed.
	maxForeign = 1 << 20
	maxWrites  = 1 << 16
)

// begun is a line in the making.
type begun struct {
	g         *grammar
	at        place
	buf       []byte
	cuts      []int // ends of the pieces in buf
	slots     int   // values so far
	prev      byte  // kind of the slot that the last piece filled, or 0
	last      int   // clock of the last piece
	ambiguous bool
	foreign   int
	writes    int
}

func (b *begun) holdsLock() bool { return b.g.holdsLock(b.at) }

// before tells which of two lines a write belongs to when both accept it. A
// line that holds the print lock excludes every other; of two of these one is
// a false start, and the longer one is likelier to be real.
func (b *begun) before(c *begun) bool {
	if b.holdsLock() != c.holdsLock() {
		return b.holdsLock()
	}
	if len(b.buf) != len(c.buf) {
		return len(b.buf) > len(c.buf)
	}
	return b.last > c.last
}

// endedBy tells whether the begun line cannot be real when one of the grammar
// g begins. One thread prints SCHED and its details, and one the init lines,
// each after the other.
func (b *begun) endedBy(g *grammar) bool {
	if b.g == g && b.slots == 0 {
		return true
	}
	same := b.g == g || b.g.sched && g.sched
	return same && !b.g.locked && !b.holdsLock()
}

// begunLines are the lines in the making, the oldest first.
type begunLines struct {
	open  [maxOpen]begun
	count int // in use of open
	clock int // of begun.last
}

// taker finds the line that a write belongs to, -1 for none: how far the write brings it,
// and which kind of slot it fills.
func (l *begunLines) taker(p []byte) (best int, at place, slot byte) {
	best = -1
	for i := range l.count {
		b := &l.open[i]
		next, kind, ok := b.g.accept(b.at, p)
		if !ok {
			continue
		}
		if best >= 0 {
			c := &l.open[best]
			if !b.holdsLock() && !c.holdsLock() {
				// Both wait at the end of a print statement for the same.
				b.ambiguous, c.ambiguous = true, true
			}
			if !b.before(c) {
				continue
			}
		}
		best, at, slot = i, next, kind
	}
	return best, at, slot
}

// begin makes a line of a grammar; there must be room.
func (l *begunLines) begin(g *grammar) *begun {
	b := &l.open[l.count]
	l.count++
	*b = begun{g: g, buf: b.buf[:0], cuts: b.cuts[:0]}
	return b
}

// add appends a write to a line.
func (l *begunLines) add(b *begun, p []byte, at place, slot byte) {
	l.clock++
	b.buf = append(b.buf, p...)
	b.cuts = append(b.cuts, len(b.buf))
	b.at, b.prev, b.last = at, slot, l.clock
	b.foreign, b.writes = 0, 0
	if slot != 0 {
		b.slots++
	}
}

// stalest is the line that has waited for the longest.
func (l *begunLines) stalest() int {
	s := 0
	for i := range l.count {
		if l.open[i].last < l.open[s].last {
			s = i
		}
	}
	return s
}

// remove takes a line out of open, keeping the order and the buffers.
func (l *begunLines) remove(i int) {
	b := l.open[i]
	copy(l.open[i:l.count], l.open[i+1:l.count])
	l.count--
	l.open[l.count] = b
}

// seen is what the lines so far tell of those that may come.
type seen struct {
	detail bool // the last SCHED line has detail lines
	modern bool // a line of Go 1.5 or later was seen
}

// due tells whether the program may print lines of the grammar at all.
func (s seen) due(g *grammar) bool {
	return (!g.detail || s.detail) && (!g.go14 || !s.modern)
}

// mayBegin returns where in tail a runtime line may begin, or its length.
func (s seen) mayBegin(tail []byte) int {
	for i := range tail {
		rest := tail[i:]
		for j := range grammars {
			g := &grammars[j]
			if g.text[0] != rest[0] || !s.due(g) {
				continue
			}
			head := g.text[:g.head()]
			n := min(len(head), len(rest))
			if string(rest[:n]) == head[:n] {
				return i
			}
		}
	}
	return len(tail)
}

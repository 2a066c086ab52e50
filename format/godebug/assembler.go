package godebug

import "bytes"

// Assembler takes a live standard error apart into the lines of the runtime
// and the program's own output.
//
// The runtime writes one gctrace line with some forty write(2) calls, and
// output of other threads falls between them. When standard error is a
// socket that keeps the bounds of writes (SOCK_SEQPACKET), each call of
// [Assembler.Feed] gets one write, and the pieces are put together by the
// grammar of the runtime's lines: a write is taken only where the runtime
// could write just that. Lines of the runtime that are not printed under its
// print lock (SCHED, scheddetail, inittrace) may hold others inside them.
//
// Where program and runtime cannot be told apart, because the program writes
// a bare number just where one is due, the line is given back as program
// text: a line less, but no wrong figure.
//
// A write that holds whole lines of the runtime is split. With Stream set the
// input is cut anywhere, as on a pipe, and lines are all there is to go by.
//
// Note: program output is passed on at once, not held until a begun line is
// complete. So when a program itself writes "gc " and no more, these bytes
// come out late, after what it wrote next; nothing is lost. The alternative
// delays all output behind such a write.
type Assembler struct {
	// Program receives the program's output, one call per write, in order.
	Program func(p []byte)
	// Line receives each whole line of the runtime with its newline. Both
	// arguments are valid only during the call.
	Line func(line []byte)
	// Stream tells that the input is a byte stream cut anywhere.
	Stream bool

	open  [maxOpen]begun
	count int // in use of open
	clock int // of begun.last

	recs   records
	sample SchedSample // receives details that are parsed only to check them
	detail bool        // the last SCHED line has detail lines
	modern bool        // a line of Go 1.5 or later was seen
	carry  []byte      // Stream: the unterminated end of what was fed

	stats AssemblerStats
}

// AssemblerStats counts what an [Assembler] has done so far.
type AssemblerStats struct {
	Lines    int `json:"lines"`     // whole runtime lines
	Foreign  int `json:"foreign"`   // program writes inside a runtime line
	Doubtful int `json:"doubtful"`  // lines given back because a piece was ambiguous
	GivenUp  int `json:"abandoned"` // other begun lines given back
}

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

// Stats returns the counts so far.
func (a *Assembler) Stats() AssemblerStats { return a.stats }

// Feed takes one write of the program, or with Stream the next part of the
// stream. It does not keep p.
func (a *Assembler) Feed(p []byte) {
	switch {
	case len(p) == 0:
	case a.Stream:
		a.feedStream(p)
	case a.extend(p):
	case a.begin(p):
	default:
		a.foreign(p)
		a.lines(p)
	}
}

// Flush gives back what is begun and not complete. Call it at the end.
func (a *Assembler) Flush() {
	for a.count > 0 {
		a.giveBack(0)
	}
	if len(a.carry) > 0 {
		carry := a.carry
		a.carry = a.carry[:0]
		a.lines(carry)
	}
}

// extend offers a write to the lines in the making.
func (a *Assembler) extend(p []byte) bool {
	best := -1
	var at place
	var slot byte
	for i := range a.count {
		b := &a.open[i]
		next, kind, ok := b.g.accept(b.at, p)
		if !ok {
			continue
		}
		if best >= 0 {
			c := &a.open[best]
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
	if best < 0 {
		return false
	}
	b := &a.open[best]
	a.add(b, p, at, slot)
	switch {
	case at.pos == len(b.g.text):
		a.complete(best)
	case len(b.buf) > MaxLine:
		a.giveBack(best)
	}
	return true
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

func (a *Assembler) add(b *begun, p []byte, at place, slot byte) {
	a.clock++
	b.buf = append(b.buf, p...)
	b.cuts = append(b.cuts, len(b.buf))
	b.at, b.prev, b.last = at, slot, a.clock
	b.foreign, b.writes = 0, 0
	if slot != 0 {
		b.slots++
	}
}

// begin starts a line if p is the first piece of one.
func (a *Assembler) begin(p []byte) bool {
	for i := range grammars {
		g := &grammars[i]
		if g.text[0] != p[0] || !a.due(g) {
			continue
		}
		at, _, ok := g.accept(place{}, p)
		if !ok || at.pos < g.head() {
			continue
		}
		for j := a.count - 1; j >= 0; j-- {
			if a.open[j].endedBy(g) {
				a.giveBack(j)
			}
		}
		if a.count == maxOpen {
			a.giveBack(a.stalest())
		}
		b := &a.open[a.count]
		a.count++
		*b = begun{g: g, buf: b.buf[:0], cuts: b.cuts[:0]}
		a.add(b, p, at, 0)
		if at.pos == len(g.text) {
			a.complete(a.count - 1)
		}
		return true
	}
	return false
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

// due tells whether the program may print lines of the grammar at all.
func (a *Assembler) due(g *grammar) bool {
	return (!g.detail || a.detail) && (!g.go14 || !a.modern)
}

func (a *Assembler) stalest() int {
	s := 0
	for i := range a.count {
		if a.open[i].last < a.open[s].last {
			s = i
		}
	}
	return s
}

// complete hands out a finished line.
func (a *Assembler) complete(i int) {
	b := &a.open[i]
	v := a.recs.parseLine(b.buf[:len(b.buf)-1])
	switch {
	case b.ambiguous:
		a.stats.Doubtful++
		a.giveBack(i)
		return
	case v.kind == KindNone: // out of range
		a.giveBack(i)
		return
	}
	a.lineOut(b.buf, v)
	real := b.g.locked && b.slots > 0 // a notice of two words proves nothing
	a.remove(i)
	if !real {
		return
	}
	// No other line can be under way under the print lock: false starts.
	for j := a.count - 1; j >= 0; j-- {
		if a.open[j].g.locked {
			a.giveBack(j)
		}
	}
}

// lineOut hands out a runtime line that was just parsed.
func (a *Assembler) lineOut(line []byte, v verdict) {
	a.stats.Lines++
	if v.kind == KindCycle {
		a.modern = a.recs.cycle.Dialect != Go14
	}
	if v.kind == KindSched && !v.detail {
		a.modern = a.modern || bytes.Contains(line, []byte(" needspinning="))
		a.detail, a.recs.detailed = a.recs.sched.Detail, nil
		if s := &a.sample; a.detail {
			s.Local, s.Ticks, s.Ps, s.Ms, s.Gs = s.Local[:0], s.Ticks[:0], s.Ps[:0], s.Ms[:0], s.Gs[:0]
			a.recs.detailed = s
		}
	}
	if a.Line != nil {
		a.Line(line)
	}
}

// giveBack passes the pieces of a begun line on as the program's.
func (a *Assembler) giveBack(i int) {
	b := a.open[i]
	a.remove(i)
	if !b.ambiguous {
		a.stats.GivenUp++
	}
	from := 0
	for _, to := range b.cuts {
		a.program(b.buf[from:to])
		from = to
	}
}

// remove takes a line out of open, keeping the order and the buffers.
func (a *Assembler) remove(i int) {
	b := a.open[i]
	copy(a.open[i:a.count], a.open[i+1:a.count])
	a.count--
	a.open[a.count] = b
}

func (a *Assembler) program(p []byte) {
	if a.Program != nil && len(p) > 0 {
		a.Program(p)
	}
}

// foreign notes a write that belongs to none of the lines in the making.
func (a *Assembler) foreign(p []byte) {
	if a.count > 0 {
		a.stats.Foreign++
	}
	for i := a.count - 1; i >= 0; i-- {
		b := &a.open[i]
		b.foreign += len(p)
		b.writes++
		// Two values came where one was due. Either may be the program's.
		if b.prev != 0 && fits(b.prev, p) {
			b.ambiguous = true
		}
		if b.foreign > maxForeign || b.writes > maxWrites {
			a.giveBack(i)
		}
	}
}

// lines splits p into whole lines of the runtime and the rest. In a write of
// its own only a line's beginning counts; in a stream the runtime's text may
// follow unterminated text.
func (a *Assembler) lines(p []byte) {
	from, pos := 0, 0
	for pos < len(p) {
		n := bytes.IndexByte(p[pos:], '\n')
		if n < 0 {
			break
		}
		line := p[pos : pos+n]
		end := pos + n + 1
		if start, v, ok := a.lineIn(line); ok {
			a.program(p[from : pos+start])
			a.lineOut(p[pos+start:end], v)
			from = end
		}
		pos = end
	}
	a.program(p[from:])
}

// lineIn finds a runtime line that reaches to the end of line.
func (a *Assembler) lineIn(line []byte) (start int, v verdict, ok bool) {
	if len(line) > MaxLine {
		return 0, v, false
	}
	bare := bytes.TrimSuffix(line, []byte{'\r'})
	v = a.recs.parseLine(bare)
	if v.kind == KindNone && a.Stream {
		start, v = a.recs.search(bare, v)
	}
	return start, v, v.kind != KindNone && start+v.end == len(bare)
}

// feedStream splits what is complete and holds back an unterminated end only
// as far as it may belong to the runtime.
func (a *Assembler) feedStream(p []byte) {
	if len(a.carry) > 0 {
		n := bytes.IndexByte(p, '\n') + 1
		if n == 0 {
			n = len(p)
		}
		a.carry = append(a.carry, p[:n]...)
		p = p[n:]
		held := a.carry
		a.carry = a.carry[:0]
		a.split(held)
		if len(p) == 0 {
			return
		}
	}
	a.split(p)
}

// split hands out the lines of p; its unterminated end goes to carry, or out
// if the runtime cannot have begun a line in it.
func (a *Assembler) split(p []byte) {
	whole := bytes.LastIndexByte(p, '\n') + 1
	a.lines(p[:whole])
	tail := p[whole:]
	i := len(tail)
	if i <= MaxLine {
		i = a.mayBegin(tail)
	}
	a.program(tail[:i])
	a.carry = append(a.carry[:0], tail[i:]...)
}

// mayBegin returns where in tail a runtime line may begin, or its length.
func (a *Assembler) mayBegin(tail []byte) int {
	for i := range tail {
		rest := tail[i:]
		for j := range grammars {
			g := &grammars[j]
			if g.text[0] != rest[0] || !a.due(g) {
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

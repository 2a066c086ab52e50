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

	making begunLines
	recs   records
	sample SchedSample // receives details that are parsed only to check them
	seen   seen
	carry  []byte // Stream: the unterminated end of what was fed

	stats AssemblerStats
}

// AssemblerStats counts what an [Assembler] has done so far.
type AssemblerStats struct {
	Lines    int `json:"lines"`     // whole runtime lines
	Foreign  int `json:"foreign"`   // program writes inside a runtime line
	Doubtful int `json:"doubtful"`  // lines given back because a piece was ambiguous
	GivenUp  int `json:"abandoned"` // other begun lines given back
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
	for a.making.count > 0 {
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
	best, at, slot := a.making.taker(p)
	if best < 0 {
		return false
	}
	b := &a.making.open[best]
	a.making.add(b, p, at, slot)
	switch {
	case at.pos == len(b.g.text):
		a.complete(best)
	case len(b.buf) > MaxLine:
		a.giveBack(best)
	}
	return true
}

// begin starts a line if p is the first piece of one.
func (a *Assembler) begin(p []byte) bool {
	for i := range grammars {
		g := &grammars[i]
		if g.text[0] != p[0] || !a.seen.due(g) {
			continue
		}
		at, _, ok := g.accept(place{}, p)
		if !ok || at.pos < g.head() {
			continue
		}
		for j := a.making.count - 1; j >= 0; j-- {
			if a.making.open[j].endedBy(g) {
				a.giveBack(j)
			}
		}
		if a.making.count == maxOpen {
			a.giveBack(a.making.stalest())
		}
		a.making.add(a.making.begin(g), p, at, 0)
		if at.pos == len(g.text) {
			a.complete(a.making.count - 1)
		}
		return true
	}
	return false
}

// complete hands out a finished line.
func (a *Assembler) complete(i int) {
	b := &a.making.open[i]
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
	a.making.remove(i)
	if !real {
		return
	}
	// No other line can be under way under the print lock: false starts.
	for j := a.making.count - 1; j >= 0; j-- {
		if a.making.open[j].g.locked {
			a.giveBack(j)
		}
	}
}

// lineOut hands out a runtime line that was just parsed.
func (a *Assembler) lineOut(line []byte, v verdict) {
	a.stats.Lines++
	if v.kind == KindCycle {
		a.seen.modern = a.recs.cycle.Dialect != Go14
	}
	if v.kind == KindSched && !v.detail {
		a.seen.modern = a.seen.modern || bytes.Contains(line, []byte(" needspinning="))
		a.seen.detail, a.recs.detailed = a.recs.sched.Detail, nil
		if s := &a.sample; a.seen.detail {
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
	b := a.making.open[i]
	a.making.remove(i)
	if !b.ambiguous {
		a.stats.GivenUp++
	}
	from := 0
	for _, to := range b.cuts {
		a.program(b.buf[from:to])
		from = to
	}
}

func (a *Assembler) program(p []byte) {
	if a.Program != nil && len(p) > 0 {
		a.Program(p)
	}
}

// foreign notes a write that belongs to none of the lines in the making.
func (a *Assembler) foreign(p []byte) {
	if a.making.count > 0 {
		a.stats.Foreign++
	}
	for i := a.making.count - 1; i >= 0; i-- {
		b := &a.making.open[i]
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
		i = a.seen.mayBegin(tail)
	}
	a.program(tail[:i])
	a.carry = append(a.carry[:0], tail[i:]...)
}

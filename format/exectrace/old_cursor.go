package exectrace

// oldCursor reads the events of one P, or the CPU samples. The index has
// checked the bytes.
type oldCursor struct {
	data    []byte
	format  *oldFormat
	index   int    // among the cursors
	proc    ProcID // NoProc for the samples
	batches []oldBatchSpan
	samples []sample
	i, end  int
	running uint64 // the goroutine that the P runs after the event

	// The event. Its numbers are args, without the stack.
	kind      byte
	at        int    // its offset
	g         uint64 // the goroutine that it belongs to, or 0
	time, seq int64  // in ticks; seq in format 5 alone
	stack     uint64
	args      [4]uint64
	message   oldText // of a UserLog

	slot Slot         // where g was found last
	tail [window]byte // the end of the file, when less than a window is left
}

// cursors returns one for each P and one for the samples.
func (o *oldTrace) cursors() []oldCursor {
	out := make([]oldCursor, 0, len(o.procs)+1)
	for i, p := range o.procs {
		out = append(out, oldCursor{data: o.data, format: o.format, index: i, proc: p.id, batches: p.batches})
	}
	return append(out, oldCursor{format: o.format, index: len(out), proc: NoProc, samples: o.samples})
}

// next decodes the following event and says whether there is one.
func (c *oldCursor) next() bool {
	for c.i < c.end || c.nextBatch() {
		if c.decode() {
			return true
		}
	}
	if len(c.samples) == 0 {
		return false
	}
	s := c.samples[0]
	c.samples = c.samples[1:]
	c.kind, c.g, c.time, c.stack, c.proc = oldCPUSample, uint64(s.g), int64(s.time), s.stack, s.p
	return true
}

// nextBatch begins the following batch that is not empty, if there is one.
func (c *oldCursor) nextBatch() bool {
	for len(c.batches) > 0 {
		b := c.batches[0]
		c.batches = c.batches[1:]
		c.i, c.end, c.time, c.seq = b.start, b.end, b.time, b.seq
		if c.i < c.end {
			return true
		}
	}
	return false
}

// decode reads what stands at c.i and returns false when that is no event.
func (c *oldCursor) decode() bool {
	w := &c.tail
	if len(c.data)-c.i >= window {
		w = (*[window]byte)(c.data[c.i:])
	} else {
		copy(w[:], c.data[c.i:])
	}
	kind := w[0] & (oldKinds - 1)
	i := uint(1)
	var length uint64
	if w[0]>>6 == 3 {
		length, i = number(w, i)
	}
	shape := c.format.shapes[kind]
	if shape.effect <= isSample {
		c.skip(kind, w, i, int(length))
		return false
	}
	var v uint64
	if c.format.lead == 2 {
		v, i = number(w, i)
		c.seq += int64(v)
	}
	v, i = number(w, i)
	c.time += int64(v)
	c.args = [4]uint64{}
	for k := range uint(shape.count) {
		v, i = number(w, i)
		c.args[k%4] = v
	}
	c.stack = 0
	if shape.stack {
		last := &c.args[(uint(shape.count)-1)%4]
		c.stack, *last = uint64(uint32(*last)), 0
	}
	c.kind, c.at = kind, c.i
	c.i += int(i)
	c.settle(shape.effect)
	return true
}

// settle finds out whose event it is, and what the P runs after it.
func (c *oldCursor) settle(effect oldEffect) {
	c.g = c.running
	switch effect {
	case startsGo:
		c.running = c.args[0]
		c.g = c.running
	case leavesGo:
		c.running = 0
	case namesGo:
		c.g = c.args[0]
	case carriesText:
		n, i := uvarint(c.data, c.i)
		c.message = oldText{i, i + int(n)}
		c.i = c.message.end
	}
}

// skip goes on behind what is no event: an entry of a table, or a CPU sample,
// which is read with the others. w and i are as far as decode has read.
func (c *oldCursor) skip(kind byte, w *[window]byte, i uint, length int) {
	plain := int(w[0]>>6) + c.format.lead
	switch {
	case kind == oldString:
		_, at := uvarint(c.data, c.i+1)
		n, at := uvarint(c.data, at)
		c.i = at + int(n)
	case w[0]>>6 == 3:
		c.i += int(i) + length
	default:
		c.i++
		for range plain {
			_, c.i = uvarint(c.data, c.i)
		}
	}
}

// key is what the events of all Ps are merged by.
func (c *oldCursor) key() int64 {
	if c.format.lead == 2 {
		return c.seq
	}
	return c.time
}

// isExit says whether the event is the end of a system call.
func (c *oldCursor) isExit() bool { return c.kind == oldGoSysExit || c.kind == oldGoSysExitLocal }

// exit is when a system call has ended: the goroutine writes so when it has
// got a P again, which is later. The time can be missing.
func (c *oldCursor) exit() (at int64, known bool) {
	if c.kind == oldGoSysExit && c.args[2] != 0 {
		return int64(c.args[2]), true
	}
	return c.time, false
}

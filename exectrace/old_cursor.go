package exectrace

// oldCursor reads the events of one P, or the CPU samples. The index has
// checked the bytes.
type oldCursor struct {
	trace   *oldTrace
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
	slot      Slot   // where g was found last
	time, seq int64  // in ticks; seq in format 5 alone
	stack     uint64
	args      [4]uint64
	message   oldText // of a UserLog
}

// cursors returns one for each P and one for the samples.
func (o *oldTrace) cursors() []oldCursor {
	out := make([]oldCursor, 0, len(o.procs)+1)
	for i, p := range o.procs {
		out = append(out, oldCursor{trace: o, index: i, proc: p.id, batches: p.batches})
	}
	return append(out, oldCursor{trace: o, index: len(out), proc: NoProc, samples: o.samples})
}

// next decodes the following event and says whether there is one.
func (c *oldCursor) next() bool {
	if len(c.samples) > 0 {
		s := c.samples[0]
		c.samples = c.samples[1:]
		c.kind, c.g, c.time, c.stack, c.proc = oldCPUSample, uint64(s.g), int64(s.time), s.stack, s.p
		return true
	}
	data := c.trace.data
	for {
		for c.i >= c.end {
			if len(c.batches) == 0 {
				return false
			}
			b := c.batches[0]
			c.batches = c.batches[1:]
			c.i, c.end, c.time, c.seq = b.start, b.end, b.time, b.seq
		}
		c.at = c.i
		head := data[c.i]
		c.kind = head & (oldKinds - 1)
		c.i++
		if c.kind == oldString {
			_, i := uvarint(data, c.i)
			n, i := uvarint(data, i)
			c.i = i + int(n)
			continue
		}
		end := 0
		if head>>6 == 3 {
			n, i := uvarint(data, c.i)
			c.i, end = i, i+int(n)
		}
		if c.trace.format.timed[c.kind] && c.kind != oldCPUSample {
			c.read(data)
			return true
		}
		if end == 0 {
			end = c.i
			for range int(head>>6) + c.trace.format.lead {
				_, end = uvarint(data, end)
			}
		}
		c.i = end
	}
}

// read reads what stands behind the type of an event.
func (c *oldCursor) read(data []byte) {
	f, i := c.trace.format, c.i
	var v uint64
	if f.lead == 2 {
		v, i = uvarint(data, i)
		c.seq += int64(v)
	}
	v, i = uvarint(data, i)
	c.time += int64(v)
	n := int(f.count[c.kind])
	c.args, c.stack = [4]uint64{}, 0
	for k := range n {
		c.args[k&3], i = uvarint(data, i)
	}
	if f.stack[c.kind] {
		c.stack = uint64(uint32(c.args[(n-1)&3]))
		c.args[(n-1)&3] = 0
	}
	c.g = c.running
	switch c.kind {
	case oldGoStart, oldGoStartLocal, oldGoStartLabel:
		c.running = c.args[0]
		c.g = c.running
	case oldGoSysExit, oldGoSysExitLocal, oldGoWaiting, oldGoInSyscall:
		c.g = c.args[0]
	case oldGoEnd, oldGoStop, oldGoSched, oldGoPreempt, oldGoSleep, oldGoBlock, oldGoBlockSend, oldGoBlockRecv,
		oldGoBlockSelect, oldGoBlockSync, oldGoBlockCond, oldGoBlockNet, oldGoSysBlock, oldGoBlockGC:
		c.running = 0
	case oldUserLog:
		var length uint64
		length, i = uvarint(data, i)
		c.message = oldText{i, i + int(length)}
		i += int(length)
	}
	c.i = i
}

// key is what the events of all Ps are merged by.
func (c *oldCursor) key() int64 {
	if c.trace.format.lead == 2 && c.kind != oldCPUSample {
		return c.seq
	}
	return c.time
}

// isExit says whether the event is the end of a system call.
func (c *oldCursor) isExit() bool { return c.kind == oldGoSysExit || c.kind == oldGoSysExitLocal }

// exit is the end of a system call as it will be shown: the goroutine writes
// it when it has got a P again, which is later than it has happened.
func (c *oldCursor) exit() (at int64, moved bool) {
	if c.kind == oldGoSysExit && c.args[2] != 0 {
		return int64(c.args[2]), true
	}
	return c.time, false
}

package exectrace

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"loupe/value/timeline"
)

// oldTrace is the index of a trace before Go 1.22. Events lie in batches that
// do not tell their length, and what they refer to can lie anywhere, so that
// one walk over the whole file comes first. It checks the grammar: whoever
// reads the batches afterwards meets nothing that cannot be decoded.
type oldTrace struct {
	data      []byte // the file, up to what can be read
	format    *oldFormat
	procs     []oldProc // by id
	strings   idTable[oldText]
	stacks    idTable[int]        // where the number of frames stands
	frames    map[uint64]oldFrame // by PC; the first wins, as in internal/trace
	timers    map[uint64]bool     // goroutines that only wake others up
	samples   []sample            // by time, in ticks
	frequency uint64              // ticks a second, or 0

	oldOrder
}

// oldProc is one P and what it wrote.
type oldProc struct {
	id      ProcID
	batches []oldBatchSpan
}

// oldBatchSpan is one batch: where its events are, and what they count from.
type oldBatchSpan struct {
	start, end int
	time, seq  int64
}

// oldText is a string of the file.
type oldText struct{ start, end int }

// oldFrame is one place in the program; its names are numbers of strings.
type oldFrame struct {
	function, file uint64
	line           int
}

// Bounds for hostile input. Those of frames and strings are internal/trace's;
// it has none for Ps, of which these versions of Go never ran a quarter as many.
const (
	maxOldFrames = 1000
	maxOldString = 1e6
	maxOldProcs  = 1 << 12
)

// oldWalk is the walk over the file.
type oldWalk struct {
	*oldTrace
	i       int // what is read next
	start   int // where the event begins
	byProc  map[ProcID]int
	current int // index of the P whose batch it is, -1 in front of the first
}

// walk fills the index. It returns where and why it had to stop, or "".
func (o *oldTrace) walk() (at int, wrong string) {
	w := oldWalk{oldTrace: o, i: headerSize, byProc: make(map[ProcID]int), current: -1}
	for w.i < len(o.data) {
		w.start = w.i
		if wrong = w.event(); wrong != "" {
			break
		}
		w.start = w.i
	}
	at = w.start
	o.data = o.data[:at]
	w.closeBatch(at)
	slices.SortFunc(o.procs, func(a, b oldProc) int { return cmp.Compare(a.id, b.id) })
	// The sort must break ties as that of internal/trace does: the same
	// function on the same order.
	slices.SortFunc(o.samples, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
	return at, wrong
}

// oldCut is what is wrong with the last event of a file that is cut.
const oldCut = "the file ends inside of an event"

// event reads one event and returns what is wrong with it.
func (w *oldWalk) event() string {
	if w.plain() {
		return ""
	}
	head := w.data[w.i]
	kind := head & (oldKinds - 1)
	want := int(w.format.shapes[kind].count)
	w.i++
	switch {
	case want < 0:
		return fmt.Sprintf("%d is not an event type in format %v", kind, w.format.version)
	case kind == oldString:
		return w.string()
	case kind != oldBatch && w.current < 0:
		return "an event in front of the first batch"
	case w.format.shapes[kind].effect != noEvent:
		want += w.format.lead
	}
	// The two high bits count the arguments, without what stands in front of
	// them; 3 says that the length follows in bytes.
	most, end := int(head>>6)+w.format.lead, len(w.data)
	if head>>6 == 3 {
		length := w.number()
		if w.i == bad {
			return w.broken()
		}
		if length > uint64(end-w.i) {
			return oldCut
		}
		most, end = math.MaxInt, w.i+int(length)
	}
	if kind == oldStack {
		return w.stack(most, end)
	}
	var args [8]uint64
	n := 0
	for ; n < most && w.i != bad && w.i < end; n++ {
		args[n%len(args)] = w.number()
	}
	switch {
	case w.i == bad:
		return w.broken()
	case n < most && most < math.MaxInt:
		return oldCut
	case n != want || w.i > end:
		return fmt.Sprintf("%s has %d numbers instead of %d", oldSpecs[kind].name, n, want)
	}
	return w.keep(kind, &args)
}

// plain goes on behind an event without a length that is right and that
// nothing needs to be kept of. Most are, and this takes a third of the time.
func (w *oldWalk) plain() bool {
	if len(w.data)-w.i < window || w.current < 0 {
		return false
	}
	b := (*[window]byte)(w.data[w.i:])
	shape := w.format.shapes[b[0]&(oldKinds-1)]
	n := int(b[0]>>6) + w.format.lead
	if b[0]>>6 == 3 || shape.effect <= isSample || n != int(shape.count)+w.format.lead {
		return false
	}
	i := uint(1)
	for range n {
		start := i
		for b[i%maxEvent] >= 0x80 && i-start < 9 {
			i++
		}
		if i++; i-start > 9 { // the tenth byte may be one too many
			return false
		}
	}
	w.i += int(i)
	return true
}

// number reads a number; w.i is bad then, and stays so, when it is broken.
func (w *oldWalk) number() (v uint64) {
	v, w.i = uvarint(w.data, w.i)
	return v
}

// broken tells a number that is cut by the end of the file from one that is
// too long.
func (w *oldWalk) broken() string {
	n := 0 // bytes at the end of the file that want another behind them
	for n < 10 && w.data[len(w.data)-1-n] >= 0x80 {
		n++
	}
	if n > 0 && n < 10 && len(w.data)-w.start < 128 {
		return oldCut
	}
	return "a number has more than 64 bits"
}

// keep files what later reading needs of an event.
func (w *oldWalk) keep(kind byte, args *[8]uint64) string {
	switch kind {
	case oldBatch:
		return w.batch(args)
	case oldFrequency:
		if int64(args[0]) <= 0 {
			return fmt.Sprintf("the clock has %d ticks a second", int64(args[0]))
		}
		w.frequency = args[0]
	case oldTimerGoroutine:
		w.timers[args[0]] = true
	case oldCPUSample: // its own time stands behind that of its writing
		w.samples = append(w.samples, sample{time: timeline.Time(args[1]), m: NoThread, p: ProcID(int32(args[2])), g: GoID(args[3]), stack: args[4]})
	case oldUserLog:
		return w.skip(w.number())
	}
	return ""
}

// skip goes on behind a text of n bytes.
func (w *oldWalk) skip(n uint64) string {
	switch {
	case w.i == bad:
		return w.broken()
	case n > maxOldString:
		return fmt.Sprintf("a string of %d bytes", n)
	case n > uint64(len(w.data)-w.i):
		return oldCut
	}
	w.i += int(n)
	return ""
}

// batch begins a batch of a P.
func (w *oldWalk) batch(args *[8]uint64) string {
	p := args[0]
	if p >= maxOldProcs && p != math.MaxUint64 {
		return fmt.Sprintf("a batch of P %d, which cannot be", p)
	}
	w.closeBatch(w.start)
	id := ProcID(int32(p))
	i, ok := w.byProc[id]
	if !ok {
		i = len(w.procs)
		w.byProc[id] = i
		w.procs = append(w.procs, oldProc{id: id})
	}
	b := oldBatchSpan{start: w.i, time: int64(args[1])}
	if w.format.version < 7 {
		b.seq, b.time = int64(args[1]), int64(args[2])
	}
	w.procs[i].batches = append(w.procs[i].batches, b)
	w.current = i
	return ""
}

// closeBatch ends the batch that goes up to end.
func (w *oldWalk) closeBatch(end int) {
	if w.current >= 0 {
		b := w.procs[w.current].batches
		b[len(b)-1].end = end
	}
}

// string reads an entry of the string table.
func (w *oldWalk) string() string {
	id, n := w.number(), w.number()
	start := w.i
	if wrong := w.skip(n); wrong != "" {
		return wrong
	}
	if id == 0 || !w.strings.put(id, oldText{start, w.i}) {
		return fmt.Sprintf("two strings with the number %d", id)
	}
	return ""
}

// stack reads an entry of the stack table. It has as many numbers as most says,
// or goes up to end.
func (w *oldWalk) stack(most, end int) string {
	id, list := w.number(), w.i
	depth := w.number()
	if depth > maxOldFrames {
		return fmt.Sprintf("a stack of %d frames", depth)
	}
	n := 2 + int(depth)
	for range depth {
		pc := w.number()
		if w.format.version < 7 {
			continue
		}
		n += 3
		f := oldFrame{function: w.number(), file: w.number(), line: int(w.number())}
		if _, ok := w.frames[pc]; !ok && w.i != bad {
			w.frames[pc] = f
		}
	}
	switch {
	case w.i == bad:
		return w.broken()
	case most == math.MaxInt && w.i != end || most < math.MaxInt && n != most:
		return fmt.Sprintf("stack %d does not have the length that it tells", id)
	}
	if id = uint64(uint32(id)); id != 0 && depth > 0 {
		w.stacks.put(id, list)
	}
	return ""
}

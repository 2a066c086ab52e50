package exectrace

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"loupe/value/timeline"
)

// Bounds of the format (internal/trace/tracev2).
const (
	maxBatchSize  = 64 << 10
	maxStringSize = 1 << 10
	maxFrames     = 128
)

// batch is one batch of a generation: what one M wrote, or a piece of the
// generation's tables.
type batch struct {
	thread ThreadID
	time   uint64 // in units of the trace's clock
	offset int64  // of the data behind the header
	size   int32
}

// thread holds the batches of one M, in the order in which it wrote them.
type thread struct {
	id      ThreadID
	batches []batch
}

// expBatch is a batch of an experiment; its data has a format of its own.
type expBatch struct {
	experiment byte
	batch
}

// generation is where the parts of one generation lie.
type generation struct {
	number   uint64
	start    int64 // offset of its first batch
	bytes    int64
	batches  int   // of events
	total    int   // batches of all kinds
	lost     int64 // bytes of events that are not read, because they lie behind damage
	minTime  uint64
	maxTime  uint64   // of a batch; events may be later
	complete bool     // the end was seen
	damaged  bool     // some of it is lost
	torn     bool     // does not follow from the generation before it
	anew     bool     // begins another trace of the process, see [Join]
	threads  []thread // in order of appearance, which breaks ties between equal times
	strings  []batch
	stacks   []batch
	samples  []batch
	syncs    []batch
	exps     []expBatch
}

// batchHeader is the longest header of a batch: type, experiment and four
// numbers of up to ten bytes.
const batchHeader = 2 + 4*10

// indexer finds out what lies where. It is kept between two calls of
// [Trace.Extend].
type indexer struct {
	off      int64            // every batch that begins before is indexed
	g        *generation      // whose batches are coming, or nil
	byThread map[ThreadID]int // index in g.threads
	last     uint64           // number of the last generation that has ended
	times    [2]uint64        // of the last two batches: one may be damaged
	torn     bool             // there is damage in front of the next generation
	padded   bool             // headers are padded, as the runtime does
	newest   newest
	head     [batchHeader + 1]byte

	data     *source
	version  Version
	live     bool // the file is still being written
	gens     []*generation
	problems problems
}

// newest is the batch that was read last: its size may turn out to be wrong.
type newest struct {
	b    *batch // where it is kept
	g    *generation
	lost bool // it counts in g.lost alone
}

// run goes on with the headers of the batches until the end of the file.
func (x *indexer) run() error {
	for x.off < x.data.size {
		more, err := x.indexBatch()
		if err != nil || !more {
			return err
		}
	}
	if x.live {
		return nil
	}
	g := x.g
	switch {
	case g == nil && len(x.gens) == 0 && x.version < 26:
		return x.tell(x.data.size, "the file ends before its first generation")
	case g == nil:
		return nil
	case g.damaged:
		return x.tellLost()
	case x.version >= 26:
		return x.tell(x.data.size, "the file ends before the generation does")
	}
	g.complete = true // nothing but the end of the file says so
	return nil
}

// indexBatch reads the header at the current offset. It returns false where
// the file ends for now.
func (x *indexer) indexBatch() (more bool, err error) {
	head, err := x.data.read(x.off, int64(len(x.head)), x.head[:])
	if err != nil {
		return false, err
	}
	if len(head) == 0 {
		return false, x.tell(x.off, "the file has become shorter while it was read")
	}
	if head[0] == evEndOfGeneration && x.version >= 26 {
		x.off++
		if x.g == nil {
			return true, x.tell(x.off-1, "the end of a generation that has not begun")
		}
		return true, x.endGeneration()
	}
	h, n, wrong := parseBatchHeader(head)
	b := batch{thread: h.thread, time: h.time, offset: x.off + int64(n), size: h.size}
	end := b.offset + int64(b.size)
	if n == bad || wrong == "" && end > x.data.size {
		if x.live {
			return false, nil // the rest of it will come
		}
		if shorter, err := x.shorten(); shorter || err != nil {
			return true, err
		}
		// One byte at the end of the file is no proof of a generation's end.
		if next, err := x.findBatch(x.off+1, x.data.size); err != nil || next < x.data.size-1 {
			return true, cmp.Or(err, x.skip(next, "a batch that is longer than the file"))
		}
		if wrong == "" {
			wrong = fmt.Sprintf("the file ends inside of a batch: %d of its %d bytes are there", x.data.size-b.offset, b.size)
			b.size = int32(max(0, x.data.size-b.offset))
		}
		if err := x.tell(x.off, wrong); err != nil || n == bad {
			x.off = x.data.size
			x.tear()
			return true, err
		}
		// What is whole of it is used.
		wrong, end = "", x.data.size
		defer x.tear()
	}
	padded := wrong == "" && uvarintSize(head[:n]) == paddedSize
	if wrong == "" && x.padded && !padded && !x.problems.strict {
		wrong = "a batch should begin here, and nothing but its first byte is as in all before"
	}
	if wrong == "" && x.g != nil && h.gen != x.g.number {
		more, err := x.leave(&h, head, &wrong, end)
		if err != nil || !more {
			return false, err
		}
	}
	if wrong != "" {
		if shorter, err := x.shorten(); shorter || err != nil {
			return true, err
		}
		next, err := x.findBatch(x.off+1, x.data.size)
		if err != nil || next == x.data.size && x.live {
			return false, err // what comes may show where to go on
		}
		return true, x.skip(next, wrong)
	}
	if x.g == nil {
		if err := x.enter(h.gen); err != nil {
			return false, err
		}
	}
	x.padded = x.padded || padded
	x.off, x.times = end, [2]uint64{h.time, x.times[0]}
	return true, x.add(b, h, head[n:])
}

// endGeneration says that the end of the current generation has come.
func (x *indexer) endGeneration() error {
	err := x.tellLost()
	x.g.complete, x.g.bytes = true, x.off-x.g.start
	x.last, x.g = max(x.last, x.g.number), nil
	return err
}

// tellLost tells of the events that lie behind damage in their generation.
func (x *indexer) tellLost() error {
	g := x.g
	if g.lost == 0 {
		return nil
	}
	return x.tell(-1, fmt.Sprintf("%d bytes of events (%.1f%% of the file) lie behind the damage in their generation and are not read",
		g.lost, x.data.share(g.lost)))
}

// tear says that what comes next does not follow from what was there before.
func (x *indexer) tear() {
	if x.torn = x.g == nil; x.g != nil {
		x.g.damaged = true
	}
}

// skip goes on at another place because something is wrong here.
func (x *indexer) skip(next int64, wrong string) error {
	n := next - x.off
	err := x.tell(x.off, fmt.Sprintf("%s; %d bytes (%.1f%% of the file) are skipped", wrong, n, x.data.share(n)))
	x.tear()
	x.off = next
	return err
}

// leave decides what a batch of another generation than the current one means:
// the end of that, a wrong number, which it corrects, or that there is no batch
// here at all, which it tells by wrong. It returns false when the file must
// grow before that can be told.
func (x *indexer) leave(h *header, head []byte, wrong *string, end int64) (more bool, err error) {
	g := x.g
	within, err := x.continues(end)
	switch {
	case err != nil || end >= x.data.size && x.live:
		return false, err
	case within:
		err = x.tell(x.off, fmt.Sprintf("a batch of generation %d between two of generation %d, to which it is counted", h.gen, g.number))
		h.gen = g.number
		return true, err
	case x.version < 26 && h.gen == g.number+1:
		return true, x.endGeneration()
	}
	text := fmt.Sprintf("a batch of generation %d before the end of generation %d", h.gen, g.number)
	alone := g.total == 1 // then it may be its number that is wrong
	number := g.number
	if alone {
		number = x.last
	}
	if !x.problems.strict && !x.opensBatch(head, number) {
		*wrong = text
		return true, nil
	}
	err = x.tell(x.off, text)
	if alone {
		g.number = h.gen
		if h.gen > x.last && (len(x.gens) == 0 || x.gens[len(x.gens)-1] != g) {
			x.gens = append(x.gens, g)
		}
		return true, err
	}
	g.damaged = true
	err = cmp.Or(err, x.tellLost())
	x.last, x.g, x.torn = max(x.last, g.number), nil, true
	return true, err
}

// continues says whether the current generation goes on or ends at off.
func (x *indexer) continues(off int64) (bool, error) {
	var buf [batchHeader + 1]byte
	b, err := x.data.read(off, int64(len(buf)), buf[:])
	if err != nil || len(b) == 0 {
		return false, err
	}
	if b[0] == evEndOfGeneration && x.version >= 26 {
		return true, nil
	}
	h, _, wrong := parseBatchHeader(b)
	return wrong == "" && h.gen == x.g.number, nil
}

// enter begins a generation.
func (x *indexer) enter(number uint64) error {
	x.g = &generation{number: number, start: x.off, torn: x.torn}
	x.torn = false
	if x.byThread == nil {
		x.byThread = make(map[ThreadID]int)
	}
	clear(x.byThread)
	// The standard library looks at these numbers before Go 1.26 only.
	follows := x.last == 0 || number == x.last+1 || x.problems.strict && x.version >= 26
	if number > x.last || follows {
		x.gens = append(x.gens, x.g)
	}
	switch {
	case follows:
		return nil
	case number > x.last:
		x.g.torn = true
		return x.tell(x.off, fmt.Sprintf("generation %d follows generation %d; what was between them is lost", number, x.last))
	}
	return x.tell(x.off, fmt.Sprintf("generation %d comes again after generation %d; it is not read", number, x.last))
}

// add files a batch under what it holds, which its first byte tells. data is
// the beginning of that, or empty.
func (x *indexer) add(b batch, h header, data []byte) error {
	g := x.g
	g.bytes = x.off - g.start
	g.total++
	if g.minTime == 0 || b.time < g.minTime { // a batch at 0 does not count, as in the standard library
		g.minTime = b.time
	}
	g.maxTime = max(g.maxTime, b.time)
	if h.kind == evExperimentalBatch {
		g.exps = append(g.exps, expBatch{h.experiment, b})
		x.newest = newest{b: &g.exps[len(g.exps)-1].batch, g: g}
		return nil
	}
	var first byte // 0 for a batch without data, which is one of events
	if b.size > 0 && len(data) == 0 {
		var err error
		if data, err = x.data.read(b.offset, 1, nil); err != nil {
			return err
		}
	}
	if b.size > 0 && len(data) > 0 {
		first = data[0]
	}
	x.newest = newest{g: g}
	switch {
	case first == evStrings:
		x.newest.b = keep(&g.strings, b)
	case first == evStacks:
		x.newest.b = keep(&g.stacks, b)
	case first == evCPUSamples:
		x.newest.b = keep(&g.samples, b)
	case first == evSync && x.version >= 25, first == evFrequency && x.version < 25:
		x.newest.b = keep(&g.syncs, b)
	case g.damaged:
		// A batch of this thread may be missing. What is known of the thread
		// does not hold any more, and its events would be told of others.
		g.lost += int64(b.size)
		lost := b
		x.newest.b, x.newest.lost = &lost, true
	default: // an empty batch has no events, but it decides where its thread comes
		i, ok := x.byThread[b.thread]
		if !ok {
			i = len(g.threads)
			x.byThread[b.thread] = i
			g.threads = append(g.threads, thread{id: b.thread})
		}
		if b.size > 0 {
			x.newest.b = keep(&g.threads[i].batches, b)
			g.batches++
		}
	}
	return nil
}

// keep appends b to list and returns where it is.
func keep(list *[]batch, b batch) *batch {
	*list = append(*list, b)
	return &(*list)[len(*list)-1]
}

// header is the header of a batch.
type header struct {
	kind       byte // evEventBatch or evExperimentalBatch
	gen        uint64
	thread     ThreadID
	time       uint64
	size       int32
	experiment byte
}

// parseBatchHeader returns the header, its length, and what is wrong with it;
// the length is bad when only the end of the file is.
func parseBatchHeader(b []byte) (h header, n int, wrong string) {
	if b[0] != evEventBatch && b[0] != evExperimentalBatch {
		return h, 0, fmt.Sprintf("a batch should begin here, but the byte is %#02x", b[0])
	}
	h.kind = b[0]
	i := 1
	if b[0] == evExperimentalBatch {
		if len(b) < 2 {
			return h, bad, "the file ends inside of a batch's header"
		}
		h.experiment = b[1]
		i = 2
	}
	var m, size uint64
	h.gen, i = uvarint(b, i)
	m, i = uvarint(b, i)
	h.time, i = uvarint(b, i)
	size, i = uvarint(b, i)
	switch {
	case i == bad && len(b) < batchHeader:
		return h, bad, "the file ends inside of a batch's header"
	case i == bad:
		return h, 0, "a number in the batch's header has more than 64 bits"
	case size > maxBatchSize:
		return h, 0, fmt.Sprintf("a batch of %d bytes, and %d is the most there can be", size, maxBatchSize)
	case h.gen == 0:
		return h, 0, "a batch of generation 0, which does not exist"
	}
	h.thread, h.size = ThreadID(m), int32(size)
	return h, i, ""
}

// tell keeps what is wrong at an offset, or makes it the error of a strict
// reading.
func (x *indexer) tell(offset int64, text string) error {
	x.problems.generation = 0
	if x.g != nil {
		x.problems.generation = x.g.number
	}
	x.problems.tell(offset, text)
	return x.problems.err
}

// slack is how long after the last batch of a generation has begun an event of
// it can be.
const slack = timeline.Time(time.Hour)

// horizon returns the time that no event of generation i can be later than.
// The batches tell, and since the time of one may be damaged, those of the
// following generation are asked too. Strict readings take any time that can
// be counted on from.
func (x *indexer) horizon(i int, c clock) timeline.Time {
	last := x.gens[i].maxTime
	if i+1 < len(x.gens) {
		last = min(last, x.gens[i+1].maxTime)
	}
	if at := c.ns(last); !x.problems.strict && at >= 0 {
		return min(at, maxTime/2) + slack
	}
	return maxTime / 2
}

// slice returns the data of b out of the generation's bytes.
func (g *generation) slice(data []byte, b batch) []byte {
	from := b.offset - g.start
	to := from + int64(b.size)
	if to > int64(len(data)) { // the file has shrunk since it was indexed
		to = int64(len(data))
		from = min(from, to)
	}
	return slices.Clip(data[from:to])
}

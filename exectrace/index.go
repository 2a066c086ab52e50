package exectrace

import (
	"fmt"
	"slices"
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
	batches  int // of events
	minTime  uint64
	complete bool
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

// index reads the headers of the batches from t.indexed on.
func (t *Trace) index() error {
	var byThread map[ThreadID]int
	var g *generation
	if n := len(t.gens); n > 0 && !t.gens[n-1].complete {
		g = t.gens[n-1]
		byThread = make(map[ThreadID]int)
		for i, th := range g.threads {
			byThread[th.id] = i
		}
	}
	var buf [batchHeader + 1]byte
	for t.indexed < t.data.size {
		off := t.indexed
		head, err := t.data.read(off, int64(len(buf)), buf[:])
		if err != nil {
			return err
		}
		kind := head[0]
		if kind == evEndOfGeneration && t.Version >= 26 {
			t.indexed++
			if g != nil {
				g.complete, g.bytes = true, t.indexed-g.start
			}
			g = nil
			continue
		}
		h, n, text := parseBatchHeader(head)
		if text == "" && off+int64(n)+int64(h.size) > t.data.size {
			n, text = bad, fmt.Sprintf("the file ends inside of a batch: %d of %d bytes are there", t.data.size-off, int64(n)+int64(h.size))
		}
		if text == "" && g != nil && h.gen != g.number {
			text = t.nextGeneration(g, h.gen)
			g = nil
		}
		if text != "" {
			if n == bad && t.opts.Live {
				return nil // the rest of it will come
			}
			return t.problem(&Problem{Offset: off, Generation: h.gen, Text: text + t.rest(off)})
		}
		if g == nil {
			g = &generation{number: h.gen, start: off}
			byThread = make(map[ThreadID]int)
			t.gens = append(t.gens, g)
		}
		t.indexed = off + int64(n) + int64(h.size)
		b := batch{thread: h.thread, time: h.time, offset: off + int64(n), size: h.size}
		if kind == evExperimentalBatch {
			g.exps = append(g.exps, expBatch{h.experiment, b})
		} else if err := t.add(g, byThread, b, h, head[n:]); err != nil {
			return err
		}
		if g.minTime == 0 || h.time < g.minTime { // a batch at 0 does not count, as in the standard library
			g.minTime = h.time
		}
		g.bytes = t.indexed - g.start
	}
	if g == nil || t.opts.Live {
		return nil
	}
	if t.Version >= 26 {
		return t.problem(&Problem{Offset: t.data.size, Generation: g.number, Text: "the file ends before the generation does"})
	}
	g.complete = true // nothing but the end of the file says so
	return nil
}

// nextGeneration ends g because a batch of another generation has come. It
// returns what is wrong with that, or "".
func (t *Trace) nextGeneration(g *generation, next uint64) string {
	if t.Version >= 26 {
		return fmt.Sprintf("a batch of generation %d before the end of generation %d", next, g.number)
	}
	if next != g.number+1 {
		return fmt.Sprintf("a batch of generation %d follows generation %d", next, g.number)
	}
	g.complete = true
	return ""
}

// add files a batch under what it holds, which its first byte tells.
func (t *Trace) add(g *generation, byThread map[ThreadID]int, b batch, h header, data []byte) error {
	var first byte // 0 for a batch without data, which is one of events
	if b.size > 0 && len(data) > 0 {
		first = data[0]
	} else if b.size > 0 {
		one, err := t.data.read(b.offset, 1, nil)
		if err != nil {
			return err
		}
		first = one[0]
	}
	switch {
	case first == evStrings:
		g.strings = append(g.strings, b)
	case first == evStacks:
		g.stacks = append(g.stacks, b)
	case first == evCPUSamples:
		g.samples = append(g.samples, b)
	case first == evSync && t.Version >= 25, first == evFrequency && t.Version < 25:
		g.syncs = append(g.syncs, b)
	default:
		i, ok := byThread[h.thread]
		if !ok {
			i = len(g.threads)
			byThread[h.thread] = i
			g.threads = append(g.threads, thread{id: h.thread})
		}
		g.threads[i].batches = append(g.threads[i].batches, b)
		g.batches++
	}
	return nil
}

// header is the header of a batch.
type header struct {
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

// rest says how much of the file is not read because of a problem at off.
func (t *Trace) rest(off int64) string {
	n := t.data.size - off
	return fmt.Sprintf("; the last %d bytes (%.1f%% of the file) are not read", n, 100*float64(n)/float64(t.data.size))
}

// problem keeps p, or makes it the error of a strict reading.
func (t *Trace) problem(p *Problem) error {
	t.problems = append(t.problems, p)
	if t.opts.Strict {
		return p
	}
	return nil
}

// load returns the bytes of a generation, from its first batch on. buf is used
// for the bytes of a file.
func (t *Trace) load(g *generation, buf []byte) ([]byte, error) {
	return t.data.read(g.start, g.bytes, buf)
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

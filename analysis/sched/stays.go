package sched

import (
	"encoding/binary"
	"math/bits"
	"sort"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// Stays are all stays of all goroutines in states, in columns: what is left of
// a trace when only where, why and how long are asked. It answers what a
// [StateProfiler] with a Span answers, for any span and without the trace: see
// [Stays.Profile]. Any number of goroutines may ask at once.
//
// Stays of similar length are kept together, in the order of their ends. A
// stay that reaches into a span ends at most its length behind it, so that no
// question looks further than that; and each block of stays knows its sums, so
// that only the blocks at the two edges of a span are decoded.
//
// Note: sums up to every block's end instead of sums of blocks would save the
// additions, a few milliseconds, and cost a sum for each place and block.
type Stays struct {
	r       *exectrace.Reader
	span    timeline.Span
	keys    []stayKey
	offCPU  []stack.ID // by key: the stack with the reason as a leaf
	causes  []cause
	classes [stayClasses][]stayBlock
	open    []openStay
	samples []stayBlock
	count   int64
	bytes   int64
}

// stayKey is all that tells the stays of one profile apart.
type stayKey struct {
	own   stack.ID
	waker stack.ID // of who made it runnable; 0 in all other states
	cause uint16
}

// openStay is a stay that lasted until the trace ended, or was lost.
type openStay struct {
	start, end timeline.Time
	key        uint32
}

const (
	// stayClasses are the lengths that are told apart: each class is of those
	// up to 16 times as long as the shorter ones.
	stayClasses = 16
	// stayBlockLen is how many stays share their sums.
	stayBlockLen = 4096
)

// stayBlock are stays in the order of their ends, as varints: how much later
// each ends than the one before it, how long it was, and its key. Of samples
// it is the time since the one before and the stack.
type stayBlock struct {
	before   timeline.Time // the end that the first one's is counted from
	minStart timeline.Time
	first    timeline.Time // end
	last     timeline.Time // end
	n        int
	data     []byte
	sums     []staySum
}

type staySum struct {
	key   uint32
	count uint32
	time  time.Duration
}

// StaysBuilder makes [Stays] of the events of one reader. Feed it every event,
// in order, and call Finish.
type StaysBuilder struct {
	p       *StateProfiler
	s       *Stays
	index   map[stayKey]uint32
	recent  [1 << 12]uint32 // the last key plus one for a hash
	columns [stayClasses + 1]stayColumn
}

// stayColumn is the block of a class in the making; the last one is of
// samples.
type stayColumn struct {
	stayBlock
	raw     []byte
	touched []uint32
	by      []Spent // by key
}

// NewStaysBuilder returns a builder for the events that a table of goroutines follows.
func NewStaysBuilder(gs *sweep.Goroutines) *StaysBuilder {
	b := &StaysBuilder{p: NewStateProfiler(gs, StateProfileOptions{}), s: &Stays{r: gs.Reader()}, index: map[stayKey]uint32{}}
	b.p.each, b.p.plain = b, false
	return b
}

// AllStays are the stays of a whole trace.
var AllStays = sweep.Want[*Stays]{Key: "stays", Begin: func(p *sweep.Pass) (func() (*Stays, error), error) {
	b := NewStaysBuilder(p.Goroutines())
	p.Join(b)
	return func() (*Stays, error) { return b.Finish(), nil }, nil
}}

// Kinds implements [sweep.Listener].
func (b *StaysBuilder) Kinds() sweep.Kinds { return b.p.Kinds() }

// Event takes the reader's current event.
func (b *StaysBuilder) Event(e *exectrace.Event) {
	if b.p.last == 0 {
		b.s.span.Start = e.Time
	}
	b.p.Event(e)
}

// Finish ends what still goes on, and returns the stays. Nobody else may use
// the reader's table of stacks meanwhile, to which it adds.
func (b *StaysBuilder) Finish() *Stays {
	b.p.Finish()
	s := b.s
	s.span.End = b.p.last + 1
	s.causes = b.p.causes
	for c := range b.columns {
		b.flush(c)
	}
	s.offCPU = make([]stack.ID, len(s.keys))
	table := s.r.Stacks()
	leaves := make([]stack.FrameID, len(s.causes))
	for i, c := range s.causes {
		leaves[i] = table.InternFrame(stack.Frame{Func: c.leaf})
	}
	var frames []stack.FrameID
	for i, k := range s.keys {
		if k.cause != causeRunning {
			frames = append(append(frames[:0], leaves[k.cause]), table.Frames(k.own)...)
			s.offCPU[i] = table.Intern(frames)
		}
	}
	return s
}

// key returns the number of a stay's key.
func (b *StaysBuilder) key(k stayKey) uint32 {
	slot := &b.recent[(uint32(k.own)*0x9e3779b1^uint32(k.waker)*0x85ebca6b^uint32(k.cause)*0xc2b2ae35)>>20]
	if *slot > 0 && b.s.keys[*slot-1] == k {
		return *slot - 1
	}
	n, ok := b.index[k]
	if !ok {
		n = uint32(len(b.s.keys))
		b.s.keys = append(b.s.keys, k)
		b.index[k] = n
	}
	*slot = n + 1
	return n
}

// take implements [stayTaker].
func (b *StaysBuilder) take(s *stay, end timeline.Time, unfinished bool) {
	if end <= s.since {
		return
	}
	k := stayKey{own: s.own, cause: s.cause}
	if s.cause == causeRunnable {
		k.waker = s.stack
	}
	key, d := b.key(k), end-s.since
	class := min((bits.Len64(uint64(d))-1)/4, stayClasses-1)
	b.add(class, end, d, key)
	b.s.count++
	if unfinished {
		b.s.open = append(b.s.open, openStay{s.since, end, key})
	}
}

// takeSample implements [stayTaker].
func (b *StaysBuilder) takeSample(at timeline.Time, id stack.ID) {
	b.add(stayClasses, at, 0, uint32(id))
}

func (b *StaysBuilder) add(class int, end, d timeline.Time, key uint32) {
	c := &b.columns[class]
	if c.n == 0 {
		c.before, c.first, c.minStart = c.last, end, end-d
	}
	c.raw = binary.AppendUvarint(c.raw, uint64(end-c.last))
	if class < stayClasses {
		c.raw = binary.AppendUvarint(c.raw, uint64(d))
	}
	c.raw = binary.AppendUvarint(c.raw, uint64(key))
	c.last, c.minStart = end, min(c.minStart, end-d)
	for int(key) >= len(c.by) {
		c.by = append(c.by, make([]Spent, int(key)+1-len(c.by))...)
	}
	if c.by[key].Count == 0 {
		c.touched = append(c.touched, key)
	}
	c.by[key].add(time.Duration(d))
	if c.n++; c.n == stayBlockLen {
		b.flush(class)
	}
}

// flush ends a block.
func (b *StaysBuilder) flush(class int) {
	c := &b.columns[class]
	if c.n == 0 {
		return
	}
	done := c.stayBlock
	done.data = append(make([]byte, 0, len(c.raw)), c.raw...)
	done.sums = make([]staySum, len(c.touched))
	for i, key := range c.touched {
		done.sums[i] = staySum{key, uint32(c.by[key].Count), c.by[key].Time}
		c.by[key] = Spent{}
	}
	b.s.bytes += int64(len(done.data)) + 16*int64(len(done.sums)) + 80
	if class < stayClasses {
		b.s.classes[class] = append(b.s.classes[class], done)
	} else {
		b.s.samples = append(b.s.samples, done)
	}
	c.n, c.raw, c.touched = 0, c.raw[:0], c.touched[:0]
}

// Span returns the time of the trace, in its own clock.
func (s *Stays) Span() timeline.Span { return s.span }

// Len returns how many stays there are, and in how many bytes, without the
// stacks.
func (s *Stays) Len() (stays, bytes int64) { return s.count, s.bytes }

// Profile returns a profile of a part of the trace; an empty span is all of
// it. What begins or ends outside counts for the part inside.
func (s *Stays) Profile(kind ProfileKind, span timeline.Span) *StateProfile {
	if span.Len() == 0 {
		span = s.span
	}
	out := &StateProfile{Kind: kind, Stacks: s.r.Stacks()}
	by := make([]Spent, s.r.Stacks().Len())
	if kind == ProfileCPU {
		sumBlocks(s.samples, span, 0, true, by)
		out.add(by)
		out.Nanos = nil
		return out
	}
	sums := make([]Spent, len(s.keys))
	for class, blocks := range s.classes {
		longest := timeline.Time(1) << (4*class + 4)
		if class == stayClasses-1 {
			longest = 1<<63 - 1
		}
		sumBlocks(blocks, span, longest, false, sums)
	}
	for i, sum := range sums {
		if id, ok := s.stackOf(kind, uint32(i)); ok && sum.Count > 0 {
			by[id].Count += sum.Count
			by[id].Time += sum.Time
		}
	}
	out.add(by)
	for _, o := range s.open {
		if _, ok := s.stackOf(kind, o.key); ok {
			if d := span.Overlap(timeline.Span{Start: o.start, End: o.end}); d > 0 {
				out.Unfinished.add(d)
			}
		}
	}
	return out
}

// stackOf returns the stack that a key counts for in a kind of profile.
func (s *Stays) stackOf(kind ProfileKind, key uint32) (stack.ID, bool) {
	k := s.keys[key]
	of := s.causes[k.cause].kind
	switch kind {
	case ProfileOffCPU:
		return s.offCPU[key], of != ProfileRunning
	case ProfileSched:
		return k.waker, of == kind
	}
	return k.own, of == kind
}

// sumBlocks adds up the stays of one class in a span, none of which is as long
// as longest; or samples.
func sumBlocks(blocks []stayBlock, span timeline.Span, longest timeline.Time, samples bool, by []Spent) {
	n := sort.Search(len(blocks), func(i int) bool { return blocks[i].last >= span.Start })
	for ; n < len(blocks); n++ {
		b := &blocks[n]
		switch {
		case b.first-longest >= span.End:
			return
		case b.minStart >= span.Start && (b.last <= span.End && !samples || b.last < span.End):
			for _, s := range b.sums {
				by[s.key].Count += int64(s.count)
				by[s.key].Time += s.time
			}
		case samples:
			b.samples(span, by)
		default:
			b.clip(span, by)
		}
	}
}

// clip adds up what of a block's stays is in a span.
func (b *stayBlock) clip(span timeline.Span, by []Spent) {
	data, end := b.data, b.before
	for range b.n {
		step, w := binary.Uvarint(data)
		data = data[w:]
		d, w := binary.Uvarint(data)
		data = data[w:]
		key, w := binary.Uvarint(data)
		data = data[w:]
		end += timeline.Time(step)
		if from, to := max(end-timeline.Time(d), span.Start), min(end, span.End); from < to {
			by[key].add(time.Duration(to - from))
		}
	}
}

// samples counts a block's samples in a span.
func (b *stayBlock) samples(span timeline.Span, by []Spent) {
	data, at := b.data, b.before
	for range b.n {
		step, w := binary.Uvarint(data)
		data = data[w:]
		id, w := binary.Uvarint(data)
		data = data[w:]
		if at += timeline.Time(step); span.Contains(at) {
			by[id].add(0)
		}
	}
}

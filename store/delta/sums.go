package delta

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"math/rand/v2"

	"loupe/format/profile"
	"loupe/value/stack"
)

// key stands for a stack with its labels: two hashes of 64 bits, so that of a million
// stacks no two are taken for one.
type key [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func keyOf(b []byte) key {
	return key{maphash.Bytes(seeds[0], b), maphash.Bytes(seeds[1], b)}
}

// table has values by key: so many (width) of each. There are no pointers in it, so that a collection has nothing to look for
// in what is remembered of a thousand targets, and a key takes about 40 bytes with two values, which was 110 in a map.
type table struct {
	width  int
	keys   []key
	values []int64  // width of each key
	slots  []uint32 // by the key, the position in keys and 1; 0 is free
}

// room makes a table for about n keys.
func room(width, n int) table {
	t := table{width: width, keys: make([]key, 0, n), values: make([]int64, 0, n*width)}
	t.spread(n)
	return t
}

// spread makes slots for n keys and puts those that there are into them.
func (t *table) spread(n int) {
	t.slots = make([]uint32, max(8, 1<<bits.Len(uint(n+n/2))))
	for i, k := range t.keys {
		t.slots[t.slot(k)] = uint32(i + 1)
	}
}

// slot is where a key is, or where it belongs.
func (t *table) slot(k key) uint64 {
	mask := uint64(len(t.slots) - 1)
	at := k[0] & mask
	for {
		i := t.slots[at]
		if i == 0 || t.keys[i-1] == k {
			return at
		}
		at = (at + 1) & mask
	}
}

// find returns the values of a key; nil for none.
func (t *table) find(k key) []int64 {
	if len(t.slots) == 0 {
		return nil
	}
	i := int(t.slots[t.slot(k)])
	if i == 0 {
		return nil
	}
	return t.of(i - 1)
}

// of returns the values of the key at a position.
func (t *table) of(i int) []int64 { return t.values[i*t.width : (i+1)*t.width] }

// add returns the position of a key, and tells whether it is new: with zeros then.
func (t *table) add(k key) (i int, fresh bool) {
	at := t.slot(k)
	if i := t.slots[at]; i > 0 {
		return int(i - 1), false
	}
	if len(t.keys)*4 >= len(t.slots)*3 {
		t.spread(2 * len(t.keys))
		at = t.slot(k)
	}
	t.keys = append(t.keys, k)
	for range t.width {
		t.values = append(t.values, 0)
	}
	t.slots[at] = uint32(len(t.keys))
	return len(t.keys) - 1, true
}

// sums are the cumulative values of a profile by stack. Samples of one stack that differ
// in nothing but addresses, such as those of a call that was inlined in several places,
// are one.
type sums struct {
	table
	row   []int32 // of each key, the first sample
	keyOf []int32 // of each sample, its key
	diff  []int64 // as values, after subtract
}

// sum adds the samples of a profile up by stack.
func (e *Engine) sum(p *profile.Profile, columns []int) (*sums, error) {
	h := hasher{p: p, frames: make([]key, p.Stacks.NumFrames()), known: make([]bool, p.Stacks.NumFrames())}
	s := &sums{table: room(len(columns), p.Len()), keyOf: make([]int32, p.Len()), row: make([]int32, 0, p.Len())}
	for row := range p.Len() {
		i, fresh := s.add(h.sample(row))
		if fresh {
			if i >= e.maxStacks() {
				return nil, errTooMany
			}
			s.row = append(s.row, int32(row))
		}
		s.keyOf[row] = int32(i)
		values := s.of(i)
		for c, column := range columns {
			values[c] += max(0, p.Values[column][row])
		}
	}
	return s, nil
}

// subtract takes off what there was before, and returns how many stacks have less now.
// Those keep what they had, so that they count again only above it.
func (s *sums) subtract(before *table) (fallen int) {
	s.diff = make([]int64, len(s.values))
	for i, k := range s.keys {
		old, now, less := before.find(k), s.of(i), false
		diff := s.diff[i*s.width : (i+1)*s.width]
		for c, v := range now {
			if old != nil && v < old[c] {
				less = true
				now[c] = old[c]
				continue
			}
			diff[c] = v
			if old != nil {
				diff[c] -= old[c]
			}
		}
		if less {
			fallen++
		}
	}
	return fallen
}

// profile returns the profile with these differences in the cumulative columns; nil are
// none. The difference of a stack is that of its first sample. Samples of which nothing
// is left are dropped, and without any there is no profile.
func (s *sums) profile(p *profile.Profile, columns []int, diff []int64) *profile.Profile {
	out := *p
	out.StackIDs, out.LabelSets = make([]stack.ID, 0, p.Len()), nil
	out.Values = make([][]int64, len(p.Values))
	all := make([]int64, len(p.Values)*p.Len())
	for c := range out.Values {
		out.Values[c] = all[c*p.Len() : c*p.Len() : (c+1)*p.Len()]
	}
	is := make([]int, len(p.Values)) // position in columns, +1
	for i, c := range columns {
		is[c] = i + 1
	}
	values := make([]int64, len(p.Values))
	for row := range p.Len() {
		any := false
		k := int(s.keyOf[row])
		for c, column := range p.Values {
			values[c] = column[row]
			if is[c] > 0 {
				values[c] = 0
				if diff != nil && int(s.row[k]) == row {
					values[c] = diff[k*s.width+is[c]-1]
				}
			}
			any = any || values[c] != 0
		}
		if !any {
			continue
		}
		out.StackIDs = append(out.StackIDs, p.StackIDs[row])
		if p.LabelSets != nil {
			out.LabelSets = append(out.LabelSets, p.LabelSets[row])
		}
		for c, v := range values {
			out.Values[c] = append(out.Values[c], v)
		}
	}
	if len(out.StackIDs) == 0 {
		return nil
	}
	return &out
}

// hasher makes keys of the samples of one profile. A frame is its function and line, or
// its address where nobody knows the function; what is asked twice is kept.
type hasher struct {
	p      *profile.Profile
	frames []key
	known  []bool
	sets   map[profile.LabelSet]key
	buf    []byte
}

// sample mixes the keys of the frames, which are random to whoever does not know the seeds, and of the labels, in
// their order. Two hashes of all of them, one after the other in a buffer, took ten times the time.
func (h *hasher) sample(row int) key {
	frames := h.p.Stacks.Frames(h.p.StackIDs[row])
	k := key{uint64(len(frames)), ^uint64(len(frames))}
	for _, f := range frames {
		k = k.then(h.frame(f))
	}
	return k.then(h.labels(h.p.SetOf(row)))
}

// then is the key of what k is of, followed by what next is of.
func (k key) then(next key) key {
	hi, lo := bits.Mul64(k[0]^next[0]^odd[0], odd[1])
	high, low := bits.Mul64(k[1]^next[1]^odd[2], odd[3])
	return key{hi ^ lo + next[1], high ^ low + next[0]}
}

// odd are numbers of this process that nobody else knows.
var odd = [4]uint64{rand.Uint64(), rand.Uint64() | 1, rand.Uint64(), rand.Uint64() | 1}

func (h *hasher) frame(id stack.FrameID) key {
	if h.known[id] {
		return h.frames[id]
	}
	f := h.p.Stacks.Frame(id)
	b := h.buf[:0]
	for _, s := range [...]string{f.Func, f.File, f.Module} {
		b = append(append(b, s...), 0)
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(f.Line))
	if f.Func == "" {
		b = binary.LittleEndian.AppendUint64(b, f.Address)
	}
	h.buf = b
	h.known[id], h.frames[id] = true, keyOf(b)
	return h.frames[id]
}

func (h *hasher) labels(set profile.LabelSet) key {
	if set == 0 {
		return key{}
	}
	if k, ok := h.sets[set]; ok {
		return k
	}
	if h.sets == nil {
		h.sets = map[profile.LabelSet]key{}
	}
	b := h.buf[:0]
	for _, l := range h.p.Labels(set) {
		for _, s := range [...]string{l.Key, l.Str, l.Unit} {
			b = append(append(b, s...), 0)
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(l.Num))
	}
	h.buf = b
	h.sets[set] = keyOf(b)
	return h.sets[set]
}

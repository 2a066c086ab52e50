package delta

import (
	"encoding/binary"
	"hash/maphash"

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

// sums are the cumulative values of a profile by stack. Samples of one stack that differ
// in nothing but addresses, such as those of a call that was inlined in several places,
// are one.
type sums struct {
	row    []int // of each key, the first sample
	keyOf  []int // of each sample, its key
	keys   []key
	values [][]int64
	diff   [][]int64 // by key, after subtract
}

// sum adds the samples of a profile up by stack.
func (e *Engine) sum(p *profile.Profile, columns []int) (*sums, error) {
	h := hasher{p: p, frames: make([]key, p.Stacks.NumFrames()), known: make([]bool, p.Stacks.NumFrames())}
	s := &sums{keyOf: make([]int, p.Len())}
	index := map[key]int{}
	for row := range p.Len() {
		k := h.sample(row)
		i, ok := index[k]
		if !ok {
			i = len(s.keys)
			if i >= e.maxStacks() {
				return nil, errTooMany
			}
			index[k] = i
			s.keys, s.row = append(s.keys, k), append(s.row, row)
			s.values = append(s.values, make([]int64, len(columns)))
		}
		s.keyOf[row] = i
		for c, column := range columns {
			s.values[i][c] += max(0, p.Values[column][row])
		}
	}
	return s, nil
}

// subtract takes off what there was before, and returns how many stacks have less now.
// Those keep what they had, so that they count again only above it.
func (s *sums) subtract(before map[key][]int64) (fallen int) {
	for i, k := range s.keys {
		old := before[k]
		diff, less := make([]int64, len(s.values[i])), false
		for c, v := range s.values[i] {
			if old != nil && v < old[c] {
				less = true
				s.values[i][c] = old[c]
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
		s.diff = append(s.diff, diff)
	}
	return fallen
}

// profile returns the profile with these differences in the cumulative columns; nil are
// none. The difference of a stack is that of its first sample. Samples of which nothing
// is left are dropped, and without any there is no profile.
func (s *sums) profile(p *profile.Profile, columns []int, diff [][]int64) *profile.Profile {
	out := *p
	out.StackIDs, out.LabelSets = nil, nil
	out.Values = make([][]int64, len(p.Values))
	is := make([]int, len(p.Values)) // position in columns, +1
	for i, c := range columns {
		is[c] = i + 1
	}
	values := make([]int64, len(p.Values))
	for row := range p.Len() {
		any := false
		k := s.keyOf[row]
		for c, column := range p.Values {
			values[c] = column[row]
			if is[c] > 0 {
				values[c] = 0
				if diff != nil && s.row[k] == row {
					values[c] = diff[k][is[c]-1]
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

func (h *hasher) sample(row int) key {
	var all []byte
	for _, f := range h.p.Stacks.Frames(h.p.StackIDs[row]) {
		all = appendKey(all, h.frame(f))
	}
	return keyOf(appendKey(all, h.labels(h.p.SetOf(row))))
}

func appendKey(b []byte, k key) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, k[0]), k[1])
}

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

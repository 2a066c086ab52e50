package block

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// samples are the samples of one profile, or of several that were added up: columns that
// are sorted by stack and label set, each pair once.
type samples struct {
	stacks []uint32
	sets   []uint32  // nil when no sample has labels
	values [][]int64 // a column for each type
}

func (s *samples) set(i int) uint32 {
	if s.sets == nil {
		return 0
	}
	return s.sets[i]
}

// reset makes the samples empty, with room for the types.
func (s *samples) reset(types int) {
	s.stacks, s.sets = s.stacks[:0], s.sets[:0]
	for len(s.values) < types {
		s.values = append(s.values, nil)
	}
	s.values = s.values[:types]
	for k := range s.values {
		s.values[k] = s.values[k][:0]
	}
}

// sum sorts the samples and makes one of those that have the same stack and labels. Those
// without any value are left out.
func (s *samples) sum() {
	order := s.order()
	out := samples{values: make([][]int64, len(s.values))}
	out.stacks = make([]uint32, 0, len(order))
	for k := range out.values {
		out.values[k] = make([]int64, 0, len(order))
	}
	labelled := false
	for i := 0; i < len(order); {
		first, j, any := int(order[i]), i, false
		for k := range out.values {
			out.values[k] = append(out.values[k], 0)
		}
		for ; j < len(order) && s.stacks[order[j]] == s.stacks[first] && s.set(int(order[j])) == s.set(first); j++ {
			for k := range out.values {
				out.values[k][len(out.values[k])-1] += s.values[k][order[j]]
			}
		}
		for k := range out.values {
			any = any || out.values[k][len(out.values[k])-1] != 0
		}
		if any {
			out.stacks = append(out.stacks, s.stacks[first])
			out.sets = append(out.sets, s.set(first))
			labelled = labelled || s.set(first) != 0
		} else {
			for k := range out.values {
				out.values[k] = out.values[k][:len(out.values[k])-1]
			}
		}
		i = j
	}
	if !labelled {
		out.sets = nil
	}
	*s = out
}

// order returns the positions of samples, sorted by stack and label set. Without label sets
// they are sorted as numbers, a third of the instructions of comparing by a function, and many by their digits.
func (s *samples) order() []uint32 {
	order := make([]uint32, len(s.stacks))
	if len(order) >= manySamples && !slices.ContainsFunc(s.sets, func(set uint32) bool { return set != 0 }) {
		return byDigits(s.stacks, order)
	}
	if !slices.ContainsFunc(s.sets, func(set uint32) bool { return set != 0 }) {
		keys := make([]uint64, len(order))
		for i, id := range s.stacks {
			keys[i] = uint64(id)<<32 | uint64(i)
		}
		slices.Sort(keys)
		for i, key := range keys {
			order[i] = uint32(key)
		}
		return order
	}
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(s.stacks[a], s.stacks[b]), cmp.Compare(s.sets[a], s.sets[b]))
	})
	return order
}

// manySamples is from how many on their stacks are sorted by digits.
const manySamples = 200

// byDigits puts the positions of numbers in their order, those of equal ones as they are: digit by digit, the last
// one first. 421 samples take a third of the time of slices.Sort.
func byDigits(numbers []uint32, order []uint32) []uint32 {
	const width, digits = 9, 1 << 9
	for i := range order {
		order[i] = uint32(i)
	}
	largest, sorted := uint32(0), true
	for i, n := range numbers {
		sorted = sorted && (i == 0 || n >= numbers[i-1])
		largest = max(largest, n)
	}
	if sorted {
		return order
	}
	other := make([]uint32, len(order))
	for shift := 0; shift < 32 && largest>>shift > 0; shift += width {
		var at [digits]uint32
		for _, n := range numbers {
			at[n>>shift%digits]++
		}
		sum := uint32(0)
		for d, n := range at {
			at[d], sum = sum, sum+n
		}
		for _, i := range order {
			d := numbers[i] >> shift % digits
			other[at[d]] = i
			at[d]++
		}
		order, other = other, order
	}
	return order
}

// totals returns the sum of each column.
func (s *samples) totals() []int64 {
	out := make([]int64, len(s.values))
	for k, column := range s.values {
		for _, v := range column {
			out[k] += v
		}
	}
	return out
}

// The kinds of a column of values.
const (
	columnPlain    = iota // unsigned numbers
	columnSigned          // zigzag
	columnZero            // nothing but zeros
	columnMultiple        // that many times another column, such as CPU time of samples
)

// chunkWriter packs consecutive profiles of one series: the numbers of samples, then the
// stacks as differences, the label sets and the values, each column by itself.
type chunkWriter struct {
	counts  []int
	all     samples
	deltas  []byte
	labeled bool
}

func (w *chunkWriter) reset(types int) {
	w.counts, w.deltas, w.labeled = w.counts[:0], w.deltas[:0], false
	w.all.reset(types)
}

// add adds a profile.
func (w *chunkWriter) add(s *samples) {
	w.counts = append(w.counts, len(s.stacks))
	last := uint32(0)
	for i, id := range s.stacks {
		w.deltas = binary.AppendUvarint(w.deltas, uint64(id-last))
		last = id
		w.all.sets = append(w.all.sets, s.set(i))
	}
	w.labeled = w.labeled || s.sets != nil
	for k, column := range s.values {
		w.all.values[k] = append(w.all.values[k], column...)
	}
}

// size estimates the packed size, in bytes before compression.
func (w *chunkWriter) size() int { return 2 * len(w.deltas) }

// append writes the chunk.
func (w *chunkWriter) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(w.counts)))
	for _, n := range w.counts {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = append(b, w.deltas...)
	if w.labeled {
		b = append(b, 1)
		for _, s := range w.all.sets {
			b = binary.AppendUvarint(b, uint64(s))
		}
	} else {
		b = append(b, 0)
	}
	b = append(b, byte(len(w.all.values)))
	for k, column := range w.all.values {
		b = appendColumn(b, w.all.values[:k], column)
	}
	return b
}

// appendColumn writes a column of values, as a multiple of one before it where it is.
func appendColumn(b []byte, before [][]int64, column []int64) []byte {
	negative, zero := false, true
	for _, v := range column {
		negative = negative || v < 0
		zero = zero && v == 0
	}
	if zero {
		return append(b, columnZero)
	}
	for k, other := range before {
		if m, ok := multiple(other, column); ok {
			b = append(b, columnMultiple, byte(k))
			return binary.AppendVarint(b, m)
		}
	}
	if negative {
		b = append(b, columnSigned)
		for _, v := range column {
			b = binary.AppendVarint(b, v)
		}
		return b
	}
	b = append(b, columnPlain)
	for _, v := range column {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return b
}

// multiple says how many times the one column the other is.
func multiple(of, column []int64) (m int64, ok bool) {
	for i, v := range column {
		if of[i] == 0 {
			if v != 0 {
				return 0, false
			}
			continue
		}
		if m == 0 {
			m = v / of[i]
		}
		if m == 0 || of[i] > math.MaxInt32 || of[i] < -math.MaxInt32 || m > math.MaxInt32 || m < -math.MaxInt32 || of[i]*m != v {
			return 0, false
		}
	}
	return m, m != 0
}

var errCut = errors.New("the data is cut or damaged")

// chunk is a chunk in memory: the columns of several profiles.
type chunk struct {
	counts []int
	all    samples
}

// decode reads a chunk. No number of it is trusted: each sample has at least a byte, so
// that the columns are not larger than eight times the data and the types.
func (c *chunk) decode(b []byte) error {
	d := decoder{b: b}
	n := d.count(1)
	c.counts = c.counts[:0]
	sum := 0
	for range n {
		k := d.count(0)
		if sum += k; sum > len(b) {
			return errCut
		}
		c.counts = append(c.counts, k)
	}
	c.all.stacks, c.all.sets = slices.Grow(c.all.stacks[:0], sum), c.all.sets[:0]
	for _, k := range c.counts {
		last := uint32(0)
		for range k {
			last += uint32(d.uint())
			c.all.stacks = append(c.all.stacks, last)
		}
	}
	switch d.byte() {
	case 0:
	case 1:
		for range sum {
			c.all.sets = append(c.all.sets, uint32(d.uint()))
		}
	default:
		return errCut
	}
	types := int(d.byte())
	if types > 32 || d.bad {
		return errCut
	}
	for len(c.all.values) < types {
		c.all.values = append(c.all.values, nil)
	}
	c.all.values = c.all.values[:types]
	for k := range types {
		c.column(&d, k, sum)
	}
	if d.bad || len(d.b) > 0 {
		return errCut
	}
	return nil
}

// column reads a column of values.
func (c *chunk) column(d *decoder, k, n int) {
	column := slices.Grow(c.all.values[k][:0], n)[:n]
	c.all.values[k] = column
	switch d.byte() {
	case columnZero:
		clear(column)
	case columnMultiple:
		of, m := int(d.byte()), d.int()
		if of >= k {
			d.bad = true
			clear(column)
			return
		}
		for i, v := range c.all.values[of] {
			column[i] = v * m
		}
	case columnSigned:
		for i := range column {
			column[i] = d.int()
		}
	case columnPlain:
		d.uints(column)
	default:
		d.bad = true
	}
}

// each calls f for every profile in the range [from, to) of the chunk, with samples that
// are valid during the call.
func (c *chunk) each(from, to int, f func(i int, s *samples)) {
	at := 0
	s := samples{values: make([][]int64, len(c.all.values))}
	for i, n := range c.counts {
		if i >= to {
			return
		}
		if i >= from {
			s.stacks = c.all.stacks[at : at+n]
			s.sets = nil
			if len(c.all.sets) > 0 {
				s.sets = c.all.sets[at : at+n]
			}
			for k := range s.values {
				s.values[k] = c.all.values[k][at : at+n]
			}
			f(i, &s)
		}
		at += n
	}
}

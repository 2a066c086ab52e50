package profile

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// words reads a file of machine words of either size and order.
type words struct {
	data  []byte
	at    int
	size  int // bytes of a word
	order binary.ByteOrder
}

func (w *words) more() bool { return len(w.data)-w.at >= w.size }

func (w *words) next() (v uint64) {
	if w.size == 4 {
		v = uint64(w.order.Uint32(w.data[w.at:]))
	} else {
		v = w.order.Uint64(w.data[w.at:])
	}
	w.at += w.size
	return v
}

// cpuHeader finds the size and order of the words by the header: 0, 3, 0 for
// C++ or 1 for Java, the period in microseconds, 0.
func cpuHeader(data []byte) (w words, period uint64, java, ok bool) {
	for _, size := range []int{4, 8} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			w = words{data: data, size: size, order: order}
			if len(data) < 5*size {
				continue
			}
			zero, version, kind, period, pad := w.next(), w.next(), w.next(), w.next(), w.next()
			if zero == 0 && version == 3 && kind <= 1 && period > 0 && pad == 0 {
				return w, period, kind == 1, true
			}
		}
	}
	return w, 0, false, false
}

// decodeCPU reads the profiles of gperftools, which Go wrote too before 1.7,
// and their variant for Java.
func decodeCPU(data []byte, opt Options) (*Profile, error) {
	w, period, java, ok := cpuHeader(data)
	if !ok {
		return nil, errOther
	}
	b := newBuilder(ValueType{"samples", "count"}, ValueType{"cpu", "nanoseconds"})
	b.periodType, b.period = b.types[1], int64(period)*1000
	if err := b.cpuSamples(&w, !java); err != nil {
		return nil, err
	}
	text := lines{rest: data[w.at:]}
	if java {
		return (&javaReader{b: b, l: &text}).profile()
	}
	b.rows.dropHandler()
	b.rows.dropHandler() // it may have two frames
	if err := b.mappings.read(&text); err != nil {
		return nil, fmt.Errorf("in the text after byte %d: %w", w.at, err)
	}
	b.numberLocations()
	if err := b.placeLocations(); err != nil {
		return nil, err
	}
	b.dropDoubles()
	b.interesting(false)
	return b.profile()
}

// cpuSamples reads: count, number of addresses, addresses, the leaf first, up
// to the end mark 0, 1, 0. An address above the leaf is that of the instruction
// after the call; less one is in the call, if the writer has not seen to that.
func (b *builder) cpuSamples(w *words, adjust bool) error {
	var stack []uint32
	for w.more() {
		at := w.at
		count := w.next()
		if !w.more() {
			return bad(int64(at), "the sample is cut (was the file cut? take the profile again)")
		}
		depth := w.next()
		if depth > uint64(len(w.data)-w.at)/uint64(w.size) {
			return bad(int64(at), "a sample with a stack of %d addresses does not fit into the %d bytes that are left", depth, len(w.data)-w.at)
		}
		stack = stack[:0]
		for i := range depth {
			a := w.next()
			if count == 0 && depth == 1 && a == 0 {
				return nil
			}
			if adjust && i > 0 {
				a--
			}
			stack = append(stack, b.at(a))
		}
		b.sample(stack, nil, int64(count), int64(count)*b.period)
	}
	if w.at < len(w.data) {
		return errors.New("the file ends in half a word (was it cut? take the profile again)")
	}
	return nil
}

// dropHandler takes the second frame out when almost all samples have the same
// one: it is the signal handler that took the profile. The first is always
// right, for it comes from the signal and not from the stack.
func (r *rows) dropHandler() {
	seconds := map[uint32]int{}
	for row := range r.len() {
		if s := r.stack(row); len(s) > 1 {
			seconds[s[1]]++
		}
	}
	enough := r.len() - r.len()/32
	for second, n := range seconds {
		if n < enough {
			continue
		}
		for row := range r.len() {
			if s := r.stack(row); len(s) > 1 && s[1] == second {
				r.cut(row)
			}
		}
		return
	}
}

// dropDoubles takes out a second frame that is the first one again: writers
// take the leaf both from the signal and from the stack, where it is less one.
func (b *builder) dropDoubles() {
	for row := range b.rows.len() {
		if s := b.rows.stack(row); len(s) > 1 && b.locations[s[0]].address == b.locations[s[1]].address+1 {
			b.rows.cut(row)
		}
	}
}

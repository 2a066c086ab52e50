// Package content tells how much of one answer was in another. It cuts a body into chunks where the
// bytes themselves say so, so that what is inserted moves no other cut, and compares the chunks by
// their hashes. It keeps no text.
//
// The cuts are those of content-defined chunking with a gear hash (Xia et al., FastCDC, USENIX ATC
// 2016), without its normalisation: chunks of some 80 bytes are small enough for a line or a field.
package content

import (
	"cmp"
	"slices"
)

// An answer is looked at up to Whole, and behind that at a piece of every stretch: what is long has to cost no more
// than some hundred microseconds.
const (
	Whole   = 64 << 10
	piece   = 8 << 10
	stretch = 128 << 10
	most    = 4 << 20 // nothing is looked at behind it
)

// Chunks are shorter than maxChunk bytes and, but for the last, not shorter than minChunk.
const (
	minChunk = 16
	maxChunk = 256
	cutMask  = 63 << 58 // one position in 64; the highest bits have seen most bytes
)

// gear has a random number for each byte.
var gear = func() (table [256]uint64) {
	x := uint64(1)
	for i := range table { // splitmix64 (Steele, Lea and Flood, OOPSLA 2014)
		x += 0x9e3779b97f4a7c15
		z := x
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		table[i] = z ^ z>>31
	}
	return table
}()

// Chunk is a part of an answer.
type Chunk struct {
	hash  uint64
	bytes int32
}

// Reader cuts one answer into chunks while it comes. The zero value has to begin.
type Reader struct {
	chunks     []Chunk
	at         int // where in the answer the next byte is
	roll, hash uint64
	bytes      int32 // of the chunk that has begun
	// skips tells that the bytes up to the next cut belong to no chunk: where a piece begins, it may have begun
	// before.
	skips bool
}

// Begin forgets what was read.
func (r *Reader) Begin() { *r = Reader{chunks: r.chunks[:0], hash: fnvOffset} }

// FNV-1a, 64 bits (draft-eastlake-fnv).
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// Take reads the next bytes.
func (r *Reader) Take(b []byte) {
	for len(b) > 0 && r.at < most {
		n, looked := len(b), true
		if r.at < Whole {
			n = min(n, Whole-r.at)
		} else if in := (r.at - Whole) % stretch; in < stretch-piece {
			n, looked = min(n, stretch-piece-in), false
		} else {
			n = min(n, stretch-in)
		}
		r.at += n
		if looked {
			r.look(b[:n])
		} else {
			r.roll, r.hash, r.bytes, r.skips = 0, fnvOffset, 0, true
		}
		b = b[n:]
	}
}

func (r *Reader) look(b []byte) {
	for _, x := range b {
		r.roll = r.roll<<1 + gear[x]
		r.hash = (r.hash ^ uint64(x)) * fnvPrime
		r.bytes++
		if r.bytes >= minChunk && r.roll&cutMask == 0 || r.bytes == maxChunk {
			r.cut()
		}
	}
}

func (r *Reader) cut() {
	if !r.skips {
		r.chunks = append(r.chunks, Chunk{r.hash, r.bytes})
	}
	r.hash, r.bytes, r.skips = fnvOffset, 0, false
}

// End returns the chunks of the answer, each once, in an order that [Compare] wants. They are good until the
// reader begins again.
func (r *Reader) End() []Chunk {
	if r.bytes > 0 && r.at <= Whole { // behind that, nobody knows whether the piece would have gone on
		r.cut()
	}
	slices.SortFunc(r.chunks, func(a, b Chunk) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.bytes, b.bytes))
	})
	return slices.Compact(r.chunks)
}

// Compare returns how many bytes of an answer were in another one as well, and how many there are.
// What repeats within the answer counts once: a frame that is written around each value would hide that the
// values differ.
func Compare(before, now []Chunk) (same, all int64) {
	i := 0
	for _, c := range now {
		all += int64(c.bytes)
		for i < len(before) && before[i].hash < c.hash {
			i++
		}
		if i < len(before) && before[i] == c {
			same += int64(c.bytes)
		}
	}
	return same, all
}

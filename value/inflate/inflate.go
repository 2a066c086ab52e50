// Package inflate unpacks gzip files that are in memory as a whole: one call, from one
// slice into another. A server that is pushed profiles of 60 kB spent a fifth of its time on
// nothing else.
//
// It reads what is usual, which is one member, complete, whose trailer says how long the
// content is, and verifies the checksum. Of everything else it only says that it cannot;
// callers then ask a reader that can, or that explains what is wrong.
//
// Note: compress/flate and github.com/klauspost/compress/flate read from an io.Reader a
// byte at a time, and copy the content once more, out of their window. On CPU profiles of
// 190 kB this takes 0.4 times as long as the latter.
package inflate

import (
	"encoding/binary"
	"hash/crc32"
	"sync"
)

// Slack is the room behind the content that [Gzip] needs in its buffer: the end of it is
// looked for once for three literals and a match of 258 bytes, which is copied in words.
const Slack = 280

// Size is how long the content of a gzip file is according to its trailer, which anybody
// can have written: 0 to 4 GiB.
func Size(src []byte) int64 {
	if len(src) < 18 {
		return 0
	}
	return int64(binary.LittleEndian.Uint32(src[len(src)-4:]))
}

// Gzip unpacks a gzip file of one member into the capacity of dst, from its begin on, and
// returns the content. It returns false when the file is not such a one, is damaged, or
// when the capacity is less than its size and [Slack]. Nothing is allocated.
func Gzip(dst, src []byte) (content []byte, ok bool) {
	from := header(src)
	size := Size(src)
	if from == 0 || int64(cap(dst)) < size+Slack {
		return nil, false
	}
	s := states.Get().(*state)
	s.in, s.pos, s.buf, s.n = src[:len(src)-8], from, 0, 0
	n, ok := s.blocks(dst[:size+Slack])
	// Bytes that are in the buffer as a whole were not used.
	ok = ok && s.pos-int(s.n/8) == len(src)-8 && int64(n) == size
	s.in = nil
	states.Put(s)
	if !ok || crc32.ChecksumIEEE(dst[:n]) != binary.LittleEndian.Uint32(src[len(src)-8:]) {
		return nil, false
	}
	return dst[:n], true
}

// header returns where the content begins, or 0. RFC 1952.
func header(src []byte) int {
	const extra, name, comment = 4, 8, 16
	if len(src) < 18 || src[0] != 0x1f || src[1] != 0x8b || src[2] != 8 || src[3]&^(extra|name|comment|1) != 0 {
		return 0
	}
	at := 10
	if src[3]&extra != 0 {
		at += 2 + int(binary.LittleEndian.Uint16(src[10:]))
	}
	for _, flag := range []byte{name, comment} {
		if src[3]&flag == 0 {
			continue
		}
		for at < len(src) && src[at] != 0 {
			at++
		}
		at++
	}
	if at > len(src)-8 {
		return 0
	}
	return at
}

// The tables are indexed by the next bits of the input. An entry of literals and lengths
// has literal, or a base in the bits from 16 up; an entry of distances has the base there.
// The low byte is how many bits to take, those of the value that follow the code included,
// and the next one how many are the code's.
const (
	literal = 1 << 31
	other   = 1 << 30 // the end of the block, a second table, or no code at all
	end     = 1 << 29

	otherDistance = 1 << 31

	lengthBits, distanceBits, orderBits = 11, 8, 7

	// The most entries that a complete code can need, second tables included: found by
	// the program enough of zlib, for 288 and 32 symbols of up to 15 bits.
	lengthRoom, distanceRoom = 2342, 402
)

// state is what unpacking takes.
type state struct {
	in  []byte
	pos int
	buf uint64 // the next bits, the first one lowest
	n   uint   // how many of them are valid

	lengths   [lengthRoom]uint32
	distances [distanceRoom]uint32
	order     [1 << orderBits]uint32
	sizes     [288 + 32 + 137]byte // of the codes; a run may go beyond the last
}

var states = sync.Pool{New: func() any { return new(state) }}

// blocks unpacks all blocks, into out but for the slack, and returns how many bytes came.
func (s *state) blocks(out []byte) (n int, ok bool) {
	for {
		s.fill()
		last, kind := s.take(1), s.take(2)
		switch kind {
		case 0:
			if n, ok = s.stored(out, n); !ok {
				return n, false
			}
		case 1, 2:
			if kind == 1 && !s.fixed() || kind == 2 && !s.dynamic() {
				return n, false
			}
			if n, ok = s.block(out, n); !ok {
				return n, false
			}
		default:
			return n, false
		}
		if last == 1 {
			return n, true
		}
	}
}

// stored copies a block that is not packed.
func (s *state) stored(out []byte, n int) (int, bool) {
	s.take(s.n % 8)
	from := s.pos - int(s.n/8)
	s.buf, s.n = 0, 0
	if from > len(s.in)-4 {
		return n, false
	}
	size := int(binary.LittleEndian.Uint16(s.in[from:]))
	if uint16(size) != ^binary.LittleEndian.Uint16(s.in[from+2:]) || size > len(s.in)-from-4 || size > len(out)-Slack-n {
		return n, false
	}
	s.pos = from + 4 + size
	return n + copy(out[n:], s.in[from+4:s.pos]), true
}

// block unpacks a block with the tables at hand.
func (s *state) block(out []byte, n int) (int, bool) {
	in, pos, buf, have := s.in, s.pos, s.buf, s.n
	limit := len(out) - Slack
	for n <= limit {
		// What is done for each byte has its own copy of fill, in registers.
		if pos+8 <= len(in) {
			buf |= binary.LittleEndian.Uint64(in[pos:]) << (have & 63)
			pos += int(63-have) >> 3
			have |= 56
		} else {
			s.pos, s.buf, s.n = pos, buf, have
			s.fill()
			pos, buf, have = s.pos, s.buf, s.n
		}
		e := s.lengths[buf&(1<<lengthBits-1)]
		if e&literal != 0 { // up to four fit in what is valid
			for range 3 {
				buf >>= e & 63
				have -= uint(e & 63)
				out[n] = byte(e >> 16)
				n++
				if e = s.lengths[buf&(1<<lengthBits-1)]; e&literal == 0 {
					break
				}
			}
			if e&literal != 0 {
				buf >>= e & 63
				have -= uint(e & 63)
				out[n] = byte(e >> 16)
				n++
				continue
			}
			if have < 48 { // the most that a length and a distance take
				s.pos, s.buf, s.n = pos, buf, have
				s.fill()
				pos, buf, have = s.pos, s.buf, s.n
			}
		}
		if e&other != 0 {
			if e&end == 0 {
				if e = second(s.lengths[:], e, buf); e == 0 {
					return n, false
				}
			}
			if e&(literal|end) != 0 {
				buf >>= e & 63
				have -= uint(e & 63)
				if e&end != 0 {
					s.pos, s.buf, s.n = pos, buf, have
					return n, true
				}
				out[n] = byte(e >> 16)
				n++
				continue
			}
		}
		length := int(e>>16) + int(buf&(1<<(e&63)-1)>>(e>>8&63))
		buf >>= e & 63
		have -= uint(e & 63)
		e = s.distances[buf&(1<<distanceBits-1)]
		if e&otherDistance != 0 {
			if e = second(s.distances[:], e&^otherDistance, buf); e == 0 {
				return n, false
			}
		}
		from := n - int(e>>16) - int(buf&(1<<(e&63)-1)>>(e>>8&63))
		buf >>= e & 63
		have -= uint(e & 63)
		if from < 0 {
			return n, false
		}
		to := n + length
		if n-from < 8 {
			for ; n < to; n, from = n+1, from+1 {
				out[n] = out[from]
			}
			continue
		}
		for ; n < to; n, from = n+8, from+8 { // what is too much is overwritten
			binary.LittleEndian.PutUint64(out[n:], binary.LittleEndian.Uint64(out[from:]))
		}
		n = to
	}
	return n, false
}

// second returns the entry of a code that is longer than the index of a first table; 0 where
// there is none.
func second(table []uint32, e uint32, buf uint64) uint32 {
	start, width := e>>16&0x1fff, e>>8&63
	if start == 0 {
		return 0
	}
	return table[start+uint32(buf>>(e&63))&(1<<width-1)]
}

package inflate

import (
	"encoding/binary"
	"math/bits"
)

// What the symbols of a block stand for, as entries without the length of their code.
var (
	lengthValues   = makeLengthValues()
	distanceValues = makeDistanceValues()
	orderValues    = makeOrderValues()
)

// makeLengthValues makes those of literals, the end, and lengths of matches. RFC 1951,
// section 3.2.5.
func makeLengthValues() (all [288]uint32) {
	for i := range 256 {
		all[i] = literal | uint32(i)<<16
	}
	all[256] = other | end
	base := uint32(3)
	for i := range uint32(28) {
		extra := max(i/4, 1) - 1
		all[257+i] = base<<16 | extra
		base += 1 << extra
	}
	all[285] = 258 << 16
	all[286], all[287] = other, other
	return all
}

func makeDistanceValues() (all [32]uint32) {
	base := uint32(1)
	for i := range uint32(30) {
		extra := max(i/2, 1) - 1
		all[i] = base<<16 | extra
		base += 1 << extra
	}
	all[30], all[31] = otherDistance, otherDistance
	return all
}

func makeOrderValues() (all [19]uint32) {
	for i := range all {
		all[i] = uint32(i) << 16
	}
	return all
}

// fixed makes the tables that need no description.
func (s *state) fixed() bool {
	sizes := s.sizes[:288+32]
	for i := range sizes {
		switch {
		case i < 144:
			sizes[i] = 8
		case i < 256:
			sizes[i] = 9
		case i < 280:
			sizes[i] = 7
		case i < 288:
			sizes[i] = 8
		default:
			sizes[i] = 5
		}
	}
	return build(s.lengths[:], lengthBits, sizes[:288], lengthValues[:], other) &&
		build(s.distances[:], distanceBits, sizes[288:], distanceValues[:], otherDistance)
}

// order is the order in which the lengths of codes of lengths are written.
var order = [19]byte{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamic makes the tables that the block describes.
func (s *state) dynamic() bool {
	lengths, distances, orders := int(s.take(5))+257, int(s.take(5))+1, int(s.take(4))+4
	if lengths > 286 || distances > 30 {
		return false
	}
	var sizes [19]byte
	for _, at := range order[:orders] {
		s.fill()
		sizes[at] = byte(s.take(3))
	}
	if !build(s.order[:], orderBits, sizes[:], orderValues[:], other) {
		return false
	}
	all := lengths + distances
	for i := 0; i < all; {
		s.fill()
		e := s.order[s.buf&(1<<orderBits-1)]
		if e&other != 0 {
			return false
		}
		s.take(uint(e & 63))
		size, times := byte(e>>16), 1
		switch size {
		case 16:
			if i == 0 {
				return false
			}
			size, times = s.sizes[i-1], 3+int(s.take(2))
		case 17:
			size, times = 0, 3+int(s.take(3))
		case 18:
			size, times = 0, 11+int(s.take(7))
		}
		for range times {
			s.sizes[i] = size
			i++
		}
		if i > all {
			return false
		}
	}
	return s.sizes[256] != 0 &&
		build(s.lengths[:], lengthBits, s.sizes[:lengths], lengthValues[:], other) &&
		build(s.distances[:], distanceBits, s.sizes[lengths:all], distanceValues[:], otherDistance)
}

// build makes a table of codes from their lengths. The entries of no code are none, and 0 in
// second tables. It takes complete codes, none at all, and a single one of one bit.
func build(table []uint32, width uint, sizes []byte, values []uint32, none uint32) bool {
	var count, next [16]uint32
	used := 0
	for _, n := range sizes {
		count[n]++
		if n > 0 {
			used++
		}
	}
	count[0] = 0
	code, left := uint32(0), int32(1)
	for n := 1; n < 16; n++ {
		code = (code + count[n-1]) << 1
		next[n] = code
		if left = left<<1 - int32(count[n]); left < 0 {
			return false
		}
	}
	if left > 0 && (used > 1 || used == 1 && count[1] == 0) {
		return false
	}
	if left > 0 {
		for i := range table[:1<<width] {
			table[i] = none
		}
	}
	var codes [288]uint16
	var longest [1 << lengthBits]uint8 // of the codes that begin with these bits, beyond the first table
	for symbol, size := range sizes {
		if size == 0 {
			continue
		}
		n := uint(size)
		code := bits.Reverse32(next[n]) >> (32 - n)
		next[n]++
		if n <= width {
			e := values[symbol] + uint32(n)*0x101
			for i := code; i < 1<<width; i += 1 << n {
				table[i] = e
			}
			continue
		}
		codes[symbol] = uint16(code)
		first := code & (1<<width - 1)
		longest[first] = max(longest[first], uint8(n-width))
	}
	free := uint32(1) << width // where the next second table begins
	for symbol, size := range sizes {
		n := uint(size)
		if n <= width {
			continue
		}
		code := uint32(codes[symbol])
		first := code & (1<<width - 1)
		if more := longest[first]; more != 0 {
			longest[first] = 0
			if free+1<<more > uint32(len(table)) {
				return false
			}
			table[first] = none | free<<16 | uint32(more)<<8 | uint32(width)
			free += 1 << more
		}
		start, more := table[first]>>16&0x1fff, table[first]>>8&63
		e := values[symbol] + uint32(n)*0x101
		for i := code >> width; i < 1<<more; i += 1 << (n - width) {
			table[start+i] = e
		}
	}
	return true
}

// fill makes 56 bits valid, or more. Behind the end of the input all are zero, and pos
// goes on.
func (s *state) fill() {
	if s.pos+8 <= len(s.in) {
		s.buf |= binary.LittleEndian.Uint64(s.in[s.pos:]) << (s.n & 63)
		s.pos += int(63-s.n) >> 3
		s.n |= 56
		return
	}
	for ; s.n < 56; s.n += 8 {
		if s.pos < len(s.in) {
			s.buf |= uint64(s.in[s.pos]) << s.n
		}
		s.pos++
	}
}

// take returns the next bits, of which there must be that many.
func (s *state) take(n uint) uint32 {
	v := uint32(s.buf & (1<<n - 1))
	s.buf >>= n
	s.n -= n
	return v
}

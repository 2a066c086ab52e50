package exectrace

import "encoding/binary"

// bad is the position that uvarint returns after a varint that is cut or
// longer than 64 bits. It sticks: every read from it fails again, so that a
// row of fields needs one check at its end.
const bad = -1

// uvarint reads an unsigned LEB128 number of b at i and returns it with the
// position behind it.
//
// Note: most numbers of a trace have one or two bytes. Decoding without
// branches, eight bytes at a time, was twice as slow.
func uvarint(b []byte, i int) (uint64, int) {
	if uint(i) < uint(len(b)) && b[i] < 0x80 {
		return uint64(b[i]), i + 1
	}
	return longUvarint(b, i)
}

//go:noinline
func longUvarint(b []byte, i int) (uint64, int) {
	if i < 0 {
		return 0, bad
	}
	var v uint64
	for n := 0; i < len(b) && n < 10; n++ {
		c := b[i]
		i++
		if c < 0x80 {
			if n == 9 && c > 1 {
				return 0, bad
			}
			return v | uint64(c)<<(7*n), i
		}
		v |= uint64(c&0x7f) << (7 * n)
	}
	return 0, bad
}

// maxEvent is more bytes than the longest event has: a type and five numbers of
// ten bytes each. A window is that and the four bytes that [short] reads at once:
// inside of one no index needs a check.
const (
	maxEvent = 64
	window   = maxEvent + 4
)

// short reads a number of at most three bytes of a window, and says how many
// it has: 0 for one that has more, which is for [moreIn].
//
// Note: it is apart from moreIn so that the compiler can inline it. One number in
// three has more than one byte, and one in eight more than two.
func short(b *[window]byte, i uint) (v uint64, size uint) {
	w := binary.LittleEndian.Uint32(b[i%maxEvent:])
	if w&0x80 == 0 {
		return uint64(w & 0x7f), 1
	}
	v = uint64(w&0x7f | w>>1&0x3f80)
	if w&0x8000 == 0 {
		return v, 2
	}
	if w&0x800000 == 0 {
		return v | uint64(w>>2&0x1fc000), 3
	}
	return 0, 0
}

// number reads a number of a window at i and returns the position behind it.
func number(b *[window]byte, i uint) (uint64, uint) {
	if v, size := short(b, i); size != 0 {
		return v, i + size
	}
	return moreIn(b, i)
}

// moreIn reads a number of a window at i, of any length. It tells one that is
// longer than 64 bits by a position of maxEvent or more.
//
//go:noinline
func moreIn(b *[window]byte, i uint) (uint64, uint) {
	var v uint64
	for n := uint(0); n < 70; n += 7 {
		c := uint64(b[i%maxEvent])
		i++
		if c < 0x80 {
			if n == 63 && c > 1 {
				break
			}
			return v | c<<n, i
		}
		v |= (c & 0x7f) << n
	}
	return 0, maxEvent
}

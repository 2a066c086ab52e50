package exectrace

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

// window is enough bytes for the longest event: a type and five numbers of ten
// bytes each. Inside of one no index needs a check.
const window = 64

// moreIn goes on with a number of a window whose first byte was v and ended at
// i. It tells one that is longer than 64 bits by a position of window or more.
//
// Note: the first byte is for the caller to read, in place: it is the whole
// number in two of three cases, and the compiler does not inline this.
func moreIn(b *[window]byte, v uint64, i uint) (uint64, uint) {
	v &= 0x7f
	c := uint64(b[i%window])
	i++
	if c < 0x80 {
		return v | c<<7, i
	}
	v |= (c & 0x7f) << 7
	for n := uint(14); n < 70; n += 7 {
		c = uint64(b[i%window])
		i++
		if c < 0x80 {
			if n == 63 && c > 1 {
				break
			}
			return v | c<<n, i
		}
		v |= (c & 0x7f) << n
	}
	return 0, window
}

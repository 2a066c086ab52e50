package profile

// Wire types of the protocol buffer encoding.
const (
	varint  = 0
	fixed64 = 1
	bytes   = 2
	fixed32 = 5
)

// broken is the position that stands for "the input was malformed". It is
// past the end of everything, so that a run of reads may check once, at its
// end, whether it has arrived exactly there.
const broken = 1 << 62

// uvarint reads the number at b[i] and returns the position after it, or
// broken. Bits beyond 64 are dropped, as pprof does.
func uvarint(b []byte, i int) (uint64, int) {
	if uint(i) < uint(len(b)) && b[i] < 0x80 {
		return uint64(b[i]), i + 1
	}
	return uvarintSlow(b, i)
}

func uvarintSlow(b []byte, i int) (v uint64, next int) {
	for shift := uint(0); shift < 70 && uint(i) < uint(len(b)); shift += 7 {
		c := b[i]
		i++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v, i
		}
	}
	return 0, broken
}

// chunkAt reads a length at b[i] and returns where the bytes it announces
// start and end; both are broken when they are not all there.
func chunkAt(b []byte, i int) (start, end int) {
	n, i := uvarint(b, i)
	if i > len(b) || n > uint64(len(b)-i) {
		return broken, broken
	}
	return i, i + int(n)
}

// cursor walks the fields of one message. It is for the messages of which
// there are few; samples have a path of their own.
type cursor struct {
	b     []byte
	i     int // position after the current field
	at    int // position of the current field
	field int // its number; -1 for numbers that are out of every table
	typ   int // its wire type
	v     uint64
	start int // with typ == bytes, the content is b[start:i]
}

// next moves to the next field. It returns false at the end and at the first
// malformed field; bad tells which.
func (c *cursor) next() bool {
	if c.i >= len(c.b) {
		return false
	}
	c.at = c.i
	key, i := uvarint(c.b, c.i)
	c.typ, c.field = int(key&7), -1
	if key>>3 < 1<<29 {
		c.field = int(key >> 3)
	}
	switch c.typ {
	case varint:
		c.v, i = uvarint(c.b, i)
	case bytes:
		c.start, i = chunkAt(c.b, i)
	case fixed64:
		i += 8
	case fixed32:
		i += 4
	default:
		i = broken
	}
	c.i = i
	if i > len(c.b) {
		c.i = broken
		return false
	}
	return true
}

func (c *cursor) bad() bool { return c.i > len(c.b) }

// chunk returns the content of the current field of type bytes.
func (c *cursor) chunk() []byte {
	if c.typ != bytes {
		return nil
	}
	return c.b[c.start:c.i]
}

// span is a piece of a text.
type span struct{ off, n uint32 }

// aside marks a span that lies in text.side.
const aside = 1 << 31

// text holds the label sets of a profile as they stood on the wire, and its
// strings. What is added later goes aside, so that profiles that were made from
// one another share the rest.
type text struct {
	sets    []byte
	words   []byte
	side    []byte
	strings []span // in words
}

// bytes returns a label set.
func (t *text) bytes(s span) []byte { return t.in(t.sets, s) }

// word returns a string.
func (t *text) word(s span) []byte { return t.in(t.words, s) }

func (t *text) in(from []byte, s span) []byte {
	if s.n&aside != 0 {
		n := s.n &^ aside
		return t.side[s.off : s.off+n]
	}
	return from[s.off : s.off+s.n]
}

// str returns string i of the string table, which must be in range.
func (t *text) str(i uint64) string { return string(t.word(t.strings[i])) }

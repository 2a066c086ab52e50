// Package protobuf reads and writes the encoding of protocol buffers: the fields of a
// message one by one ([Cursor]), and whole messages that are described by the tags of
// a Go struct ([Unmarshal], [Marshal]), which are read and written as JSON as well
// ([UnmarshalJSON], [MarshalJSON]).
//
// It knows no message of its own and generates no code. The encodings are those of
// https://protobuf.dev/programming-guides/encoding and
// https://protobuf.dev/programming-guides/json. Groups are an error: proto3 has none.
package protobuf

import "encoding/binary"

// Wire types of the encoding.
const (
	Varint  = 0
	Fixed64 = 1
	Bytes   = 2
	Fixed32 = 5
)

// Broken is the position that stands for "the input was malformed". It is
// past the end of everything, so that a run of reads may check once, at its
// end, whether it has arrived exactly there.
const Broken = 1 << 62

// Uvarint reads the number at b[i] and returns the position after it, or
// [Broken]. Bits beyond 64 are dropped, as pprof does.
func Uvarint(b []byte, i int) (uint64, int) {
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
	return 0, Broken
}

// ChunkAt reads a length at b[i] and returns where the bytes it announces
// start and end; both are [Broken] when they are not all there.
func ChunkAt(b []byte, i int) (start, end int) {
	n, i := Uvarint(b, i)
	if i > len(b) || n > uint64(len(b)-i) {
		return Broken, Broken
	}
	return i, i + int(n)
}

// Cursor walks the fields of one message. The zero Cursor with a Buf stands before
// the first field.
type Cursor struct {
	Buf    []byte // the message
	Next   int    // position after the current field
	At     int    // position of the current field
	Number int    // its number; -1 for numbers that are out of every table
	Type   int    // its wire type
	Value  uint64 // its value, unless the type is Bytes
	Start  int    // of a field of the type Bytes: the content is Buf[Start:Next]
}

// Step moves to the next field. It returns false at the end and at the first
// malformed field; [Cursor.Bad] tells which.
func (c *Cursor) Step() bool {
	if c.Next >= len(c.Buf) {
		return false
	}
	c.At = c.Next
	key, i := Uvarint(c.Buf, c.Next)
	c.Type, c.Number = int(key&7), -1
	if key>>3 < 1<<29 {
		c.Number = int(key >> 3)
	}
	switch c.Type {
	case Varint:
		c.Value, i = Uvarint(c.Buf, i)
	case Bytes:
		c.Start, i = ChunkAt(c.Buf, i)
	case Fixed64:
		if i += 8; i <= len(c.Buf) {
			c.Value = binary.LittleEndian.Uint64(c.Buf[i-8:])
		}
	case Fixed32:
		if i += 4; i <= len(c.Buf) {
			c.Value = uint64(binary.LittleEndian.Uint32(c.Buf[i-4:]))
		}
	default:
		i = Broken
	}
	c.Next = i
	if i > len(c.Buf) {
		c.Next = Broken
		return false
	}
	return true
}

// Bad tells whether the last step has met a malformed field.
func (c *Cursor) Bad() bool { return c.Next > len(c.Buf) }

// Chunk returns the content of the current field, which is nil unless it has the
// type [Bytes]. It shares memory with Buf.
func (c *Cursor) Chunk() []byte {
	if c.Type != Bytes {
		return nil
	}
	return c.Buf[c.Start:c.Next]
}

// AppendNumber appends a field that is a number; 0 is what readers assume.
func AppendNumber(b []byte, field int, v uint64) []byte {
	if v == 0 {
		return b
	}
	return binary.AppendUvarint(appendTag(b, field, Varint), v)
}

// AppendField appends a field that is a message, a string or a list.
func AppendField(b []byte, field int, content []byte) []byte {
	b = binary.AppendUvarint(appendTag(b, field, Bytes), uint64(len(content)))
	return append(b, content...)
}

func appendTag(b []byte, field, typ int) []byte {
	return binary.AppendUvarint(b, uint64(field)<<3|uint64(typ))
}

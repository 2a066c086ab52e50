package block

import "encoding/binary"

// decoder reads numbers and texts off the front of bytes. After the first mistake it is
// bad and everything that it returns is zero: read all, check once.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uint() uint64 {
	if len(d.b) > 0 && d.b[0] < 0x80 { // most
		v := d.b[0]
		d.b = d.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

// uints reads a column.
func (d *decoder) uints(column []int64) {
	b := d.b
	for i := range column {
		if len(b) > 0 && b[0] < 0x80 {
			column[i] = int64(b[0])
			b = b[1:]
			continue
		}
		v, n := binary.Uvarint(b)
		if n <= 0 {
			clear(column[i:])
			d.fail()
			return
		}
		column[i] = int64(v)
		b = b[n:]
	}
	d.b = b
}

func (d *decoder) int() int64 {
	v := d.uint()
	return int64(v>>1) ^ -int64(v&1)
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail()
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *decoder) fail() { d.b, d.bad = nil, true }

// count reads how many things follow, each of which has at least so many bytes. With 0
// it is any number that an int holds.
func (d *decoder) count(each int) int {
	v := d.uint()
	if v > 1<<31 || each > 0 && v > uint64(len(d.b)/each) {
		d.fail()
		return 0
	}
	return int(v)
}

// index reads a number below n.
func (d *decoder) index(n int) uint32 {
	v := d.uint()
	if v >= uint64(n) {
		d.fail()
		return 0
	}
	return uint32(v)
}

// bytes reads bytes with their number in front, which are not copied.
func (d *decoder) bytes() []byte {
	n := d.count(1)
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) text() string { return string(d.bytes()) }

// appendText writes what text reads.
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

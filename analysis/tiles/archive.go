package tiles

import "encoding/binary"

// archive holds the lanes that have no pyramid of their own, most of which
// are goroutines that live for some microseconds: a record of about twelve
// bytes for each, one behind the other. Every 64th stands in an index.
type archive struct {
	buf    []byte   // blocks that are not in a piece yet
	pieces [][]byte // whole blocks
	size   int      // of the pieces
	ends   []int    // where each block of 64 records ends
	n      int
	last   brief // the differences of a block begin with zeros
	fewer  int   // lanes of fewer spans are left out
	lost   int   // how many
}

const blockRecords = 64

// brief is such a lane.
type brief struct {
	id    int64
	group uint32
	first tick
	spans uint32
	buf   []byte
}

// add appends a record.
func (a *archive) add(b brief) {
	if int(b.spans) < a.fewer {
		a.lost++
		return
	}
	if a.n%blockRecords == 0 {
		a.last = brief{}
		a.endBlock()
	}
	a.n++
	if cap(a.buf)-len(a.buf) < briefHeader+len(b.buf) {
		a.buf = append(make([]byte, 0, 2*len(a.buf)+archivePiece/8+briefHeader+len(b.buf)), a.buf...)
	}
	a.buf = binary.AppendVarint(a.buf, b.id-a.last.id)
	a.buf = binary.AppendUvarint(a.buf, uint64(b.group))
	a.buf = binary.AppendVarint(a.buf, b.first-a.last.first)
	a.buf = binary.AppendUvarint(a.buf, uint64(b.spans))
	a.buf = binary.AppendUvarint(a.buf, uint64(len(b.buf)))
	a.buf = append(a.buf, b.buf...)
	a.last = b
	a.last.buf = nil
}

// archivePiece is how large a piece of the archive gets, at least: what is in
// one is not copied any more until all is known.
const archivePiece = 64 << 10

// briefHeader is how many bytes a record takes at most beside the spans.
const briefHeader = 5 * binary.MaxVarintLen64

// endBlock ends the block that is open, if there is one.
func (a *archive) endBlock() {
	if end := a.bytes(); len(a.ends) == 0 && end > 0 || len(a.ends) > 0 && a.ends[len(a.ends)-1] < end {
		a.ends = append(a.ends, end)
	}
	if len(a.buf) >= archivePiece {
		a.pieces = append(a.pieces, a.buf)
		a.size += len(a.buf)
		a.buf = make([]byte, 0, 2*archivePiece)
	}
}

// bytes returns how many bytes the records have.
func (a *archive) bytes() int { return a.size + len(a.buf) }

// leaveOut drops the lanes of fewer spans, those that come too.
func (a *archive) leaveOut(fewer int) {
	old := *a
	*a = archive{fewer: fewer, lost: old.lost}
	for _, piece := range append(old.pieces, old.buf) {
		r := briefReader{buf: piece}
		for i := 0; len(r.buf) > 0; i++ {
			if i%blockRecords == 0 {
				r.brief = brief{}
			}
			if !r.next() {
				return
			}
			a.add(r.brief)
		}
	}
}

// briefReader reads records.
type briefReader struct {
	buf []byte
	brief
	bad bool
}

// next reads a record. It stops where something is wrong.
func (r *briefReader) next() bool {
	id, first := r.id+r.varint2(true), int64(0)
	group := r.varint2(false)
	first = r.first + r.varint2(true)
	spans := r.varint2(false)
	n := r.varint2(false)
	if r.bad || n < 0 || n > int64(len(r.buf)) || spans < 0 || spans > n || group != int64(uint32(group)) {
		r.bad = true
		return false
	}
	r.brief = brief{id: id, group: uint32(group), first: first, spans: uint32(spans), buf: r.buf[:n:n]}
	r.buf = r.buf[n:]
	return true
}

// varint2 reads a number with a sign or one without.
func (r *briefReader) varint2(signed bool) int64 {
	var u uint64
	n := 1
	if len(r.buf) > 0 && r.buf[0] < 0x80 { // most
		u = uint64(r.buf[0])
	} else if u, n = binary.Uvarint(r.buf); n <= 0 {
		r.bad = true
		return 0
	}
	r.buf = r.buf[n:]
	if !signed {
		return int64(u)
	}
	return int64(u>>1) ^ -int64(u&1)
}

package tiles

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// promoteAt is the number of spans from which on a lane has a pyramid and an
// index of its spans. Those with fewer are scanned: that costs 20 µs.
const promoteAt = 4096

// skipEvery is how many spans lie between two entries of the index.
const skipEvery = 256

// column is a lane of spans that is being built. A span is one number, its
// length in grains and its class, as a varint; each begins where the one
// before ends.
//
// An event touches the end of buf and nothing else: every 256 spans go into
// the pyramid at once, which is twice as fast as one by one.
type column struct {
	first, since tick   // of the lane, of the span that is open
	blockAt      tick   // where buf begins
	buf          []byte // of the block, or of all as long as there is no pyramid
	spans        uint32
	class        uint8 // of the open span
	mute         bool  // nothing is kept
	more         *promoted
}

// promoted is what a column with many spans has.
type promoted struct {
	pyramid pyramid[spanSums, *spanSums]
	pieces  [][]byte // the spans in front of buf, in whole blocks
	kept    int      // bytes in pieces
	skips   []byte   // where every 256th span begins, as in the file
	lost    bool     // the spans were dropped: only the pyramid goes on
}

// begin makes c a new lane. It keeps the memory of an old one.
func (c *column) begin(at tick, class uint8) {
	*c = column{first: at, since: at, blockAt: at, class: class, buf: c.buf[:0]}
}

// turn ends the open span, unless its class goes on.
func (c *column) turn(at tick, class uint8) {
	if class != c.class {
		c.push(at)
		c.class = class
	}
}

// push ends the open span and begins one of the same class.
func (c *column) push(at tick) {
	v := uint64(max(0, at-c.since))<<3 | uint64(c.class)
	c.since = max(at, c.since)
	if c.mute {
		return
	}
	switch {
	case v < 0x80:
		c.buf = append(c.buf, byte(v))
	case v < 0x4000:
		c.buf = append(c.buf, byte(v)|0x80, byte(v>>7))
	default:
		c.buf = binary.AppendUvarint(c.buf, v)
	}
	if c.spans++; c.spans%skipEvery == 0 && (c.spans >= promoteAt || c.more != nil) {
		c.block()
	}
}

// block puts a full block, or the last one, into the pyramid and to the pieces.
func (c *column) block() {
	if m := c.more; m == nil {
		c.promote()
	} else {
		m.fold(c.buf, c.blockAt, c.spans)
		m.keep(c.buf, c.blockAt)
		if c.spans&(c.spans-1) == 0 && !m.lost && m.pyramid.buckets(c.since)*4*density < int64(c.spans) {
			c.rebuild() // it has become much denser
		}
	}
	c.buf, c.blockAt = c.buf[:0], c.since
}

// promote makes the pyramid when there are enough spans, which are whole
// blocks.
func (c *column) promote() {
	c.more = &promoted{}
	k := cursor{buf: c.buf, end: c.first}
	from, at := 0, c.first
	for n := 1; k.next(); n++ {
		if n%skipEvery == 0 {
			c.more.keep(c.buf[from:k.at], at)
			from, at = k.at, k.end
		}
	}
	c.rebuild()
	c.buf = make([]byte, 0, 4*skipEvery)
}

// pieceSize is how large a piece of a column's spans gets. Nothing is copied
// when it is full.
const pieceSize = 64 << 10

// keep appends a block to the pieces.
func (m *promoted) keep(buf []byte, at tick) {
	if m.lost {
		return
	}
	m.skips = binary.LittleEndian.AppendUint64(m.skips, uint64(at))
	m.skips = binary.LittleEndian.AppendUint64(m.skips, uint64(m.kept))
	last := len(m.pieces) - 1
	if last < 0 || len(buf) > cap(m.pieces[last])-len(m.pieces[last]) {
		m.pieces = append(m.pieces, make([]byte, 0, max(len(buf), min(m.kept+4*skipEvery, pieceSize))))
		last++
	}
	m.pieces[last] = append(m.pieces[last], buf...)
	m.kept += len(buf)
}

// rebuild makes the pyramid from the spans in the pieces. The base is the
// finest level that has the density.
func (c *column) rebuild() {
	base := uint8(bits.Len64(uint64((c.since-c.first)*density) / uint64(c.spans)))
	m := c.more
	m.pyramid = newPyramid[spanSums, *spanSums](spanRow, base, c.first)
	at := c.first
	for _, piece := range m.pieces {
		at = m.fold(piece, at, c.spans)
	}
}

// fold puts spans that begin at an instant into the pyramid, and returns where
// they end. The lane has so many now. It is [cursor.next] and
// [spanSums.start] in one loop, which takes a third less.
func (m *promoted) fold(buf []byte, at tick, spans uint32) tick {
	p := &m.pyramid
	open, end := p.open(), p.end()
	for i := 0; i < len(buf); {
		v := uint64(buf[i])
		if i++; v >= 0x80 {
			if b := buf[i]; b < 0x80 {
				v, i = v&0x7f|uint64(b)<<7, i+1
			} else {
				long, n := binary.Uvarint(buf[i-1:])
				v, i = long, i-1+n
			}
		}
		if at >= end {
			p.close()
			open, end = p.open(), p.end()
		}
		class, length := uint8(v&7), tick(v>>3)
		open.present |= 1 << class
		if open.starts++; uint64(length) > uint64(open.longest) || open.starts == 1 {
			open.longest, open.longestClass = uint32(min(length, math.MaxUint32)), class
		}
		from := at
		if at += length; at <= end {
			open.time[class] += uint64(length)
			continue
		}
		m.cross(from, at, class, spans)
		open, end = p.open(), p.end()
	}
	return at
}

// cross divides a span between the open bucket and those behind it.
func (m *promoted) cross(from, to tick, class uint8, spans uint32) {
	p := &m.pyramid
	for p.buckets(to)*density > int64(spans)+density && p.base < maxTop-1 {
		p.coarsen()
	}
	for end := p.end(); to > end; end = p.end() {
		p.open().time[class&7] += uint64(end - from)
		p.close()
		p.open().present |= 1 << class
		from = end
	}
	p.open().time[class&7] += uint64(to - from)
}

// finish ends the lane: what is left goes into the pyramid.
func (c *column) finish(at tick) {
	c.push(at)
	if c.more != nil && len(c.buf) > 0 {
		c.block()
	}
}

// drop lets go of the spans and keeps the pyramid.
func (c *column) drop() {
	if m := c.more; m != nil {
		m.lost, m.pieces, m.skips, m.kept = true, nil, nil, 0
	}
}

// size returns the bytes that c will have in the file.
func (c *column) size() int64 {
	n := int64(laneSize + len(c.buf))
	if m := c.more; m != nil {
		n += m.pyramid.size() + int64(m.kept) + int64(len(m.skips))
	}
	return n
}

// cursor reads spans. It stops where a varint is cut or too long.
type cursor struct {
	buf        []byte
	at, from   int  // behind the span, and where it begins
	start, end tick // of the span; end is where the first begins
	class      uint8
}

// next goes on to the next span and says whether there is one.
func (k *cursor) next() bool {
	if k.at >= len(k.buf) {
		return false
	}
	v := uint64(k.buf[k.at])
	n := 1
	if v >= 0x80 {
		if k.at+1 < len(k.buf) && k.buf[k.at+1] < 0x80 {
			v, n = v&0x7f|uint64(k.buf[k.at+1])<<7, 2
		} else if v, n = binary.Uvarint(k.buf[k.at:]); n <= 0 {
			k.at = len(k.buf)
			return false
		}
	}
	k.from = k.at
	k.at += n
	k.start, k.class = k.end, uint8(v&7)
	k.end += tick(v >> 3)
	return true
}

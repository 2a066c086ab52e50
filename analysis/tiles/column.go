package tiles

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// promoteAt is the number of spans from which on a lane has a pyramid and an
// index of its spans. Those with fewer are scanned: that costs 20 µs.
const promoteAt = 4096

// buildAt is with how many spans, a power of two, the pyramid is built at last.
const buildAt = 1 << 16

// skipEvery is how many spans lie between two entries of the index.
const skipEvery = 256

// column is a lane of spans that is being built. A span is one number, its
// length in grains and its class; each begins where the one before ends.
//
// An event writes one word and nothing else: up to 256 of them go at once to
// where they stay, as varints, and into the pyramid. That is three times as
// fast as one by one.
type column struct {
	since tick     // of the span that is open
	words []uint32 // spans; their room ends where the block does
	class uint8    // of the open span
	mute  bool     // nothing is kept, and words has no room
	spans uint32   // in front of words
	first tick     // of the lane
	at    tick     // where words begins
	buf   []byte   // the spans in front of words, as long as there is no pyramid
	more  *promoted
	fold  *folding // nil to keep every span
}

// promoted is what a column with many spans has.
//
// Note: to fold spans into the pyramid from the first one on would make it
// again and again, because the first ones say little of how dense the lane
// will be. Up to buildAt it is left to the end, or until somebody looks.
type promoted struct {
	pyramid pyramid[spanSums, *spanSums] // without levels as long as it is not built
	pieces  [][]byte                     // the spans
	kept    int                          // bytes in pieces
	skips   []byte                       // where every 256th span begins, as in the file
	lost    bool                         // the spans were dropped: only the pyramid goes on
	folds   bool                         // they never were there: the base stays as it is
	sums    tickSums                     // of all of them, if it folds
}

// begin makes c a new lane. It keeps the memory of an old one.
func (c *column) begin(at tick, class uint8) {
	words := c.words[:0]
	if cap(words) > skipEvery {
		words = nil
	}
	*c = column{first: at, since: at, at: at, class: class, words: words, buf: c.buf[:0], fold: c.fold}
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
	if n := len(c.words); n < cap(c.words) && v <= math.MaxUint32 {
		c.words = c.words[:n+1]
		c.words[n] = uint32(v)
		return
	}
	c.pushSlow(v)
}

// pushSlow makes room for a span, or takes one that needs more than a word:
// of half a minute and up.
func (c *column) pushSlow(v uint64) {
	if c.mute {
		return
	}
	if v > math.MaxUint32 {
		c.flush()
		take(c, []uint64{v})
		c.words = nil
		return
	}
	room := skipEvery - int(c.spans%skipEvery)
	if len(c.words) == room {
		c.flush()
		room = skipEvery
	}
	if n := len(c.words); n == cap(c.words) {
		c.words = append(make([]uint32, 0, min(max(4, 2*n), room)), c.words...)
	}
	c.words = append(c.words, uint32(v))
}

// flush takes the words to where they stay.
func (c *column) flush() {
	if len(c.words) > 0 {
		take(c, c.words)
		c.words = c.words[:0]
	}
}

// take appends spans, up to the end of the block, to those that are there, and
// folds them into the pyramid.
func take[W word](c *column, words []W) {
	was := c.spans
	c.spans += uint32(len(words))
	m := c.more
	if m == nil {
		for _, w := range words {
			c.at += tick(w >> 3)
		}
		if c.buf = appendSpans(c.buf, words); c.spans == promoteAt {
			c.promote()
		}
		return
	}
	if m.folds {
		c.at = foldAll(m, words, c.at, c.spans)
		return
	}
	if !m.lost {
		if was%skipEvery == 0 {
			m.skip(c.at)
		}
		m.keep(len(words), func(dst []byte) []byte { return appendSpans(dst, words) })
	}
	if len(m.pyramid.levels) == 0 {
		for _, w := range words {
			c.at += tick(w >> 3)
		}
	} else {
		c.at = fold(m, words, c.at, c.spans)
	}
	if c.spans&(c.spans-1) == 0 && c.spans >= buildAt && !m.lost &&
		(len(m.pyramid.levels) == 0 || m.pyramid.buckets(c.at)*4*density < int64(c.spans)) {
		c.rebuild() // the first time, or because it has become much denser
	}
}

// word is a span in memory: its length and class, as in the file.
type word interface{ uint32 | uint64 }

// maxSpan is how many bytes a span of one word takes at most. That of a long
// one, which comes alone, has five more.
const maxSpan = binary.MaxVarintLen32

// appendSpans appends spans as they are in the file. Whether one takes one
// byte or two is anybody's guess, the processor's too: there is no branch for
// it.
func appendSpans[W word](dst []byte, words []W) []byte {
	n := len(dst)
	dst = slices.Grow(dst, maxSpan*len(words)+binary.MaxVarintLen32)
	dst = dst[:cap(dst)]
	for _, w := range words {
		if w >= 0x4000 {
			n += binary.PutUvarint(dst[n:], uint64(w))
			continue
		}
		two := (w + 0x3f80) >> 14 // 1 from 0x80 on, else 0
		b := dst[n : n+2]
		b[0], b[1] = byte(w)|byte(two<<7), byte(w>>7)
		n += 1 + int(two)
	}
	return dst[:n]
}

// promote makes the index when there are enough spans for a pyramid, which are
// whole blocks.
func (c *column) promote() {
	if c.fold != nil {
		c.promoteFolded()
		return
	}
	m := &promoted{}
	c.more = m
	k := cursor{buf: c.buf, end: c.first}
	from, at := 0, c.first
	for n := 1; k.next(); n++ {
		if n%skipEvery == 0 {
			m.skip(at)
			block := c.buf[from:k.at]
			m.keep(len(block)/maxSpan+1, func(dst []byte) []byte { return append(dst, block...) })
			from, at = k.at, k.end
		}
	}
	c.buf = nil
}

// build makes the pyramid, if there are enough spans for one, and it is not
// there yet.
func (c *column) build() {
	if c.more != nil && len(c.more.pyramid.levels) == 0 {
		c.rebuild()
	}
}

// pieceSize is how large a piece of a column's spans gets. Nothing is copied
// when it is full.
const pieceSize = 64 << 10

// skip makes an entry of the index: a block begins at an instant.
func (m *promoted) skip(at tick) {
	m.skips = binary.LittleEndian.AppendUint64(m.skips, uint64(at))
	m.skips = binary.LittleEndian.AppendUint64(m.skips, uint64(m.kept))
}

// keep appends up to so many spans to the pieces.
func (m *promoted) keep(n int, add func([]byte) []byte) {
	last := len(m.pieces) - 1
	n = n*maxSpan + binary.MaxVarintLen64
	if last < 0 || n > cap(m.pieces[last])-len(m.pieces[last]) {
		m.pieces = append(m.pieces, make([]byte, 0, max(n, min(m.kept+4*skipEvery, pieceSize))))
		last++
	}
	was := len(m.pieces[last])
	m.pieces[last] = add(m.pieces[last])
	m.kept += len(m.pieces[last]) - was
}

// rebuild makes the pyramid from the spans in the pieces. The base is the
// finest level that has the density.
func (c *column) rebuild() {
	base := uint8(bits.Len64(uint64((c.at-c.first)*density) / uint64(c.spans)))
	m := c.more
	m.pyramid = newPyramid[spanSums, *spanSums](spanRow, base, c.first)
	at := c.first
	var words [skipEvery]uint64
	for _, piece := range m.pieces {
		for len(piece) > 0 {
			n, size := decodeSpans(&words, piece)
			at = fold(m, words[:n], at, c.spans)
			piece = piece[size:]
		}
	}
}

// decodeSpans undoes appendSpans. It returns how many spans there are, and of
// how many bytes.
func decodeSpans(words *[skipEvery]uint64, buf []byte) (n, size int) {
	for ; n < len(words) && size < len(buf); n++ {
		v, second := uint64(buf[size]), uint64(buf[min(size+1, len(buf)-1)])
		two := v >> 7
		words[n] = v&0x7f | second<<7&-two
		if size += 1 + int(two); second>>7&two != 0 {
			long, k := binary.Uvarint(buf[size-2:])
			words[n] = long
			size += k - 2
		}
	}
	return n, size
}

// fold puts spans that begin at an instant into the pyramid, and returns where
// they end. The lane has so many now. It is [spanSums.start] in a loop, with
// what a span changes in registers.
func fold[W word](m *promoted, words []W, at tick, spans uint32) tick {
	p := &m.pyramid
	var f folder
	f.load(p)
	for _, w := range words {
		if at >= f.end {
			f.store()
			p.close()
			f.load(p)
		}
		v := uint64(w)
		class := uint8(v & 7)
		f.present |= 1 << class
		f.starts++
		if int64(v) > f.beat {
			f.longest, f.beat = v, int64(v|7)
		}
		from := at
		if at += tick(v >> 3); at <= f.end {
			f.open.time[class] += v >> 3
			continue
		}
		f.store()
		m.cross(from, at, class, spans)
		f.load(p)
	}
	f.store()
	return at
}

// folder is what a loop over spans has at hand of the open bucket.
type folder struct {
	open    *spanSums
	end     tick
	longest uint64 // its length and class, as in the file
	beat    int64  // what a longer one is above, -1 while there is none
	starts  uint32
	present uint8
}

func (f *folder) load(p *pyramid[spanSums, *spanSums]) {
	s := p.open()
	*f = folder{open: s, end: p.end(), starts: s.starts, present: s.present, beat: -1}
	if s.starts != 0 {
		f.longest = uint64(s.longest)<<3 | uint64(s.longestClass)
		f.beat = int64(f.longest | 7)
	}
}

func (f *folder) store() {
	s := f.open
	s.starts, s.present = f.starts, f.present
	s.longest, s.longestClass = uint32(min(f.longest>>3, math.MaxUint32)), uint8(f.longest&7)
}

// cross divides a span between the open bucket and those behind it.
func (m *promoted) cross(from, to tick, class uint8, spans uint32) {
	p := &m.pyramid
	for !m.folds && p.buckets(to)*density > int64(spans)+density && p.base < maxTop-1 {
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

// finish ends the lane: what is left goes to where it stays.
func (c *column) finish(at tick) {
	c.push(at)
	c.flush()
}

// drop lets go of the spans and keeps the pyramid.
func (c *column) drop() {
	if m := c.more; m != nil {
		c.build()
		m.lost, m.pieces, m.skips, m.kept = true, nil, nil, 0
	}
}

// size returns the bytes that c will have in the file.
func (c *column) size() int64 {
	n := int64(laneSize + len(c.buf) + 2*len(c.words))
	if m := c.more; m != nil {
		n += m.pyramid.size() + int64(m.kept) + int64(len(m.skips))
		if len(m.pyramid.levels) == 0 {
			n += int64(c.spans) * spanRow / density / 2
		}
	}
	return n
}

// cursor reads spans. It stops where a varint is cut or too long.
type cursor struct {
	buf        []byte
	at, from   int  // behind the span, and where it begins
	start, end tick // of the span; end is where the first begins
	class      uint8

	chain *chain // of which buf is a part, nil for all
	piece int    // in which it is
	left  uint64 // bytes of the list behind buf
}

// next goes on to the next span and says whether there is one.
func (k *cursor) next() bool {
	if k.at >= len(k.buf) && !k.more() {
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

// more goes on to the next piece and says whether there is one. No span lies
// in two.
func (k *cursor) more() bool {
	if k.left == 0 || k.piece+1 >= len(k.chain.pieces) {
		return false
	}
	k.piece++
	k.buf, k.at = k.chain.pieces[k.piece], 0
	k.buf = k.buf[:min(uint64(len(k.buf)), k.left)]
	k.left -= uint64(len(k.buf))
	return true
}

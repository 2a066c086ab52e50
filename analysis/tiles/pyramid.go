package tiles

import (
	"encoding/binary"
	"sync"
)

// tileShift is the logarithm of the buckets in a tile.
const (
	tileShift = 10
	tileRows  = 1 << tileShift
)

// density is how many spans a lane has for each bucket of its base level, at
// least: the base is the finest level that has so many. With half as many the
// pyramids are twice as large, with twice as many the levels that are made of
// the spans take twice as long.
const density = 40

// fewRows is how many buckets a level has room for at first.
const fewRows = 32

// sums is a bucket that is being built.
type sums[T any] interface {
	*T
	merge(*T)
	encode(row []byte, shift uint8)
}

// pyramid holds the buckets of a lane on all levels, from the base up. Buckets
// are closed in order of time. Each level has one that is open, with exact
// sums; what is closed is bytes, and whole tiles are packed at once.
type pyramid[T any, S sums[T]] struct {
	base   uint8 // the logarithm of the width of levels[0]'s buckets, in grains
	row    int   // bytes of a bucket
	first  tick  // where the lane begins
	levels []level[T]
	marks  marks // of a builder of which there are snapshots
}

// level is one level of a pyramid. Its open bucket holds what the levels below
// have closed; that of the base what its owner puts into it.
type level[T any] struct {
	index int64 // of the open bucket
	open  T
	from  int64    // index of the bucket that rows begins with
	rows  []byte   // closed buckets of the tile that is not full yet
	tiles [][]byte // packed tiles, one after the other
	bytes int      // of them
	tile  int64    // index of the first of them
}

func newPyramid[T any, S sums[T]](row int, base uint8, at tick) pyramid[T, S] {
	return pyramid[T, S]{base: base, row: row, first: at, levels: []level[T]{{index: at >> base}}}
}

// open returns the bucket that is open at the base.
func (p *pyramid[T, S]) open() *T { return &p.levels[0].open }

// end returns where the open bucket ends.
func (p *pyramid[T, S]) end() tick { return (p.levels[0].index + 1) << p.base }

// buckets returns how many buckets the base would have if the lane ended at
// an instant.
func (p *pyramid[T, S]) buckets(at tick) int64 { return at>>p.base - p.first>>p.base + 1 }

// close goes on to the next bucket of the base.
func (p *pyramid[T, S]) close() {
	for i := 0; ; i++ {
		p.closeAt(i)
		l := &p.levels[i]
		l.index++
		if l.index&1 != 0 {
			return // the bucket above is half full
		}
	}
}

// closeAt turns the open bucket of level i into bytes and adds it to the one
// above.
func (p *pyramid[T, S]) closeAt(i int) {
	if i+1 == len(p.levels) {
		p.levels = append(p.levels, level[T]{index: p.levels[i].index >> 1})
	}
	l := &p.levels[i]
	if len(l.rows) == 0 {
		l.from = l.index
	}
	n := len(l.rows)
	if n+p.row > cap(l.rows) { // most levels stay small, the others get a whole tile
		l.rows = append(make([]byte, 0, min(max(fewRows*p.row, n<<8), tileRows*p.row)), l.rows...)
	}
	l.rows = l.rows[:n+p.row]
	S(&l.open).encode(l.rows[n:], p.base+uint8(i))
	if (l.index+1)%tileRows == 0 {
		p.seal(l)
	}
	S(&p.levels[i+1].open).merge(&l.open)
	var zero T
	l.open = zero
}

// seal packs the tile that is full.
func (p *pyramid[T, S]) seal(l *level[T]) {
	if len(l.rows) == 0 {
		return
	}
	if len(l.tiles) == 0 {
		l.tile = l.from >> tileShift
	}
	tile := packRows(l.rows, p.row, int(l.from%tileRows))
	l.tiles = append(l.tiles, tile)
	l.bytes += len(tile)
	l.rows = l.rows[:0]
}

// coarsen gives up the base: what was the level above it is the new one.
func (p *pyramid[T, S]) coarsen() {
	if len(p.levels) == 1 {
		p.levels = append(p.levels, level[T]{index: p.levels[0].index >> 1})
	}
	S(&p.levels[1].open).merge(&p.levels[0].open)
	p.levels = append(p.levels[:0], p.levels[1:]...)
	p.base++
}

// finish closes what is open on all levels up to top.
func (p *pyramid[T, S]) finish(top uint8) {
	for i := 0; i == 0 || i < len(p.levels) && p.base+uint8(i) <= top; i++ {
		p.closeAt(i)
		p.seal(&p.levels[i])
	}
	p.levels = p.levels[:max(1, min(len(p.levels), int(top)-int(p.base)+1))]
}

// size returns the bytes that p will have in the file. Of buckets that are not
// packed yet that is a guess, a low one.
func (p *pyramid[T, S]) size() (n int64) {
	for i := range p.levels {
		l := &p.levels[i]
		n += levelSize + int64(l.bytes+len(l.rows)/4+8*len(l.tiles))
	}
	return n
}

// packedHeader is what a packed tile begins with: the first bucket that is
// there, their count, and which planes are whole.
const packedHeader = 8

// packRows returns the buckets as a packed tile: one plane for each byte of a
// bucket, of one byte if all buckets have the same. Rows are of whole words of
// four bytes.
func packRows(rows []byte, row, first int) []byte {
	le := binary.LittleEndian
	n := len(rows) / row
	planes := getPlanes()
	defer putPlanes(planes)
	whole, size := uint32(0), packedHeader
	for p := 0; p < row; p += 4 {
		differs := splitWords((*[4 * tileRows]byte)(planes[p*tileRows:]), rows[p:], row, n)
		for k := range 4 {
			if size++; byte(differs>>(8*k)) != 0 {
				whole |= 1 << (p + k)
				size += n - 1
			}
		}
	}
	tile := make([]byte, packedHeader, size)
	le.PutUint16(tile, uint16(first))
	le.PutUint16(tile[2:], uint16(n))
	le.PutUint32(tile[4:], whole)
	for p := range row {
		k := 1
		if whole>>p&1 != 0 {
			k = n
		}
		tile = append(tile, planes[p*tileRows:][:k]...)
	}
	return tile
}

// splitWords puts the four bytes of a word of each row into a plane each, four
// rows at a time: one by one it takes three times as long. It returns the bits
// in which words differ from the first.
func splitWords(planes *[4 * tileRows]byte, rows []byte, row, n int) (differs uint32) {
	le := binary.LittleEndian
	a, b := planes[:tileRows], planes[tileRows:2*tileRows]
	c, d := planes[2*tileRows:3*tileRows], planes[3*tileRows:]
	same, i := le.Uint32(rows), 0
	for ; i+4 <= n; i += 4 {
		at := i * row
		w, x := le.Uint32(rows[at:]), le.Uint32(rows[at+row:])
		y, z := le.Uint32(rows[at+2*row:]), le.Uint32(rows[at+3*row:])
		differs |= (w ^ same) | (x ^ same) | (y ^ same) | (z ^ same)
		// Exchange halves of words that are two apart, then bytes of neighbours.
		t := (w>>16 ^ y) & 0xffff
		w, y = w^t<<16, y^t
		t = (x>>16 ^ z) & 0xffff
		x, z = x^t<<16, z^t
		t = (w>>8 ^ x) & 0xff00ff
		w, x = w^t<<8, x^t
		t = (y>>8 ^ z) & 0xff00ff
		y, z = y^t<<8, z^t
		le.PutUint32(a[i:], w)
		le.PutUint32(b[i:], x)
		le.PutUint32(c[i:], y)
		le.PutUint32(d[i:], z)
	}
	for ; i < n; i++ {
		w := le.Uint32(rows[i*row:])
		differs |= w ^ same
		a[i], b[i], c[i], d[i] = byte(w), byte(w>>8), byte(w>>16), byte(w>>24)
	}
	return differs
}

// planes have room for the planes of any tile.
type planes [tileRows * maxRow]byte

// planesPool saves to clear 32 KB for each tile, most of which are small.
var planesPool = sync.Pool{New: func() any { return new(planes) }}

func getPlanes() *planes  { return planesPool.Get().(*planes) }
func putPlanes(p *planes) { planesPool.Put(p) }

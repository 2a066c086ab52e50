package tiles

import "encoding/binary"

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
// bucket, of one byte if all buckets have the same.
func packRows(rows []byte, row, first int) []byte {
	var tile [packedHeader + tileRows*maxRow]byte
	n := len(rows) / row
	whole, size := uint32(0), packedHeader
	for p := range row {
		plane := tile[size : size+n]
		same, differs := rows[p], byte(0)
		for i, at := 0, p; i < len(plane) && at < len(rows); i, at = i+1, at+row {
			v := rows[at]
			plane[i] = v
			differs |= v ^ same
		}
		if size++; differs != 0 {
			whole |= 1 << p
			size += n - 1
		}
	}
	binary.LittleEndian.PutUint16(tile[:], uint16(first))
	binary.LittleEndian.PutUint16(tile[2:], uint16(n))
	binary.LittleEndian.PutUint32(tile[4:], whole)
	return append([]byte(nil), tile[:size]...)
}

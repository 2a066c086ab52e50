package block

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"loupe/store"
)

const (
	blockMagic = "loupeblk\x01\x00\x00\x00"
	endMagic   = "loupeend"
	footerSize = 32
)

// index is what a block says about itself.
type index struct {
	number     uint64
	log        uint64
	level      int
	resolution time.Duration
	profiles   int64
	dicts      []chunkRef
	series     []series
	rows       []chunkRef // of each series
	ids        []store.ID
	tops       []chunkRef // of each dictionary; length 0 where there is none
}

// append writes the index.
func (x *index) append(b []byte) []byte {
	for _, v := range []uint64{x.number, x.log, uint64(x.level), uint64(x.resolution), uint64(x.profiles), uint64(len(x.dicts))} {
		b = binary.AppendUvarint(b, v)
	}
	for _, d := range x.dicts {
		b = appendRef(b, d)
	}
	b = binary.AppendUvarint(b, uint64(len(x.series)))
	for i := range x.series {
		b = appendSeries(b, &x.series[i])
		b = binary.AppendVarint(b, x.series[i].min)
		b = binary.AppendUvarint(b, uint64(x.series[i].max-x.series[i].min))
		b = appendRef(b, x.rows[i])
	}
	b = binary.AppendUvarint(b, uint64(len(x.ids)))
	for _, id := range x.ids {
		b = append(b, id[:]...)
	}
	for _, t := range x.tops {
		b = appendRef(b, t)
	}
	return b
}

// readIndex reads an index.
func readIndex(b []byte) (*index, error) {
	d := decoder{b: b}
	x := &index{number: d.uint(), log: d.uint(), level: int(d.index(100)), resolution: time.Duration(d.uint()), profiles: int64(d.uint())}
	if x.resolution < 0 {
		d.fail()
	}
	for range d.count(7) {
		x.dicts = append(x.dicts, d.ref())
	}
	for range d.count(12) {
		s := d.series()
		s.min = d.int()
		s.max = s.min + int64(d.uint())
		if s.dict >= len(x.dicts) || s.max < s.min {
			d.fail()
		}
		x.series = append(x.series, s)
		x.rows = append(x.rows, d.ref())
	}
	for range d.count(len(store.ID{})) {
		x.ids = append(x.ids, store.ID(d.b[:16]))
		d.b = d.b[16:]
	}
	x.tops = make([]chunkRef, len(x.dicts))
	if len(d.b) > 0 { // there are blocks without roll-ups
		for i := range x.tops {
			x.tops[i] = d.ref()
		}
	}
	if d.bad || len(d.b) > 0 {
		return nil, errCut
	}
	return x, nil
}

func (d *decoder) ref() (c chunkRef) {
	c.offset, c.packed, c.raw = int64(d.uint()), d.count(0), d.count(0)
	if len(d.b) < 4 {
		d.fail()
		return c
	}
	c.sum = binary.LittleEndian.Uint32(d.b)
	d.b = d.b[4:]
	return c
}

// readRows reads the profiles of a series.
func readRows(b []byte, types int) (*rows, error) {
	d := decoder{b: b}
	r := &rows{rows: make([]row, d.count(5))}
	last, delta := int64(0), int64(0)
	for i := range r.rows {
		delta += d.int()
		last += delta
		r.rows[i].time = last
	}
	for i := range r.rows {
		r.rows[i].duration = int64(d.uint())
	}
	for i := range r.rows {
		r.rows[i].count = int64(d.uint())
	}
	for i := range r.rows {
		r.rows[i].weight = max(1, int64(d.uint()))
	}
	for i := range r.rows {
		r.rows[i].samples = d.count(0)
	}
	var c chunk
	if types > 32 {
		return nil, errCut
	}
	c.all.values = make([][]int64, types)
	for k := range types {
		c.column(&d, k, len(r.rows))
	}
	for i := range r.rows {
		r.rows[i].totals = make([]int64, types)
		for k := range types {
			r.rows[i].totals[k] = c.all.values[k][i]
		}
	}
	n := 0
	for range d.count(8) {
		k := d.count(0)
		ref := d.ref()
		ref.n = k
		n += k
		r.chunks = append(r.chunks, ref)
	}
	if d.bad || len(d.b) > 0 || n != len(r.rows) {
		return nil, errCut
	}
	return r, nil
}

// appendFooter writes where the index is.
func appendFooter(b []byte, ref chunkRef) []byte {
	at := len(b)
	b = binary.LittleEndian.AppendUint64(b, uint64(ref.offset))
	b = binary.LittleEndian.AppendUint32(b, uint32(ref.packed))
	b = binary.LittleEndian.AppendUint32(b, uint32(ref.raw))
	b = binary.LittleEndian.AppendUint32(b, ref.sum)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[at:], castagnoli))
	return append(b, endMagic...)
}

// readFooter reads the last bytes of a block.
func readFooter(b []byte) (ref chunkRef, err error) {
	if len(b) != footerSize || string(b[24:]) != endMagic || crc32.Checksum(b[:20], castagnoli) != binary.LittleEndian.Uint32(b[20:]) {
		return ref, errCut
	}
	ref.offset = int64(binary.LittleEndian.Uint64(b))
	ref.packed = int(binary.LittleEndian.Uint32(b[8:]))
	ref.raw = int(binary.LittleEndian.Uint32(b[12:]))
	ref.sum = binary.LittleEndian.Uint32(b[16:])
	return ref, nil
}

// block is an immutable file of profiles.
type block struct {
	name  string
	f     file
	size  int64
	cache *cache
	index *index // without ids

	first, last int64 // times of the first and last profile
	users       atomic.Int64
}

// openBlock opens a block and reads its index.
func openBlock(fs filesystem, name string, c *cache) (*block, []store.ID, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, nil, err
	}
	b := &block{name: name, f: f, cache: c, first: math.MaxInt64, last: math.MinInt64}
	b.users.Store(1)
	ids, err := b.open()
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("cannot read block %s: %w", name, err)
	}
	return b, ids, nil
}

func (b *block) open() (ids []store.ID, err error) {
	if b.size, err = b.f.Size(); err != nil {
		return nil, err
	}
	if b.size < footerSize+int64(len(blockMagic)) {
		return nil, errCut
	}
	head, foot := make([]byte, len(blockMagic)), make([]byte, footerSize)
	if _, err := b.f.ReadAt(head, 0); err != nil {
		return nil, err
	}
	if string(head) != blockMagic {
		return nil, errCut
	}
	if _, err := b.f.ReadAt(foot, b.size-footerSize); err != nil {
		return nil, err
	}
	ref, err := readFooter(foot)
	if err != nil {
		return nil, err
	}
	raw, err := b.chunk(ref, nil)
	if err != nil {
		return nil, err
	}
	if b.index, err = readIndex(raw); err != nil {
		return nil, err
	}
	for _, s := range b.index.series {
		b.first, b.last = min(b.first, s.min), max(b.last, s.max)
	}
	ids, b.index.ids = b.index.ids, nil
	return ids, nil
}

// release closes the file when nobody uses it any more.
func (b *block) release() {
	if b.users.Add(-1) == 0 {
		b.f.Close()
	}
}

func (b *block) list() ([]series, error) { return b.index.series, nil }

func (b *block) load(i int) (*rows, error) {
	raw, err := b.chunk(b.index.rows[i], nil)
	if err != nil {
		return nil, err
	}
	return readRows(raw, len(b.index.series[i].types))
}

func (b *block) dict(i int) (*dict, error) {
	if d := b.cache.get(b, i); d != nil {
		return d, nil
	}
	raw, err := b.chunk(b.index.dicts[i], nil)
	if err != nil {
		return nil, err
	}
	d, err := readDict(raw)
	if err == nil {
		b.cache.put(b, i, d)
	}
	return d, err
}

// chunk reads a section of the file, holds it against its checksum and unpacks it.
func (b *block) chunk(c chunkRef, buf []byte) ([]byte, error) {
	if c.offset < 0 || int64(c.packed) > b.size || c.offset > b.size-int64(c.packed) {
		return nil, errCut
	}
	packed := slices.Grow(buf[:0], c.packed)[:c.packed]
	if _, err := b.f.ReadAt(packed, c.offset); err != nil {
		return nil, err
	}
	if crc32.Checksum(packed, castagnoli) != c.sum {
		return nil, fmt.Errorf("the section at byte %d of %s: %w", c.offset, b.name, errCut)
	}
	return unpack(packed, c.raw, nil)
}

package heap

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// span is a run of pages with objects of one size.
type span struct {
	base      uint64
	elemsize  uint64
	special   uint64 // address of its list of specials
	largeType uint64 // address of the type of the one object
	npages    uint32
	first     uint32 // the number of its first object
	nelems    uint32
	divMul    uint32 // (offset*divMul)>>32 is the index of an object
	class     uint8
	noscan    bool
}

// What the runtime calls the states of a span that interest here, and the size
// above which an object has a header (since Go 1.22; 64 pointers).
const (
	spanInUse  = 1
	headerFrom = 512
	headerSize = 8
)

// A region has the pages of 64 MB of addresses, as an arena has, wherever arenas
// begin.
const (
	regionBits  = 26
	regionPages = 1 << (regionBits - pageBits)
	// maxRegions is all of the 48 bits that addresses have.
	maxRegions = 1 << (48 - regionBits)
	maxSpans   = 1 << 26
	// noObject is no object: the numbers are below it.
	noObject = 1<<32 - 1
)

type region struct {
	spans  [regionPages]uint32 // index of the span, plus one
	bitmap []byte              // before Go 1.22: where pointers are, a bit a word
	noMore []byte              // where they end, a bit for 8 bytes of bitmap
}

// index is where the objects are. They have numbers in the order of their addresses.
type index struct {
	spans   []span // by address
	regions []*region
	low     uint64 // number of the first region
	objects uint32 // numbers that objects may have
	used    bitset // by object: allocated
	headers bool   // larger objects begin with their type
}

// header tells whether the objects of a span begin with their type.
func (in *index) header(s *span) bool {
	return in.headers && !s.noscan && s.class != 0 && s.elemsize > headerFrom
}

// spanReader fills an index out of the tables of the runtime.
type spanReader struct {
	p       *process
	budget  *budget
	in      *index
	damaged int // spans and bitmaps that made no sense
}

// read reads the spans, and which of their objects are allocated.
func (x *spanReader) read() error {
	x.in.headers = x.p.l.minor >= headersSince
	at := x.p.l.mheap + x.p.bias + uint64(x.p.l.allspans)
	list, err1 := x.p.word(at)
	n, err2 := x.p.word(at + 8)
	if err := cmp.Or(err1, err2); err != nil {
		return fmt.Errorf("%w: mheap_ is not in the memory (is it of this binary?): %w", ErrNotReadable, err)
	}
	if n == 0 || n > maxSpans {
		return fmt.Errorf("%w: it would have %d spans (is the memory that of this binary?)", ErrNotReadable, n)
	}
	if err := x.budget.take(int64(n)*72, "the list of spans"); err != nil {
		return err
	}
	addrs := make([]byte, 8*n)
	if err := x.p.mem.Read(list, addrs); err != nil {
		return fmt.Errorf("%w: the list of its %d spans is not in the memory: %w", ErrNotReadable, n, err)
	}
	x.in.spans = make([]span, 0, n)
	alloc := make([]uint64, 0, n) // addresses of the bits
	free := make([]uint32, 0, n)  // objects before it are allocated
	var scratch []byte
	for i := range n {
		b := x.p.cache.bytes(le64(addrs[8*i:]), x.p.l.spanSize, &scratch)
		s, ok := x.span(b)
		if !ok {
			continue
		}
		// The index into the other two until the spans are in order.
		s.first = uint32(len(x.in.spans))
		x.in.spans = append(x.in.spans, s)
		alloc = append(alloc, x.p.l.allocBits.of(b))
		free = append(free, uint32(min(x.p.l.freeindex.of(b), 1<<32-1)))
	}
	slices.SortFunc(x.in.spans, func(x, y span) int { return cmp.Compare(x.base, y.base) })
	order, err := x.place()
	if err != nil {
		return err
	}
	return x.readAllocated(order, alloc, free)
}

// span decodes an mspan; ok is false for one without objects.
func (x *spanReader) span(b []byte) (s span, ok bool) {
	if x.p.l.state.of(b)&0xff != spanInUse {
		return s, false
	}
	class := uint8(x.p.l.spanclass.of(b))
	pages := x.p.l.npages.of(b)
	nelems := x.p.l.nelems.of(b)
	s = span{
		base: x.p.l.startAddr.of(b), elemsize: x.p.l.elemsize.of(b), special: x.p.l.specials.of(b),
		class: class >> 1, noscan: class&1 != 0,
	}
	size := pages << pageBits
	if s.base == 0 || s.base%pageSize != 0 || pages == 0 || pages > 1<<31 || s.base>>48 != 0 || (s.base+size)>>48 != 0 ||
		s.elemsize < 8 || s.elemsize%8 != 0 || s.elemsize > size || nelems == 0 || nelems > size/s.elemsize {
		x.damaged++
		return s, false
	}
	s.npages, s.nelems = uint32(pages), uint32(nelems)
	if s.nelems > 1 {
		if s.elemsize > 1<<31 {
			x.damaged++
			return s, false
		}
		s.divMul = ^uint32(0)/uint32(s.elemsize) + 1
	}
	if s.class == 0 && x.p.l.minor >= headersSince {
		s.largeType = x.p.l.largeType.of(b)
	}
	return s, true
}

// place numbers the objects in the order of their addresses, and makes the table
// of pages. It returns where the spans had been in the list.
func (x *spanReader) place() (order []uint32, err error) {
	kept := x.in.spans[:0]
	total, end := uint64(0), uint64(0)
	for _, s := range x.in.spans {
		if s.base < end {
			x.damaged++ // it lies over another one
			continue
		}
		end = s.base + uint64(s.npages)<<pageBits
		order = append(order, s.first)
		s.first = uint32(total)
		// Bits are copied by bytes: a span begins with one of its own.
		total += uint64(s.nelems+7) &^ 7
		if total >= noObject {
			return nil, fmt.Errorf("%w: it has more than %d objects", ErrNotReadable, uint32(noObject))
		}
		kept = append(kept, s)
	}
	x.in.spans = kept
	if len(kept) == 0 {
		return nil, fmt.Errorf("%w: it has no spans (is the memory that of this binary?)", ErrNotReadable)
	}
	x.in.objects = uint32(total)
	if err := x.budget.take(int64(total)*5, fmt.Sprintf("the table of %d objects", total)); err != nil {
		return nil, err
	}
	x.in.low = kept[0].base >> regionBits
	n := (end-1)>>regionBits - x.in.low + 1
	if n > maxRegions {
		return nil, fmt.Errorf("%w: its spans are too far apart", ErrNotReadable)
	}
	if err := x.budget.take(int64(n)*8, "the table of pages"); err != nil {
		return nil, err
	}
	x.in.regions = make([]*region, n)
	for i := range x.in.spans {
		if err := x.mapPages(i); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// mapPages notes which span the pages of a span belong to.
func (x *spanReader) mapPages(i int) error {
	s := &x.in.spans[i]
	for p := range uint64(s.npages) {
		addr := s.base + p<<pageBits
		r := &x.in.regions[addr>>regionBits-x.in.low]
		if *r == nil {
			if err := x.budget.take(regionPages*4, "the table of pages"); err != nil {
				return err
			}
			*r = &region{}
			if err := x.readBitmap(*r, addr); err != nil {
				return err
			}
		}
		(*r).spans[addr>>pageBits%regionPages] = uint32(i) + 1
	}
	return nil
}

// readBitmap reads where the pointers in an arena are, before Go 1.22 (arenaIndex
// in runtime/mheap.go). A region is an arena then.
func (x *spanReader) readBitmap(r *region, addr uint64) error {
	if x.p.l.minor >= headersSince {
		return nil
	}
	const words = 1 << (regionBits - 3)
	if err := x.budget.take(words/8+words/512, "the bitmap of an arena"); err != nil {
		return err
	}
	index := addr >> regionBits
	if x.p.bin.Arch == "amd64" {
		index = (addr + 1<<47) >> regionBits
	}
	arenas, err := x.p.word(x.p.l.mheap + x.p.bias + uint64(x.p.l.arenas))
	if err != nil {
		return nil
	}
	arena, err := x.p.word(arenas + 8*index)
	if err != nil || arena == 0 {
		x.damaged++
		return nil
	}
	bitmap, noMore := make([]byte, words/8), make([]byte, words/512)
	if x.p.mem.Read(arena+uint64(x.p.l.arenaBitmap), bitmap) != nil || x.p.mem.Read(arena+uint64(x.p.l.arenaNoMore), noMore) != nil {
		x.damaged++
		return nil
	}
	r.bitmap, r.noMore = bitmap, noMore
	return nil
}

// readAllocated reads which objects are allocated: those before freeindex, and
// those after it whose bit is set. Where the sweeper has not been yet, garbage is
// among them, as nothing reaches it.
func (x *spanReader) readAllocated(order []uint32, alloc []uint64, free []uint32) error {
	x.in.used = newBitset(x.in.objects)
	var scratch []byte
	for i := range x.in.spans {
		s := &x.in.spans[i]
		before := min(free[order[i]], s.nelems)
		for k := range before {
			x.in.used.set(s.first + k)
		}
		if before == s.nelems {
			continue
		}
		if alloc[order[i]]>>48 != 0 {
			x.damaged++
			continue
		}
		b := x.p.cache.bytes(alloc[order[i]], int(s.nelems+7)/8, &scratch)
		for k := before / 8; k < uint32(len(b)); k++ {
			at := s.first + 8*k
			bits := b[k]
			if over := int(8*k+8) - int(s.nelems); over > 0 {
				bits &= 0xff >> over
			}
			x.in.used[at>>6] |= uint64(bits) << (at & 63)
		}
	}
	return nil
}

// spanOf returns the span that an address is in, or nil.
func (in *index) spanOf(p uint64) *span {
	r := p>>regionBits - in.low
	if r >= uint64(len(in.regions)) || in.regions[r] == nil {
		return nil
	}
	i := in.regions[r].spans[p>>pageBits%regionPages]
	if i == 0 {
		return nil
	}
	return &in.spans[i-1]
}

// find returns the allocated object that an address is in, and how far in.
func (in *index) find(p uint64) (id uint32, s *span, off uint64) {
	if id, s, off = in.locate(p); id != noObject && !in.used.has(id) {
		return noObject, nil, 0
	}
	return id, s, off
}

// locate does so whether it is allocated or not.
func (in *index) locate(p uint64) (id uint32, s *span, off uint64) {
	s = in.spanOf(p)
	if s == nil {
		return noObject, nil, 0
	}
	o := p - s.base
	i := o * uint64(s.divMul) >> 32
	if s.nelems == 1 {
		i = 0
	}
	if off = o - i*s.elemsize; i >= uint64(s.nelems) || off >= s.elemsize {
		return noObject, nil, 0
	}
	return s.first + uint32(i), s, off
}

// spanOfObject returns the span of an object.
func (in *index) spanOfObject(id uint32) *span {
	i := sort.Search(len(in.spans), func(i int) bool { return in.spans[i].first > id })
	return &in.spans[i-1]
}

// Addr returns the address of an object, as pointers have it.
func (in *index) addr(s *span, id uint32) uint64 {
	at := s.base + uint64(id-s.first)*s.elemsize
	if in.header(s) {
		at += headerSize
	}
	return at
}

// room returns how many bytes of the objects of a span are values.
func (in *index) room(s *span) uint64 {
	if in.header(s) {
		return s.elemsize - headerSize
	}
	return s.elemsize
}

// headerOf returns how far into an object of a span its value begins.
func (in *index) headerOf(s *span) uint64 { return s.elemsize - in.room(s) }

// each calls f for all objects of a set.
func (in *index) each(set bitset, f func(id uint32, s *span)) {
	for i := range in.spans {
		s := &in.spans[i]
		set.each(s.first, s.first+s.nelems, func(id uint32) { f(id, s) })
	}
}

// pointed is how many allocated objects have pointers: about so many are scanned.
func (in *index) pointed() (n int64) {
	for i := range in.spans {
		if s := &in.spans[i]; !s.noscan {
			n += in.used.between(s.first, s.nelems)
		}
	}
	return n
}

// mapped returns the bits of n bytes from the bitmap of an arena.
func (r *region) mapped(addr, n uint64) uint64 {
	if r == nil || r.bitmap == nil {
		return 1<<(n/8) - 1 // all may be pointers
	}
	at := addr >> 3 & (1<<(regionBits-3) - 1)
	seen := le64(r.bitmap[at/64*8:]) >> (at % 64)
	valid := 64 - at%64
	if n/8 > valid {
		i := at / 64
		if r.noMore[i/8]>>(i%8)&1 == 0 && int(i+1)*8 < len(r.bitmap) {
			seen |= le64(r.bitmap[(i+1)*8:]) << valid
		}
	}
	if n/8 < 64 {
		seen &= 1<<(n/8) - 1
	}
	return seen
}

// ends tells whether an object has no pointers behind the 64 words of the
// bitmap that an address is in.
func (r *region) ends(addr uint64) bool {
	if r == nil || r.bitmap == nil {
		return false
	}
	i := addr >> 9 & (1<<(regionBits-9) - 1)
	return r.noMore[i/8]>>(i%8)&1 != 0
}

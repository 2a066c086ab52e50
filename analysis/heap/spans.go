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

// header tells whether the objects of a span begin with their type.
func (h *Heap) header(s *span) bool {
	return h.Version >= headersSince && !s.noscan && s.class != 0 && s.elemsize > headerFrom
}

// readSpans reads the spans, and which of their objects are allocated.
func (h *Heap) readSpans() error {
	at := h.l.mheap + h.bias + uint64(h.l.allspans)
	list, err1 := h.word(at)
	n, err2 := h.word(at + 8)
	if err := cmp.Or(err1, err2); err != nil {
		return fmt.Errorf("%w: mheap_ is not in the memory (is it of this binary?): %w", ErrNotReadable, err)
	}
	if n == 0 || n > maxSpans {
		return fmt.Errorf("%w: it would have %d spans (is the memory that of this binary?)", ErrNotReadable, n)
	}
	if err := h.take(int64(n)*72, "the list of spans"); err != nil {
		return err
	}
	addrs := make([]byte, 8*n)
	if err := h.mem.Read(list, addrs); err != nil {
		return fmt.Errorf("%w: the list of its %d spans is not in the memory: %w", ErrNotReadable, n, err)
	}
	h.spans = make([]span, 0, n)
	alloc := make([]uint64, 0, n) // addresses of the bits
	free := make([]uint32, 0, n)  // objects before it are allocated
	var scratch []byte
	for i := range n {
		b := h.cache.bytes(le64(addrs[8*i:]), h.l.spanSize, &scratch)
		s, ok := h.span(b)
		if !ok {
			continue
		}
		// The index into the other two until the spans are in order.
		s.first = uint32(len(h.spans))
		h.spans = append(h.spans, s)
		alloc = append(alloc, h.l.allocBits.of(b))
		free = append(free, uint32(min(h.l.freeindex.of(b), 1<<32-1)))
	}
	slices.SortFunc(h.spans, func(x, y span) int { return cmp.Compare(x.base, y.base) })
	order, err := h.place()
	if err != nil {
		return err
	}
	return h.readAllocated(order, alloc, free)
}

// span decodes an mspan; ok is false for one without objects.
func (h *Heap) span(b []byte) (s span, ok bool) {
	if h.l.state.of(b)&0xff != spanInUse {
		return s, false
	}
	class := uint8(h.l.spanclass.of(b))
	pages := h.l.npages.of(b)
	nelems := h.l.nelems.of(b)
	s = span{
		base: h.l.startAddr.of(b), elemsize: h.l.elemsize.of(b), special: h.l.specials.of(b),
		class: class >> 1, noscan: class&1 != 0,
	}
	size := pages << pageBits
	if s.base == 0 || s.base%pageSize != 0 || pages == 0 || pages > 1<<31 || s.base>>48 != 0 || (s.base+size)>>48 != 0 ||
		s.elemsize < 8 || s.elemsize%8 != 0 || s.elemsize > size || nelems == 0 || nelems > size/s.elemsize {
		h.Damaged++
		return s, false
	}
	s.npages, s.nelems = uint32(pages), uint32(nelems)
	if s.nelems > 1 {
		if s.elemsize > 1<<31 {
			h.Damaged++
			return s, false
		}
		s.divMul = ^uint32(0)/uint32(s.elemsize) + 1
	}
	if s.class == 0 && h.Version >= headersSince {
		s.largeType = h.l.largeType.of(b)
	}
	return s, true
}

// place numbers the objects in the order of their addresses, and makes the table
// of pages. It returns where the spans had been in the list.
func (h *Heap) place() (order []uint32, err error) {
	kept := h.spans[:0]
	total, end := uint64(0), uint64(0)
	for _, s := range h.spans {
		if s.base < end {
			h.Damaged++ // it lies over another one
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
	h.spans = kept
	if len(kept) == 0 {
		return nil, fmt.Errorf("%w: it has no spans (is the memory that of this binary?)", ErrNotReadable)
	}
	h.objects = uint32(total)
	if err := h.take(int64(total)*5, fmt.Sprintf("the table of %d objects", total)); err != nil {
		return nil, err
	}
	h.low = kept[0].base >> regionBits
	n := (end-1)>>regionBits - h.low + 1
	if n > maxRegions {
		return nil, fmt.Errorf("%w: its spans are too far apart", ErrNotReadable)
	}
	if err := h.take(int64(n)*8, "the table of pages"); err != nil {
		return nil, err
	}
	h.regions = make([]*region, n)
	for i := range h.spans {
		if err := h.mapPages(i); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// mapPages notes which span the pages of a span belong to.
func (h *Heap) mapPages(i int) error {
	s := &h.spans[i]
	for p := range uint64(s.npages) {
		addr := s.base + p<<pageBits
		r := &h.regions[addr>>regionBits-h.low]
		if *r == nil {
			if err := h.take(regionPages*4, "the table of pages"); err != nil {
				return err
			}
			*r = &region{}
			if err := h.readBitmap(*r, addr); err != nil {
				return err
			}
		}
		(*r).spans[addr>>pageBits%regionPages] = uint32(i) + 1
	}
	return nil
}

// readBitmap reads where the pointers in an arena are, before Go 1.22 (arenaIndex
// in runtime/mheap.go). A region is an arena then.
func (h *Heap) readBitmap(r *region, addr uint64) error {
	if h.Version >= headersSince {
		return nil
	}
	const words = 1 << (regionBits - 3)
	if err := h.take(words/8+words/512, "the bitmap of an arena"); err != nil {
		return err
	}
	index := addr >> regionBits
	if h.bin.Arch == "amd64" {
		index = (addr + 1<<47) >> regionBits
	}
	arenas, err := h.word(h.l.mheap + h.bias + uint64(h.l.arenas))
	if err != nil {
		return nil
	}
	arena, err := h.word(arenas + 8*index)
	if err != nil || arena == 0 {
		h.Damaged++
		return nil
	}
	bitmap, noMore := make([]byte, words/8), make([]byte, words/512)
	if h.mem.Read(arena+uint64(h.l.arenaBitmap), bitmap) != nil || h.mem.Read(arena+uint64(h.l.arenaNoMore), noMore) != nil {
		h.Damaged++
		return nil
	}
	r.bitmap, r.noMore = bitmap, noMore
	return nil
}

// readAllocated reads which objects are allocated: those before freeindex, and
// those after it whose bit is set. Where the sweeper has not been yet, garbage is
// among them, as nothing reaches it.
func (h *Heap) readAllocated(order []uint32, alloc []uint64, free []uint32) error {
	h.used = newBitset(h.objects)
	h.marked = newBitset(h.objects)
	h.shared = newBitset(h.objects)
	h.typeOf = make([]uint32, h.objects)
	var scratch []byte
	for i := range h.spans {
		s := &h.spans[i]
		before := min(free[order[i]], s.nelems)
		for k := range before {
			h.used.set(s.first + k)
		}
		if before == s.nelems {
			continue
		}
		if alloc[order[i]]>>48 != 0 {
			h.Damaged++
			continue
		}
		b := h.cache.bytes(alloc[order[i]], int(s.nelems+7)/8, &scratch)
		for k := before / 8; k < uint32(len(b)); k++ {
			at := s.first + 8*k
			bits := b[k]
			if over := int(8*k+8) - int(s.nelems); over > 0 {
				bits &= 0xff >> over
			}
			h.used[at>>6] |= uint64(bits) << (at & 63)
		}
	}
	return nil
}

// spanOf returns the span that an address is in, or nil.
func (h *Heap) spanOf(p uint64) *span {
	r := p>>regionBits - h.low
	if r >= uint64(len(h.regions)) || h.regions[r] == nil {
		return nil
	}
	i := h.regions[r].spans[p>>pageBits%regionPages]
	if i == 0 {
		return nil
	}
	return &h.spans[i-1]
}

// find returns the allocated object that an address is in, and how far in.
func (h *Heap) find(p uint64) (id uint32, s *span, off uint64) {
	if id, s, off = h.locate(p); id != noObject && !h.used.has(id) {
		return noObject, nil, 0
	}
	return id, s, off
}

// locate does so whether it is allocated or not.
func (h *Heap) locate(p uint64) (id uint32, s *span, off uint64) {
	s = h.spanOf(p)
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
func (h *Heap) spanOfObject(id uint32) *span {
	i := sort.Search(len(h.spans), func(i int) bool { return h.spans[i].first > id })
	return &h.spans[i-1]
}

// Addr returns the address of an object, as pointers have it.
func (h *Heap) addr(s *span, id uint32) uint64 {
	at := s.base + uint64(id-s.first)*s.elemsize
	if h.header(s) {
		at += headerSize
	}
	return at
}

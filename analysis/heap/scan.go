package heap

import "math/bits"

// visitor is told of the pointers in an object.
type visitor interface {
	pointer(p uint64, kind slotKind, elem typeID)
}

// scanner reads the pointers in objects.
type scanner struct {
	buf []byte
	y   *typing
	v   visitor
	// texts is told of strings and slices where it is not nil: where their
	// elements are, how many, and how many there is room for.
	texts func(p, n, room uint64, elem typeID)
}

// pieceSize is how much of a large object is read at once.
const pieceSize = 256 << 10

// scan goes through the pointers in an object that has some.
func (sc *scanner) scan(y *typing, id uint32, s *span, v visitor) {
	sc.y, sc.v = y, v
	addr, room := y.in.addr(s, id), y.in.room(s)
	switch {
	case s.noscan:
		sc.closure(id, addr)
		return
	case !y.in.headers:
		sc.scanMapped(id, addr, room)
		return
	case s.class == 0:
		y.setSure(id, s, y.types.described(s.largeType))
	case s.elemsize > headerFrom:
		b := y.p.cache.bytes(addr-headerSize, headerSize, &sc.buf)
		y.setSure(id, s, y.types.described(le64(b)))
	default:
		sc.scanSmall(id, s, addr)
		return
	}
	t := y.typeOf[id]
	if typ := typeID(t & typeMask); typ != 0 && !y.types.at(typ).opaque {
		sc.typed(addr, room, typ, t&arrayFlag != 0)
		return
	}
	// The allocator zeroes what a type does not reach to.
	sc.raw(addr, room)
}

// scanSmall goes through an object of at most 64 words, whose bits are at the end
// of the span (heapBitsSmallForAddr in mbitmap.go).
func (sc *scanner) scanSmall(id uint32, s *span, addr uint64) {
	y := sc.y
	size := uint64(s.npages) << pageBits
	base := s.base + size - size/64
	if s.elemsize >= 16 {
		base -= y.p.l.inlineMarks
	}
	word, shift := (addr-s.base)/8/64, (addr-s.base)/8%64
	n := s.elemsize / 8
	b := y.p.cache.bytes(base+8*word, 8, &sc.buf)
	seen := le64(b) >> shift
	if shift+n > 64 {
		b = y.p.cache.bytes(base+8*word+8, 8, &sc.buf)
		seen |= le64(b) << (64 - shift)
	}
	if n < 64 {
		seen &= 1<<n - 1
	}
	sc.bits(id, addr, s.elemsize, seen)
}

// bits goes through an object of at most 64 words with the bits of the pointers
// that are in it.
func (sc *scanner) bits(id uint32, addr, room, seen uint64) {
	y := sc.y
	t := y.typeOf[id]
	typ := typeID(t & typeMask)
	if typ == y.types.funcs {
		sc.closure(id, addr)
		t = y.typeOf[id]
		typ = typeID(t & typeMask)
	}
	if typ != 0 && !y.types.at(typ).opaque {
		y.types.planOf(typ)
		d := y.types.at(typ)
		array := t&arrayFlag != 0
		switch {
		case d.closure:
			// What else it has taken is not known by type.
			if d.size <= room && d.mask&^seen == 0 {
				sc.typed(addr, d.size, typ, false)
				seen &^= d.mask
			}
		case y.agrees(d, array, room, seen):
			sc.typed(addr, room, typ, array)
			return
		case !array && d.size < room && t>>rankShift&7 == rankWithin && y.agrees(d, true, room, seen):
			// A pointer to the first of several.
			y.setType(id, typ, true, rankPart)
			sc.typed(addr, room, typ, true)
			return
		default:
			y.setType(id, 0, false, t>>rankShift&7-1)
		}
	}
	if seen == 0 {
		return
	}
	b := y.p.cache.bytes(addr, int(room), &sc.buf)
	for ; seen != 0; seen &= seen - 1 {
		if w := le64(b[8*bits.TrailingZeros64(seen):]); w != 0 {
			sc.v.pointer(w, toRaw, 0)
		}
	}
}

// closure names an object that a func value leads to by the function.
func (sc *scanner) closure(id uint32, addr uint64) {
	y := sc.y
	if typeID(y.typeOf[id]&typeMask) != y.types.funcs {
		return
	}
	b := y.p.cache.bytes(addr, 8, &sc.buf)
	t := y.types.closureOf(le64(b))
	rank := uint32(rankOne)
	if t == 0 {
		rank--
	}
	y.setType(id, t, false, rank)
}

// scanMapped goes through an object of Go before 1.22, where each arena has a
// bitmap of its pointers (heapBitsForAddr in mbitmap.go).
func (sc *scanner) scanMapped(id uint32, addr, room uint64) {
	y := sc.y
	r := y.in.regions[addr>>regionBits-y.in.low]
	if room <= headerFrom {
		sc.bits(id, addr, room, r.mapped(addr, room))
		return
	}
	t := y.typeOf[id]
	if typ := typeID(t & typeMask); typ == y.types.funcs {
		sc.closure(id, addr)
	} else if typ != 0 {
		y.types.planOf(typ)
		d := y.types.at(typ)
		if d.size > headerFrom || y.agrees(d, t&arrayFlag != 0, headerFrom, r.mapped(addr, headerFrom)) {
			sc.typed(addr, room, typ, t&arrayFlag != 0)
		} else {
			y.setType(id, 0, false, t>>rankShift&7-1)
		}
	}
	var buf []byte
	for off := uint64(0); off < room; off += headerFrom {
		n := min(room-off, headerFrom)
		r := y.in.regions[(addr+off)>>regionBits-y.in.low]
		seen := r.mapped(addr+off, n)
		if seen != 0 {
			b := y.p.cache.bytes(addr+off, int(n), &buf)
			for ; seen != 0; seen &= seen - 1 {
				if w := le64(b[8*bits.TrailingZeros64(seen):]); w != 0 {
					sc.v.pointer(w, toRaw, 0)
				}
			}
		}
		if r.ends(addr + off) {
			break
		}
	}
}

// raw takes each word of some memory for a pointer.
func (sc *scanner) raw(addr, n uint64) {
	for n >= 8 {
		size := min(n, blockSize-addr%blockSize)
		b := sc.y.p.cache.block(addr)[addr%blockSize:]
		for i := uint64(0); i+8 <= size; i += 8 {
			if w := le64(b[i:]); w != 0 {
				sc.v.pointer(w, toRaw, 0)
			}
		}
		addr, n = addr+size, n-size
	}
}

// typed goes through values of a type, one or as many as there is room for.
func (sc *scanner) typed(addr, room uint64, typ typeID, many bool) {
	p := sc.y.types.planOf(typ)
	if len(p.segments) == 0 || p.size == 0 {
		return
	}
	n := uint64(1)
	if many {
		n = room / p.size
	}
	if p.size > pieceSize {
		for i := range n {
			for j := range p.segments {
				g := &p.segments[j]
				sc.elements(addr+i*p.size+g.off, g.count, g.stride, g.slots)
			}
		}
		return
	}
	for per := max(pieceSize/p.size, 1); n > 0; {
		k := min(n, per)
		b := sc.y.p.cache.bytes(addr, int(k*p.size), &sc.buf)
		for ; len(b) >= int(p.size); b = b[p.size:] {
			for j := range p.segments {
				g := &p.segments[j]
				e := b[g.off:p.size]
				for range g.count {
					sc.slots(e, g.slots)
					if uint64(len(e)) < g.stride {
						break
					}
					e = e[g.stride:]
				}
			}
		}
		addr, n = addr+k*p.size, n-k
	}
}

// elements goes through equal elements of something large.
func (sc *scanner) elements(addr, count, stride uint64, slots []slot) {
	if stride > pieceSize {
		for i := range count {
			for _, s := range slots {
				// A slot is looked at with the words beside it.
				back := min(s.off, 64)
				shifted := s
				shifted.off, shifted.test = back, s.test-(s.off-back)
				b := sc.y.p.cache.bytes(addr+i*stride+s.off-back, int(min(back+24, stride-s.off+back)), &sc.buf)
				sc.slots(b, []slot{shifted})
			}
		}
		return
	}
	for per := pieceSize / stride; count > 0; {
		k := min(count, per)
		b := sc.y.p.cache.bytes(addr, int(k*stride), &sc.buf)
		for ; len(b) >= int(stride); b = b[stride:] {
			sc.slots(b[:stride], slots)
		}
		addr, count = addr+k*stride, count-k
	}
}

// slots goes through the pointers of one value.
func (sc *scanner) slots(b []byte, slots []slot) {
	for i := range slots {
		s := &slots[i]
		if s.off+8 > uint64(len(b)) {
			continue
		}
		w := le64(b[s.off:])
		if w == 0 {
			continue
		}
		switch s.kind {
		case toAny, toIface:
			if s.off+16 > uint64(len(b)) {
				continue
			}
			sc.boxed(w, le64(b[s.off+8:]), s.kind)
		case toMap:
			elem, kind := s.elem, toOne
			if s.test+8 <= uint64(len(b)) && le64(b[s.test:]) != 0 {
				elem, kind = s.other, toMany
			}
			sc.v.pointer(w, kind, elem)
		default:
			if sc.texts != nil && s.header {
				sc.header(b, w, s)
			}
			sc.v.pointer(w, s.kind, s.elem)
		}
	}
}

// header tells of a string or a slice at a slot of a value.
func (sc *scanner) header(b []byte, w uint64, s *slot) {
	if s.off+16 > uint64(len(b)) {
		return
	}
	n := le64(b[s.off+8:])
	room := n
	if s.kind == toMany {
		if s.off+24 > uint64(len(b)) {
			return
		}
		room = le64(b[s.off+16:])
	}
	sc.texts(w, n, room, s.elem)
}

// boxed goes through an interface: its first word says what the second leads to.
func (sc *scanner) boxed(first, second uint64, kind slotKind) {
	t := sc.y.types
	var typ typeID
	if kind == toAny {
		typ = t.described(first)
	} else {
		typ = t.table(first)
	}
	if second == 0 {
		return
	}
	if typ == 0 {
		sc.v.pointer(second, toRaw, 0)
		return
	}
	to, elem := t.value(typ)
	sc.v.pointer(second, to, elem)
}

// scanVariable goes through a global variable.
func (sc *scanner) scanVariable(y *typing, addr uint64, typ typeID, v visitor) {
	sc.y, sc.v = y, v
	sc.typed(addr, y.types.at(typ).size, typ, false)
}

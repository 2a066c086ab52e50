package heap

import (
	"cmp"
	"slices"
)

// Frame is one function on a stack, as it lies there.
type Frame struct {
	// PC is where the call that it has made returns to, or the instruction that is
	// next, where Exact is set.
	PC    uint64
	Exact bool
	// Low is where the stack pointer is, CFA what it was before the function was
	// called: the frame is between them.
	Low, CFA uint64
}

// place is where a pointer on a stack was found.
type place struct {
	pc   uint64 // within the function, as linked
	name string // of the variable, "" where it is not known
}

// Bounds of what is looked at on a stack.
const (
	maxFrameValue = 64 << 10
	maxFrames     = 1 << 20 // of one goroutine
	maxDefers     = 1 << 16
)

// stackReader goes through the stack of one goroutine as the collector does: the
// words that are in use by its tables, and of the variables whose address is
// taken those that something leads to.
type stackReader struct {
	h       *Heap
	m       *marker
	v       *rootVisitor
	lo, hi  uint64
	objects []stackObject // by address
	queue   []stackPointer
	buf     []byte
	value   []byte
}

// stackObject is a variable in a frame whose address is taken.
type stackObject struct {
	addr uint64
	kind *frameKind
	cfa  uint64
	i    int // in kind.objects
	pc   uint64
	seen bool
}

// stackPointer is a pointer into the stack.
type stackPointer struct {
	p    uint64
	kind slotKind
	elem typeID
}

// frames goes through the frames of a stack. It returns false, and has done
// nothing, where they cannot be told.
func (m *marker) frames(v *rootVisitor, at uint64, g []byte, lo, hi uint64) bool {
	h := m.h
	if h.opt.Unwind == nil {
		return false
	}
	var list []Frame
	h.opt.Unwind(at, func(f Frame) bool {
		if f.Low < lo || f.CFA > hi || f.CFA < f.Low {
			return false
		}
		list = append(list, f)
		return len(list) < maxFrames
	})
	if len(list) == 0 {
		return false
	}
	r := &stackReader{h: h, m: m, v: v, lo: lo, hi: hi}
	v.stack = r
	defer func() { v.stack = nil }()
	called := uint64(0)
	for _, f := range list {
		r.frame(f, called)
		called = f.PC
	}
	// Where the last one was not the first of the stack, the rest is not known.
	if last := list[len(list)-1]; last.CFA+stackTop < hi {
		if pc := last.PC - h.bias; !h.isFirst(pc) {
			v.place = h.placeOf(pc, "")
			r.words(last.CFA, hi)
		}
	}
	slices.SortFunc(r.objects, func(a, b stackObject) int { return cmp.Compare(a.addr, b.addr) })
	r.runtime(g)
	r.reach()
	return true
}

// stackTop is what may lie above the first frame of a stack.
const stackTop = 64

// frame goes through one frame, of a function that has called another one.
func (r *stackReader) frame(f Frame, called uint64) {
	h := r.h
	look := f.PC - h.bias
	if !f.Exact {
		look--
	}
	k := h.frames.of(f, called)
	r.v.place = h.placeOf(look, "")
	if !k.mapped {
		// What it was given may lie above it.
		r.words(f.Low, min(f.CFA+k.args, r.hi))
		return
	}
	for _, off := range k.raw {
		r.unnamed(f.CFA+uint64(off), k.entry)
	}
	for i := range k.objects {
		o := &k.objects[i]
		r.objects = append(r.objects, stackObject{addr: f.CFA + uint64(o.off), kind: k, cfa: f.CFA, i: i, pc: look})
		if o.live {
			r.queue = append(r.queue, stackPointer{p: f.CFA + uint64(o.off)})
		}
	}
	for i := range k.values {
		if x := &k.values[i]; !x.object {
			r.typed(x, f.CFA, look)
		}
	}
}

// words takes each word of some memory for a pointer.
func (r *stackReader) words(low, high uint64) {
	for at := low &^ 7; at+8 <= high; at += 8 {
		r.word(at)
	}
}

func (r *stackReader) word(at uint64) {
	if at < r.lo || at+8 > r.hi {
		return
	}
	if w := le64(r.h.cache.bytes(at, 8, &r.buf)); w != 0 {
		r.v.pointer(w, toRaw, 0)
	}
}

// unnamed takes a word for a pointer, and for one to the closure that the function has
// been called by, if that begins with its address.
func (r *stackReader) unnamed(at, entry uint64) {
	h := r.h
	if w := le64(h.cache.bytes(at, 8, &r.buf)); w%8 == 0 {
		if id, s, off := h.find(w); id != noObject && off == h.headerOf(s) && le64(h.cache.bytes(w, 8, &r.buf)) == entry {
			r.v.pointer(w, toFunc, h.types.funcs)
			return
		}
	}
	r.word(at)
}

// typed goes through a variable.
func (r *stackReader) typed(x *frameValue, cfa, pc uint64) {
	h := r.h
	r.v.place = h.placeOf(pc, x.name)
	r.value = append(r.value[:0], make([]byte, x.size)...)
	for _, p := range x.pieces {
		at := cfa + uint64(p.At)
		if n := max(p.Size, 8); at < r.lo || at+uint64(n) > r.hi {
			continue
		}
		if p.Leads {
			if w := le64(h.cache.bytes(at, 8, &r.buf)); w != 0 {
				r.v.pointer(w, toOne, x.typ)
			}
			continue
		}
		copy(r.value[p.Offset:p.Offset+p.Size], h.cache.bytes(at, int(p.Size), &r.buf))
	}
	for _, off := range x.dead {
		clear(r.value[off : off+8])
	}
	sc := scanner{y: &h.typing, v: r.v}
	sc.inBytes(r.value, x.typ)
	r.v.place = h.placeOf(pc, "")
}

// inBytes goes through one value that has been read.
func (sc *scanner) inBytes(b []byte, typ typeID) {
	p := sc.y.types.planOf(typ)
	for i := range p.segments {
		g := &p.segments[i]
		for j := range g.count {
			if off := g.off + j*g.stride; off < uint64(len(b)) {
				sc.slots(b[off:], g.slots)
			}
		}
	}
}

// runtime goes through what the runtime keeps of a goroutine that leads into its
// stack: panics, and the functions that are deferred.
func (r *stackReader) runtime(g []byte) {
	for i := 0; i+8 <= len(g); i += 8 {
		if w := le64(g[i:]); r.lo <= w && w < r.hi {
			r.queue = append(r.queue, stackPointer{p: w})
		}
	}
	l := r.h.l
	if l.deferFn.size != 8 || l.deferLink.size != 8 || l.firstDefer.size != 8 {
		return
	}
	at := l.firstDefer.of(g)
	for n := 0; at != 0 && at>>48 == 0 && n < maxDefers; n++ {
		size := max(l.deferFn.off, l.deferLink.off) + 8
		b := r.h.cache.bytes(at, size, &r.buf)
		fn, link := l.deferFn.of(b), l.deferLink.of(b)
		r.v.pointer(at, toRaw, 0)
		r.v.pointer(fn, toFunc, r.h.types.funcs)
		at = link
	}
}

// reach goes through the variables that something leads to.
func (r *stackReader) reach() {
	for len(r.queue) > 0 {
		s := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		i, exact := slices.BinarySearchFunc(r.objects, s.p, func(o stackObject, p uint64) int { return cmp.Compare(o.addr, p) })
		if !exact {
			i--
		}
		if i < 0 {
			continue
		}
		o := &r.objects[i]
		k := &o.kind.objects[o.i]
		if o.seen || s.p-o.addr >= uint64(k.size) {
			continue
		}
		o.seen = true
		if k.value >= 0 {
			r.typed(&o.kind.values[k.value], o.cfa, o.pc)
			continue
		}
		r.v.place = r.h.placeOf(o.pc, "")
		if typ := r.typeOf(s, o.addr, k); typ != 0 {
			sc := scanner{y: &r.h.typing, v: r.v}
			sc.typed(o.addr, uint64(k.size), typ, false)
		}
		for _, off := range k.words {
			r.word(o.addr + uint64(off))
		}
	}
}

// typeOf returns the type of a variable without a name by what has led there, if
// its pointers are where the collector sees them.
func (r *stackReader) typeOf(s stackPointer, addr uint64, k *frameObject) typeID {
	t := r.h.types
	typ := s.elem
	switch {
	case s.p != addr:
		return 0
	case s.kind == toFunc:
		typ = t.closureOf(le64(r.h.cache.bytes(addr, 8, &r.buf)))
	case s.kind != toOne:
		return 0
	}
	if typ == 0 || t.at(typ).opaque || t.at(typ).size > uint64(k.size) {
		return 0
	}
	for off := range t.leadsOf(typ) {
		if !slices.Contains(k.words, off) {
			return 0
		}
	}
	return typ
}

// placeOf numbers a place on a stack.
func (t *rootTable) placeOf(pc uint64, name string) uint32 {
	key := place{pc, name}
	if i, ok := t.placeIndex[key]; ok {
		return i
	}
	if len(t.places) >= maxKept {
		return 0
	}
	i := uint32(len(t.places))
	t.places = append(t.places, key)
	t.placeIndex[key] = i
	return i
}

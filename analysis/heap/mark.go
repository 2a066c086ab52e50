package heap

import "math/bits"

// chunkBits is how many objects are marked before others are looked at, as a
// power of two: so many lie near each other.
const chunkBits = 14

// marker finds what the roots reach. What is left to be scanned is a set of
// objects that is gone through by address, again and again, a chunk until nothing
// is left of it: memory is read in order, and little of it at a time.
type marker struct {
	h       *Heap
	pending bitset
	chunks  []uint32 // how many of a chunk are pending
	statics map[uint64]static
	queue   []static // to be looked at for types
	again   bool     // the object was scanned before: its pointers are known
	from    string   // the variable that is being looked at
	pace    *pace    // over the objects that are scanned
}

// static is a variable that has no name of its own, or a part of one.
type static struct {
	addr uint64
	typ  typeID
	many bool
	from string // the variable with a name that has led to it
}

func (h *Heap) markAll() error {
	m := &marker{h: h, pending: newBitset(h.objects), chunks: make([]uint32, h.objects>>chunkBits+1), statics: map[uint64]static{}}
	m.pace = h.pace(0, 1, h.pointed())
	m.eachRoot()
	m.drainStatics()
	for again := true; again; {
		again = false
		for c := range m.chunks {
			if m.chunks[c] > 0 {
				again = true
				if m.chunk(uint32(c)); m.pace.err != nil {
					return m.pace.err
				}
			}
		}
	}
	return m.pace.err
}

// chunk scans what is pending in a chunk, and what that brings.
func (m *marker) chunk(c uint32) {
	low, high := c<<chunkBits, min((c+1)<<chunkBits, m.h.objects)
	var sc scanner
	for m.chunks[c] > 0 {
		var s *span
		for w := low >> 6; w <= (high-1)>>6; w++ {
			for m.pending[w] != 0 {
				id := w<<6 + uint32(bits.TrailingZeros64(m.pending[w]))
				m.pending[w] &= m.pending[w] - 1
				m.chunks[c]--
				if s == nil || id < s.first || id >= s.first+s.nelems {
					s = m.h.spanOfObject(id)
				}
				m.again = m.h.typeOf[id]&scanFlag != 0
				m.h.typeOf[id] |= scanFlag
				sc.scan(&m.h.typing, id, s, m)
				m.again = false
				m.drainStatics()
				if !m.pace.next() {
					return
				}
			}
		}
	}
}

func (m *marker) pend(id uint32) {
	if !m.pending.has(id) {
		m.pending.set(id)
		m.chunks[id>>chunkBits]++
	}
}

// pointer is told of every pointer: what a root or a reached object leads to.
func (m *marker) pointer(p uint64, kind slotKind, elem typeID) {
	h := m.h
	id, s, off := h.locate(p)
	if id == noObject {
		if elem != 0 && s == nil {
			m.static(p, kind, elem)
		}
		return
	}
	news := false
	if !h.marked.has(id) {
		if !h.used.has(id) {
			return
		}
		h.marked.set(id)
		news = !s.noscan
	} else if s.noscan && !m.again {
		h.shared.set(id)
	}
	if elem != 0 && h.propose(id, s, off, kind, elem) && (!s.noscan || kind == toFunc) {
		news = true
	}
	if news {
		m.pend(id)
	}
}

// static notes a typed pointer to a global variable: composite literals lie in
// variables without a name, and types lead on from there.
func (m *marker) static(p uint64, kind slotKind, elem typeID) {
	if kind != toOne && kind != toMany && kind != toChan || p%8 != 0 || m.h.moduleOf(p) == nil {
		return
	}
	if _, known := m.statics[p]; known || len(m.statics) >= maxKept {
		return
	}
	s := static{p, elem, kind == toMany, m.from}
	m.statics[p] = s
	m.queue = append(m.queue, s)
}

func (m *marker) drainStatics() {
	for len(m.queue) > 0 {
		s := m.queue[len(m.queue)-1]
		m.queue = m.queue[:len(m.queue)-1]
		d := m.h.types.at(s.typ)
		if d.size == 0 || d.size > maxStatic {
			continue
		}
		n := uint64(1)
		if s.many {
			if sym, ok := m.h.bin.SymbolAt(s.addr - m.h.bias); ok && sym.Addr+sym.Size > s.addr-m.h.bias {
				n = (sym.Addr + sym.Size - (s.addr - m.h.bias)) / d.size
			}
		}
		m.from = s.from
		sc := scanner{y: &m.h.typing, v: m}
		sc.typed(s.addr, min(n*d.size, maxStatic), s.typ, s.many)
	}
}

// maxStatic bounds how much of a global variable is looked at.
const maxStatic = 1 << 30

package heap

import (
	"cmp"
	"hash/maphash"
	"slices"
)

// Text is what a string or a slice of bytes in the heap says.
type Text struct {
	Addr uint64 `json:"addr"`
	// Kind is "string" or "[]byte".
	Kind string `json:"kind"`
	// Length is how many bytes it has, as far as a string or a slice says that
	// leads to it.
	Length int64 `json:"length"`
	// Text is the first bytes of it, as they are: not to be printed raw.
	Text string `json:"-"`
	// Count is how many objects say the same, and Wasted what all but one of
	// them take.
	Count  int64 `json:"count,omitempty"`
	Wasted int64 `json:"wasted,omitempty"`
}

// Texts are the strings and the slices of bytes of a heap.
type Texts struct {
	Strings Total `json:"strings"`
	Bytes   Total `json:"bytes"`
	// Longest has the longest of them, Repeated those that are there several
	// times, the most wasted first.
	Longest  []Text `json:"longest"`
	Repeated []Text `json:"repeated"`
	// Wasted is what all that is there several times takes, but once each.
	Wasted Total `json:"wasted"`
}

// Bounds of what is read of a text: to show it, and to compare it.
const (
	maxShown    = 256
	maxCompared = 1 << 20
)

// nothing is a visitor that does not care.
type nothing struct{}

func (nothing) pointer(uint64, slotKind, typeID) {}

// Texts reads the strings and slices of bytes: n of each list.
func (h *Heap) Texts(n int) (*Texts, error) {
	if err := h.take(int64(h.objects)*4+int64(h.objects)/4, "the table of texts"); err != nil {
		return nil, err
	}
	defer func() { h.taken -= int64(h.objects)*4 + int64(h.objects)/4 }()
	r := textReader{h: h}
	if err := r.measure(); err != nil {
		return nil, err
	}
	out := &Texts{}
	p := h.pace(0.4, 0.5, int64(h.objects))
	r.each(p, func(id uint32, s *span) {
		t := &out.Bytes
		if h.isString(id) {
			t = &out.Strings
		}
		t.add(1, s.elemsize)
		length := int64(r.lengths[id])
		if len(out.Longest) < n || length > out.Longest[len(out.Longest)-1].Length {
			out.Longest = insert(out.Longest, n, r.text(id, s))
		}
	})
	if p.err != nil {
		return nil, p.err
	}
	return out, r.repeated(n, out)
}

// textReader finds the texts of a heap.
type textReader struct {
	h       *Heap
	lengths []uint32 // by object: how many bytes of it strings and slices reach to
}

// measure finds the lengths.
func (r *textReader) measure() error {
	h := r.h
	r.lengths = make([]uint32, h.objects)
	note := func(p, n, _ uint64, elem typeID) {
		if elem != h.types.text && h.types.at(elem).size != 1 {
			return
		}
		id, s, off := h.find(p)
		if id == noObject || !s.noscan || n > s.elemsize-off {
			return
		}
		r.lengths[id] = max(r.lengths[id], uint32(min(off+n, 1<<32-1)))
	}
	sc := scanner{texts: note, y: &h.typing, v: nothing{}}
	for _, g := range h.l.types.Variables {
		if d := h.l.types.At(g.Type); d.Size > 0 && d.Size <= maxStatic && h.moduleOf(g.Addr+h.bias) != nil {
			sc.scanVariable(&h.typing, g.Addr+h.bias, h.types.of(g.Type), nothing{})
		}
	}
	p := h.pace(0, 0.4, int64(h.objects))
	h.each(h.marked, func(id uint32, s *span) {
		if p.next() && !s.noscan {
			sc.scan(&h.typing, id, s, nothing{})
		}
	})
	return p.err
}

// each calls f for all objects that are texts.
func (r *textReader) each(p *pace, f func(id uint32, s *span)) {
	h := r.h
	h.each(h.marked, func(id uint32, s *span) {
		if !p.next() || r.lengths[id] == 0 || h.kind(id) == 0 {
			return
		}
		if d := h.types.at(typeID(h.typeOf[id] & typeMask)); d.size == 1 {
			f(id, s)
		}
	})
}

func (r *textReader) text(id uint32, s *span) Text {
	h, length := r.h, int64(r.lengths[id])
	var buf []byte
	b := h.cache.bytes(h.addr(s, id), int(min(length, maxShown)), &buf)
	t := Text{Addr: h.addr(s, id), Kind: "[]byte", Length: length, Text: string(b)}
	if h.isString(id) {
		t.Kind = "string"
	}
	return t
}

// insert puts a text into a list of the n longest.
func insert(list []Text, n int, t Text) []Text {
	i, _ := slices.BinarySearchFunc(list, t, func(x, y Text) int {
		return cmp.Or(cmp.Compare(y.Length, x.Length), cmp.Compare(x.Addr, y.Addr))
	})
	list = slices.Insert(list, i, t)
	return list[:min(len(list), n)]
}

// repeated finds texts that are there several times. Those that are there once are
// most: they leave two bits each, and the rest is counted in a second round.
func (r *textReader) repeated(n int, out *Texts) error {
	h, lengths := r.h, r.lengths
	seed := maphash.MakeSeed()
	var buf []byte
	sum := func(id uint32, s *span) uint64 {
		size := min(uint64(lengths[id]), maxCompared)
		hash := maphash.Bytes(seed, h.cache.bytes(h.addr(s, id), int(size), &buf))
		return hash ^ uint64(lengths[id])*0x9e3779b97f4a7c15
	}
	texts := uint64(out.Strings.Count + out.Bytes.Count)
	size := uint64(64)
	for size < 8*texts {
		size *= 2
	}
	once := make(bitset, size/64)
	type repeat struct {
		count, bytes int64
		first        uint32
	}
	more := map[uint64]*repeat{}
	p := h.pace(0.5, 1, 2*int64(h.objects))
	r.each(p, func(id uint32, s *span) {
		k := sum(id, s)
		a, b := uint32(k&(size-1)), uint32(k>>32&(size-1))
		if once.has(a) && once.has(b) && len(more) < maxRepeats {
			more[k] = &repeat{}
		}
		once.set(a)
		once.set(b)
	})
	r.each(p, func(id uint32, s *span) {
		if r := more[sum(id, s)]; r != nil {
			if r.count == 0 {
				r.first = id
			}
			r.count++
			r.bytes += int64(s.elemsize)
		}
	})
	if p.err != nil {
		return p.err
	}
	var all []*repeat
	for _, r := range more {
		if r.count > 1 {
			r.bytes -= r.bytes / r.count
			out.Wasted.Count += r.count - 1
			out.Wasted.Bytes += r.bytes
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(x, y *repeat) int { return cmp.Or(cmp.Compare(y.bytes, x.bytes), cmp.Compare(x.first, y.first)) })
	for _, x := range all[:min(len(all), n)] {
		t := r.text(x.first, h.spanOfObject(x.first))
		t.Count, t.Wasted = x.count, x.bytes
		out.Repeated = append(out.Repeated, t)
	}
	return nil
}

// maxRepeats bounds how many texts that are there several times are counted.
const maxRepeats = 1 << 22

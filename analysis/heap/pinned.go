package heap

import (
	"cmp"
	"strings"

	"loupe/value/unit"
)

// Pinned are objects that only small parts keep: strings and slices refer to them, and nothing else does,
// and all that these reach to is a small part of the object. A copy of the parts would let the rest be freed.
type Pinned struct {
	// Objects is how many there are, and what the allocator has for them.
	Objects Total `json:"objects"`
	// Parts are the strings and slices that refer to them, with the sum of their lengths in bytes: two of the
	// same text count twice.
	Parts Total `json:"parts"`
	// Strings is how many of the parts are strings.
	Strings int64 `json:"strings"`
	// Where names what most of the parts are in, "index.Entry.Labels"; empty where that is not known,
	// or no place has most.
	Where string `json:"where,omitempty"`

	sample []uint32 // some of the objects, evenly
	skip   int64    // how many are left out between two of them
}

// What is pinned, chosen: an object has leastPinned bytes, of which all parts together are at most a
// quarter. Less is what a slice has to spare after append, or a text that was cut at its ends.
const (
	leastPinned  = 1 << 10
	pinnedPart   = 4
	pinnedSample = 64
)

// PinnedType is what objects are called that only small parts keep.
const PinnedType = "buffer kept by small parts"

// referred is what refers to one object.
type referred struct {
	sum           uint64 // of the lengths
	low, high     uint64 // from where to where in the object, all together
	first, last   uint64 // where the parts begin: the least and the most
	parts, texts  uint32
	from          uint32 // the last object with a part; noObject for a variable
	whole, opened bool   // something may use all of it; a slice has room up to its end
	roomy         bool   // a slice begins with it, and has all of its room
}

// pinner finds objects that only small parts keep.
type pinner struct {
	h    *Heap
	set  bitset // objects that come into question
	rank rank
	all  []referred
	from uint32
	told uint64 // the pointer that is told of with its length
}

// pin finds the objects that only small parts keep, and names them so.
//
// Note: What is not known counts for the whole: a pointer into it, a word on a stack, an object without a type,
// a header that makes no sense. A slice with room up to the end of its array may grow into it. Only where several
// parts begin at different places is that not meant: appending to one would overwrite another.
func (h *Heap) pin() error {
	p := pinner{h: h, set: newBitset(h.objects)}
	var bytes int64
	h.each(h.marked, func(id uint32, s *span) {
		if s.noscan && s.elemsize >= leastPinned {
			p.set.set(id)
			bytes += int64(s.elemsize)
		}
	})
	if bytes < leastPinnedAll {
		return nil
	}
	var n uint32
	p.rank, n = newRank(p.set, 0)
	taken := h.taken
	defer func() { h.taken = taken }()
	if h.take(int64(n)*56+int64(h.objects)/2, "what small parts keep") != nil {
		return nil // the rest of what a heap says is worth more
	}
	p.all = make([]referred, n)
	if err := p.read(); err != nil {
		return err
	}
	pinned, any := newBitset(h.objects), false
	h.each(p.set, func(id uint32, s *span) {
		if p.at(id).small(s.elemsize) {
			pinned.set(id)
			any = true
		}
	})
	h.pinned.of = &p
	if any {
		h.pinned.set = pinned
	}
	return nil
}

// leastPinnedAll is how much memory has to be in question. Chosen: less is not worth reading the heap once more.
const leastPinnedAll = 1 << 20

// pins are the objects that only small parts keep.
type pins struct {
	set bitset  // nil where there are none
	of  *pinner // what refers to all that came into question; nil where nobody has looked
}

func (x *pins) has(id uint32) bool { return x.set != nil && x.set.has(id) }

// at is what refers to an object that comes into question.
func (p *pinner) at(id uint32) *referred { return &p.all[p.rank.of(p.set, id)] }

// small tells whether all that refers to an object are small parts of it.
func (r *referred) small(size uint64) bool {
	covered := min(r.sum, r.high-r.low)
	if r.opened && r.first == r.last {
		covered = size - r.first
	}
	return !r.whole && !r.roomy && r.parts > 0 && pinnedPart*covered <= size
}

// read goes through all that leads to objects.
func (p *pinner) read() error {
	h := p.h
	declared := map[string]bool{}
	sc := scanner{y: &h.typing, v: p, texts: p.part}
	p.from = noObject
	for _, g := range h.l.types.Variables {
		if d := h.l.types.At(g.Type); d.Size > 0 && d.Size <= maxStatic && h.moduleOf(g.Addr+h.bias) != nil {
			declared[g.Name] = true
			sc.scanVariable(&h.typing, g.Addr+h.bias, h.types.of(g.Type), p)
		}
	}
	for _, e := range h.edges {
		if r := &h.roots[e.root]; (r.Kind != Global || !declared[r.Name]) && p.set.has(e.target) {
			p.at(e.target).whole = true // where a stack has a part, its length is not known
		}
	}
	pace := h.pace(0.9, 1, int64(h.objects))
	h.each(h.marked, func(id uint32, s *span) {
		if pace.next() && !s.noscan {
			p.from, p.told = id, 0
			sc.scan(&h.typing, id, s, p)
		}
	})
	return pace.err
}

// pointer is told of all pointers, those of strings and slices too.
func (p *pinner) pointer(at uint64, _ slotKind, _ typeID) {
	if at == p.told {
		p.told = 0 // it is counted as a part
		return
	}
	if id, _, _ := p.h.find(at); id != noObject && p.set.has(id) {
		p.at(id).whole = true
	}
}

// part is told of a string or a slice: n elements, and room for so many.
func (p *pinner) part(at, n, room uint64, elem typeID) {
	id, s, off := p.h.find(at)
	if id == noObject || !p.set.has(id) {
		return
	}
	d := p.h.types.at(elem)
	text := elem == p.h.types.text
	size := max(d.size, 1)
	if d.size == 0 && !text || n > room || room > (s.elemsize-off)/size {
		return // it is not a part of this object: it counts as a pointer
	}
	p.told = at
	r := p.at(id)
	if r.parts == 0 {
		r.low, r.first = off, off
	}
	r.parts++
	if text {
		r.texts++
	}
	r.from = p.from
	r.sum += n * size
	r.low, r.high = min(r.low, off), max(r.high, off+n*size)
	r.first, r.last = min(r.first, off), max(r.last, off)
	if !text && off+room*size > below(s.elemsize) {
		r.opened = true
		r.roomy = r.roomy || off == 0
	}
}

// add counts an object that is pinned.
func (x *Pinned) add(h *Heap, id uint32, s *span) {
	r := h.pinned.of.at(id)
	if x.Objects.Count%(x.skip+1) == 0 {
		if x.sample = append(x.sample, id); len(x.sample) == 2*pinnedSample {
			for i := range pinnedSample {
				x.sample[i] = x.sample[2*i]
			}
			x.sample, x.skip = x.sample[:pinnedSample], 2*x.skip+1
		}
	}
	x.Objects.add(1, s.elemsize)
	x.Parts.Count += int64(r.parts)
	x.Parts.Bytes += int64(r.sum)
	x.Strings += int64(r.texts)
}

// Pinned sums up the objects that only small parts keep; nil where there are none.
func (h *Heap) Pinned() *Pinned {
	if h.pinned.set == nil {
		return nil
	}
	x := &Pinned{}
	h.each(h.pinned.set, func(id uint32, s *span) { x.add(h, id, s) })
	x.name(func(id uint32) string { return fieldNames{&h.typing}.part(h.pinned.of.at(id).from, id) })
	return x
}

// Kept says what is kept, and by what: "4,679 buffers of 88.0 KiB on average", "strings of 20 B on average".
func (x *Pinned) Kept() (buffers, parts string) {
	mean := func(t Total) string { return unit.BytesOf(float64(t.Bytes) / float64(max(1, t.Count))) }
	kind := "small parts"
	switch x.Strings {
	case x.Parts.Count:
		kind = "strings"
	case 0:
		kind = "slices"
	}
	return unit.Plural(x.Objects.Count, "buffer") + " of " + mean(x.Objects) + " on average", kind + " of " + mean(x.Parts) + " on average"
}

// name notes where most of a sample's parts are.
func (x *Pinned) name(where func(id uint32) string) {
	n, best := map[string]int{}, ""
	for _, id := range x.sample {
		w := where(id)
		if n[w]++; w != "" && (best == "" || cmp.Or(n[w]-n[best], cmp.Compare(best, w)) > 0) {
			best = w
		}
	}
	if best != "" && 2*n[best] > len(x.sample) {
		x.Where = best
	}
}

// part names the place of a pointer in an object: the type, and the field within it, "wire.Label.Name".
func (x fieldNames) part(from, to uint32) string {
	if from == noObject {
		return ""
	}
	of, field := x.t.typeName(from, x.t.in.spanOfObject(from)), x.of(from, to)
	if strings.HasPrefix(of, "unknown ") {
		return ""
	}
	for _, end := range []string{" (group)", " (bucket)"} {
		if m, ok := strings.CutSuffix(of, end); ok {
			return "a " + ShortType(strings.TrimPrefix(m, "[N]"))
		}
	}
	of, array := strings.CutPrefix(of, "[N]")
	if _, rest, ok := strings.Cut(field, "]"); ok && array {
		field = rest
	}
	return ShortType(of) + field
}

// partAlong names the place of a part by the way to it: of one in the elements of an array, the field that the array is in.
func partAlong(g *Graph, p *paths, id uint32) string {
	x := fieldNames{&g.h.typing}
	_, ids := p.chain(id)
	element := ""
	for i := len(ids) - 1; i > 0; i-- {
		from, to := ids[i-1], ids[i]
		elem, array := strings.CutPrefix(x.t.typeName(from, x.t.in.spanOfObject(from)), "[N]")
		if !array || isMapPart(elem) {
			if name := x.part(from, to); name != "" {
				return name
			}
			break
		}
		if element == "" {
			_, field, _ := strings.Cut(x.of(from, to), "]")
			element = ShortType(elem) + field
		}
	}
	return element
}

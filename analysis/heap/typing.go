package heap

import (
	"fmt"
	"math/bits"
	"strings"

	"loupe/value/unit"
)

// What is known of the type of an object is a number: the type, whether the
// object is an array of it, and how sure that is. A higher rank replaces a lower
// one. Objects whose words contradict their type lose it.
const (
	typeBits   = 26
	typeMask   = 1<<typeBits - 1
	arrayFlag  = 1 << 26
	scanFlag   = 1 << 27 // it has been scanned
	rankShift  = 28
	rankMask   = 7 << rankShift
	rankNone   = 0
	rankWithin = 1 // a pointer to the first field of something, or to an element
	rankPart   = 2 // a slice that begins in the middle
	rankArray  = 4 // a slice
	rankOne    = 5 // a pointer to a value that takes the object's size
	rankSure   = 7 // the allocator says so
)

// tinySize is the size of the objects that small values without pointers share.
const tinySize = 16

// below returns the size of the class before that of an object: what is allocated
// in it has more than so many bytes.
func below(elemsize uint64) uint64 {
	if elemsize > unit.SizeClasses[len(unit.SizeClasses)-1] {
		return elemsize - pageSize
	}
	low := uint64(0)
	for _, s := range unit.SizeClasses {
		if s >= elemsize {
			break
		}
		low = s
	}
	return low
}

// typing is what is known of the types of objects.
type typing struct {
	p      *process
	in     *index
	types  *typeTable
	typeOf []uint32 // by object: see typeBits
	pinned pins     // known when all has been read
}

// fits tells whether one value of a type is what an object of a span has been
// allocated for.
func (y *typing) fits(d *dataType, s *span) bool {
	if d.fits == s.elemsize {
		return d.fitted
	}
	extra := s.elemsize - y.in.room(s)
	d.fits, d.fitted = s.elemsize, d.size+extra <= s.elemsize && d.size+extra > below(s.elemsize)
	return d.fitted
}

// manyFit tells whether a whole number of values may be.
func (y *typing) manyFit(d *dataType, s *span) bool {
	room := y.in.room(s)
	n := room / d.size
	return n*d.size+(s.elemsize-room) > below(s.elemsize)
}

// propose says that a pointer of a kind leads to an object, off bytes into it. It
// tells whether that is news.
func (y *typing) propose(id uint32, s *span, off uint64, kind slotKind, elem typeID) bool {
	now := y.typeOf[id]
	if elem == 0 || now>>rankShift >= rankOne && now>>rankShift != rankSure {
		return false
	}
	if now>>rankShift == rankSure {
		return off == y.in.headerOf(s) && y.better(id, kind, elem)
	}
	if y.in.header(s) {
		if off < headerSize {
			return false
		}
		off -= headerSize
	}
	d := y.types.at(elem)
	if s.noscan && kind != toFunc && kind != toChan && !d.loose && len(y.types.planOf(elem).segments) > 0 {
		return false
	}
	if s.noscan && s.elemsize == tinySize && d.size < tinySize && kind == toOne {
		// The allocator puts several such values into one object.
		elem, d, off = y.types.tiny, y.types.at(y.types.tiny), 0
	}
	rank, array := uint32(rankNone), false
	switch {
	case kind == toFunc:
		if off == 0 {
			rank = rankOne
		}
	case d.size == 0:
	case kind == toMany, kind == toText:
		array = true
		switch {
		case off%d.size != 0 || d.size > y.in.room(s):
		case off != 0:
			rank = rankPart
		case y.manyFit(d, s):
			rank = rankArray
		default:
			rank = rankWithin
		}
	case off != 0:
	case kind == toChan && d.size <= y.in.room(s), y.fits(d, s):
		rank = rankOne
	case d.size <= y.in.room(s):
		rank = rankWithin
	}
	if rank <= now>>rankShift&7 {
		return false
	}
	y.setType(id, elem, array, rank)
	return true
}

// better replaces a weak type that the allocator has kept by that of a pointer.
func (y *typing) better(id uint32, kind slotKind, elem typeID) bool {
	now := y.typeOf[id]
	old, d := y.types.at(typeID(now&typeMask)), y.types.at(elem)
	if !old.weak || d.weak || d.size != old.size || kind != toOne && kind != toMany {
		return false
	}
	y.setType(id, elem, now&arrayFlag != 0, rankSure)
	return true
}

func (y *typing) setType(id uint32, t typeID, array bool, rank uint32) {
	v := uint32(t)&typeMask | rank<<rankShift
	if array {
		v |= arrayFlag
	}
	y.typeOf[id] = v | y.typeOf[id]&scanFlag
}

// agrees tells whether a type has its pointers where the collector sees them in
// an object of at most 64 words.
func (y *typing) agrees(d *dataType, array bool, room, seen uint64) bool {
	words := d.size / 8
	if d.size%8 != 0 {
		return seen == 0
	}
	m := d.mask
	if array {
		for at := words; at < room/8; at += words {
			m |= d.mask << at
		}
		// The object may be larger than the array.
		if seen != 0 {
			m &= 1<<bits.Len64(seen) - 1
		}
	}
	return m == seen
}

// setSure notes the type that the allocator has kept of an object.
func (y *typing) setSure(id uint32, s *span, t typeID) {
	if t == 0 || y.typeOf[id]>>rankShift == rankSure {
		return
	}
	d := y.types.at(t)
	if d.size == 0 || d.size > y.in.room(s) {
		return
	}
	if now := y.typeOf[id]; d.weak && now>>rankShift >= rankArray && y.types.at(typeID(now&typeMask)).size == d.size {
		y.setType(id, typeID(now&typeMask), now&arrayFlag != 0, rankSure)
		return
	}
	y.setType(id, t, !y.fits(d, s), rankSure)
}

// kind is the type of an object with whether it is an array; 0 is unknown.
func (y *typing) kind(id uint32) uint32 {
	t := y.typeOf[id]
	if t>>rankShift <= rankWithin {
		return 0
	}
	return t & (typeMask | arrayFlag)
}

func (y *typing) kindName(kind uint32) string {
	name := goName(y.types.at(typeID(kind & typeMask)).name)
	if kind&arrayFlag != 0 && typeID(kind&typeMask) != y.types.text {
		return "[N]" + name
	}
	return name
}

// typeName names the type of an object.
func (y *typing) typeName(id uint32, s *span) string {
	if y.pinned.has(id) {
		return PinnedType
	}
	if k := y.kind(id); k != 0 {
		return y.kindName(k)
	}
	return unknownName(s.elemsize, s.noscan)
}

// exactName is the type of an object with the length of an array.
func (y *typing) exactName(id uint32, s *span) string {
	name := y.typeName(id, s)
	if rest, ok := strings.CutPrefix(name, "[N]"); ok {
		if d := y.types.at(typeID(y.typeOf[id] & typeMask)); d.size > 0 {
			return fmt.Sprintf("[%d]%s", y.in.room(s)/d.size, rest)
		}
	}
	return name
}

// isString tells whether an object is the text of strings.
func (y *typing) isString(id uint32) bool {
	return typeID(y.typeOf[id]&typeMask) == y.types.text
}

func (y *typing) keyOf(id uint32, s *span) kindKey {
	if y.pinned.has(id) {
		return kindKey{pinned: true}
	}
	k := kindKey{kind: y.kind(id)}
	if k.kind == 0 {
		k.size, k.noscan = s.elemsize, s.noscan
	}
	return k
}

// matcher tells whether an object has a type, with or without its package's path.
func (y *typing) matcher(typ string) func(uint32, *span) bool {
	known := map[kindKey]bool{}
	return func(id uint32, s *span) bool {
		if typ == "" {
			return true
		}
		k := y.keyOf(id, s)
		is, ok := known[k]
		if !ok {
			is = sameType(y.typeName(id, s), typ)
			known[k] = is
		}
		return is
	}
}

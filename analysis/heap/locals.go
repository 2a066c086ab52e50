package heap

import (
	"slices"
	"strings"

	"loupe/format/symbol"
)

// frameKind is what there is in the frames of a function at one address. All
// offsets are from the canonical frame address on.
type frameKind struct {
	// mapped tells that the collector's masks are known; without them each word
	// of the frame may be a pointer.
	mapped  bool
	entry   uint64  // where the function begins
	args    uint64  // bytes above the frame that it may use then
	raw     []int64 // words with pointers of which nothing else is known
	values  []frameValue
	objects []frameObject
}

// frameValue is a variable, or a part of one.
type frameValue struct {
	name   string
	typ    typeID
	size   int64
	pieces []symbol.LocalPiece
	dead   []int64 // offsets in the value of pointers that are not in use
	object bool    // it is one of the objects of the frame
}

// frameObject is a variable whose address is taken.
type frameObject struct {
	off, size int64
	words     []int64 // offsets in it of what the collector follows
	value     int     // index of its value; -1 where its type is not known
	live      bool    // it is in use, whether something leads to it or not
}

// frameKinds are what there is in frames, by function and address.
type frameKinds struct {
	p      *process
	types  *typeTable
	rodata uint64                // runtime.rodata, as linked
	kinds  map[uint64]*frameKind // by program counter, as linked
}

// of returns what there is in the frames of a function at an address.
func (x *frameKinds) of(f Frame, called uint64) *frameKind {
	pc := f.PC - x.p.bias
	if f.Exact {
		// Between two calls the masks do not hold.
		maps, _ := x.p.bin.StackMap(pc + 1)
		return &frameKind{args: 8 * uint64(maps.Args.N+1)}
	}
	if k := x.kinds[pc]; k != nil {
		return k
	}
	k := x.read(pc, x.p.returns(called))
	if len(x.kinds) < maxKept {
		x.kinds[pc] = k
	}
	return k
}

// read joins the masks of the collector with the variables of the debug
// information.
func (x *frameKinds) read(ret uint64, returns bool) *frameKind {
	maps, ok := x.p.bin.StackMap(ret)
	if !ok {
		return &frameKind{}
	}
	k := &frameKind{mapped: true}
	if f, ok := x.p.bin.FuncAt(ret - 1); ok {
		k.entry = f.Entry + x.p.bias
	}
	// Below the canonical address are the return address, but on machines with
	// a link register, and the frame pointer of the caller; above it is the
	// place of the link register there.
	end, args := int64(-16), int64(0)
	if x.p.bin.Arch == "arm64" {
		end, args = -8, 8
	}
	b := frameBuilder{x: x, k: k, end: end, args: args, live: map[int64]bool{}, object: map[int64]int{}}
	for i := range maps.Locals.N {
		if maps.Locals.Has(i) {
			b.live[end-8*int64(maps.Locals.N-i)] = true
		}
	}
	for i := range maps.Args.N {
		if maps.Args.Has(i) {
			b.live[args+8*int64(i)] = true
		}
	}
	for _, o := range maps.Objects {
		base := end
		if o.Offset >= 0 {
			base = args
		}
		b.add(base+o.Offset, o)
	}
	for i := range k.objects {
		o := &k.objects[i]
		for _, off := range o.words {
			if b.live[o.off+off] {
				o.live = true
			}
		}
	}
	b.variables(x.p.l.types.Locals(ret, returns))
	for off := range b.live {
		if _, ok := b.object[off]; ok {
			continue // it is gone through with the object
		}
		k.raw = append(k.raw, off)
	}
	slices.Sort(k.raw)
	return k
}

// frameBuilder puts the tables of one frame together.
type frameBuilder struct {
	x      *frameKinds
	k      *frameKind
	end    int64          // where the locals end
	args   int64          // and the arguments begin
	live   map[int64]bool // pointers that are in use
	object map[int64]int  // by word: index of the object with a pointer there
}

// add notes a variable whose address is taken.
func (b *frameBuilder) add(off int64, o symbol.StackObject) {
	if off%8 != 0 || o.Size > maxStack {
		return
	}
	x := frameObject{off: off, size: o.Size, value: -1}
	mask, ok := []byte(nil), false
	if !o.Program && o.Pointers/8 <= 8*maxMaskBytes {
		mask, ok = b.x.p.bin.ReadOnly(b.x.rodata+uint64(o.Mask), int(o.Pointers/8+7)/8)
	}
	for i := range o.Pointers / 8 {
		if ok && mask[i/8]>>(i%8)&1 == 0 {
			continue
		}
		x.words = append(x.words, 8*i)
		b.object[off+8*i] = len(b.k.objects)
	}
	b.k.objects = append(b.k.objects, x)
}

// variables adds those that agree with the masks.
//
// Note: the debug information is not always right ([symbol.Local.Sure]), and variables
// of different blocks may share a place. So
// a word is believed to be a pointer only where the collector sees one, one that
// the collector sees elsewhere in a variable takes it out, and what two variables
// of different types claim then is left to neither.
func (b *frameBuilder) variables(list []symbol.Local) {
	var values []frameValue
	claims := map[int64]claim{}
	disputed := map[int64]bool{}
	for _, l := range list {
		x := frameValue{name: strings.TrimPrefix(l.Name, "&"), typ: b.x.types.of(l.Type), pieces: l.Pieces}
		d := b.x.types.at(x.typ)
		// A function that is compiled for several types does not know them.
		if x.size = int64(d.size); x.typ == 0 || x.size == 0 || x.size > maxFrameValue || strings.Contains(d.name, "go.shape.") {
			continue
		}
		if k := d.d.Kind; k == symbol.Slice || k == symbol.String {
			// Of its words one alone is a pointer: where the collector sees one,
			// it is that.
			x.pieces, l.Sure = pointerOf(x.pieces), true
		}
		leads := b.x.types.leadsOf(x.typ)
		if !l.Sure && b.objectOf(&x) < 0 && !heapOnly(x.pieces) || !b.agrees(&x, leads) {
			continue
		}
		values = append(values, x)
		for _, p := range x.pieces {
			for off := int64(0); off < p.Size && !p.Leads; off += 8 {
				c := claim{lead: leads[p.Offset+off]}
				if p.Size > 8 {
					c.whole = x.typ
				}
				if was, ok := claims[p.At+off]; ok && !was.fits(c) {
					disputed[p.At+off] = true
				}
				claims[p.At+off] = c
			}
		}
	}
	for i := range values {
		b.take(&values[i], disputed)
	}
}

// pointerOf leaves the first word of a variable.
func pointerOf(pieces []symbol.LocalPiece) []symbol.LocalPiece {
	if len(pieces) == 0 || pieces[0].Offset != 0 || pieces[0].Size < 8 || pieces[0].Leads {
		return pieces
	}
	first := pieces[0]
	first.Size = 8
	return []symbol.LocalPiece{first}
}

// heapOnly tells whether a variable has moved to the heap.
func heapOnly(pieces []symbol.LocalPiece) bool { return len(pieces) == 1 && pieces[0].Leads }

// claim is what a variable says of a word.
type claim struct {
	whole typeID // of several words in a row, its type
	lead  lead
}

// fits tells whether two variables may share a word: a pointer may have several
// names, and be in interfaces too.
func (c claim) fits(o claim) bool {
	if c.whole != o.whole && c.whole != 0 && o.whole != 0 {
		return false
	}
	return c.lead.elem == 0 || o.lead.elem == 0 || c.lead.kind != o.lead.kind || c.lead.elem == o.lead.elem
}

// agrees tells whether a variable has its pointers where the collector has them,
// and notes those that are not in use.
func (b *frameBuilder) agrees(x *frameValue, leads map[int64]lead) bool {
	found := map[int64]bool{}
	for _, p := range x.pieces {
		if p.Leads {
			return len(x.pieces) == 1 && b.live[p.At]
		}
		if p.At%8 != 0 && p.Size >= 8 || p.At < b.args && p.At+p.Size > b.end {
			return false
		}
		for off := int64(0); off+8 <= p.Size; off += 8 {
			at := p.At + off
			_, within := b.object[at]
			_, is := leads[p.Offset+off]
			if sees := b.live[at] || within; sees && !is {
				return false
			} else if sees {
				found[p.Offset+off] = true
			}
		}
	}
	for off := range leads {
		if !found[off] {
			x.dead = append(x.dead, off)
		}
	}
	slices.Sort(x.dead)
	return len(found) > 0
}

// take makes a variable one of the frame.
func (b *frameBuilder) take(x *frameValue, disputed map[int64]bool) {
	k := b.k
	for _, p := range x.pieces {
		for off := int64(0); off < max(p.Size, 8); off += 8 {
			if disputed[p.At+off] {
				return
			}
		}
	}
	whole := b.objectOf(x)
	for i := range k.objects {
		o := &k.objects[i]
		if i == whole && o.value < 0 {
			continue
		}
		// It is the whole of an object, or does not count.
		for _, p := range x.pieces {
			if p.At+max(p.Size, 8) > o.off && o.off+o.size > p.At {
				return
			}
		}
	}
	if whole >= 0 {
		k.objects[whole].value, x.object = len(k.values), true
	}
	for _, p := range x.pieces {
		for off := int64(0); off < max(p.Size, 8); off += 8 {
			delete(b.live, p.At+off)
		}
	}
	k.values = append(k.values, *x)
}

// objectOf returns the index of the object that a variable is; -1 where it is none.
func (b *frameBuilder) objectOf(x *frameValue) int {
	if len(x.pieces) != 1 || x.pieces[0].Leads || x.pieces[0].Size != x.size {
		return -1
	}
	pointers := b.x.types.leadsOf(x.typ)
	return slices.IndexFunc(b.k.objects, func(o frameObject) bool {
		missing := func(off int64) bool { _, ok := pointers[off]; return !ok }
		return o.off == x.pieces[0].At && o.size == x.size && !slices.ContainsFunc(o.words, missing)
	})
}

// lead is what a pointer within a value leads to.
type lead struct {
	kind slotKind
	elem typeID
}

// leadsOf returns where the collector finds pointers in a value of a type.
func (t *typeTable) leadsOf(id typeID) map[int64]lead {
	p := t.planOf(id)
	out := map[int64]lead{}
	for _, g := range p.segments {
		for i := range g.count {
			for _, s := range g.slots {
				off := int64(g.off + i*g.stride + s.off)
				if s.kind == toAny || s.kind == toIface {
					off += 8
				}
				if out[off] = (lead{s.kind, s.elem}); len(out) > maxFrameValue/8 {
					return out
				}
			}
		}
	}
	return out
}

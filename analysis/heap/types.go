package heap

import (
	"strings"

	"loupe/format/symbol"
)

// typeID is the number of a type in the table of a heap; 0 is unknown.
type typeID uint32

// dataType is a type of objects.
type dataType struct {
	name string
	size uint64
	d    *symbol.DataType // nil for what the debug information does not have
	plan *plan            // nil until it is asked for
	// mask has a bit for each word that is a pointer, of a type of at most 64
	// words.
	mask uint64
	// opaque tells that the words of the type are not known, so that each may
	// be a pointer.
	opaque bool
	// closure tells that the type is what the debug information says of a func
	// value, which may have more pointers.
	closure bool
	// weak tells that the allocator's word for an object says less than what
	// leads to it: types that the runtime makes of all maps.
	weak bool
	// loose tells that the values have no pointers where the debug information
	// shows one, if what they hold has none: the buckets of maps before Go 1.24,
	// and channels.
	loose bool
	// fits is the last size of objects that was compared, and fitted is whether
	// one value takes an object of it.
	fits   uint64
	fitted bool
}

// slotKind says what a pointer in an object leads to.
type slotKind uint8

const (
	toRaw   slotKind = iota // not known
	toOne                   // one value, or into something larger
	toMany                  // the elements of a slice
	toText                  // the bytes of a string
	toAny                   // interface{}: a type, then the value
	toIface                 // a table, then the value
	toFunc                  // a func value
	toChan                  // a channel, whose buffer may lie behind it
	toMap                   // a Swiss map: a group, or the directory of tables
)

// slot is a pointer within a type.
type slot struct {
	off  uint64
	kind slotKind
	elem typeID // what it leads to
	// header tells of a string or a slice, whose length follows; of a slice the capacity too.
	header bool
	// of toMap: the other thing that it leads to, if the word beside it is
	// not zero, and where that word is.
	other typeID
	test  uint64
}

// segment is a run of equal elements within a type.
type segment struct {
	off, count, stride uint64
	slots              []slot
}

// plan is where the pointers of a type are.
type plan struct {
	size     uint64
	segments []segment
}

// Bounds of plans. Arrays longer than inlineArray are segments of their own.
const (
	inlineArray = 16
	maxSlots    = 1 << 14
	maxNesting  = 64
)

// typeTable has the types of a heap.
type typeTable struct {
	p       *process
	src     *symbol.Types
	all     []*dataType
	dwarf   map[symbol.TypeID]typeID
	address map[uint64]typeID // by address of the runtime's description
	tables  map[uint64]typeID // by address of an itab
	closure map[uint64]typeID // by program counter
	carried map[typeID]symbol.TypeID
	notHeap map[symbol.TypeID]bool
	nested  int // calls of outside within each other

	text, funcs, tiny typeID // special ones
}

func newTypeTable(p *process) *typeTable {
	t := &typeTable{
		p: p, src: p.l.types, all: []*dataType{{name: "unknown"}},
		dwarf: map[symbol.TypeID]typeID{}, address: map[uint64]typeID{}, tables: map[uint64]typeID{}, closure: map[uint64]typeID{},
		carried: map[typeID]symbol.TypeID{}, notHeap: map[symbol.TypeID]bool{},
	}
	t.text = t.add(&dataType{name: "string (text)", size: 1, plan: &plan{size: 1}})
	t.funcs = t.add(&dataType{name: "func", opaque: true})
	t.tiny = t.add(&dataType{name: "tiny values", size: 16, plan: &plan{size: 16}})
	return t
}

func (t *typeTable) add(d *dataType) typeID {
	t.all = append(t.all, d)
	return typeID(len(t.all) - 1)
}

func (t *typeTable) at(id typeID) *dataType { return t.all[id] }

// of returns the type of the debug information.
func (t *typeTable) of(id symbol.TypeID) typeID {
	if id == 0 {
		return 0
	}
	out, ok := t.dwarf[id]
	if ok {
		return out
	}
	d := t.src.At(id)
	if d.Kind != symbol.Unknown && d.Size >= 0 {
		out = t.add(&dataType{name: d.Name, size: uint64(d.Size), d: d, weak: weak(d.Name), loose: strings.HasPrefix(d.Name, "bucket<") || d.Name == "runtime.hchan"})
	}
	t.dwarf[id] = out
	return out
}

// weak tells by its name whether a type is one that the runtime makes of all maps.
func weak(name string) bool {
	name = strings.TrimPrefix(name, "*")
	return strings.HasPrefix(name, "internal/runtime/maps.") || name == "runtime.bmap"
}

// channel returns the structure of channels, and notes what they carry.
func (t *typeTable) channel(d *symbol.DataType) typeID {
	id := t.of(d.Elem)
	if id != 0 && d.Value != 0 {
		t.carried[id] = d.Value
	}
	return id
}

// planOf returns where the pointers of a type are.
func (t *typeTable) planOf(id typeID) *plan {
	d := t.all[id]
	if d.plan != nil {
		return d.plan
	}
	p := &plan{size: d.size}
	d.plan = p // types lead to themselves
	if d.d == nil {
		return p
	}
	b := planner{t: t, plan: p, id: id}
	b.typ(d.d, 0, 0)
	b.flush()
	d.mask = p.mask()
	return p
}

// mask returns the pointers of a type of at most 64 words as bits.
func (p *plan) mask() (m uint64) {
	if p.size > headerFrom {
		return 0
	}
	for _, g := range p.segments {
		for i := range g.count {
			for _, s := range g.slots {
				if off := g.off + i*g.stride + s.off; off < headerFrom {
					// The collector does not follow the first word of an
					// interface: types and tables do not move or die.
					if s.kind == toAny || s.kind == toIface {
						off += 8
					}
					m |= 1 << (off / 8)
				}
			}
		}
	}
	return m
}

// planner collects the pointers of one type.
type planner struct {
	t     *typeTable
	plan  *plan
	id    typeID
	slots []slot // that are not in a segment yet
	count int
}

func (b *planner) flush() {
	if len(b.slots) > 0 {
		b.plan.segments = append(b.plan.segments, segment{0, 1, b.plan.size, b.slots})
		b.slots = nil
	}
}

func (b *planner) add(s slot) {
	if b.count < maxSlots && s.off%8 == 0 {
		b.slots = append(b.slots, s)
		b.count++
	}
}

func (b *planner) typ(d *symbol.DataType, off uint64, depth int) {
	if depth > maxNesting || off+uint64(max(d.Size, 0)) > b.plan.size {
		return
	}
	t := b.t
	switch d.Kind {
	case symbol.Pointer:
		switch {
		case d.Elem == 0:
			b.add(slot{off: off, kind: toRaw})
		case !t.outside(d.Elem):
			b.add(slot{off: off, kind: toOne, elem: t.of(d.Elem)})
		}
	case symbol.Map:
		b.add(slot{off: off, kind: toOne, elem: t.of(d.Elem)})
	case symbol.Chan:
		b.add(slot{off: off, kind: toChan, elem: t.channel(d)})
	case symbol.FuncValue:
		b.add(slot{off: off, kind: toFunc, elem: t.funcs})
	case symbol.String:
		b.add(slot{off: off, kind: toText, elem: t.text, header: true})
	case symbol.Slice:
		b.add(slot{off: off, kind: toMany, elem: t.of(d.Elem), header: true})
	case symbol.Any:
		b.add(slot{off: off, kind: toAny})
	case symbol.Interface:
		b.add(slot{off: off, kind: toIface})
	case symbol.Struct:
		if !b.special(d, off) {
			for _, f := range d.Fields {
				b.typ(t.src.At(f.Type), off+uint64(f.Offset), depth+1)
			}
		}
	case symbol.Array:
		b.array(d, off, depth)
	}
}

// array adds the pointers of an array: one after the other, or as a segment.
func (b *planner) array(d *symbol.DataType, off uint64, depth int) {
	elem := b.t.src.At(d.Elem)
	if d.Len <= 0 || elem.Size <= 0 || uint64(d.Len) > b.plan.size/uint64(elem.Size) {
		return
	}
	if d.Len <= inlineArray {
		for i := range d.Len {
			b.typ(elem, off+uint64(i*elem.Size), depth+1)
		}
		return
	}
	inner := b.t.planOf(b.t.of(d.Elem))
	for _, g := range inner.segments {
		if g.count == 1 {
			b.plan.segments = append(b.plan.segments, segment{off + g.off, uint64(d.Len), uint64(elem.Size), g.slots})
			continue
		}
		for i := range uint64(d.Len) {
			if b.count++; b.count > maxSlots {
				return
			}
			b.plan.segments = append(b.plan.segments, segment{off + i*uint64(elem.Size) + g.off, g.count, g.stride, g.slots})
		}
	}
}

// special adds the pointers of structures of the runtime whose fields do not say
// what they lead to.
func (b *planner) special(d *symbol.DataType, off uint64) bool {
	t := b.t
	field := func(name string) (symbol.DataField, bool) {
		for _, f := range d.Fields {
			if f.Name == name {
				return f, true
			}
		}
		return symbol.DataField{}, false
	}
	many := func(names ...string) bool {
		for _, f := range d.Fields {
			at := off + uint64(f.Offset)
			ft := t.src.At(f.Type)
			if ft.Kind == symbol.Pointer && contains(names, f.Name) {
				b.add(slot{off: at, kind: toMany, elem: t.of(ft.Elem)})
			} else {
				b.typ(ft, at, 1)
			}
		}
		return true
	}
	switch {
	case strings.HasPrefix(d.Name, "groupReference<"):
		return many("data")
	case strings.HasPrefix(d.Name, "hash<"):
		return many("buckets", "oldbuckets")
	case strings.HasPrefix(d.Name, "map<"):
		return b.swiss(d, off, field)
	case strings.HasPrefix(d.Name, "hchan<"):
		for _, f := range d.Fields {
			at := off + uint64(f.Offset)
			if value, ok := t.carried[b.id]; ok && f.Name == "buf" {
				b.add(slot{off: at, kind: toMany, elem: t.of(value)})
			} else {
				b.typ(t.src.At(f.Type), at, 1)
			}
		}
		return true
	case strings.HasPrefix(d.Name, "sync/atomic.Pointer["):
		f, ok1 := field("_")
		v, ok2 := field("v")
		if !ok1 || !ok2 {
			return false
		}
		if ft := t.src.At(f.Type); ft.Kind == symbol.Array && t.src.At(ft.Elem).Kind == symbol.Pointer {
			b.add(slot{off: off + uint64(v.Offset), kind: toOne, elem: t.of(t.src.At(ft.Elem).Elem)})
			return true
		}
	}
	return false
}

// swiss adds the pointer of a map of Go 1.24 and later: while it is small it leads
// to its one group, and dirLen is 0; then to a directory of tables.
func (b *planner) swiss(d *symbol.DataType, off uint64, field func(string) (symbol.DataField, bool)) bool {
	t := b.t
	dir, ok1 := field("dirPtr")
	length, ok2 := field("dirLen")
	if !ok1 || !ok2 {
		return false
	}
	tables := t.src.At(dir.Type).Elem // *table<K,V>
	table := t.src.At(tables).Elem
	_, group, ok := t.src.Field(table, "groups", "data")
	if !ok {
		return false
	}
	b.add(slot{
		off: off + uint64(dir.Offset), kind: toMap, elem: t.of(t.src.At(group).Elem),
		other: t.of(tables), test: off + uint64(length.Offset),
	})
	return true
}

// outside tells whether values of a type are never in the heap: they begin with
// sys.NotInHeap, and the collector does not follow pointers to them.
func (t *typeTable) outside(id symbol.TypeID) bool {
	is, known := t.notHeap[id]
	if known || t.nested > maxNesting {
		return is
	}
	t.nested++
	defer func() { t.nested-- }()
	t.notHeap[id] = false // for types within themselves
	d := t.src.At(id)
	switch d.Kind {
	case symbol.Struct:
		is = strings.HasSuffix(d.Name, "sys.NotInHeap") || strings.HasSuffix(d.Name, "sys.nih") ||
			len(d.Fields) > 0 && t.src.At(d.Fields[0].Type).Kind == symbol.Struct && t.outside(d.Fields[0].Type)
	case symbol.Array:
		is = t.outside(d.Elem)
	}
	t.notHeap[id] = is
	return is
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

package heap

import (
	"loupe/format/symbol"
)

// described returns the type that the runtime has the description of at an
// address: the first word of an object with a header, or of an interface{}.
func (t *typeTable) described(addr uint64) typeID {
	if addr == 0 {
		return 0
	}
	if id, ok := t.address[addr]; ok {
		return id
	}
	id := t.describe(addr)
	if len(t.address) < maxKept {
		t.address[addr] = id
	}
	return id
}

func (t *typeTable) describe(addr uint64) typeID {
	linked := addr - t.p.bias
	if id, ok := t.src.Runtime(linked); ok {
		return t.of(id)
	}
	info, ok := t.p.bin.TypeAt(linked)
	if !ok || info.Size == 0 || info.Size > maxTypeSize {
		return 0
	}
	d := &dataType{name: info.Name, size: info.Size, weak: true}
	d.plan = t.collected(linked, info)
	d.opaque = d.plan == nil
	if d.plan == nil {
		d.plan = &plan{size: d.size}
	}
	d.mask = d.plan.mask()
	return t.add(d)
}

// maxTypeSize is more than a type has that has a header.
const maxTypeSize = 1 << 32

// Of the description of a type (abi.Type): how much of it has pointers, and the
// bits that say where they are. Flag 16 says that the bits are made when they are
// first used (since Go 1.24), bit 64 of the kind that they are a program.
const (
	descPtrBytes, descFlags, descKind, descGCData = 8, 20, 23, 32

	flagOnDemand, kindProgram = 1 << 4, 1 << 6
	maxMaskBytes              = 1 << 12
)

// collected returns where the collector finds pointers in a type that the debug
// information does not have; nil where it does not say so in the binary.
func (t *typeTable) collected(linked uint64, info symbol.TypeInfo) *plan {
	b := t.p.bin
	pointers, ok1 := b.Word(linked + descPtrBytes)
	flags, ok2 := b.ReadOnly(linked+descFlags, 4)
	data, ok3 := b.Word(linked + descGCData)
	if !ok1 || !ok2 || !ok3 || pointers > info.Size {
		return nil
	}
	p := &plan{size: info.Size}
	if pointers == 0 {
		return p
	}
	if flags[0]&flagOnDemand != 0 || flags[descKind-descFlags]&kindProgram != 0 && t.p.l.minor < 24 || pointers > 64*maxMaskBytes {
		return nil
	}
	mask, ok := b.ReadOnly(data, int(pointers+63)/64)
	if !ok {
		return nil
	}
	g := segment{0, 1, info.Size, nil}
	for i := range pointers / 8 {
		if mask[i/8]>>(i%8)&1 != 0 {
			g.slots = append(g.slots, slot{off: 8 * i, kind: toRaw})
		}
	}
	p.segments = []segment{g}
	return p
}

// value returns the type of the object that the second word of an interface with
// a type leads to, and how: the value of a pointer is in the word itself.
func (t *typeTable) value(id typeID) (kind slotKind, elem typeID) {
	d := t.all[id].d
	for range maxNesting {
		if d == nil {
			return toOne, id
		}
		switch d.Kind {
		case symbol.Pointer:
			return toOne, t.of(d.Elem)
		case symbol.Map:
			return toOne, t.of(d.Elem)
		case symbol.Chan:
			return toChan, t.channel(d)
		case symbol.FuncValue:
			return toFunc, t.funcs
		case symbol.Struct:
			if len(d.Fields) != 1 {
				return toOne, id
			}
			next := t.src.At(d.Fields[0].Type)
			if !direct(next) {
				return toOne, id
			}
			d = next
		case symbol.Array:
			next := t.src.At(d.Elem)
			if d.Len != 1 || !direct(next) {
				return toOne, id
			}
			d = next
		default:
			return toOne, id
		}
	}
	return toRaw, 0
}

// direct tells whether a type may be one pointer.
func direct(d *symbol.DataType) bool {
	switch d.Kind {
	case symbol.Pointer, symbol.Map, symbol.Chan, symbol.FuncValue:
		return true
	case symbol.Struct:
		return len(d.Fields) == 1
	}
	return d.Kind == symbol.Array && d.Len == 1
}

// table returns the type of the value of an interface by the table in its first
// word. Tables are made at run time too: their second word is the type.
func (t *typeTable) table(addr uint64) typeID {
	if addr == 0 || addr>>48 != 0 {
		return 0
	}
	if id, ok := t.tables[addr]; ok {
		return id
	}
	var id typeID
	if at, err := t.p.word(addr + 8); err == nil {
		id = t.described(at)
	}
	if len(t.tables) < maxKept {
		t.tables[addr] = id
	}
	return id
}

// maxKept bounds what is kept by addresses that come out of objects.
const maxKept = 1 << 20

// closureOf returns the type of the func value that calls a function: one for
// each function.
func (t *typeTable) closureOf(pc uint64) typeID {
	if id, ok := t.closure[pc]; ok {
		return id
	}
	var id typeID
	if f, ok := t.p.bin.FuncAt(pc - t.p.bias); ok && f.Entry == pc-t.p.bias {
		id = t.add(t.captured(f))
	}
	if len(t.closure) < maxKept {
		t.closure[pc] = id
	}
	return id
}

// captured returns the type of the closures of a function: what they have taken with
// them, as far as the debug information tells.
func (t *typeTable) captured(f symbol.Func) *dataType {
	d := &dataType{name: "func " + f.Name, opaque: true}
	fields := t.src.Captured(f.Entry)
	if len(fields) == 0 {
		return d
	}
	// The first word is the address of the function.
	s := symbol.DataType{Name: d.name, Kind: symbol.Struct, Size: 8}
	for _, x := range fields {
		if size := t.src.At(x.Type).Size; size > 0 && x.Offset >= 8 && x.Offset+size <= maxFrameValue {
			s.Fields = append(s.Fields, x)
			s.Size = max(s.Size, (x.Offset+size+7)&^7)
		}
	}
	d.d, d.size, d.closure, d.opaque = &s, uint64(s.Size), true, false
	return d
}

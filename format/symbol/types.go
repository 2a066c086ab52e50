package symbol

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"
)

// TypeID is the number of a type among those of [Types]; 0 is none.
type TypeID uint32

// DataType is a type as it lies in memory, with the types that it leads to. In
// difference to [Type] it can be followed through pointers.
type DataType struct {
	// Name is the type as the debug information has it, with whole import
	// paths: "*net/http.Request".
	Name string
	Kind Kind
	Size int64 // in bytes
	// Elem is what a pointer leads to, and the element of an array or a slice.
	// A map and a channel are pointers to a structure of the runtime.
	Elem TypeID
	// Value is what a channel carries.
	Value  TypeID
	Len    int64 // of an array
	Fields []DataField
}

// DataField is a field of a struct.
type DataField struct {
	Name   string
	Offset int64 // in bytes
	Type   TypeID
}

// Variable is a global variable.
type Variable struct {
	Name string // "net/http.DefaultClient"
	Addr uint64 // as linked
	Type TypeID
}

// Types is the types and global variables of a program, from its debug
// information. A type is read when it is first asked for. One goroutine uses it
// at a time.
type Types struct {
	// Variables are those with a fixed place, by address.
	Variables []Variable

	data    *dwarf.Data
	info    *debugInfo
	funcAt  func(pc uint64) (Func, bool)
	lists   *locationLists // nil until it is asked for
	ptrSize int64
	ids     map[dwarf.Offset]TypeID
	offs    []dwarf.Offset // by TypeID
	types   []*DataType    // by TypeID
	named   map[string]dwarf.Offset
	runtime map[uint64]dwarf.Offset
	base    uint64 // of the descriptions of the runtime
	depth   int    // of types within types that are being read
}

// What Go's compiler adds to DWARF: what a channel carries, and where from the
// first of them on the description lies that the runtime has of a type.
const (
	attrGoElem        = dwarf.Attr(0x2902)
	attrGoRuntimeType = dwarf.Attr(0x2904)
)

// Bounds of what is read of a type.
const (
	maxDataFields  = 1 << 16
	maxTypedefs    = 16
	maxTypeNesting = 256
)

// Types reads which types and variables there are. It goes through the whole
// debug information.
func (b *Binary) Types() (*Types, error) {
	data, err := b.DWARF()
	if err != nil {
		return nil, err
	}
	t := &Types{
		data: data, info: &b.debugInfo, funcAt: b.FuncAt, ptrSize: int64(b.img.ptrSize),
		ids: map[dwarf.Offset]TypeID{}, offs: []dwarf.Offset{0}, types: []*DataType{nil},
		named: map[string]dwarf.Offset{}, runtime: map[uint64]dwarf.Offset{},
	}
	t.base, _ = b.typeBounds()
	r := data.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			return nil, fmt.Errorf("cannot read debug information: %w", err)
		}
		if e == nil {
			break
		}
		t.note(e, b.img)
		// What is within functions has no types and globals of its own, but
		// only the units tell where their children end.
		if e.Children && e.Tag != dwarf.TagCompileUnit {
			r.SkipChildren()
		}
	}
	slices.SortFunc(t.Variables, func(x, y Variable) int {
		switch {
		case x.Addr < y.Addr:
			return -1
		case x.Addr > y.Addr:
			return 1
		}
		return strings.Compare(x.Name, y.Name)
	})
	return t, nil
}

// note keeps where a type or a variable is.
func (t *Types) note(e *dwarf.Entry, img *image) {
	switch e.Tag {
	case dwarf.TagVariable:
		loc, _ := e.Val(dwarf.AttrLocation).([]byte)
		off, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
		if !ok || len(loc) != 1+img.ptrSize || loc[0] != 3 { // DW_OP_addr
			return
		}
		v := Variable{Addr: img.word(loc[1:]), Type: t.id(off)}
		if v.Name, _ = e.Val(dwarf.AttrName).(string); v.Name != "" && v.Addr != 0 {
			t.Variables = append(t.Variables, v)
		}
	case dwarf.TagStructType, dwarf.TagTypedef, dwarf.TagPointerType, dwarf.TagArrayType, dwarf.TagSubroutineType, dwarf.TagBaseType:
		if at, ok := e.Val(attrGoRuntimeType).(uint64); ok && at != 0 {
			if _, known := t.runtime[at]; !known {
				t.runtime[at] = e.Offset
			}
		}
		if name, _ := e.Val(dwarf.AttrName).(string); e.Tag != dwarf.TagPointerType && strings.HasPrefix(name, "runtime.") {
			t.named[name] = e.Offset
		}
	}
}

// Runtime returns the type that the runtime has the description of at an
// address, as linked.
func (t *Types) Runtime(addr uint64) (TypeID, bool) {
	off, ok := t.runtime[addr-t.base]
	if !ok {
		return 0, false
	}
	return t.id(off), true
}

// Named returns a type of package runtime by its whole name.
func (t *Types) Named(name string) (TypeID, bool) {
	off, ok := t.named[name]
	if !ok {
		return 0, false
	}
	return t.id(off), true
}

// Variable returns the global variable of a name.
func (t *Types) Variable(name string) (Variable, bool) {
	for _, v := range t.Variables {
		if v.Name == name {
			return v, true
		}
	}
	return Variable{}, false
}

func (t *Types) id(off dwarf.Offset) TypeID {
	id, ok := t.ids[off]
	if !ok {
		id = TypeID(len(t.offs))
		t.ids[off] = id
		t.offs = append(t.offs, off)
		t.types = append(t.types, nil)
	}
	return id
}

// At returns a type. One that cannot be read has the kind Unknown.
func (t *Types) At(id TypeID) *DataType {
	if id == 0 || int(id) >= len(t.types) {
		return &DataType{Name: "unknown"}
	}
	if t.types[id] == nil {
		d := &DataType{Name: "unknown"}
		if t.depth++; t.depth < maxTypeNesting {
			t.types[id] = d // for one that is made of itself
			*d = t.read(t.offs[id], 0)
		}
		t.depth--
		return d
	}
	return t.types[id]
}

// read reads one type; those that it leads to are left to be read when asked for.
func (t *Types) read(off dwarf.Offset, depth int) DataType {
	d := DataType{Name: "unknown"}
	r := t.data.Reader()
	r.Seek(off)
	e, err := r.Next()
	if err != nil || e == nil || depth > maxTypedefs {
		return d
	}
	if name, ok := e.Val(dwarf.AttrName).(string); ok {
		d.Name = name
	}
	if size, ok := e.Val(dwarf.AttrByteSize).(int64); ok && size >= 0 {
		d.Size = size
	}
	kind, _ := e.Val(attrGoKind).(int64)
	d.Kind = kindOf(kind)
	inner, hasInner := e.Val(dwarf.AttrType).(dwarf.Offset)
	switch e.Tag {
	case dwarf.TagTypedef:
		if elem, ok := e.Val(attrGoElem).(dwarf.Offset); ok && d.Kind == Chan {
			d.Value = t.id(elem)
		}
		return t.typedef(d, inner, hasInner, depth)
	case dwarf.TagPointerType:
		d.Kind, d.Size = Pointer, t.ptrSize
		if hasInner {
			d.Elem = t.id(inner)
		}
	case dwarf.TagSubroutineType:
		d.Kind, d.Size = FuncValue, t.ptrSize
	case dwarf.TagArrayType:
		d.Kind = Array
		if hasInner {
			d.Elem = t.id(inner)
		}
		d.Len = (&paramReader{}).arrayLen(r, e)
		if d.Size == 0 && d.Len > 0 && hasInner && depth < maxTypedefs {
			if elem := t.At(d.Elem); elem.Size > 0 && d.Len <= (1<<47)/elem.Size {
				d.Size = elem.Size * d.Len
			}
		}
	case dwarf.TagStructType:
		if d.Kind == Unknown {
			d.Kind = Struct // C, and what the linker makes
		}
		if e.Children {
			d.Fields = t.fields(r)
		}
		if d.Kind == Slice && len(d.Fields) > 0 {
			d.Elem = t.At(d.Fields[0].Type).Elem
		}
	}
	return d
}

// typedef reads what a name stands for: maps, channels, interfaces and functions
// are typedefs of what the runtime makes them of.
func (t *Types) typedef(d DataType, inner dwarf.Offset, ok bool, depth int) DataType {
	if !ok {
		return d
	}
	under := t.read(inner, depth+1)
	switch d.Kind {
	case Map, Chan:
		d.Size, d.Elem = t.ptrSize, under.Elem
		return d
	case FuncValue:
		d.Size = t.ptrSize
		return d
	case Interface:
		d.Size = 2 * t.ptrSize
		if under.Name == "runtime.eface" {
			d.Kind = Any
		}
		return d
	}
	name := d.Name
	d = under
	if name != "unknown" {
		d.Name = name
	}
	return d
}

func (t *Types) fields(r *dwarf.Reader) (fields []DataField) {
	for len(fields) < maxDataFields {
		c, err := r.Next()
		if err != nil || c == nil || c.Tag == 0 {
			break
		}
		if c.Children {
			r.SkipChildren()
		}
		off, ok := c.Val(dwarf.AttrType).(dwarf.Offset)
		at, placed := c.Val(dwarf.AttrDataMemberLoc).(int64)
		if c.Tag != dwarf.TagMember || !ok || !placed || at < 0 {
			continue
		}
		f := DataField{Offset: at, Type: t.id(off)}
		f.Name, _ = c.Val(dwarf.AttrName).(string)
		fields = append(fields, f)
	}
	return fields
}

// Field returns where a field of a struct within a struct lies, and its type.
func (t *Types) Field(id TypeID, path ...string) (offset int64, typ TypeID, ok bool) {
	for _, name := range path {
		d := t.At(id)
		i := slices.IndexFunc(d.Fields, func(f DataField) bool { return f.Name == name })
		if d.Kind != Struct || i < 0 {
			return 0, 0, false
		}
		offset, id = offset+d.Fields[i].Offset, d.Fields[i].Type
	}
	return offset, id, true
}

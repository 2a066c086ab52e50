package symbol

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Kind says what values of a type are made of.
type Kind uint8

// The kinds of types. Unknown is a type that could not be read, or is nested
// too deep to matter.
const (
	Unknown Kind = iota
	Bool
	Int
	Uint
	Float
	Complex
	Pointer // also unsafe.Pointer
	FuncValue
	Chan
	Map
	String
	Slice
	Any       // interface{}: a type and a value
	Interface // with methods: a table and a value
	Struct
	Array
)

// Type is the type of a parameter, as far as it says what the words of one are.
// What pointers and slices lead to is not read with them, see [Binary.Leads].
type Type struct {
	// Name is the type as Go prints it: "[]string", "*main.Table". That of a
	// type parameter's value is its underlying one, with a tilde: "~string".
	Name   string
	Kind   Kind
	Size   int64   // in bytes
	Align  int64   // of the address
	Elem   *Type   // of an array
	Len    int64   // of an array
	Fields []Field // of a struct; of a large one the first ones

	leads dwarf.Offset // see Binary.Leads; 0 is nowhere
}

// Field is a field of a struct.
type Field struct {
	Name   string
	Type   *Type
	Offset int64
}

// Param is a parameter of a function: the receiver first, the results last.
type Param struct {
	Name   string // "" where the source has none, or "_"
	Type   *Type
	Result bool
	// Placed tells that the debug information has one place for it, by which it
	// was put in order.
	Placed bool
}

// ErrNoParams tells that nothing is known of the parameters of a function.
var ErrNoParams = errors.New("the debug information does not have the function")

// Bounds of what is read of a type. Ten words of an argument are printed, and
// aggregates five deep.
const (
	maxTypeDepth  = 12
	maxTypeFields = 128
	maxParams     = 256
	maxTypes      = 1 << 16 // that are kept
)

// The attributes and kinds that Go's compiler adds to DWARF.
const (
	attrGoKind = dwarf.Attr(0x2900)

	goBool, goInt, goInt64, goUint, goUintptr         = 1, 2, 6, 7, 12
	goFloat32, goFloat64, goComplex64, goComplex128   = 13, 14, 15, 16
	goArray, goChan, goFunc, goInterface, goMap       = 17, 18, 19, 20, 21
	goPointer, goSlice, goString, goStruct, goUnsafe  = 22, 23, 24, 25, 26
	opFrameBase, opCallFrameCFA, opPlus, opConstantsS = 0x91, 0x9c, 0x22, 0x11
)

// paramReader reads the parameters of functions out of DWARF. debug/dwarf reads
// types itself, but follows every pointer, so that one parameter may bring half
// of the program's types into memory, and a chain of them that is made for it
// ends the stack.
type paramReader struct {
	d       *dwarfIndex
	ptrSize int64

	mu    sync.Mutex
	units map[*unit]map[uint64]dwarf.Offset // functions by entry
	types map[dwarf.Offset]*Type
}

// Params returns the parameters of the function that begins at entry, as the
// debug information has them: in the order of the declaration, with the results
// at the end. Before Go 1.26 those without a name are left out.
func (x *debugInfo) Params(entry uint64) ([]Param, error) {
	p, err := x.params()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, off, ok := p.find(entry)
	if !ok {
		return nil, ErrNoParams
	}
	return p.function(off)
}

// find returns where the function that begins at entry is in the debug
// information.
func (p *paramReader) find(entry uint64) (u *unit, off dwarf.Offset, ok bool) {
	if u = p.d.unit(entry); u == nil {
		return nil, 0, false
	}
	funcs, known := p.units[u]
	if !known {
		funcs = p.functions(u)
		p.units[u] = funcs
	}
	off, ok = funcs[entry]
	return u, off, ok
}

func (x *debugInfo) openParams() (*paramReader, error) {
	d, err := x.debug()
	if err != nil {
		return nil, err
	}
	return &paramReader{d: d, ptrSize: int64(x.img.ptrSize), units: map[*unit]map[uint64]dwarf.Offset{}, types: map[dwarf.Offset]*Type{}}, nil
}

// functions finds the functions of a unit.
func (p *paramReader) functions(u *unit) map[uint64]dwarf.Offset {
	funcs := map[uint64]dwarf.Offset{}
	r := p.d.data.Reader()
	r.Seek(u.entry.Offset)
	if _, err := r.Next(); err != nil {
		return funcs
	}
	for {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return funcs
		}
		if e.Tag == dwarf.TagSubprogram {
			if low, ok := e.Val(dwarf.AttrLowpc).(uint64); ok {
				funcs[low] = e.Offset
			}
		}
		if e.Children {
			r.SkipChildren()
		}
	}
}

// placed is a parameter with its place in memory, where that never changes.
type placed struct {
	Param
	at    int64
	fixed bool
}

// function reads the parameters of one function.
func (p *paramReader) function(off dwarf.Offset) ([]Param, error) {
	r := p.d.data.Reader()
	r.Seek(off)
	e, err := r.Next()
	if err != nil || e == nil {
		return nil, ErrNoParams
	}
	// A function that is also inlined elsewhere has its parameters in order at
	// the entry that both refer to.
	if origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
		r.Seek(origin)
		if e, err = r.Next(); err != nil || e == nil {
			return nil, ErrNoParams
		}
	}
	if !e.Children {
		return nil, nil
	}
	var all []placed
	for len(all) < maxParams {
		c, err := r.Next()
		if err != nil || c == nil {
			return nil, fmt.Errorf("cannot read the parameters: %w", cmp.Or(err, ErrNoParams))
		}
		if c.Tag == 0 {
			break
		}
		if c.Tag == dwarf.TagFormalParameter {
			if x, ok := p.parameter(c); ok {
				all = append(all, x)
			}
		}
		if c.Children {
			r.SkipChildren()
		}
	}
	sortPlaced(all)
	out := make([]Param, len(all))
	for i, x := range all {
		out[i] = x.Param
	}
	return out, nil
}

// sortPlaced puts results last, and the others in the order of their places if
// all have one: Go before 1.11 lists parameters by name.
func sortPlaced(all []placed) {
	slices.SortStableFunc(all, func(x, y placed) int {
		switch {
		case x.Result == y.Result:
			return 0
		case y.Result:
			return -1
		}
		return 1
	})
	for part := range 2 {
		from, to := 0, len(all)
		for i, x := range all {
			if x.Result {
				to = i
				break
			}
		}
		if part == 1 {
			from, to = to, len(all)
		}
		some := all[from:to]
		if !slices.ContainsFunc(some, func(x placed) bool { return !x.fixed }) {
			// What has no size is where the next one is.
			slices.SortStableFunc(some, func(x, y placed) int {
				return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(min(x.Type.Size, 1), min(y.Type.Size, 1)))
			})
		}
	}
}

func (p *paramReader) parameter(e *dwarf.Entry) (x placed, ok bool) {
	x.Name, _ = e.Val(dwarf.AttrName).(string)
	switch {
	case strings.HasPrefix(x.Name, "."), strings.HasPrefix(x.Name, "~arg"):
		return x, false // the compiler's own: dictionaries, parts of others
	case strings.HasPrefix(x.Name, "~"), x.Name == "_":
		x.Name = ""
	}
	x.Result, _ = e.Val(dwarf.AttrVarParam).(bool)
	off, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
	if !ok {
		return x, false
	}
	x.Type = p.typ(off, 0)
	if loc, ok := e.Val(dwarf.AttrLocation).([]byte); ok {
		x.at, x.fixed = frameOffset(loc)
		x.Placed = x.fixed
	}
	return x, true
}

// frameOffset reads the simplest of all locations: a distance from the frame.
func frameOffset(loc []byte) (int64, bool) {
	switch {
	case len(loc) == 1 && loc[0] == opCallFrameCFA:
		return 0, true
	case len(loc) > 1 && loc[0] == opFrameBase:
		return sleb(loc[1:])
	case len(loc) > 3 && loc[0] == opCallFrameCFA && loc[1] == opConstantsS && loc[len(loc)-1] == opPlus:
		return sleb(loc[2 : len(loc)-1])
	}
	return 0, false
}

// sleb reads a signed number that takes all of b.
func sleb(b []byte) (v int64, ok bool) {
	for i, c := range b {
		if i > 8 {
			return 0, false
		}
		v |= int64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if c&0x40 != 0 {
				v |= -1 << (7 * (i + 1))
			}
			return v, i == len(b)-1
		}
	}
	return 0, false
}

// Leads returns the type of what a pointer leads to, or of the elements of a slice.
func (x *debugInfo) Leads(t *Type) (*Type, bool) {
	p, err := x.params()
	if err != nil || t.leads == 0 {
		return nil, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	to := p.typ(t.leads, 0)
	return to, to.Kind != Unknown
}

// typ reads a type. Types refer to each other in circles, which pointers alone
// can close; the depth ends those that are damaged.
func (p *paramReader) typ(off dwarf.Offset, depth int) *Type {
	if t, ok := p.types[off]; ok {
		return t
	}
	t := p.readType(off, depth)
	if t.Align == 0 {
		t.Align = p.align(t)
	}
	if len(p.types) < maxTypes && t.Kind != Unknown {
		p.types[off] = t
	}
	return t
}

func (p *paramReader) readType(off dwarf.Offset, depth int) *Type {
	unknown := &Type{Name: "unknown"}
	if depth > maxTypeDepth {
		return unknown
	}
	r := p.d.data.Reader()
	r.Seek(off)
	e, err := r.Next()
	if err != nil || e == nil {
		return unknown
	}
	t := &Type{Name: "unknown"}
	if name, ok := e.Val(dwarf.AttrName).(string); ok {
		t.Name = name
	}
	if size, ok := e.Val(dwarf.AttrByteSize).(int64); ok && size >= 0 {
		t.Size = size
	}
	kind, _ := e.Val(attrGoKind).(int64)
	inner, hasInner := e.Val(dwarf.AttrType).(dwarf.Offset)
	switch e.Tag {
	case dwarf.TagTypedef:
		return p.typedef(t, kind, inner, hasInner, depth)
	case dwarf.TagPointerType:
		t.Kind, t.Size, t.leads = Pointer, p.ptrSize, inner
	case dwarf.TagSubroutineType:
		t.Kind, t.Size = FuncValue, p.ptrSize
	case dwarf.TagArrayType:
		if !hasInner {
			return unknown
		}
		t.Kind, t.Elem, t.Len = Array, p.typ(inner, depth+1), p.arrayLen(r, e)
		if t.Elem.Kind == Unknown {
			return unknown
		}
	default:
		t.Kind = kindOf(kind)
	}
	switch t.Kind {
	case Pointer, FuncValue, Chan, Map:
		t.Size = p.ptrSize
	case String, Any, Interface:
		t.Size = 2 * p.ptrSize
	case Slice:
		t.Size = 3 * p.ptrSize
		t.leads, _ = e.Val(attrGoElem).(dwarf.Offset)
	case Struct:
		if e.Children && !p.fields(r, t, depth) {
			t.Kind = Unknown
		}
	}
	return t
}

// typedef reads what a name stands for.
func (p *paramReader) typedef(t *Type, kind int64, inner dwarf.Offset, ok bool, depth int) *Type {
	if !ok {
		return t
	}
	switch kind {
	case goFunc, goMap, goChan:
		t.Kind, t.Size = kindOf(kind), p.ptrSize
		return t
	case goInterface:
		under := p.typ(inner, depth+1)
		t.Kind, t.Size = Interface, 2*p.ptrSize
		if under.Name == "runtime.eface" {
			t.Kind = Any
		}
		return t
	}
	out := *p.typ(inner, depth+1)
	switch {
	case strings.HasPrefix(t.Name, ".param"):
		// The value of a type parameter: its type is that of many.
		out.Name = "~" + strings.TrimPrefix(out.Name, "go.shape.")
		if out.Kind == Pointer {
			out.Name = "~pointer"
		}
	case t.Name != "unknown":
		out.Name = t.Name
	}
	return &out
}

func kindOf(kind int64) Kind {
	switch {
	case kind == goBool:
		return Bool
	case goInt <= kind && kind <= goInt64:
		return Int
	case goUint <= kind && kind <= goUintptr:
		return Uint
	case kind == goFloat32, kind == goFloat64:
		return Float
	case kind == goComplex64, kind == goComplex128:
		return Complex
	}
	switch kind {
	case goArray:
		return Array
	case goChan:
		return Chan
	case goFunc:
		return FuncValue
	case goInterface:
		return Interface
	case goMap:
		return Map
	case goPointer, goUnsafe:
		return Pointer
	case goSlice:
		return Slice
	case goString:
		return String
	case goStruct:
		return Struct
	}
	return Unknown
}

// arrayLen reads how many elements an array has; r stands behind its entry.
func (p *paramReader) arrayLen(r *dwarf.Reader, e *dwarf.Entry) int64 {
	if !e.Children {
		return 0
	}
	for range 4 {
		c, err := r.Next()
		if err != nil || c == nil || c.Tag == 0 {
			break
		}
		if n, ok := c.Val(dwarf.AttrCount).(int64); ok && n >= 0 {
			return n
		}
		if n, ok := c.Val(dwarf.AttrUpperBound).(int64); ok && n >= -1 && n < 1<<62 {
			return n + 1
		}
	}
	return 0
}

// fields reads the fields of a struct.
func (p *paramReader) fields(r *dwarf.Reader, t *Type, depth int) bool {
	for len(t.Fields) < maxTypeFields {
		c, err := r.Next()
		if err != nil || c == nil {
			return false
		}
		if c.Tag == 0 {
			return true
		}
		if c.Children {
			r.SkipChildren()
		}
		off, ok := c.Val(dwarf.AttrType).(dwarf.Offset)
		if c.Tag != dwarf.TagMember || !ok {
			continue
		}
		f := Field{Type: p.typ(off, depth+1)}
		f.Name, _ = c.Val(dwarf.AttrName).(string)
		switch at := c.Val(dwarf.AttrDataMemberLoc).(type) {
		case int64:
			f.Offset = at
		case []byte: // before DWARF 3 was understood: DW_OP_plus_uconst n
			if len(at) > 1 && at[0] == 0x23 {
				f.Offset = int64(uleb(at[1:]))
			}
		}
		if f.Type.Kind == Unknown || f.Offset < 0 {
			return false
		}
		t.Fields = append(t.Fields, f)
	}
	return true
}

func uleb(b []byte) (v uint64) {
	for i, c := range b[:min(len(b), 9)] {
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			break
		}
	}
	return v
}

// align returns how values of a type are aligned.
func (p *paramReader) align(t *Type) int64 {
	switch t.Kind {
	case Array:
		return t.Elem.Align
	case Struct:
		n := int64(1)
		for _, f := range t.Fields {
			n = max(n, f.Type.Align)
		}
		return n
	case Complex:
		return min(max(t.Size/2, 1), p.ptrSize)
	}
	return min(max(t.Size, 1), p.ptrSize)
}

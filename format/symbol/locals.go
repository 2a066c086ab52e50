package symbol

import (
	"debug/dwarf"
	"slices"
	"strings"
)

// Local is a variable of a function, where it is at one place of the code.
type Local struct {
	Name string
	Type TypeID
	// Pieces are its parts that lie in memory, in order. What is in registers
	// or nowhere is left out.
	Pieces []LocalPiece
	// Sure tells that they are all there are. The compiler forgets parts of a
	// variable that are of no use: what it says of several words then is true
	// of one of the others.
	Sure bool
}

// LocalPiece is a part of a variable that is in memory.
type LocalPiece struct {
	Offset, Size int64 // within the variable, in bytes
	// At is where it is, from the canonical frame address on: what the stack
	// pointer was before the call.
	At int64
	// Leads tells that there is its address instead: the variable is in the
	// heap.
	Leads bool
}

// Bounds of what is read of one function.
const (
	maxEntries = 1 << 17
	maxLocals  = 1 << 12
)

const attrGoClosureOffset = dwarf.Attr(0x2907)

// Locals returns the variables and parameters that a function has during a call, with
// those of what is inlined there. ret is where the call returns to; returns is false
// where it is known that it will not.
//
// Note: a parameter is often said to be in a register up to the end of the call, which
// uses that for something else, and on the stack from there on, where it was before.
// So what is in no memory during the call is looked for behind it.
func (t *Types) Locals(ret uint64, returns bool) []Local {
	x := t.functionOf(ret - 1)
	if x == nil {
		return nil
	}
	x.pc = ret - 1
	if returns && ret < x.end {
		x.after = ret
	}
	x.scope(0)
	return x.locals
}

// Captured returns the variables that the closure of the function at entry has
// taken with it, as fields of the closure. They are known since Go 1.23.
func (t *Types) Captured(entry uint64) []DataField {
	x := t.functionOf(entry)
	if x == nil {
		return nil
	}
	for range 2 {
		for {
			e := x.next()
			if e == nil || e.Tag == 0 {
				break
			}
			if e.Tag == dwarf.TagVariable {
				x.capture(e)
			}
			if e.Children {
				x.r.SkipChildren()
			}
		}
		// Those that are of no use in the code are left with the entry that
		// inlined copies refer to.
		if x.origin == 0 {
			break
		}
		x.r.Seek(x.origin)
		if e := x.next(); e == nil || !e.Children {
			break
		}
		x.origin = 0
	}
	slices.SortFunc(x.captured, func(a, b DataField) int { return int(a.Offset - b.Offset) })
	return slices.CompactFunc(x.captured, func(a, b DataField) bool { return a.Offset == b.Offset })
}

// functionReader reads what is within one function.
type functionReader struct {
	t      *Types
	r, by  *dwarf.Reader
	u      *unit
	origin dwarf.Offset
	pc     uint64
	after  uint64 // the instruction behind; 0 is none
	end    uint64 // of the function
	left   int    // entries

	locals   []Local
	captured []DataField
}

// functionOf stands at the first entry within the function of an address; nil
// where there is none.
func (t *Types) functionOf(pc uint64) *functionReader {
	f, ok := t.funcAt(pc)
	if !ok || f.C {
		return nil
	}
	p, err := t.info.params()
	if err != nil {
		return nil
	}
	p.mu.Lock()
	u, off, ok := p.find(f.Entry)
	p.mu.Unlock()
	if !ok {
		return nil
	}
	if t.lists == nil {
		t.lists = t.info.locationLists()
	}
	x := &functionReader{t: t, end: f.End, r: t.data.Reader(), by: t.data.Reader(), u: u, left: maxEntries}
	x.r.Seek(off)
	e := x.next()
	if e == nil || !e.Children {
		return nil
	}
	// Places count from what the function calls its frame.
	if base, _ := e.Val(dwarf.AttrFrameBase).([]byte); len(base) != 1 || base[0] != opCallFrameCFA {
		return nil
	}
	x.origin, _ = e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	return x
}

// locationLists reads the sections that say where variables are.
func (d *debugInfo) locationLists() *locationLists {
	l := &locationLists{order: d.img.order, ptrSize: d.img.ptrSize}
	for name, to := range map[string]*[]byte{"loc": &l.loc, "loclists": &l.lists, "addr": &l.addr} {
		if s := d.img.section(".debug_" + name); s != nil {
			// Without one of them there is less to be found.
			*to, _ = d.img.data(s, d.limit)
		}
	}
	return l
}

func (x *functionReader) next() *dwarf.Entry {
	if x.left--; x.left < 0 {
		return nil
	}
	e, err := x.r.Next()
	if err != nil {
		return nil
	}
	return e
}

// scope reads what is within a block.
func (x *functionReader) scope(depth int) {
	for {
		e := x.next()
		if e == nil || e.Tag == 0 {
			return
		}
		switch e.Tag {
		case dwarf.TagFormalParameter, dwarf.TagVariable:
			x.local(e)
		case dwarf.TagLexDwarfBlock, dwarf.TagInlinedSubroutine:
			if e.Children && depth < maxTypeNesting && x.holds(e) {
				x.scope(depth + 1)
				continue
			}
		}
		if e.Children {
			x.r.SkipChildren()
		}
	}
}

// holds tells whether the address is one of a block.
func (x *functionReader) holds(e *dwarf.Entry) bool {
	ranges, err := x.t.data.Ranges(e)
	return err == nil && slices.ContainsFunc(ranges, func(lh [2]uint64) bool { return lh[0] <= x.pc && x.pc < lh[1] })
}

// described returns a variable's entry, or that which it is an instance of.
func (x *functionReader) described(e *dwarf.Entry) *dwarf.Entry {
	origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	if !ok {
		return e
	}
	x.by.Seek(origin)
	if o, err := x.by.Next(); err == nil && o != nil {
		return o
	}
	return e
}

func (x *functionReader) local(e *dwarf.Entry) {
	t := x.t
	about := x.described(e)
	name, _ := about.Val(dwarf.AttrName).(string)
	off, ok := about.Val(dwarf.AttrType).(dwarf.Offset)
	if !ok || len(x.locals) >= maxLocals {
		return
	}
	v := Local{Name: name, Type: t.id(off)}
	size := t.At(v.Type).Size
	switch loc := e.Val(dwarf.AttrLocation).(type) {
	case []byte:
		v.Pieces, _, v.Sure = t.lists.pieces(loc, size)
	case int64:
		v.Pieces, v.Sure = x.listed(loc, size, x.pc)
		if behind, sure := x.listed(loc, size, x.after); inMemory(behind) > inMemory(v.Pieces) {
			v.Pieces, v.Sure = behind, sure
		}
		v.Sure = v.Sure || size <= t.ptrSize || x.plain() || len(v.Pieces) == 1 && v.Pieces[0].Size == size && !t.divided(v.Type, 0)
	}
	if len(v.Pieces) > 0 {
		x.locals = append(x.locals, v)
	}
}

// divided tells whether the compiler may keep the parts of a variable of a type apart
// (CanSSA in cmd/compile/internal/ssa/value.go): others are in memory as a whole.
func (t *Types) divided(id TypeID, depth int) bool {
	d := t.At(id)
	if d.Size > 4*t.ptrSize || depth > maxTypedefs {
		return false
	}
	switch d.Kind {
	case Array:
		return d.Len <= 1 && t.divided(d.Elem, depth+1)
	case Struct:
		if len(d.Fields) > 4 && d.Size > t.ptrSize {
			return false
		}
		return !slices.ContainsFunc(d.Fields, func(f DataField) bool { return !t.divided(f.Type, depth+1) })
	}
	return true
}

// plain tells that the code was compiled as it is written, so that nothing is
// forgotten.
func (x *functionReader) plain() bool {
	producer, _ := x.u.entry.Val(dwarf.AttrProducer).(string)
	return strings.Contains(producer, " -N")
}

// listed returns where a variable with a location list is at an address.
func (x *functionReader) listed(list, size int64, pc uint64) (pieces []LocalPiece, whole bool) {
	if pc == 0 {
		return nil, false
	}
	low, _ := x.u.entry.Val(dwarf.AttrLowpc).(uint64)
	addrs, _ := x.u.entry.Val(dwarf.AttrAddrBase).(int64)
	program, ok := x.t.lists.at(x.u.version, list, low, uint64(max(addrs, 0)), pc)
	if !ok || len(program) == 0 {
		return nil, false
	}
	pieces, whole, _ = x.t.lists.pieces(program, size)
	return pieces, whole
}

func inMemory(pieces []LocalPiece) (n int64) {
	for _, p := range pieces {
		n += p.Size
	}
	return n
}

func (x *functionReader) capture(e *dwarf.Entry) {
	about := x.described(e)
	at, ok1 := about.Val(attrGoClosureOffset).(int64)
	off, ok2 := about.Val(dwarf.AttrType).(dwarf.Offset)
	if !ok1 || !ok2 || at <= 0 || len(x.captured) >= maxLocals {
		return
	}
	f := DataField{Offset: at, Type: x.t.id(off)}
	f.Name, _ = about.Val(dwarf.AttrName).(string)
	x.captured = append(x.captured, f)
}

package program

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"loupe/format/symbol"
)

// layout is where the fields of the runtime's g, m and _panic are (runtime2.go),
// in bytes, and where the variables are from which goroutines are found, as linked.
// It has more fields than most because each is one number of a table that has a row
// for each version of Go, and rows are compared as a whole.
type layout struct {
	size                                int
	goid, status, reason, since, parent int // parent is -1 before Go 1.21
	stackLo, stackHi                    int
	schedPC, schedBP                    int
	syscallPC, syscallBP                int // BP is -1 before Go 1.23
	startPC, goPC, lockedM              int

	// What only programs that do not move are asked for.
	schedSP, schedLR, syscallSP, m, panics int
	sig, sigCode, sigAddr, sigPC           int
	machine                                machineLayout
	panicArg, panicLink                    int

	allgptr, allglen, reasons uint64
	// Those that not all can do without; 0 where there is no symbol table: all m,
	// what was printed last and where in that the end is.
	allm, printed, printedAt uint64
	printedLen               int
	special                  uint8 // funcID of wrappers that have no name of their own
	reasonsLen               int
}

// machineLayout is where the fields of the runtime's m are.
type machineLayout struct {
	size                          int // up to the last of them
	id, thread, g0, signal, cur   int
	next, clockSP, clockPC, dying int
}

// wrapper18 is the funcID of the compiler's wrappers in Go 1.18 to 1.21.
const wrapper18 = 21

// layoutOf finds out how the runtime of a binary lies in memory.
func layoutOf(b *symbol.Binary, v variables) (*layout, error) {
	l := &layout{
		allgptr: v[allgptr].Addr, allglen: v[allglen].Addr,
		reasons: v[reasons].Addr, reasonsLen: int(v[reasons].Size / 16),
		allm:    v[allm].Addr,
		printed: v[printed].Addr, printedAt: v[printedAt].Addr, printedLen: int(v[printed].Size),
	}
	if minor, ok := b.GoMinor(); ok && minor <= 21 {
		l.special = wrapper18
	}
	if b.HasDWARF() {
		d, err := b.DWARF()
		if err != nil {
			return nil, err
		}
		return l, l.fromDWARF(d)
	}
	return l, l.fromTable(b)
}

// fields finds fields of a struct and remembers which are missing.
type fields struct {
	of      *dwarf.StructType
	missing []string
}

func (f *fields) at(path ...string) int {
	off, ok := fieldAt(f.of, path...)
	if !ok {
		f.missing = append(f.missing, f.of.StructName+"."+strings.Join(path, "."))
		return -1
	}
	return off
}

// fromDWARF takes the layout from the debug information.
func (l *layout) fromDWARF(d *dwarf.Data) error {
	types, err := structsOf(d, "runtime", "runtime.g", "runtime.m", "runtime._panic")
	if err != nil {
		return err
	}
	g, m, p := fields{of: types[0]}, fields{of: types[1]}, fields{of: types[2]}
	l.size = int(types[0].ByteSize)
	l.goid, l.status, l.reason, l.since = g.at("goid"), g.at("atomicstatus"), g.at("waitreason"), g.at("waitsince")
	l.stackLo, l.stackHi = g.at("stack", "lo"), g.at("stack", "hi")
	l.schedPC, l.schedBP, l.schedSP, l.schedLR = g.at("sched", "pc"), g.at("sched", "bp"), g.at("sched", "sp"), g.at("sched", "lr")
	l.syscallPC, l.syscallSP = g.at("syscallpc"), g.at("syscallsp")
	l.startPC, l.goPC, l.lockedM = g.at("startpc"), g.at("gopc"), g.at("lockedm")
	l.m, l.panics = g.at("m"), g.at("_panic")
	l.sig, l.sigCode, l.sigAddr, l.sigPC = g.at("sig"), g.at("sigcode0"), g.at("sigcode1"), g.at("sigpc")
	l.machine = machineLayout{
		id: m.at("id"), thread: m.at("procid"), g0: m.at("g0"), signal: m.at("gsignal"), cur: m.at("curg"),
		next: m.at("alllink"), clockSP: m.at("vdsoSP"), clockPC: m.at("vdsoPC"), dying: m.at("dying"),
	}
	x := &l.machine
	x.size = max(x.id, x.thread, x.g0, x.signal, x.cur, x.next, x.clockSP, x.clockPC, x.dying) + 8
	l.panicArg, l.panicLink = p.at("arg"), p.at("link")
	if missing := slices.Concat(g.missing, m.missing, p.missing); len(missing) > 0 {
		return fmt.Errorf("%w: its runtime has no %s", ErrNotGo, strings.Join(missing, ", no "))
	}
	l.parent, l.syscallBP = g.at("parentGoid"), g.at("syscallbp") // newer
	return nil
}

// structsOf finds struct types in the compile unit of a package.
func structsOf(d *dwarf.Data, pkg string, names ...string) ([]*dwarf.StructType, error) {
	out := make([]*dwarf.StructType, len(names))
	found := 0
	r := d.Reader()
	for found < len(names) {
		e, err := r.Next()
		if err != nil {
			return nil, err
		}
		if e == nil {
			return nil, fmt.Errorf("%w: its debug information does not know %s", ErrNotGo, names[slices.Index(out, nil)])
		}
		switch e.Tag {
		case dwarf.TagCompileUnit:
			if unit, _ := e.Val(dwarf.AttrName).(string); unit != pkg {
				r.SkipChildren()
			}
		case dwarf.TagStructType:
			n, _ := e.Val(dwarf.AttrName).(string)
			if i := slices.Index(names, n); i >= 0 && out[i] == nil {
				t, err := d.Type(e.Offset)
				if err != nil {
					return nil, err
				}
				if s, ok := t.(*dwarf.StructType); ok {
					out[i] = s
					found++
				}
			}
			r.SkipChildren()
		default:
			r.SkipChildren()
		}
	}
	return out, nil
}

// fieldAt returns where a field of a struct within a struct lies.
func fieldAt(s *dwarf.StructType, path ...string) (int, bool) {
	for _, f := range s.Field {
		if f.Name != path[0] {
			continue
		}
		if len(path) == 1 {
			return int(f.ByteOffset), true
		}
		t := f.Type
		for {
			td, ok := t.(*dwarf.TypedefType)
			if !ok {
				break
			}
			t = td.Type
		}
		inner, ok := t.(*dwarf.StructType)
		if !ok {
			return 0, false
		}
		off, ok := fieldAt(inner, path[1:]...)
		return int(f.ByteOffset) + off, ok
	}
	return 0, false
}

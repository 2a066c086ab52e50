package program

import (
	"debug/dwarf"
	"fmt"
	"strings"

	"loupe/symbol"
)

// layout is where the fields of the runtime's g are (runtime2.go), in bytes, and
// where the variables are from which goroutines are found, as linked.
type layout struct {
	size                                int
	goid, status, reason, since, parent int // parent is -1 before Go 1.21
	stackLo, stackHi                    int
	schedPC, schedBP                    int
	syscallPC, syscallBP                int // BP is -1 before Go 1.23
	startPC, goPC, lockedM              int
	allgptr, allglen, reasons           uint64
	special                             uint8 // funcID of wrappers that have no name of their own
	reasonsLen                          int
}

// symbols are the variables of the runtime that are needed.
var symbols = []string{"runtime.allgptr", "runtime.allglen", "runtime.waitReasonStrings"}

// wrapper18 is the funcID of the compiler's wrappers in Go 1.18 to 1.21.
const wrapper18 = 21

// layoutOf finds out how the runtime of a binary lies in memory.
func layoutOf(b *symbol.Binary) (*layout, error) {
	l := &layout{}
	if minor, ok := minorOf(b); ok && minor <= 21 {
		l.special = wrapper18
	}
	found := 0
	list, err := b.Symbols(nil)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		switch s.Name {
		case symbols[0]:
			l.allgptr = s.Addr
		case symbols[1]:
			l.allglen = s.Addr
		case symbols[2]:
			l.reasons, l.reasonsLen = s.Addr, int(s.Size/16)
		default:
			continue
		}
		found++
	}
	if found < len(symbols) {
		return nil, fmt.Errorf("%w: the binary has no symbol table (-ldflags=-s or strip removes it), or is not of Go 1.18 or later", ErrNotGo)
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

// fromDWARF takes the layout from the debug information.
func (l *layout) fromDWARF(d *dwarf.Data) error {
	g, err := structOf(d, "runtime", "runtime.g")
	if err != nil {
		return err
	}
	l.size = int(g.ByteSize)
	var missing []string
	at := func(path ...string) int {
		off, ok := fieldAt(g, path...)
		if !ok {
			missing = append(missing, strings.Join(path, "."))
			return -1
		}
		return off
	}
	l.goid, l.status, l.reason, l.since = at("goid"), at("atomicstatus"), at("waitreason"), at("waitsince")
	l.stackLo, l.stackHi = at("stack", "lo"), at("stack", "hi")
	l.schedPC, l.schedBP = at("sched", "pc"), at("sched", "bp")
	l.syscallPC = at("syscallpc")
	l.startPC, l.goPC, l.lockedM = at("startpc"), at("gopc"), at("lockedm")
	if len(missing) > 0 {
		return fmt.Errorf("%w: its runtime has no g.%s", ErrNotGo, strings.Join(missing, ", no g."))
	}
	l.parent, l.syscallBP = at("parentGoid"), at("syscallbp") // newer
	return nil
}

// structOf finds a struct type in the compile unit of a package.
func structOf(d *dwarf.Data, pkg, name string) (*dwarf.StructType, error) {
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			return nil, err
		}
		if e == nil {
			return nil, fmt.Errorf("%w: its debug information does not know %s", ErrNotGo, name)
		}
		switch e.Tag {
		case dwarf.TagCompileUnit:
			if unit, _ := e.Val(dwarf.AttrName).(string); unit != pkg {
				r.SkipChildren()
			}
		case dwarf.TagStructType:
			if n, _ := e.Val(dwarf.AttrName).(string); n == name {
				t, err := d.Type(e.Offset)
				if err != nil {
					return nil, err
				}
				if s, ok := t.(*dwarf.StructType); ok {
					return s, nil
				}
			}
			r.SkipChildren()
		default:
			r.SkipChildren()
		}
	}
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

package symbol

import (
	"strings"
	"unicode/utf8"

	"loupe/value/stack"
)

// PrintedName returns how the runtime prints the name of a function in a
// traceback: without type arguments.
func PrintedName(name string) string {
	if name == "runtime.gopanic" {
		return "panic"
	}
	open, end := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if open < 0 || end < open {
		return name
	}
	return name[:open] + "[...]" + name[end+1:]
}

// TypeInfo is what the runtime knows of a type.
type TypeInfo struct {
	Name string // as %T prints it: "*http.Request"
	Kind Kind
	Size uint64
}

// maxTypeName is more than any type's name has.
const maxTypeName = 4096

// descriptions are what the runtime keeps of the types of the program.
type descriptions struct {
	mem    constants
	bounds func() (types, end uint64) // where they are; 0 when that is not known
}

// TypeAt reads the description of the type that is at an address: the first word
// of an interface{}.
func (x *descriptions) TypeAt(addr uint64) (info TypeInfo, ok bool) {
	types, end := x.bounds()
	word := x.mem.img.ptrSize
	if types == 0 || addr < types || addr >= end {
		return info, false
	}
	head, ok := x.mem.ReadOnly(addr, 4*word+16)
	if !ok {
		return info, false
	}
	info.Size = x.mem.img.word(head)
	flags, kind := head[2*word+4], int64(head[2*word+7]&31)
	if info.Kind = kindOf(kind); info.Kind == Unknown {
		return info, false
	}
	name, ok := x.typeName(types + uint64(x.mem.img.order.Uint32(head[4*word+8:])))
	if !ok {
		return info, false
	}
	if flags&2 != 0 { // the name is that of the pointer to it
		if name, ok = strings.CutPrefix(name, "*"); !ok {
			return info, false
		}
	}
	info.Name = name
	return info, name != ""
}

// typeName reads a name: a byte of flags, a length, the text. The length has two
// bytes until Go 1.16, the first of which is 0, and is a varint since.
func (x *descriptions) typeName(addr uint64) (string, bool) {
	head, ok := x.mem.ReadOnly(addr, 4)
	if !ok {
		return "", false
	}
	n, skip := uint64(head[1]), uint64(2)
	switch {
	case head[1] == 0:
		n, skip = uint64(head[2]), 3
	case head[1] >= 0x80:
		n, skip = uint64(head[1]&0x7f)|uint64(head[2])<<7, 3
	}
	if n == 0 || n > maxTypeName {
		return "", false
	}
	text, ok := x.mem.ReadOnly(addr+skip, int(n))
	if !ok || !utf8.Valid(text) {
		return "", false
	}
	return string(text), true
}

// TableAt reads the table that is at an address, the first word of an interface
// with methods, and returns the type of the value.
func (x *descriptions) TableAt(addr uint64) (info TypeInfo, ok bool) {
	// A table begins with the type of the interface, and that of the value.
	inter, ok := x.mem.Word(addr)
	if !ok {
		return info, false
	}
	if i, ok := x.TypeAt(inter); !ok || i.Kind != Interface {
		return info, false
	}
	value, ok := x.mem.Word(addr + uint64(x.mem.img.ptrSize))
	if !ok {
		return info, false
	}
	return x.TypeAt(value)
}

// FuncValueAt returns the function that a func value at an address calls, where
// that is one without variables of its own.
func (b *Binary) FuncValueAt(addr uint64) (Func, bool) {
	entry, ok := b.Word(addr)
	if !ok {
		return Func{}, false
	}
	f, ok := b.FuncAt(entry)
	return f, ok && f.Entry == entry && stack.Package(f.Name) != ""
}

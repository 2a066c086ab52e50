package symbol

import (
	"strings"
	"unicode/utf8"

	"loupe/stack"
)

// maxConstant is the most that ReadOnly returns.
const maxConstant = 64 << 10

// ReadOnly returns n bytes at an address, if they are such as the program cannot
// change: what was there in the process is what is in the file.
func (b *Binary) ReadOnly(addr uint64, n int) ([]byte, bool) {
	if n < 0 || n > maxConstant || addr == 0 || addr+uint64(n) < addr {
		return nil, false
	}
	for i := range b.img.sections {
		s := &b.img.sections[i]
		if !s.alloc || s.size == 0 || addr < s.addr || addr-s.addr >= s.size {
			continue
		}
		// The loader alone writes to .data.rel.ro, and the linker has put in
		// what it will.
		if s.exec || s.compressed || s.write && !strings.HasPrefix(s.name, ".data.rel.ro") {
			return nil, false
		}
		if s.size-(addr-s.addr) < uint64(n) {
			return nil, false
		}
		data, err := b.img.bytes(s.off+(addr-s.addr), uint64(n))
		return data, err == nil
	}
	if len(b.img.sections) > 0 {
		return nil, false
	}
	for _, s := range b.Segments {
		if s.contains(addr) && !s.Write && !s.Exec && addr-s.Addr+uint64(n) <= s.FileSize {
			data, err := b.img.bytes(s.Offset+(addr-s.Addr), uint64(n))
			return data, err == nil
		}
	}
	return nil, false
}

// Word reads a word that the program cannot change.
func (b *Binary) Word(addr uint64) (uint64, bool) {
	data, ok := b.ReadOnly(addr, b.img.ptrSize)
	if !ok {
		return 0, false
	}
	return b.img.word(data), true
}

// WordSize returns the size of a pointer in bytes.
func (b *Binary) WordSize() int { return b.img.ptrSize }

// BigEndian tells the order of bytes in a word.
func (b *Binary) BigEndian() bool { return b.img.order.Uint16([]byte{0, 1}) == 1 }

// SymbolAt returns the function or variable that an address is in. In a stripped
// binary there are none.
func (b *Binary) SymbolAt(addr uint64) (Symbol, bool) { return b.symbolAt(addr) }

// FunctionsNamed returns the functions with these names, several of one name
// where a generic function is compiled for several types. The names are those of
// tracebacks: "main.Map[...]".
func (b *Binary) FunctionsNamed(names map[string]bool) (map[string][]Func, error) {
	t, err := b.table()
	if err != nil {
		return nil, err
	}
	out := map[string][]Func{}
	for i := range t.nfunc {
		f, ok := t.funcAt(i)
		if !ok {
			continue
		}
		name := t.p.cstring(f.nameOff())
		if names[string(name)] {
			out[string(name)] = append(out[string(name)], f.export())
			continue
		}
		if folded := PrintedName(string(name)); names[folded] {
			out[folded] = append(out[folded], f.export())
		}
	}
	return out, nil
}

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

// TypeAt reads the description of the type that is at an address: the first word
// of an interface{}.
func (b *Binary) TypeAt(addr uint64) (info TypeInfo, ok bool) {
	types, end := b.typeBounds()
	word := b.img.ptrSize
	if types == 0 || addr < types || addr >= end {
		return info, false
	}
	head, ok := b.ReadOnly(addr, 4*word+16)
	if !ok {
		return info, false
	}
	info.Size = b.img.word(head)
	flags, kind := head[2*word+4], int64(head[2*word+7]&31)
	if info.Kind = kindOf(kind); info.Kind == Unknown {
		return info, false
	}
	name, ok := b.typeName(types + uint64(b.img.order.Uint32(head[4*word+8:])))
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

// typeBounds returns where the descriptions of types are.
func (b *Binary) typeBounds() (types, end uint64) {
	t, err := b.table()
	if err != nil {
		return 0, 0
	}
	if t.types != 0 {
		return t.types, t.typesEnd
	}
	m := b.oldTypes()
	return m.types, m.typesEnd
}

// typeName reads a name: a byte of flags, a length, the text. The length has two
// bytes until Go 1.16, the first of which is 0, and is a varint since.
func (b *Binary) typeName(addr uint64) (string, bool) {
	head, ok := b.ReadOnly(addr, 4)
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
	text, ok := b.ReadOnly(addr+skip, int(n))
	if !ok || !utf8.Valid(text) {
		return "", false
	}
	return string(text), true
}

// TableAt reads the table that is at an address, the first word of an interface
// with methods, and returns the type of the value.
func (b *Binary) TableAt(addr uint64) (info TypeInfo, ok bool) {
	// A table begins with the type of the interface, and that of the value.
	inter, ok := b.Word(addr)
	if !ok {
		return info, false
	}
	if i, ok := b.TypeAt(inter); !ok || i.Kind != Interface {
		return info, false
	}
	value, ok := b.Word(addr + uint64(b.img.ptrSize))
	if !ok {
		return info, false
	}
	return b.TypeAt(value)
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

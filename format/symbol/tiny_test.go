package symbol

import (
	"bytes"
	"encoding/binary"
)

// tinyTable is the pclntab of a program with two functions of 8 bytes each:
// main.main in a.go at line 3 (from byte 4 on, line 5 of main.leaf, inlined),
// and main.next at line 9.
func tinyTable() (table, tree []byte) {
	le := binary.LittleEndian
	names := []byte("main.main\x00main.leaf\x00main.next\x00")
	files := []byte("/src/a.go\x00")
	units := le.AppendUint32(nil, 0)
	values := []byte{
		0,       // offset 0: no table
		2, 8, 0, // 1: 0 for 8 bytes
		8, 4, 4, 4, 0, // 4: 3 for 4 bytes, 5 for 4
		20, 8, 0, // 9: 9 for 8 bytes
		0, 4, 2, 4, 0, // 12: -1 for 4 bytes, 0 for 4
	}
	record := func(entry, name, lines, start uint32, inlined bool) []byte {
		b := le.AppendUint32(nil, entry)
		values, trees := uint32(0), byte(0)
		if inlined {
			values, trees = 3, 4
		}
		for _, v := range []uint32{name, 0, 0, 0, 1, lines, values, 0, start} {
			b = le.AppendUint32(b, v)
		}
		b = append(b, 0, 0, 0, trees)
		if inlined {
			for _, v := range []uint32{0, 0, 12, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 0} {
				b = le.AppendUint32(b, v)
			}
		}
		return b
	}
	// Functions: pairs and the end, then records.
	main, next := record(0, 0, 4, 3, true), record(8, 20, 9, 8, false)
	var funcs []byte
	for _, v := range []uint32{0, 20, 8, 20 + uint32(len(main)), 16} {
		funcs = le.AppendUint32(funcs, v)
	}
	funcs = append(append(funcs, main...), next...)

	table = []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}
	at := uint64(8 + 8*8)
	words := []uint64{2, 1, 0}
	parts := [][]byte{names, units, files, values, funcs}
	for _, part := range parts {
		words = append(words, at)
		at += uint64(len(part))
	}
	for _, w := range words {
		table = le.AppendUint64(table, w)
	}
	for _, part := range parts {
		table = append(table, part...)
	}
	for _, v := range []uint32{0, 10, 2, 5} { // funcID, name, address of the call, start line
		tree = le.AppendUint32(tree, v)
	}
	return table, tree
}

// tinyELF is a program for linux/amd64 with the functions of tinyTable and a
// runtime.firstmoduledata.
func tinyELF() []byte {
	const base, header, segment, sectionSize = 0x400000, 64, 56, 64
	le := binary.LittleEndian
	table, tree := tinyTable()
	text := []byte("\x90\x90\x90\x90\x90\x90\x90\xc3\x90\x90\x90\x90\x90\x90\x90\xc3")
	at := uint64(header + segment)
	textAt := at
	tableAt := textAt + uint64(len(text))
	treeAt := (tableAt + uint64(len(table)) + 7) &^ 7
	moduleAt := treeAt + uint64(len(tree))
	module := make([]byte, 8*(moduleTrees+1))
	le.PutUint64(module, base+tableAt)
	le.PutUint64(module[8:], base+tableAt+72)
	le.PutUint64(module[8*moduleText:], base+textAt)
	le.PutUint64(module[8*moduleTrees:], base+treeAt)
	names := []byte("\x00.text\x00.gopclntab\x00.go.module\x00.shstrtab\x00")
	namesAt := moduleAt + uint64(len(module))
	sectionsAt := (namesAt + uint64(len(names)) + 7) &^ 7

	var b bytes.Buffer
	put := func(v ...any) {
		for _, v := range v {
			binary.Write(&b, le, v)
		}
	}
	put([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"), uint16(2), uint16(62), uint32(1))
	put(uint64(base+textAt), uint64(header), sectionsAt, uint32(0), uint16(header), uint16(segment), uint16(1), uint16(sectionSize), uint16(5), uint16(4))
	put(uint32(1), uint32(5), uint64(0), uint64(base), uint64(base), namesAt, namesAt, uint64(0x1000))
	b.Write(text)
	b.Write(table)
	b.Write(make([]byte, treeAt-tableAt-uint64(len(table))))
	b.Write(tree)
	b.Write(module)
	b.Write(names)
	b.Write(make([]byte, sectionsAt-namesAt-uint64(len(names))))
	sect := func(name int, kind uint32, flags, addr, off, size uint64) {
		put(uint32(name), kind, flags, addr, off, size, uint32(0), uint32(0), uint64(1), uint64(0))
	}
	sect(0, 0, 0, 0, 0, 0)
	sect(1, 1, 6, base+textAt, textAt, uint64(len(text)))
	sect(7, 1, 2, base+tableAt, tableAt, uint64(len(table)))
	sect(18, 1, 3, base+moduleAt, moduleAt, uint64(len(module)))
	sect(29, 3, 0, 0, namesAt, uint64(len(names)))
	return b.Bytes()
}

package core

import (
	"encoding/binary"
	"encoding/hex"
)

// auxHeaderCount is the key of [File.Aux] for how many segments the program has.
const auxHeaderCount = 5

// BuildIDs reads which program was running, as far as its first page is in the
// core: the GNU build id in hexadecimal, and Go's own. Both are "" where the
// core does not have them.
func (f *File) BuildIDs() (gnu, goID string) {
	mem := f.Memory()
	at, n := f.Aux[AuxHeaders], f.Aux[auxHeaderCount]
	if at == 0 || n == 0 || n > 1<<10 {
		return "", ""
	}
	table := make([]byte, n*progSize)
	if mem.Read(at, table) != nil {
		return "", ""
	}
	const progTable = 6 // PT_PHDR: where the table itself is
	bias := uint64(0)
	for i := range n {
		if p := table[i*progSize:]; binary.LittleEndian.Uint32(p) == progTable {
			bias = at - binary.LittleEndian.Uint64(p[16:])
		}
	}
	for i := range n {
		p := table[i*progSize:]
		size := binary.LittleEndian.Uint64(p[32:])
		if binary.LittleEndian.Uint32(p) != progNote || size > 1<<16 {
			continue
		}
		notes := make([]byte, size)
		if mem.Read(bias+binary.LittleEndian.Uint64(p[16:]), notes) == nil {
			g, o := buildIDs(notes)
			gnu, goID = gnu+g, goID+o
		}
	}
	return gnu, goID
}

// buildIDs finds the two ids in the notes of a program.
func buildIDs(notes []byte) (gnu, goID string) {
	const noteGNU, noteGo = 3, 4
	for len(notes) >= 12 {
		nameSize, size := uint64(binary.LittleEndian.Uint32(notes)), uint64(binary.LittleEndian.Uint32(notes[4:]))
		kind := binary.LittleEndian.Uint32(notes[8:])
		from := 12 + (nameSize+3)&^3
		if end := from + size; end > uint64(len(notes)) {
			return gnu, goID
		}
		name, desc := string(notes[12:12+nameSize]), notes[from:from+size]
		switch {
		case name == "GNU\x00" && kind == noteGNU:
			gnu = hex.EncodeToString(desc)
		case name == "Go\x00\x00" && kind == noteGo:
			goID = string(desc)
		}
		notes = notes[min((from+size+3)&^3, uint64(len(notes))):]
	}
	return gnu, goID
}

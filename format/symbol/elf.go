package symbol

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
)

// openELF reads the headers. The reader of the standard library is used for
// them: it leaves symbols and sections alone until they are asked for.
func openELF(r io.ReaderAt) (*image, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("ELF: %w", err)
	}
	img := &image{r: r, format: ELF, order: f.ByteOrder, ptrSize: 8, elfType: uint16(f.Type), entry: f.Entry, readSymbols: elfSymbols}
	if f.Class == elf.ELFCLASS32 {
		img.ptrSize = 4
	}
	img.arch = elfArch(f)
	img.pie = f.Type == elf.ET_DYN
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			img.segments = append(img.segments, Segment{
				Addr: p.Vaddr, Size: p.Memsz, Offset: p.Off, FileSize: min(p.Filesz, p.Memsz),
				Exec: p.Flags&elf.PF_X != 0, Write: p.Flags&elf.PF_W != 0,
			})
			if p.Flags&elf.PF_X != 0 && img.imageBase == 0 {
				img.imageBase = p.Vaddr
				if p.Align > 0 {
					img.imageBase -= p.Vaddr % p.Align
				}
			}
		case elf.PT_NOTE:
			img.readNotes(p.Off, p.Filesz, p.Align)
		}
	}
	for i, s := range f.Sections {
		sect := section{
			name: s.Name, addr: s.Addr, off: s.Offset, size: s.FileSize,
			exec:  s.Flags&elf.SHF_EXECINSTR != 0,
			write: s.Flags&elf.SHF_WRITE != 0,
			alloc: s.Flags&elf.SHF_ALLOC != 0, compressed: s.Flags&elf.SHF_COMPRESSED != 0,
		}
		if s.Type == elf.SHT_NOBITS {
			sect.size = 0
		}
		if s.Type == elf.SHT_NOTE && sect.size > 0 {
			img.readNotes(sect.off, sect.size, s.Addralign)
		}
		if s.Type == elf.SHT_SYMTAB && s.Size > 0 && int(s.Link) < len(f.Sections) && i > 0 {
			str := f.Sections[s.Link]
			img.hasSymbols = true
			img.symtab = symtabPlace{off: s.Offset, size: s.FileSize, strOff: str.Offset, strSize: str.FileSize}
		}
		img.sections = append(img.sections, sect)
	}
	return img, nil
}

func elfArch(f *elf.File) string {
	little := f.ByteOrder == binary.LittleEndian
	is64 := f.Class == elf.ELFCLASS64
	pick := func(big, small string) string {
		if little {
			return small
		}
		return big
	}
	switch f.Machine {
	case elf.EM_386:
		return "386"
	case elf.EM_X86_64:
		return "amd64"
	case elf.EM_ARM:
		return "arm"
	case elf.EM_AARCH64:
		return "arm64"
	case elf.EM_LOONGARCH:
		return "loong64"
	case elf.EM_PPC64:
		return pick("ppc64", "ppc64le")
	case elf.EM_S390:
		return "s390x"
	case elf.EM_RISCV:
		if is64 {
			return "riscv64"
		}
	case elf.EM_MIPS:
		if is64 {
			return pick("mips64", "mips64le")
		}
		return pick("mips", "mipsle")
	}
	return ""
}

// readNotes takes the build ids out of a note segment or section.
func (img *image) readNotes(off, size, align uint64) {
	const noteGNUBuildID, noteGoBuildID = 3, 4
	if img.buildID != "" && img.goBuildID != "" || size > 1<<20 {
		return
	}
	data, err := img.bytes(off, size)
	if err != nil {
		return // the ids are a comfort: a broken note does not spoil the file
	}
	pad := uint64(4)
	if align == 8 {
		pad = 8
	}
	round := func(n uint64) uint64 { return (n + pad - 1) &^ (pad - 1) }
	for len(data) >= 12 {
		nameSize, descSize := uint64(img.order.Uint32(data)), uint64(img.order.Uint32(data[4:]))
		kind := img.order.Uint32(data[8:])
		descOff := 12 + (nameSize+3)&^3
		end := descOff + descSize
		if end > uint64(len(data)) {
			return
		}
		name, desc := string(data[12:12+nameSize]), data[descOff:end]
		switch {
		case name == "GNU\x00" && kind == noteGNUBuildID && img.buildID == "":
			img.buildID = hex.EncodeToString(desc)
		case name == "Go\x00\x00" && kind == noteGoBuildID && img.goBuildID == "":
			img.goBuildID = string(desc)
		}
		data = data[min(round(end), uint64(len(data))):]
	}
}

// elfSymbols reads .symtab in the order of the file.
func elfSymbols(img *image) ([]Symbol, error) {
	data, names, err := img.symbolTable()
	if err != nil {
		return nil, err
	}
	size := 24
	if img.ptrSize == 4 {
		size = 16
	}
	// The first entry is empty by definition.
	syms := make([]Symbol, 0, len(data)/size)
	for i := size; i+size <= len(data); i += size {
		e := data[i : i+size]
		s := Symbol{Name: cut(names, uint64(img.order.Uint32(e)))}
		var info byte
		var shndx uint16
		if img.ptrSize == 4 {
			s.Addr, s.Size = uint64(img.order.Uint32(e[4:])), uint64(img.order.Uint32(e[8:]))
			info, shndx = e[12], img.order.Uint16(e[14:])
		} else {
			info, shndx = e[4], img.order.Uint16(e[6:])
			s.Addr, s.Size = img.order.Uint64(e[8:]), img.order.Uint64(e[16:])
		}
		s.Kind = elfKind(img, elf.SectionIndex(shndx), elf.ST_BIND(info) == elf.STB_LOCAL)
		syms = append(syms, s)
	}
	return syms, nil
}

// elfKind classifies a symbol with the letters of nm.
func elfKind(img *image, i elf.SectionIndex, local bool) byte {
	kind := byte('?')
	switch {
	case i == elf.SHN_UNDEF:
		kind = 'U'
	case i == elf.SHN_COMMON:
		kind = 'B'
	case int(i) < len(img.sections):
		s := &img.sections[i]
		switch {
		case s.alloc && s.exec && !s.write:
			kind = 'T'
		case s.alloc && !s.write && !s.exec:
			kind = 'R'
		case s.alloc && s.write && !s.exec:
			kind = 'D'
		}
	}
	if local && kind != '?' {
		kind += 'a' - 'A'
	}
	return kind
}

package symbol

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
)

var peArch = map[uint16]string{0x14c: "386", 0x8664: "amd64", 0xaa64: "arm64", 0x1c4: "arm"}

// Flags of PE sections and images.
const (
	peCode, peData, peBSS        = 0x20, 0x40, 0x80
	peDiscardable                = 0x02000000
	peExecute, peWrite    uint32 = 0x20000000, 0x80000000
	peDynamicBase                = 0x40
)

// openPE reads the headers.
//
// Note: debug/pe reads all symbols when it opens a file.
func openPE(r io.ReaderAt) (*image, error) {
	img := &image{r: r, format: PE, order: binary.LittleEndian, ptrSize: 8, readSymbols: peSymbols}
	dos, err := img.bytes(0, 64)
	if err != nil {
		return nil, fmt.Errorf("PE header: %w", noEOF(err))
	}
	at := uint64(img.order.Uint32(dos[0x3c:]))
	head, err := img.bytes(at, 24)
	if err != nil {
		return nil, fmt.Errorf("PE header: %w", noEOF(err))
	}
	if string(head[:4]) != "PE\x00\x00" {
		return nil, fmt.Errorf("%w: a DOS program without a PE header", ErrNotBinary)
	}
	img.arch = peArch[img.order.Uint16(head[4:])]
	count, optSize := int(img.order.Uint16(head[6:])), uint64(img.order.Uint16(head[20:]))
	opt, err := img.bytes(at+24, optSize)
	if err != nil || len(opt) < 72 {
		return nil, fmt.Errorf("PE optional header of %d bytes: %w", optSize, noEOF(err))
	}
	switch magic := img.order.Uint16(opt); magic {
	case 0x10b:
		img.ptrSize = 4
		img.imageBase = uint64(img.order.Uint32(opt[28:]))
	case 0x20b:
		img.imageBase = img.order.Uint64(opt[24:])
	default:
		return nil, fmt.Errorf("PE optional header has magic number %#x, want 0x10b or 0x20b", magic)
	}
	img.pie = img.order.Uint16(opt[70:])&peDynamicBase != 0

	symOff, symCount := uint64(img.order.Uint32(head[12:])), uint64(img.order.Uint32(head[16:]))
	img.symtab = symtabPlace{off: symOff, size: symCount * peSymbolSize, strOff: symOff + symCount*peSymbolSize}
	var longNames string
	if symOff != 0 {
		// The names of sections and symbols beyond 8 bytes; the first four
		// bytes are the length with themselves.
		if b, err := img.bytes(img.symtab.strOff, 4); err == nil {
			img.symtab.strSize = uint64(img.order.Uint32(b))
			img.hasSymbols = symCount > 0
		}
	}
	table, err := img.bytes(at+24+optSize, uint64(count)*40)
	if err != nil {
		return nil, fmt.Errorf("PE section table: %w", noEOF(err))
	}
	for ; len(table) >= 40; table = table[40:] {
		name := fixedString(table[:8])
		if n, ok := strings.CutPrefix(name, "/"); ok {
			if longNames == "" {
				longNames, _ = img.names()
			}
			if off, err := strconv.ParseUint(n, 10, 32); err == nil {
				name = cut(longNames, off)
			}
		}
		img.peSection(name, table)
	}
	img.goBuildID = img.buildIDInText()
	return img, nil
}

func (img *image) peSection(name string, h []byte) {
	u32 := func(off int) uint32 { return img.order.Uint32(h[off:]) }
	memSize, addr, size, off := uint64(u32(8)), uint64(u32(12)), uint64(u32(16)), uint64(u32(20))
	flags := u32(36)
	s := section{
		name: name, addr: img.imageBase + addr, off: off, size: size,
		exec: flags&peExecute != 0, write: flags&peWrite != 0, alloc: flags&peDiscardable == 0,
		flags: flags,
	}
	// The rest of the last page is filled up in the file.
	if memSize != 0 {
		s.size = min(size, memSize)
	}
	if flags&peBSS != 0 && flags&(peCode|peData) == 0 {
		s.size = 0
	}
	img.sections = append(img.sections, s)
	if s.alloc {
		img.segments = append(img.segments, Segment{
			Addr: s.addr, Size: max(memSize, s.size), Offset: off, FileSize: s.size, Exec: s.exec, Write: s.write,
		})
	}
}

const peSymbolSize = 18

func peSymbols(img *image) ([]Symbol, error) {
	data, names, err := img.symbolTable()
	if err != nil {
		return nil, err
	}
	syms := make([]Symbol, 0, len(data)/peSymbolSize)
	for len(data) >= peSymbolSize {
		e := data[:peSymbolSize]
		s := Symbol{Addr: uint64(img.order.Uint32(e[8:])), Kind: '?'}
		if img.order.Uint32(e) == 0 {
			s.Name = cut(names, uint64(img.order.Uint32(e[4:])))
		} else {
			s.Name = fixedString(e[:8])
		}
		switch n := int(int16(img.order.Uint16(e[12:]))); {
		case n == 0:
			s.Kind = 'U'
		case n == -1:
			s.Kind = 'C'
		case n > 0 && n <= len(img.sections):
			sect := &img.sections[n-1]
			s.Addr += sect.addr
			s.Kind = peKind(sect)
		}
		syms = append(syms, s)
		// Auxiliary records follow their symbol.
		skip := peSymbolSize * (1 + int(e[17]))
		data = data[min(skip, len(data)):]
	}
	sizeByNext(syms)
	return syms, nil
}

func peKind(s *section) byte {
	switch {
	case s.flags&peCode != 0:
		return 'T'
	case s.flags&peData != 0 && !s.write:
		return 'R'
	case s.flags&peData != 0:
		return 'D'
	case s.flags&peBSS != 0:
		return 'B'
	}
	return '?'
}

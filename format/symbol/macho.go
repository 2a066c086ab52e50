package symbol

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
)

// Magic numbers of fat files, which are big-endian, unlike what they hold.
const (
	fatMagic   = "\xca\xfe\xba\xbe"
	fatMagic64 = "\xca\xfe\xba\xbf"
)

// Load commands and flags of <mach-o/loader.h>.
const (
	machoSegment   = 0x1
	machoSymtab    = 0x2
	machoSegment64 = 0x19
	machoUUID      = 0x1b

	machoPIE        = 0x200000
	machoProtWrite  = 2
	machoProtExec   = 4
	machoSectionBSS = 1 // S_ZEROFILL
	machoStab       = 0xe0
)

var machoArch = map[uint32]string{
	7: "386", 7 | 1<<24: "amd64", 12: "arm", 12 | 1<<24: "arm64", 18: "ppc", 18 | 1<<24: "ppc64",
}

// openMachO reads the load commands.
//
// Note: debug/macho reads the whole symbol table when it opens a file: 60 ms
// for 100 MB. What is needed of the headers is little.
func openMachO(r io.ReaderAt, arch string) (*image, error) {
	var head [32]byte
	n, err := r.ReadAt(head[:], 0)
	if magic := string(head[:4]); magic == fatMagic || magic == fatMagic64 {
		part, err := fatPart(r, magic == fatMagic64, arch)
		if err != nil {
			return nil, err
		}
		n, err = part.ReadAt(head[:], 0)
		r = part
	}
	if n < 28 {
		return nil, fmt.Errorf("Mach-O header: %w", noEOF(err))
	}
	img := &image{r: r, format: MachO, order: binary.LittleEndian, ptrSize: 8, readSymbols: machoSymbols}
	size := uint64(32)
	switch img.order.Uint32(head[:]) {
	case 0xfeedfacf:
	case 0xfeedface:
		img.ptrSize, size = 4, 28
	default:
		return nil, fmt.Errorf("%w: %x is not the magic number of a little-endian Mach-O file", ErrNotBinary, head[:4])
	}
	img.arch = machoArch[img.order.Uint32(head[4:])]
	img.pie = img.order.Uint32(head[24:])&machoPIE != 0
	count, length := img.order.Uint32(head[16:]), uint64(img.order.Uint32(head[20:]))
	if length > 64<<20 {
		return nil, fmt.Errorf("Mach-O: %d bytes of load commands: damaged", length)
	}
	cmds, err := img.bytes(size, length)
	if err != nil {
		return nil, fmt.Errorf("Mach-O load commands: %w", err)
	}
	for ; count > 0; count-- {
		if len(cmds) < 8 {
			return nil, fmt.Errorf("Mach-O load commands: %w", io.ErrUnexpectedEOF)
		}
		n := img.order.Uint32(cmds[4:])
		if n < 8 || uint64(n) > uint64(len(cmds)) {
			return nil, fmt.Errorf("Mach-O: load command of %d bytes: damaged", n)
		}
		img.machoCommand(cmds[:n])
		cmds = cmds[n:]
	}
	img.goBuildID = img.buildIDInText()
	return img, nil
}

// fatPart chooses the file for one architecture.
func fatPart(r io.ReaderAt, is64 bool, arch string) (io.ReaderAt, error) {
	const maxParts = 40 // in class files of Java, which have this magic number too, it is the version: 45 and up
	var head [8]byte
	if n, err := r.ReadAt(head[:], 0); n < len(head) {
		return nil, fmt.Errorf("fat Mach-O header: %w", noEOF(err))
	}
	count := binary.BigEndian.Uint32(head[4:])
	if count == 0 || count > maxParts {
		return nil, fmt.Errorf("%w: fat Mach-O with %d architectures", ErrNotBinary, count)
	}
	size := 20
	if is64 {
		size = 32
	}
	buf := make([]byte, int(count)*size)
	if n, err := r.ReadAt(buf, 8); n < len(buf) {
		return nil, fmt.Errorf("fat Mach-O header: %w", noEOF(err))
	}
	var found []string
	for ; len(buf) > 0; buf = buf[size:] {
		name := machoArch[binary.BigEndian.Uint32(buf)]
		off, n := uint64(binary.BigEndian.Uint32(buf[8:])), uint64(binary.BigEndian.Uint32(buf[12:]))
		if is64 {
			off, n = binary.BigEndian.Uint64(buf[8:]), binary.BigEndian.Uint64(buf[16:])
		}
		if name != "" && (arch == "" || arch == name) && off < 1<<62 && n < 1<<62 {
			return io.NewSectionReader(r, int64(off), int64(n)), nil
		}
		found = append(found, name)
	}
	return nil, fmt.Errorf("the fat Mach-O file has no code for %q, only for %s", arch, strings.Join(found, ", "))
}

func (img *image) machoCommand(c []byte) {
	u32 := func(off int) uint32 { return img.order.Uint32(c[off:]) }
	switch cmd := u32(0); {
	case cmd == machoSegment64 && len(c) >= 72:
		img.machoSegment(c, 24, 72, 80)
	case cmd == machoSegment && len(c) >= 56:
		img.machoSegment(c, 24, 56, 68)
	case cmd == machoUUID && len(c) >= 24:
		img.buildID = hex.EncodeToString(c[8:24])
	case cmd == machoSymtab && len(c) >= 24:
		entry := uint64(16)
		if img.ptrSize == 4 {
			entry = 12
		}
		img.symtab = symtabPlace{
			off: uint64(u32(8)), size: uint64(u32(12)) * entry,
			strOff: uint64(u32(16)), strSize: uint64(u32(20)),
		}
		img.hasSymbols = img.symtab.size > 0
	}
}

// machoSegment adds a segment and its sections. The numbers are where the
// addresses begin, where the sections begin and the size of one.
func (img *image) machoSegment(c []byte, at, sections, size int) {
	word := func(b []byte, i int) uint64 { return img.word(b[i*img.ptrSize:]) }
	flags := c[at+4*img.ptrSize:]
	seg := Segment{Addr: word(c[at:], 0), Size: word(c[at:], 1), Offset: word(c[at:], 2)}
	seg.FileSize = min(word(c[at:], 3), seg.Size)
	prot := img.order.Uint32(flags[4:])
	seg.Exec, seg.Write = prot&machoProtExec != 0, prot&machoProtWrite != 0
	name := fixedString(c[8:24])
	mapped := name != "__DWARF" && name != "__PAGEZERO"
	if name == "__TEXT" {
		img.imageBase = seg.Addr
	}
	if mapped && name != "__LINKEDIT" {
		img.segments = append(img.segments, seg)
	}
	for n := img.order.Uint32(flags[8:]); n > 0 && sections+size <= len(c); n-- {
		s := c[sections : sections+size]
		sections += size
		rest := s[32+2*img.ptrSize:]
		sect := section{
			name: "." + strings.TrimLeft(fixedString(s[:16]), "_"), segment: fixedString(s[16:32]),
			addr: word(s[32:], 0), size: word(s[32:], 1), off: uint64(img.order.Uint32(rest)),
			exec: seg.Exec, write: seg.Write, alloc: mapped,
		}
		if img.order.Uint32(rest[16:])&0xff == machoSectionBSS {
			sect.size = 0
		}
		sect.name = strings.Replace(sect.name, ".go_", ".go.", 1) // __go_module, __go_buildinfo
		if sect.name == ".debug_str_offs" {
			sect.name = ".debug_str_offsets" // names end at 16 bytes
		}
		img.sections = append(img.sections, sect)
	}
}

func fixedString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// buildIDInText finds the Go build id where there are no notes: it is written
// as a string in front of the first function.
func (img *image) buildIDInText() string {
	const prefix, suffix = "\xff Go build ID: \"", "\"\n \xff"
	s := img.section(".text")
	if s == nil {
		return ""
	}
	head, err := img.bytes(s.off, min(s.size, 4096))
	if err != nil {
		return ""
	}
	_, rest, ok := bytes.Cut(head, []byte(prefix))
	id, _, ok2 := bytes.Cut(rest, []byte(suffix))
	if !ok || !ok2 {
		return ""
	}
	return string(id)
}

func machoSymbols(img *image) ([]Symbol, error) {
	data, names, err := img.symbolTable()
	if err != nil {
		return nil, err
	}
	size := 8 + img.ptrSize
	syms := make([]Symbol, 0, len(data)/size)
	for ; len(data) >= size; data = data[size:] {
		if data[4]&machoStab != 0 {
			continue // debugging entries
		}
		s := Symbol{Name: cut(names, uint64(img.order.Uint32(data))), Addr: img.word(data[8:]), Kind: '?'}
		// All names have an underscore in front. Like the Go tools, only Go's
		// lose it: C's are shown as the linker has them.
		if strings.HasPrefix(s.Name, "_") && strings.Contains(s.Name, ".") {
			s.Name = s.Name[1:]
		}
		if n := int(data[5]); n == 0 {
			s.Kind = 'U'
		} else if n <= len(img.sections) {
			s.Kind = machoKind(&img.sections[n-1])
		}
		syms = append(syms, s)
	}
	sizeByNext(syms)
	return syms, nil
}

func machoKind(s *section) byte {
	switch {
	case s.segment == "__TEXT" && s.name == ".text":
		return 'T'
	case s.segment == "__TEXT", s.segment == "__DATA_CONST":
		return 'R'
	case s.segment == "__DATA" && (s.name == ".bss" || s.name == ".noptrbss"):
		return 'B'
	case s.segment == "__DATA":
		return 'D'
	}
	return '?'
}

// sizeByNext sets the size of symbols from where the next one begins, for the
// formats that do not record it.
func sizeByNext(syms []Symbol) {
	addrs := make([]uint64, len(syms))
	for i, s := range syms {
		addrs[i] = s.Addr
	}
	sort.Slice(addrs, func(i, j int) bool { return addrs[i] < addrs[j] })
	for i := range syms {
		s := &syms[i]
		if n := sort.Search(len(addrs), func(i int) bool { return addrs[i] > s.Addr }); n < len(addrs) {
			s.Size = addrs[n] - s.Addr
		}
	}
}

// noEOF turns the end of the file into an error that says it came too early.
func noEOF(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

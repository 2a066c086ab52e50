package symbol

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// image is a binary below its format: sections, segments and where the tables
// are.
type image struct {
	r       io.ReaderAt // the whole file, or the chosen part of a fat one
	format  Format
	arch    string
	order   binary.ByteOrder
	ptrSize int
	pie     bool

	buildID, goBuildID string
	hasSymbols         bool
	entry              uint64 // where the program begins, 0 where the format does not say

	sections []section
	segments []Segment
	// imageBase is the address that all of the file is linked for (PE, Mach-O).
	imageBase uint64
	// elfType is 2 for a fixed address and 3 for a movable one.
	elfType uint16
	// readSymbols reads the symbol table in the order of the file.
	readSymbols func(*image) ([]Symbol, error)
	symtab      symtabPlace
}

// section is a named part of the file. Names are those of ELF: "__text" of
// Mach-O is ".text" here, so that the readers above do not care.
type section struct {
	name        string
	segment     string // Mach-O only
	addr        uint64
	off, size   uint64 // in the file; size is 0 for .bss
	exec, write bool
	alloc       bool   // is mapped at addr when the program runs
	compressed  bool   // SHF_COMPRESSED
	flags       uint32 // PE only
}

func (img *image) section(name string) *section {
	for i := range img.sections {
		s := &img.sections[i]
		if s.name == name && s.size > 0 {
			return s
		}
		// Until Go 1.11 and in PE, compressed DWARF has a name of its own.
		if rest, ok := strings.CutPrefix(s.name, ".zdebug_"); ok && s.size > 0 && name == ".debug_"+rest {
			return s
		}
	}
	return nil
}

func openImage(r io.ReaderAt, arch string) (*image, error) {
	var head [4]byte
	if _, err := r.ReadAt(head[:], 0); err != nil && err != io.EOF {
		return nil, err
	}
	switch sniff(head[:]) {
	case ELF:
		return openELF(r)
	case MachO:
		return openMachO(r, arch)
	case PE:
		return openPE(r)
	}
	return nil, fmt.Errorf("%w: it begins with %q", ErrNotBinary, head[:])
}

// check refuses a part that is not wholly in the file: all memory that is
// allocated later is bounded by the size of the file.
func (img *image) check(off, size uint64) error {
	if size == 0 {
		return nil
	}
	end := off + size
	if end < off || end > 1<<62 {
		return fmt.Errorf("%d bytes at offset %#x: beyond the end of the file", size, off)
	}
	var one [1]byte
	if n, _ := img.r.ReadAt(one[:], int64(end-1)); n != 1 {
		return fmt.Errorf("%d bytes at offset %#x: beyond the end of the file (was it cut?)", size, off)
	}
	return nil
}

// bytes reads a part of the file.
func (img *image) bytes(off, size uint64) ([]byte, error) {
	if err := img.check(off, size); err != nil {
		return nil, err
	}
	buf := make([]byte, size)
	if n, err := img.r.ReadAt(buf, int64(off)); n < len(buf) {
		return nil, err
	}
	return buf, nil
}

// symbolTable reads the symbol table and the names that it points into.
func (img *image) symbolTable() (table []byte, names string, err error) {
	if !img.hasSymbols {
		return nil, "", errNoSymbols
	}
	if table, err = img.bytes(img.symtab.off, img.symtab.size); err != nil {
		return nil, "", fmt.Errorf("cannot read the symbol table: %w", err)
	}
	names, err = img.names()
	return table, names, err
}

// offset translates a virtual address to an offset in the file and says how
// many bytes of the segment follow it there.
func (img *image) offset(addr uint64) (off, n uint64, ok bool) {
	for _, s := range img.segments {
		if d := addr - s.Addr; addr >= s.Addr && d < s.FileSize {
			return s.Offset + d, s.FileSize - d, true
		}
	}
	return 0, 0, false
}

// data returns a section, decompressed, if it has at most limit bytes.
func (img *image) data(s *section, limit int64) ([]byte, error) {
	raw, err := img.bytes(s.off, s.size)
	if err != nil {
		return nil, fmt.Errorf("section %s: %w", s.name, err)
	}
	var size uint64
	var zr io.Reader
	switch {
	case s.compressed:
		var kind uint32
		skip := 24
		if img.ptrSize == 4 {
			skip = 12
		}
		if len(raw) < skip {
			return nil, fmt.Errorf("section %s: %w", s.name, io.ErrUnexpectedEOF)
		}
		kind = img.order.Uint32(raw)
		if img.ptrSize == 4 {
			size = uint64(img.order.Uint32(raw[4:]))
		} else {
			size = img.order.Uint64(raw[8:])
		}
		if zr, err = inflater(kind, raw[skip:]); err != nil {
			return nil, fmt.Errorf("section %s: %w", s.name, err)
		}
	case len(raw) >= 12 && string(raw[:4]) == "ZLIB" && strings.HasPrefix(s.name, ".zdebug_"):
		size = binary.BigEndian.Uint64(raw[4:])
		if zr, err = zlib.NewReader(bytes.NewReader(raw[12:])); err != nil {
			return nil, fmt.Errorf("section %s: %w", s.name, err)
		}
	default:
		if int64(len(raw)) > limit {
			return nil, fmt.Errorf("section %s has %d bytes, more than %d", s.name, len(raw), limit)
		}
		return raw, nil
	}
	if size > uint64(limit) {
		return nil, fmt.Errorf("section %s has %d bytes, more than %d", s.name, size, limit)
	}
	// The stated size is not believed beyond what zlib can do (1:1032).
	buf := bytes.NewBuffer(make([]byte, 0, min(size, uint64(len(raw))*1032)))
	if _, err := io.CopyN(buf, zr, int64(size)); err != nil {
		return nil, fmt.Errorf("section %s: %w", s.name, err)
	}
	return buf.Bytes(), nil
}

func inflater(kind uint32, data []byte) (io.Reader, error) {
	switch kind {
	case 1:
		return zlib.NewReader(bytes.NewReader(data))
	case 2:
		return zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
	}
	return nil, fmt.Errorf("unknown compression %d", kind)
}

// pageSize is the unit in which tables are read: one read of the file costs
// as much as copying some ten kilobytes.
const pageSize = 64 << 10

// pager reads a part of the file in pages and keeps them, so that a lookup
// touches what it needs, and the thousandth lookup reads nothing. Goroutines
// may share it: two may read the same page, one of them wins.
type pager struct {
	r     io.ReaderAt
	off   uint64
	size  uint64
	pages []atomic.Pointer[[]byte]
}

// newPager makes a pager for a part that image.check has approved.
func newPager(r io.ReaderAt, off, size uint64) *pager {
	return &pager{r: r, off: off, size: size, pages: make([]atomic.Pointer[[]byte], (size+pageSize-1)/pageSize)}
}

// tail returns some bytes from off on, at least one; nil beyond the end.
func (p *pager) tail(off uint64) []byte {
	if off >= p.size {
		return nil
	}
	i := off / pageSize
	page := p.pages[i].Load()
	if page == nil {
		start := i * pageSize
		buf := make([]byte, min(pageSize, p.size-start))
		if n, _ := p.r.ReadAt(buf, int64(p.off+start)); n < len(buf) {
			buf = buf[:n]
		}
		page = &buf
		p.pages[i].Store(page)
	}
	d := off % pageSize
	if d >= uint64(len(*page)) {
		return nil
	}
	return (*page)[d:]
}

// slice returns n bytes from off on; nil when there are fewer. The bytes must
// not be modified.
func (p *pager) slice(off, n uint64) []byte {
	b := p.tail(off)
	if uint64(len(b)) >= n {
		return b[:n]
	}
	if off > p.size || n > p.size-off {
		return nil
	}
	out := make([]byte, 0, n)
	for uint64(len(out)) < n {
		b := p.tail(off + uint64(len(out)))
		if len(b) == 0 {
			return nil
		}
		out = append(out, b[:min(uint64(len(b)), n-uint64(len(out)))]...)
	}
	return out
}

// maxName bounds one name: names of generic functions reach some kilobytes.
const maxName = 64 << 10

// cstring returns the bytes from off to the next zero byte. They must not be
// modified.
func (p *pager) cstring(off uint64) []byte {
	b := p.tail(off)
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i:i]
	}
	var out []byte
	for len(b) > 0 && len(out) < maxName {
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return append(out, b[:i]...)
		}
		out = append(out, b...)
		off += uint64(len(b))
		b = p.tail(off)
	}
	return out
}

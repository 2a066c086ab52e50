package symbol

import (
	"bytes"
	"fmt"
	"slices"
)

// openTable finds the pclntab and what it needs from elsewhere: the address
// of the first instruction and the inline trees. Where all else fails, bounds tells
// what symbols say of these.
func openTable(img *image, bounds func() module) (*pclntab, error) {
	off, size, addr, err := findTable(img)
	if err != nil {
		return nil, err
	}
	if err := img.check(off, size); err != nil {
		return nil, fmt.Errorf("cannot read the table of Go functions: %w", err)
	}
	t, err := parseHeader(newPager(img.r, off, size))
	if err != nil {
		return nil, err
	}
	if t.version < table118 {
		return t, nil
	}
	m, ok := moduleData(img, t, addr)
	if !ok {
		m = bounds()
	}
	if m.text == 0 {
		if s := img.section(".text"); s != nil {
			m.text = s.addr
		}
	}
	t.textStart, t.types, t.typesEnd = m.text, m.types, m.typesEnd
	if off, n, ok := img.offset(m.trees); ok && m.trees != 0 && img.check(off, n) == nil {
		t.inlTrees = newPager(img.r, off, n)
	}
	return t, nil
}

// maxCandidates bounds how many places are looked at more closely in a search,
// for the sake of files that are made to have many.
const maxCandidates = 64

// findTable returns where the pclntab is in the file and in memory.
func findTable(img *image) (off, size, addr uint64, err error) {
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if s := img.section(name); s != nil {
			return s.off, s.size, s.addr, nil
		}
	}
	// PE has no section for it, and ELF loses its sections to some packers:
	// the header is searched for in what is not code.
	for _, s := range img.sections[:min(len(img.sections), maxCandidates)] {
		if s.alloc && s.size > 0 && !s.exec {
			if d, ok := img.searchHeader(s.off, s.size); ok {
				return s.off + d, s.size - d, s.addr + d, nil
			}
		}
	}
	if len(img.sections) == 0 {
		for _, s := range img.segments[:min(len(img.segments), maxCandidates)] {
			if d, ok := img.searchHeader(s.Offset, s.FileSize); ok {
				return s.Offset + d, s.FileSize - d, s.Addr + d, nil
			}
		}
	}
	return 0, 0, 0, errNoTable
}

// searchHeader looks for the header of a pclntab and checks that the first
// function makes sense, since the magic number is also in the code that reads
// such tables.
func (img *image) searchHeader(off, size uint64) (uint64, bool) {
	if img.check(off, size) != nil {
		return 0, false
	}
	p := newPager(img.r, off, size)
	needle := []byte{0xff, 0xff, 0xff, 0, 0} // bytes 1 to 5, little-endian
	lead := 1
	if img.order.Uint16([]byte{0, 1}) == 1 {
		needle, lead = []byte{0xff, 0xff, 0xff}, 0
	}
	for at, tries := uint64(0), 0; at < size && tries < maxCandidates; {
		b := p.tail(at)
		if len(b) == 0 {
			return 0, false
		}
		i := bytes.Index(b, needle)
		if i < 0 {
			// Headers are aligned: none is cut in two by a page.
			at += uint64(len(b))
			continue
		}
		pos := at + uint64(i)
		at = pos + 1
		if start := pos - uint64(lead); pos >= uint64(lead) && start%uint64(img.ptrSize) == 0 {
			tries++
			sub := newPager(img.r, off+start, size-start)
			if t, err := parseHeader(sub); err == nil && t.nfunc > 0 && t.ptrSize == img.ptrSize {
				if f, ok := t.funcAt(0); ok && f.name() != "" {
					return start, true
				}
			}
		}
	}
	return 0, false
}

// Positions in runtime.moduledata in words. The record begins with the address
// of the pclntab.
const (
	moduleNames = 1  // address of the names of functions
	moduleText  = 22 // runtime.text
	moduleTrees = 40 // go:func.*, since Go 1.20
	treesIn118  = 38 // the same in Go 1.18 and 1.19
	// The types are some words before the trees: types, etypes, rodata, trees.
	typesBefore = 3
)

// module is what is taken out of runtime.moduledata.
type module struct {
	text, trees     uint64
	types, typesEnd uint64
}

// moduleData finds runtime.firstmoduledata, which says where the code begins
// (not always at .text: with cgo, C start-up code comes first) and where the
// inline trees are. It has no section of its own before Go 1.26 and no symbol
// in a stripped binary, but its first two words are known.
func moduleData(img *image, t *pclntab, addr uint64) (m module, ok bool) {
	want := func(w []byte) bool {
		return img.word(w) == addr && img.word(w[moduleNames*img.ptrSize:]) == addr+t.names
	}
	for _, name := range []string{".go.module", ".noptrdata", ".data", ".data.rel.ro"} {
		s := img.section(name)
		if s == nil || img.check(s.off, s.size) != nil {
			continue
		}
		p := newPager(img.r, s.off, s.size)
		need := uint64((moduleTrees + 1) * img.ptrSize)
		first := img.putWord(addr)
		for at := uint64(0); at+need <= s.size; {
			page := p.tail(at)
			if len(page) == 0 {
				break
			}
			i := bytes.Index(page, first)
			if i < 0 {
				at += uint64(len(page))
				continue
			}
			at += uint64(i)
			if w := p.slice(at, need); w != nil && (s.addr+at)%uint64(img.ptrSize) == 0 && want(w) {
				n := moduleTrees
				if t.version == table118 {
					n = treesIn118
				}
				at := func(i int) uint64 { return img.word(w[i*img.ptrSize:]) }
				m = module{at(moduleText), at(n), at(n - typesBefore), at(n - typesBefore + 1)}
				return m, m.text != 0
			}
			at++
		}
	}
	return moduleDataRelocated(img, t, addr)
}

// moduleDataRelocated finds the same in the relocations: the C linker leaves
// the words of a movable program empty in the file, and the loader fills them.
func moduleDataRelocated(img *image, t *pclntab, addr uint64) (m module, ok bool) {
	s := img.section(".rela.dyn")
	const size = 24 // place, kind, value
	if s == nil || img.ptrSize != 8 || img.check(s.off, s.size) != nil {
		return m, false
	}
	p := newPager(img.r, s.off, s.size)
	each := func(visit func(place, value uint64)) {
		for at := uint64(0); at+size <= s.size; at += size {
			if e := p.slice(at, size); e != nil {
				visit(img.order.Uint64(e), img.order.Uint64(e[16:]))
			}
		}
	}
	var heads, names []uint64
	each(func(place, value uint64) {
		switch {
		case value == addr && len(heads) < maxCandidates:
			heads = append(heads, place)
		case value == addr+t.names && len(names) < maxCandidates:
			names = append(names, place-8)
		}
	})
	n := uint64(moduleTrees)
	if t.version == table118 {
		n = treesIn118
	}
	for _, head := range heads {
		if !slices.Contains(names, head) {
			continue
		}
		each(func(place, value uint64) {
			switch place {
			case head + 8*moduleText:
				m.text = value
			case head + 8*n:
				m.trees = value
			case head + 8*(n-typesBefore):
				m.types = value
			case head + 8*(n-typesBefore+1):
				m.typesEnd = value
			}
		})
		return m, m.text != 0
	}
	return m, false
}

func (img *image) word(b []byte) uint64 {
	if img.ptrSize == 4 {
		return uint64(img.order.Uint32(b))
	}
	return img.order.Uint64(b)
}

func (img *image) putWord(v uint64) []byte {
	b := make([]byte, img.ptrSize)
	if img.ptrSize == 4 {
		img.order.PutUint32(b, uint32(v))
	} else {
		img.order.PutUint64(b, v)
	}
	return b
}

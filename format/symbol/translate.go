package symbol

import "fmt"

// Mapping is where a part of a binary was in the memory of the process that a
// profile was taken of.
type Mapping struct {
	Start, Limit uint64 // addresses, Limit being the first behind
	Offset       uint64 // of Start in the file
	BuildID      string // as the profile has it; may be empty
}

// Translate turns an address of the process into the address that the binary
// was linked for, which all other methods take. The rules are those of
// go tool pprof's upstream: what the loader has added is found from the
// segment that the mapping shows. The kernel's own mappings are not covered.
func (b *Binary) Translate(m Mapping, addr uint64) (uint64, error) {
	const whole = 1<<64 - 1
	if m.Start == 0 && m.Offset == 0 && (m.Limit == 0 || m.Limit == whole) {
		return addr, nil // a mapping made up by a tool: nothing was moved
	}
	if m.Limit > m.Start && (addr < m.Start || addr >= m.Limit) {
		return 0, fmt.Errorf("address %#x is outside of the mapping %#x to %#x", addr, m.Start, m.Limit)
	}
	base, err := b.loadBase(m, addr)
	if err != nil {
		return 0, err
	}
	return addr - base, nil
}

// loadBase returns what the loader has added to the addresses.
func (b *Binary) loadBase(m Mapping, addr uint64) (uint64, error) {
	switch b.Format {
	case MachO:
		if b.img.imageBase > m.Start {
			return 0, fmt.Errorf("the mapping begins at %#x, below the __TEXT segment of the binary at %#x: it is of another file", m.Start, b.img.imageBase)
		}
		return m.Start - b.img.imageBase, nil
	case PE:
		if m.Start == 0 {
			return 0, nil
		}
		return m.Start - b.img.imageBase, nil
	}
	const fixed, movable = 2, 3 // ET_EXEC, ET_DYN
	if t := b.img.elfType; t != fixed && t != movable {
		return 0, fmt.Errorf("the ELF file has type %d: it is neither a program nor a shared object", t)
	}
	seg, err := b.segmentOf(m, addr)
	if err != nil {
		return 0, err
	}
	if seg == nil {
		if b.img.elfType == fixed {
			return 0, nil
		}
		return m.Start - m.Offset, nil
	}
	// A byte at x has the offset x - Start + Offset in the file, and there the
	// segment says which address it was linked for.
	return m.Start - m.Offset + seg.Offset - seg.Addr, nil
}

// segmentOf returns the segment that a mapping shows; nil when the file has
// none.
func (b *Binary) segmentOf(m Mapping, addr uint64) (*Segment, error) {
	if m.Start >= m.Limit || m.Limit >= 1<<63 {
		return b.textSegment(), nil
	}
	if len(b.Segments) == 0 {
		return nil, nil
	}
	fits := segmentsFor(b.Segments, m.Offset, m.Limit-m.Start)
	if len(fits) == 1 {
		return fits[0], nil
	}
	// Small segments share a page: the address decides.
	var found *Segment
	at := addr - m.Start + m.Offset
	for _, s := range fits {
		if at-s.Offset < s.Size && at >= s.Offset {
			if found != nil {
				return nil, fmt.Errorf("two segments of the binary hold offset %#x of the file (was it stripped of sections after the profile was taken?)", at)
			}
			found = s
		}
	}
	if found == nil {
		return nil, fmt.Errorf("no segment of the binary holds offset %#x of the file: the profile is of another binary", at)
	}
	return found, nil
}

func (b *Binary) textSegment() *Segment {
	s := b.img.section(".text")
	if s == nil {
		return nil
	}
	for i := range b.Segments {
		if seg := &b.Segments[i]; seg.Exec && seg.contains(s.addr) {
			return seg
		}
	}
	return nil
}

// segmentsFor returns the segments that overlap the size bytes from offset off
// of the file, without those that are only neighbours on a page.
func segmentsFor(segments []Segment, off, size uint64) (fits []*Segment) {
	const page = 4096
	limit := off + size
	for i := range segments {
		s := &segments[i]
		end := s.Offset + s.Size
		// Without bytes in the file, a segment's offset means nothing.
		if s.FileSize == 0 || off >= end || s.Offset >= limit {
			continue
		}
		// A mapping that begins below the segment's first page is of another.
		if in := s.Addr % page; s.Offset > in && off < s.Offset-in {
			continue
		}
		// So is one that begins in the segment's last page and goes on behind.
		if off > s.Offset && end < off+page && limit >= end+page {
			continue
		}
		fits = append(fits, s)
	}
	return fits
}

package symbol

import "fmt"

// Mapping is where a part of a binary was in the memory of the process that a
// profile was taken of.
type Mapping struct {
	Start, Limit uint64 // addresses, Limit being the first behind
	Offset       uint64 // of Start in the file
	BuildID      string // as the profile has it; may be empty
}

// loading is how a binary gets into the memory of a process.
type loading struct{ img *image }

// Translate turns an address of the process into the address that the binary
// was linked for, which all other methods take. The rules are those of
// go tool pprof's upstream: what the loader has added is found from the
// segment that the mapping shows. The kernel's own mappings are not covered.
func (l *loading) Translate(m Mapping, addr uint64) (uint64, error) {
	const whole = 1<<64 - 1
	if m.Start == 0 && m.Offset == 0 && (m.Limit == 0 || m.Limit == whole) {
		return addr, nil // a mapping made up by a tool: nothing was moved
	}
	if m.Limit > m.Start && (addr < m.Start || addr >= m.Limit) {
		return 0, fmt.Errorf("address %#x is outside of the mapping %#x to %#x", addr, m.Start, m.Limit)
	}
	moved, err := l.base(m, addr)
	if err != nil {
		return 0, err
	}
	return addr - moved, nil
}

// base returns what the loader has added to the addresses.
func (l *loading) base(m Mapping, addr uint64) (uint64, error) {
	switch l.img.format {
	case MachO:
		if l.img.imageBase > m.Start {
			return 0, fmt.Errorf("the mapping begins at %#x, below the __TEXT segment of the binary at %#x: it is of another file", m.Start, l.img.imageBase)
		}
		return m.Start - l.img.imageBase, nil
	case PE:
		if m.Start == 0 {
			return 0, nil
		}
		return m.Start - l.img.imageBase, nil
	}
	const fixed, movable = 2, 3 // ET_EXEC, ET_DYN
	if t := l.img.elfType; t != fixed && t != movable {
		return 0, fmt.Errorf("the ELF file has type %d: it is neither a program nor a shared object", t)
	}
	seg, err := l.segmentOf(m, addr)
	if err != nil {
		return 0, err
	}
	if seg == nil {
		if l.img.elfType == fixed {
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
func (l *loading) segmentOf(m Mapping, addr uint64) (*Segment, error) {
	if m.Start >= m.Limit || m.Limit >= 1<<63 {
		return l.textSegment(), nil
	}
	if len(l.img.segments) == 0 {
		return nil, nil
	}
	fits := segmentsFor(l.img.segments, m.Offset, m.Limit-m.Start)
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

func (l *loading) textSegment() *Segment {
	s := l.img.section(".text")
	if s == nil {
		return nil
	}
	for i := range l.img.segments {
		if seg := &l.img.segments[i]; seg.Exec && seg.contains(s.addr) {
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

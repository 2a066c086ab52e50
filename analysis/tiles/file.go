package tiles

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"loupe/value/timeline"
)

// The file, see docs/formats/tiles.md: a header, and sections that begin at
// multiples of eight. All numbers are little endian and of fixed width, but
// for the spans and the records of short lanes.

const (
	magic      = "loupetls"
	version    = 3
	headerSize = 256
	laneSize   = 80
	levelSize  = 16
	skipSize   = 16
)

// The sections, in the order of the file.
const (
	sectionNames       = iota
	sectionGenerations // u64: where each begins
	sectionLanes
	sectionLevels
	sectionTileEnds // u64: where each tile ends in the next section
	sectionTiles
	sectionSkips
	sectionSpans
	sectionBlocks // u64: where each 64 records end in the next section
	sectionShort
	sections
)

// Key tells one trace from another.
type Key [32]byte

// identifyBytes is how much of each end of a trace its key depends on.
const identifyBytes = 64 << 10

// Identify returns the key of a trace: a hash of its size, its first and its
// last bytes. The first ones have the time of its begin in nanoseconds.
func Identify(trace io.ReaderAt, size int64) (Key, error) {
	h := sha256.New()
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(size)))
	n := min(size, identifyBytes)
	for _, off := range []int64{0, size - n} {
		if _, err := io.Copy(h, io.NewSectionReader(trace, off, n)); err != nil {
			return Key{}, fmt.Errorf("cannot read the trace at byte %d: %w", off, err)
		}
	}
	return Key(h.Sum(nil)), nil
}

type extent struct{ at, size uint64 }

// header is the head of a file.
type header struct {
	key     Key
	origin  timeline.Time
	length  tick
	top     uint8
	short   uint64 // how many short lanes there are
	dropped Dropped
	extents [sections]extent
}

const (
	droppedGoroutineSpans = 1 << iota
	droppedProcSpans
)

func (h *header) append(b []byte) []byte {
	le := binary.LittleEndian
	b = append(b, magic...)
	b = le.AppendUint32(b, version)
	flags := byte(0)
	if h.dropped.GoroutineSpans {
		flags |= droppedGoroutineSpans
	}
	if h.dropped.ProcSpans {
		flags |= droppedProcSpans
	}
	b = append(b, grainShift, tileShift, h.top, flags)
	b = append(b, h.key[:]...)
	b = le.AppendUint64(b, uint64(h.origin))
	b = le.AppendUint64(b, uint64(h.length))
	b = le.AppendUint64(b, h.short)
	b = le.AppendUint32(b, uint32(min(h.dropped.Goroutines, 1<<32-1)))
	b = le.AppendUint32(b, uint32(h.dropped.MinSpans))
	for _, s := range h.extents {
		b = le.AppendUint64(b, s.at)
		b = le.AppendUint64(b, s.size)
	}
	return append(b, make([]byte, headerSize-len(b))...)
}

// read reads the head of a file, and checks that the sections lie in it.
func (h *header) read(data []byte) error {
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return fmt.Errorf("not a tile file: it does not start with %q", magic)
	}
	le := binary.LittleEndian
	if v := le.Uint32(data[8:]); v != version {
		return fmt.Errorf("cannot read tiles of version %d: this is version %d (build them again)", v, version)
	}
	if data[12] != grainShift || data[13] != tileShift {
		return fmt.Errorf("cannot read tiles of 2^%d buckets and times in 2^%d ns: known are %d and %d", data[13], data[12], tileShift, grainShift)
	}
	h.top = data[14]
	h.dropped.GoroutineSpans = data[15]&droppedGoroutineSpans != 0
	h.dropped.ProcSpans = data[15]&droppedProcSpans != 0
	copy(h.key[:], data[16:])
	h.origin = timeline.Time(le.Uint64(data[48:]))
	h.length = tick(le.Uint64(data[56:]))
	h.short = le.Uint64(data[64:])
	h.dropped.Goroutines = int(le.Uint32(data[72:]))
	h.dropped.MinSpans = int(le.Uint32(data[76:]))
	if h.length < 0 || h.length >= maxTick || h.top > maxTop {
		return fmt.Errorf("the tiles are damaged: %d ticks, top level %d", h.length, h.top)
	}
	for i := range h.extents {
		at, n := le.Uint64(data[80+16*i:]), le.Uint64(data[88+16*i:])
		if at > uint64(len(data)) || n > uint64(len(data))-at {
			return fmt.Errorf("the tiles are truncated or damaged: section %d should have %d bytes at %d, and the file has %d", i, n, at, len(data))
		}
		h.extents[i] = extent{at, n}
	}
	return nil
}

// maxTick bounds times, so that they can be added; 292 years of nanoseconds
// are as much.
const (
	maxTop  = 57
	maxTick = 1 << maxTop
)

// laneRecord describes a lane.
type laneRecord struct {
	kind              Kind
	base, levels      uint8
	whole             bool // its spans are there, or it is not one of spans
	group             uint32
	subject           int64
	name, nameLen     uint32
	first, last       tick
	spans             uint64 // or changes
	spansAt, spansLen uint64
	skipAt, skips     uint32
	levelAt           uint32
	members           uint32
	title             string // the name; not in the file
}

func (l *laneRecord) append(b []byte) []byte {
	le := binary.LittleEndian
	whole := byte(0)
	if l.whole {
		whole = 1
	}
	b = append(b, byte(l.kind), l.base, l.levels, whole)
	b = le.AppendUint32(b, l.group)
	b = le.AppendUint64(b, uint64(l.subject))
	b = le.AppendUint32(b, l.name)
	b = le.AppendUint32(b, l.nameLen)
	b = le.AppendUint64(b, uint64(l.first))
	b = le.AppendUint64(b, uint64(l.last))
	b = le.AppendUint64(b, l.spans)
	b = le.AppendUint64(b, l.spansAt)
	b = le.AppendUint64(b, l.spansLen)
	b = le.AppendUint32(b, l.skipAt)
	b = le.AppendUint32(b, l.skips)
	b = le.AppendUint32(b, l.levelAt)
	return le.AppendUint32(b, l.members)
}

func (l *laneRecord) read(b []byte) {
	le := binary.LittleEndian
	*l = laneRecord{
		kind: Kind(b[0]), base: b[1], levels: b[2], whole: b[3]&1 != 0, group: le.Uint32(b[4:]),
		subject: int64(le.Uint64(b[8:])), name: le.Uint32(b[16:]), nameLen: le.Uint32(b[20:]),
		first: tick(le.Uint64(b[24:])), last: tick(le.Uint64(b[32:])), spans: le.Uint64(b[40:]),
		spansAt: le.Uint64(b[48:]), spansLen: le.Uint64(b[56:]),
		skipAt: le.Uint32(b[64:]), skips: le.Uint32(b[68:]), levelAt: le.Uint32(b[72:]), members: le.Uint32(b[76:]),
	}
}

// check says what is wrong with a lane of s.
func (l *laneRecord) check(s *stored) error {
	within := func(at, n uint64, section int) bool {
		size := s.sections[section].size()
		return at <= size && n <= size-at
	}
	switch {
	case l.kind >= kinds:
		return fmt.Errorf("kind %d", l.kind)
	case l.first < 0 || l.last < l.first || l.last > s.length:
		return fmt.Errorf("from %d to %d of %d", l.first, l.last, s.length)
	case l.base > 63 || int(l.base)+int(l.levels) > 64:
		return fmt.Errorf("%d levels from %d on", l.levels, l.base)
	case !within(uint64(l.name), uint64(l.nameLen), sectionNames):
		return fmt.Errorf("its name is missing")
	case !within(l.spansAt, l.spansLen, sectionSpans):
		return fmt.Errorf("its spans are missing")
	case !within(uint64(l.skipAt)*skipSize, uint64(l.skips)*skipSize, sectionSkips):
		return fmt.Errorf("its index is missing")
	case !within(uint64(l.levelAt)*levelSize, uint64(l.levels)*levelSize, sectionLevels):
		return fmt.Errorf("its levels are missing")
	}
	for i := range int(l.levels) {
		lv := s.level(l, i)
		if !within(uint64(lv.at)*8, uint64(lv.n)*8, sectionTileEnds) || lv.first < 0 || lv.first > maxTick {
			return fmt.Errorf("its level %d is missing", i)
		}
	}
	return nil
}

// levelRecord describes one level of a lane.
type levelRecord struct {
	first int64  // index of its first tile
	at, n uint32 // its tiles in the list of ends
}

func (s *stored) level(l *laneRecord, i int) levelRecord {
	b := s.sections[sectionLevels].one()[(int(l.levelAt)+i)*levelSize:]
	le := binary.LittleEndian
	return levelRecord{int64(le.Uint64(b)), le.Uint32(b[8:]), le.Uint32(b[12:])}
}

// layout returns the head of the file, with the sections behind it one after
// the other, and the length of all.
func (s *stored) layout() (h header, size int) {
	h, size = s.header, headerSize
	for i := range s.sections {
		n := s.sections[i].size()
		h.extents[i] = extent{uint64(size), n}
		size += int(n+7) &^ 7
	}
	return h, size
}

// eachPiece visits the bytes of the file, piece by piece, up to an error.
func (s *stored) eachPiece(visit func([]byte) error) error {
	h, _ := s.layout()
	if err := visit(h.append(nil)); err != nil {
		return err
	}
	for i := range s.sections {
		for _, piece := range s.sections[i].pieces {
			if err := visit(piece); err != nil {
				return err
			}
		}
		if err := visit(make([]byte, -s.sections[i].size()%8)); err != nil {
			return err
		}
	}
	return nil
}

// WriteTo writes the file of the set. That of a set that was just built comes
// in many small pieces: w is best buffered.
func (s *stored) WriteTo(w io.Writer) (int64, error) {
	written := int64(0)
	err := s.eachPiece(func(piece []byte) error {
		n, err := w.Write(piece)
		written += int64(n)
		return err
	})
	return written, err
}

// AppendTo appends the file of the set.
func (s *stored) AppendTo(dst []byte) []byte {
	dst = slices.Grow(dst, s.Size())
	_ = s.eachPiece(func(piece []byte) error { // which has none
		dst = append(dst, piece...)
		return nil
	})
	return dst
}

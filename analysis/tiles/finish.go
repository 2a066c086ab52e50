package tiles

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Finish ends all that goes on and returns the set. The builder is of no use
// after it.
func (b *Builder) Finish() *Set {
	if !b.started {
		b.begin(0)
	}
	b.now++ // the last event has an instant of its own
	top := topOf(b.now)
	b.lanes.finish(b.now, top)
	b.shed.check(b.events, &b.lanes, b.opts.Memory)

	w := &setWriter{top: top, length: b.now, marks: make(map[LaneID]marks)}
	sums := b.lanes.foldedSums()
	b.lanes.write(w, b.r)
	s := b.seal(w)
	s.folded = sums
	return s
}

// topOf returns the level of one bucket for a set of such a length.
func topOf(length tick) uint8 { return uint8(bits.Len64(uint64(length - 1))) }

// seal puts the set together.
func (b *Builder) seal(w *setWriter) *Set {
	for _, at := range b.gens {
		w.sections[sectionGenerations].u64(uint64(at))
	}
	b.lanes.ended.short.endBlock()
	for _, end := range b.lanes.ended.short.ends {
		w.sections[sectionBlocks].u64(uint64(end))
	}
	for _, piece := range append(b.lanes.ended.short.pieces, b.lanes.ended.short.buf) {
		w.sections[sectionShort].add(piece)
	}
	for i := range w.lanes {
		w.sections[sectionLanes].tail = w.lanes[i].append(w.sections[sectionLanes].tail)
	}
	s := &Set{contents: contents{lanes: w.lanes, groups: firstGroup(w.lanes), stored: stored{header: header{
		key: b.opts.Key, origin: b.origin, length: b.now, top: w.top, short: uint64(b.lanes.ended.short.n),
		dropped: Dropped{
			Goroutines:     b.lanes.ended.short.lost,
			MinSpans:       b.lanes.ended.short.fewer,
			GoroutineSpans: b.shed.rung >= rungGoroutineSpans,
			ProcSpans:      b.shed.rung >= rungProcSpans,
		},
	}}}}
	for i := range w.sections {
		w.sections[i].add(w.sections[i].tail)
		s.sections[i] = w.sections[i].chain
	}
	if len(b.versions) > 0 {
		s.versions, s.version, s.marks = slices.Clip(b.versions), len(b.versions)+1, w.marks
		if b.snapshot {
			s.version--
		}
	}
	return s
}

// section is a section of the set that grows: either of pieces, which must not
// change any more, or of numbers and names, which are one when all is known.
type section struct {
	chain
	tail []byte
}

func (s *section) u64(v uint64) { s.tail = binary.LittleEndian.AppendUint64(s.tail, v) }
func (s *section) u32(v uint32) { s.tail = binary.LittleEndian.AppendUint32(s.tail, v) }

// setWriter collects the sections of a set.
type setWriter struct {
	top      uint8
	length   tick // of the set
	sections [sections]section
	lanes    []laneRecord
	marks    map[LaneID]marks
}

// name gives a lane its name.
func (w *setWriter) name(l *laneRecord, name string) {
	names := &w.sections[sectionNames]
	l.title, l.name, l.nameLen = name, uint32(len(names.tail)), uint32(len(name))
	names.tail = append(names.tail, name...)
}

// spanLane writes a lane of spans.
func (w *setWriter) spanLane(l laneRecord, c *column) {
	l.first, l.last, l.spans = c.first, c.since, uint64(c.spans)
	spans, m := &w.sections[sectionSpans], c.more
	l.spansAt = spans.size()
	if m == nil {
		l.whole = true
		spans.add(c.buf)
		l.spansLen = uint64(len(c.buf))
		w.lanes = append(w.lanes, l)
		return
	}
	l.whole = !m.lost
	for _, piece := range m.pieces {
		spans.add(piece)
	}
	l.spansLen = uint64(m.kept)
	skips := &w.sections[sectionSkips]
	l.skipAt, l.skips = uint32(len(skips.tail)/skipSize), uint32(len(m.skips)/skipSize)
	skips.tail = append(skips.tail, m.skips...)
	writePyramid(w, l, &m.pyramid)
}

func (w *setWriter) counter(name string, changes int64, p *pyramid[counterSums, *counterSums]) {
	l := laneRecord{kind: KindCounter, first: p.first, last: w.length, spans: uint64(changes)}
	w.name(&l, name)
	writePyramid(w, l, p)
}

// writePyramid writes a lane that has a pyramid.
func writePyramid[T any, S sums[T]](w *setWriter, l laneRecord, p *pyramid[T, S]) {
	levels, tiles, ends := &w.sections[sectionLevels], &w.sections[sectionTiles], &w.sections[sectionTileEnds]
	l.base, l.levels, l.levelAt = p.base, uint8(len(p.levels)), uint32(len(levels.tail)/levelSize)
	for i := range p.levels {
		lv := &p.levels[i]
		levels.u64(uint64(lv.tile))
		levels.u32(uint32(len(ends.tail) / 8))
		levels.u32(uint32(len(lv.tiles)))
		for _, tile := range lv.tiles {
			tiles.add(tile)
			ends.u64(tiles.size())
		}
	}
	if len(p.marks) > 0 {
		w.marks[LaneID(len(w.lanes))] = slices.Clip(p.marks)
	}
	w.lanes = append(w.lanes, l)
}

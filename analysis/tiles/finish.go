package tiles

import (
	"cmp"
	"encoding/binary"
	"maps"
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
	b.finishLanes(top)
	b.checkMemory()

	w := &setWriter{top: top, length: b.now, marks: make(map[LaneID]marks)}
	for _, p := range b.procs {
		if p != nil && p.known {
			w.spanLane(laneRecord{kind: KindProc, subject: int64(p.id)}, &p.column)
		}
	}
	threads := slices.SortedFunc(maps.Values(b.threads), func(x, y *thread) int { return cmp.Compare(x.id, y.id) })
	for _, m := range threads {
		w.spanLane(laneRecord{kind: KindThread, subject: int64(m.id)}, &m.column)
	}
	w.spanLane(laneRecord{kind: KindGC}, &b.gc.column)
	for _, c := range b.counters() {
		if c.started {
			w.counter(c.name, c.changes, &c.pyramid)
		}
	}
	for i, name := range gaugeNames {
		w.counter(name, b.states.changes, &b.states.pyramids[i])
	}
	l := laneRecord{kind: KindLatency, last: w.length, spans: uint64(b.latency.starts)}
	w.name(&l, latencyName)
	writePyramid(w, l, &b.latency.pyramid)
	for _, c := range b.groups {
		l := laneRecord{kind: KindGroup, first: c.pyramid.first, last: b.now, members: uint32(min(c.members, 1<<32-1)), spans: uint64(c.changes)}
		w.name(&l, b.r.Name(c.name))
		writePyramid(w, l, &c.pyramid)
	}
	slices.SortFunc(b.long, func(x, y *longLife) int { return cmp.Compare(x.id, y.id) })
	for i, l := range b.long {
		w.spanLane(laneRecord{kind: KindGoroutine, subject: int64(l.id), group: l.group}, &l.column)
		b.long[i] = nil // it may be a lot
	}
	return b.seal(w)
}

// topOf returns the level of one bucket for a set of such a length.
func topOf(length tick) uint8 { return uint8(bits.Len64(uint64(length - 1))) }

// finishLanes ends all that goes on, and closes the pyramids.
func (b *Builder) finishLanes(top uint8) {
	b.eachLife(func(g *life) { b.end(g, b.now) })
	columns := []*column{&b.gc.column}
	for _, p := range b.procs {
		if p != nil {
			columns = append(columns, &p.column)
		}
	}
	for _, m := range b.threads {
		columns = append(columns, &m.column)
	}
	for _, c := range columns {
		c.finish(b.now)
	}
	for _, l := range b.long {
		columns = append(columns, &l.column)
	}
	for _, c := range columns {
		if c.more != nil {
			c.build()
			c.more.pyramid.finish(top)
		}
	}
	for _, c := range b.groups {
		c.finish(b.now, top)
	}
	for _, c := range b.counters() {
		if c.started {
			c.finish(b.now, top)
		}
	}
	b.states.finish(b.now, top)
	b.latency.finish(b.now, top)
}

// counters returns those of one value.
func (b *Builder) counters() [5]*counter {
	return [...]*counter{&b.heap, &b.goal, &b.busyProcs, &b.maxProcs, &b.busyMs}
}

// seal puts the set together.
func (b *Builder) seal(w *setWriter) *Set {
	for _, at := range b.gens {
		w.sections[sectionGenerations].u64(uint64(at))
	}
	b.short.endBlock()
	for _, end := range b.short.ends {
		w.sections[sectionBlocks].u64(uint64(end))
	}
	for _, piece := range append(b.short.pieces, b.short.buf) {
		w.sections[sectionShort].add(piece)
	}
	for i := range w.lanes {
		w.sections[sectionLanes].tail = w.lanes[i].append(w.sections[sectionLanes].tail)
	}
	s := &Set{lanes: w.lanes, groups: firstGroup(w.lanes), header: header{
		key: b.opts.Key, origin: b.origin, length: b.now, top: w.top, short: uint64(b.short.n),
		dropped: Dropped{
			Goroutines:     b.short.lost,
			MinSpans:       b.short.fewer,
			GoroutineSpans: b.shed.rung >= rungGoroutineSpans,
			ProcSpans:      b.shed.rung >= rungProcSpans,
		},
	}}
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

package tiles

import (
	"math"
	"slices"
	"time"

	"loupe/value/timeline"
)

// Fold bounds what a set keeps to what a picture of all of it shows, while the trace is
// read: no bucket is finer than Level, lanes with very many spans have their buckets
// alone, and of the goroutines with few only Lanes have a lane, those with the most
// spans. The lanes that are there, their buckets and the sums of the whole time are those
// of a set that keeps everything, for about half the work.
type Fold struct {
	// Level is the finest level, see [Finest].
	Level int
	// Lanes is how many goroutines have a lane, at least.
	Lanes int
}

// Finest returns the finest level on which a stretch of time has at most so many columns.
func Finest(length time.Duration, columns int) int {
	level := MinLevel
	for level < maxTop && int64(length)>>level > int64(columns) {
		level++
	}
	return level
}

// folding is what the lanes of spans share in a set that is folded.
type folding struct{ base uint8 }

// newFolding returns nil where nothing is to be folded.
func (o *Options) newFolding() *folding {
	if o.Fold == nil {
		return nil
	}
	return &folding{base: uint8(max(0, min(o.Fold.Level, maxTop)-grainShift))}
}

// firstBase is the level with which the lanes of counts and of counters begin.
func (f *folding) firstBase() uint8 {
	if f == nil {
		return firstBase
	}
	return max(firstBase, f.base)
}

// promoteFolded makes the pyramid of a column that has enough spans for one, and lets the
// spans go.
func (c *column) promoteFolded() {
	m := &promoted{lost: true, folds: true, pyramid: newPyramid[spanSums, *spanSums](spanRow, c.fold.base, c.first)}
	c.more = m
	at := c.first
	var words [skipEvery]uint64
	for buf := c.buf; len(buf) > 0; {
		n, size := decodeSpans(&words, buf)
		at = foldAll(m, words[:n], at, c.spans)
		buf = buf[size:]
	}
	c.buf = nil
}

// foldAll is [fold] of a column that folds, and adds the spans to the sums of all time.
// Where the spans end before the open bucket does, and most do, both come of sums by class:
// half the instructions for each span.
func foldAll[W word](m *promoted, words []W, at tick, spans uint32) tick {
	var t tickSums
	addWords(&t, words)
	m.sums.merge(&t)
	var all tick
	for i := range t {
		all += t[i].time
	}
	if end := m.pyramid.end(); len(words) == 0 || at >= end || at+all >= end {
		return fold(m, words, at, spans)
	}
	m.pyramid.open().take(&t, func(longest tick) uint8 {
		i := slices.IndexFunc(words, func(w W) bool { return tick(w>>3) == longest })
		return uint8(words[i] & 7)
	})
	return at + all
}

// take adds spans, of which it has the sums, to a bucket that they lie in. Of several
// classes with the longest span, first tells which had one first.
func (s *spanSums) take(t *tickSums, first func(longest tick) uint8) {
	longest, class, alike, none := tick(-1), uint8(0), false, s.starts == 0
	for i := range t {
		c := &t[i]
		if c.spans == 0 {
			continue
		}
		s.time[i] += uint64(c.time)
		s.present |= 1 << i
		s.starts += uint32(c.spans)
		if c.longest >= longest {
			longest, class, alike = c.longest, uint8(i), c.longest == longest
		}
	}
	if longest <= tick(s.longest) && !none {
		return
	}
	if alike {
		class = first(longest)
	}
	s.longest, s.longestClass = uint32(min(longest, math.MaxUint32)), class
}

// sums adds up the spans that are in a column.
func (c *column) sums(to *tickSums) {
	if m := c.more; m != nil {
		to.merge(&m.sums)
	} else {
		var words [skipEvery]uint64
		for buf := c.buf; len(buf) > 0; {
			n, size := decodeSpans(&words, buf)
			addWords(to, words[:n])
			buf = buf[size:]
		}
	}
	addWords(to, c.words)
}

// addWords adds up spans.
func addWords[W word](t *tickSums, words []W) {
	for _, w := range words {
		c, d := &t[w&7], tick(w>>3)
		c.spans++
		c.time += d
		c.longest = max(c.longest, d)
	}
}

// merge adds the sums of other spans.
func (t *tickSums) merge(o *tickSums) {
	for i := range t {
		t[i].spans += o[i].spans
		t[i].time += o[i].time
		t[i].longest = max(t[i].longest, o[i].longest)
	}
}

// addTo adds the sums to others.
func (t *tickSums) addTo(sums *Sums) {
	for i := range t {
		c := &sums[i]
		c.Spans += t[i].spans
		c.Time += time.Duration(t[i].time) << grainShift
		c.Longest = max(c.Longest, time.Duration(t[i].longest)<<grainShift)
	}
}

// leaders tells which of the lanes that end one after the other may be among those with
// the most spans.
type leaders struct {
	most int
	heap []uint32 // how many spans the first ones have, the fewest in front
}

// admits says whether a lane may be one of them. Of those with as many the first ones
// come first.
func (l *leaders) admits(spans uint32) bool {
	switch {
	case len(l.heap) < l.most:
		l.heap = append(l.heap, spans)
		for i := len(l.heap) - 1; i > 0 && l.heap[i] < l.heap[(i-1)/2]; i = (i - 1) / 2 {
			l.heap[i], l.heap[(i-1)/2] = l.heap[(i-1)/2], l.heap[i]
		}
		return true
	case l.most == 0 || spans <= l.heap[0]:
		return false
	}
	l.heap[0] = spans
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(l.heap); child++ {
			if l.heap[child] < l.heap[least] {
				least = child
			}
		}
		if least == i {
			return true
		}
		l.heap[i], l.heap[least] = l.heap[least], l.heap[i]
		i = least
	}
}

// folded is what a set that was folded knows of the lanes that it has not.
type folded struct {
	procs, gc tickSums
	groups    []foldedGroup // by number of the group
}

// foldedGroup is what the goroutines of a group come to.
type foldedGroup struct {
	sums   tickSums
	lanes  int // goroutines with something to show
	hidden int // of them without a lane
}

// foldedSums returns what the lanes come to, nil for lanes that keep everything.
func (l *lanes) foldedSums() *folded {
	if l.fold == nil {
		return nil
	}
	f := &folded{groups: make([]foldedGroup, len(l.groups.list))}
	for _, p := range l.machines.procs {
		if p != nil && p.known {
			p.sums(&f.procs)
		}
	}
	l.gc.sums(&f.gc)
	for i, c := range l.groups.list {
		f.groups[i] = c.folded
	}
	for _, g := range l.ended.long {
		one := &f.groups[g.group]
		g.sums(&one.sums)
		one.lanes++
	}
	return f
}

// GroupSums is what the goroutines of a group spent.
type GroupSums struct {
	Sums
	// Members counts those with something in the stretch.
	Members int
}

// Totals adds up what all lanes of a kind spent in a stretch of time, and of goroutines
// what those of each group did, as [Set.SumsOf] has it. A set that was folded knows that
// of the whole time alone: there a stretch that is not all of it has nothing. It ends
// early when stop, which is asked from time to time, says so.
func (s *contents) Totals(k Kind, within timeline.Span, stop func() bool) (all Sums, groups map[LaneID]*GroupSums) {
	groups = map[LaneID]*GroupSums{}
	if s.folded != nil {
		if whole := s.Span(); within.Start <= whole.Start+Grain && within.End+Grain >= whole.End {
			s.folded.totals(s, k, &all, groups)
		}
		return all, groups
	}
	counted, asked := 0, 0 // spans
	for o, lane := range s.SumsOf(k, within) {
		all.Add(lane)
		for i := range lane {
			counted += lane[i].Spans
		}
		if counted-asked > 0xffff {
			if asked = counted; stop() {
				return all, groups
			}
		}
		if k == KindGoroutine {
			g := groups[o.Group]
			if g == nil {
				g = &GroupSums{}
				groups[o.Group] = g
			}
			g.Members++
			g.Add(lane)
		}
	}
	return all, groups
}

func (f *folded) totals(s *contents, k Kind, all *Sums, groups map[LaneID]*GroupSums) {
	switch k {
	case KindProc:
		f.procs.addTo(all)
	case KindGC:
		f.gc.addTo(all)
	case KindGoroutine:
		for i := range f.groups {
			one := &f.groups[i]
			if one.lanes == 0 {
				continue
			}
			id, _ := s.groupOf(uint32(i))
			g := &GroupSums{Members: one.lanes}
			one.sums.addTo(&g.Sums)
			groups[id] = g
			all.Add(&g.Sums)
		}
	}
}

// hidden counts the goroutines without a lane that a filter would choose, as far as that
// is known: when they lived is not.
func (f *folded) hidden(s *Set, filter *Filter) (n int) {
	if f == nil || !filter.wants(KindGoroutine) {
		return 0
	}
	for i := range f.groups {
		l := Lane{Kind: KindGoroutine}
		l.Group, l.Name = s.groupOf(uint32(i))
		all := *filter
		all.Within = timeline.Span{}
		if f.groups[i].hidden > 0 && all.chooses(s, &l) {
			n += f.groups[i].hidden
		}
	}
	return n
}

// AppendLane appends the tiles of a lane from the top down to a level, as
// [Set.AppendTiles] does, but without their number, which it returns, and without those
// that a coarser one has all of. The spans are read once for all levels.
func (s *Set) AppendLane(dst []byte, lane LaneID, finest int) (_ []byte, n int) {
	finest = max(finest, MinLevel)
	take := func(t *Tile) {
		dst = t.append(dst)
		n++
	}
	var own *laneRecord
	if int(lane) < len(s.lanes) {
		own = &s.lanes[lane]
	}
	list, exact := s.spans(lane)
	var levels pyramid[spanSums, *spanSums]
	if exact && (own == nil || own.kind < KindGroup) {
		levels = s.fold(list, uint8(finest-grainShift))
	}
	var whole []uint32 // which tiles of the level above have all spans
	for level := s.Top(); level >= finest; level-- {
		above := whole
		whole = nil
		for i := range uint32((s.Span().Len()>>level)/tileRows + 1) {
			if slices.Contains(above, i>>1) {
				whole = append(whole, i)
				continue
			}
			t := Tile{Lane: lane, Level: uint8(level), Index: i}
			switch w0, w1 := s.bounds(&t); {
			case levels.levels == nil:
				if t = s.Tile(TileID{Lane: lane, Level: uint8(level), Index: i}); int(t.Level) != level {
					continue // it is there already
				}
			case w0 < w1:
				if s.fewTile(&t, list, w0, w1); t.Form == FormSpans {
					whole = append(whole, i)
				} else {
					levels.tile(&t)
				}
			}
			take(&t)
		}
	}
	return dst, n
}

// fold makes a pyramid of spans that begins at a level.
func (s *contents) fold(list spanList, base uint8) pyramid[spanSums, *spanSums] {
	k := list.cursor(0)
	k.end = list.first
	m := &promoted{folds: true, pyramid: newPyramid[spanSums, *spanSums](spanRow, base, list.first)}
	var words [skipEvery]uint64
	for at := list.first; ; {
		n := 0
		for n < len(words) && k.next() {
			words[n] = uint64(k.end-k.start)<<3 | uint64(k.class)
			n++
		}
		if n == 0 {
			break
		}
		at = fold(m, words[:n], at, 0)
	}
	m.pyramid.finish(s.top)
	return m.pyramid
}

// tile fills a tile of a pyramid that is finished.
func (p *pyramid[T, S]) tile(t *Tile) {
	i := int(t.Level) - grainShift - int(p.base)
	if i < 0 || i >= len(p.levels) {
		return
	}
	l := &p.levels[i]
	if n := int64(t.Index) - l.tile; n >= 0 && n < int64(len(l.tiles)) {
		t.Form, t.Data = FormBuckets, l.tiles[n]
	}
}

package tiles

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"

	"loupe/value/timeline"
)

// Set is the timeline of one trace. It is the bytes of a file, which it never
// changes, and may be asked from several goroutines at the same time. One that
// was just built has them in pieces, many of which it shares with the builder
// and its other snapshots.
type Set struct {
	contents
	history
}

// contents are the lanes of a set, over what is stored of them.
type contents struct {
	stored
	lanes  []laneRecord
	groups int     // index of the first lane of a group
	folded *folded // nil unless the set was folded
}

// stored is the bytes of a set, as they are in a file.
type stored struct {
	header
	sections [sections]chain
}

// history is, of a snapshot, its number, and where those before it and it itself end.
type history struct {
	version  int
	versions []tick
	marks    map[LaneID]marks
}

// LaneID names a lane of a set: the lanes are numbered from 0.
type LaneID uint32

// Open opens a file of tiles that lies in memory, best mapped. The bytes must
// stay as they are while the set is in use. What opening checks is that every
// part lies in the file; a lane whose bytes are nonsense shows nonsense.
func Open(data []byte) (*Set, error) {
	s := &Set{}
	if err := s.header.read(data); err != nil {
		return nil, err
	}
	for i, e := range s.header.extents {
		s.sections[i] = chainOf(data[e.at : e.at+e.size : e.at+e.size])
	}
	if n := s.sections[sectionShort].size(); s.short > n || s.sections[sectionBlocks].size() != (s.short+blockRecords-1)/blockRecords*8 {
		return nil, fmt.Errorf("the tiles are damaged: %d short lanes in %d bytes", s.short, n)
	}
	records := s.sections[sectionLanes].one()
	s.lanes = make([]laneRecord, len(records)/laneSize)
	for i := range s.lanes {
		l := &s.lanes[i]
		l.read(records[i*laneSize:])
		if err := l.check(&s.stored); err != nil {
			return nil, fmt.Errorf("the tiles are damaged: lane %d: %w", i, err)
		}
		l.title = string(s.sections[sectionNames].one()[l.name : l.name+l.nameLen])
	}
	s.groups = firstGroup(s.lanes)
	if uint64(len(s.lanes))+s.short >= 1<<32 {
		return nil, fmt.Errorf("the tiles are damaged: %d lanes", uint64(len(s.lanes))+s.short)
	}
	return s, nil
}

// firstGroup returns the index of the first lane of a group.
func firstGroup(lanes []laneRecord) int {
	if i := slices.IndexFunc(lanes, func(l laneRecord) bool { return l.kind == KindGroup }); i >= 0 {
		return i
	}
	return len(lanes)
}

// Key returns the identity of the trace that the set was made of.
func (h *header) Key() Key { return h.key }

// Dropped says what the set lacks.
func (h *header) Dropped() Dropped { return h.dropped }

// Origin is where the first bucket of every level begins.
func (h *header) Origin() timeline.Time { return h.origin }

// Span is the time from the origin to behind the last event.
func (h *header) Span() timeline.Span {
	return timeline.Span{Start: h.origin, End: h.time(h.length)}
}

// MinLevel is the finest level there is: buckets of one grain.
const MinLevel = grainShift

// Top returns the level on which one bucket holds all.
func (h *header) Top() int { return int(h.top) + grainShift }

// Size returns the length of the file.
func (s *stored) Size() int {
	_, size := s.layout()
	return size
}

func (h *header) time(t tick) timeline.Time { return h.origin + timeline.Time(t<<grainShift) }

// tick is the grain in which an instant lies, from 0 to the end.
func (h *header) tick(t timeline.Time) tick {
	if t < h.origin {
		return 0
	}
	return min(h.length, tick(t-h.origin)>>grainShift)
}

// Generation returns the index of the generation in which an instant lies,
// for [exectrace.Trace.ReaderAt]: its events are there, with their stacks and
// reasons. It is counted from where the builder's reader began.
func (s *Set) Generation(t timeline.Time) int {
	gens := s.sections[sectionGenerations].one()
	at := s.tick(t)
	n := sort.Search(len(gens)/8, func(i int) bool { return tick(binary.LittleEndian.Uint64(gens[8*i:])) > at })
	return max(0, n-1)
}

// Lane describes a lane.
type Lane struct {
	ID   LaneID
	Kind Kind
	// Subject is the number of the P, the thread or the goroutine.
	Subject int64
	// Name is the function that the goroutines of a group began with, or that
	// a goroutine did; of a counter what it counts; else empty.
	Name string
	// Group is the lane of a goroutine's group.
	Group LaneID
	// Members counts the goroutines of a group.
	Members int
	// Span is where the lane has something to show.
	Span timeline.Span
	// Spans counts its spans, or the changes of a count.
	Spans int
	// Base is the finest level of its pyramid, -1 without one.
	Base int
	// Exact says that the spans are there, and with them levels below Base.
	Exact bool
}

// Len returns how many lanes there are.
func (s *contents) Len() int { return len(s.lanes) + int(s.short) }

// Lane returns a lane, the zero one for an id that is not in the set.
func (s *Set) Lane(id LaneID) Lane {
	if int(id) < len(s.lanes) {
		return s.describe(id)
	}
	b, ok := s.brief(id)
	if !ok {
		return Lane{}
	}
	l := s.describeBrief(id, &b)
	l.Span.End = s.endOf(&b)
	return l
}

func (s *contents) describe(id LaneID) Lane {
	r := &s.lanes[id]
	l := Lane{
		ID: id, Kind: r.kind, Subject: r.subject,
		Name:    r.title,
		Members: int(r.members), Span: timeline.Span{Start: s.time(r.first), End: s.time(r.last)},
		Spans: int(r.spans), Base: -1, Exact: r.whole,
	}
	if r.levels > 0 {
		l.Base = int(r.base) + grainShift
	}
	if r.kind == KindGoroutine {
		l.Group, l.Name = s.groupOf(r.group)
	}
	return l
}

// describeBrief describes a short lane, but for its end, which [contents.endOf] adds up.
func (s *contents) describeBrief(id LaneID, b *brief) Lane {
	l := Lane{ID: id, Kind: KindGoroutine, Subject: b.id, Span: timeline.Span{Start: s.time(b.first)}, Spans: int(b.spans), Base: -1, Exact: true}
	l.Group, l.Name = s.groupOf(b.group)
	return l
}

// endOf returns when the last span of a short lane ends.
func (s *contents) endOf(b *brief) timeline.Time {
	k := cursor{buf: b.buf, end: b.first}
	for k.next() {
	}
	return s.time(k.end)
}

// groupOf returns the lane and the function of a group.
func (s *contents) groupOf(group uint32) (LaneID, string) {
	i := s.groups + int(group)
	if i >= len(s.lanes) || s.lanes[i].kind != KindGroup {
		return 0, ""
	}
	return LaneID(i), s.lanes[i].title
}

// block returns a reader of a block of short lanes.
func (s *contents) block(i int) briefReader {
	ends, short := s.sections[sectionBlocks].one(), &s.sections[sectionShort]
	from := uint64(0)
	if i > 0 {
		from = binary.LittleEndian.Uint64(ends[8*(i-1):])
	}
	to := binary.LittleEndian.Uint64(ends[8*i:])
	buf := short.run(from, to)
	return briefReader{buf: buf, bad: buf == nil}
}

// brief returns a short lane.
func (s *contents) brief(id LaneID) (b brief, ok bool) {
	i := int(id) - len(s.lanes)
	if i < 0 || uint64(i) >= s.short {
		return b, false
	}
	r := s.block(i / blockRecords)
	for range i%blockRecords + 1 {
		if !r.next() {
			return b, false
		}
	}
	return r.brief, true
}

// Order is how to sort lanes.
type Order uint8

// The orders. Where the key is equal the number decides.
const (
	ByLane   Order = iota // as they are numbered: kind after kind, goroutines as they have ended
	ByStart               // the first ones first
	BySpans               // those with most spans first
	ByLength              // the longest first
)

// Filter chooses lanes. The zero value chooses all.
type Filter struct {
	Kinds []Kind // none is all
	// Name is a part of the name, as it is written.
	Name string
	// Group chooses the goroutines of one group, when it is one.
	Group LaneID
	// Within chooses the lanes that have something to show in it, when it is
	// not empty.
	Within timeline.Span
	Order  Order
}

// Lanes returns up to n of the lanes that the filter chooses, beginning with
// number from of them, and how many it chooses. That looks at all lanes: some
// 20 ns for each goroutine.
func (s *Set) Lanes(f Filter, from, n int) (page []Lane, total int) {
	from, n = min(max(0, from), s.Len()), min(max(0, n), s.Len())
	first := firstLanes{most: from + n}
	take := func(l *Lane) {
		if f.Order != ByLane {
			first.add(laneKey{f.Order.key(l), l.ID})
		} else if total >= from && len(page) < n {
			page = append(page, s.Lane(l.ID))
		}
		total++
	}
	for i := range s.lanes {
		if l := s.describe(LaneID(i)); f.chooses(s, &l) {
			take(&l)
		}
	}
	if f.wants(KindGoroutine) {
		s.eachShort(func(id LaneID, b *brief) {
			l := s.describeBrief(id, b)
			if f.Within.Len() > 0 || f.Order == ByLength {
				l.Span.End = s.endOf(b)
			}
			if f.chooses(s, &l) {
				take(&l)
			}
		})
	}
	total += s.folded.hidden(s, &f)
	if f.Order == ByLane {
		return page, total
	}
	keys := first.sorted()
	for _, k := range keys[min(from, len(keys)):] {
		page = append(page, s.Lane(k.id))
	}
	return page, total
}

type laneKey struct {
	key int64
	id  LaneID
}

func (k laneKey) compare(o laneKey) int {
	return cmp.Or(cmp.Compare(k.key, o.key), cmp.Compare(k.id, o.id))
}

// firstLanes keeps the keys that come first, and at most as many again.
type firstLanes struct {
	most int
	keys []laneKey
	last laneKey // of the first ones, if full
	full bool    // there were enough of them
}

func (f *firstLanes) add(k laneKey) {
	if f.most == 0 || f.full && k.compare(f.last) > 0 {
		return
	}
	if f.keys = append(f.keys, k); len(f.keys) > 2*f.most {
		f.keys = f.sorted()
		f.full, f.last = true, f.keys[f.most-1]
	}
}

// sorted returns the keys that come first.
func (f *firstLanes) sorted() []laneKey {
	slices.SortFunc(f.keys, laneKey.compare)
	return f.keys[:min(f.most, len(f.keys))]
}

func (o Order) key(l *Lane) int64 {
	switch o {
	case ByStart:
		return int64(l.Span.Start)
	case BySpans:
		return -int64(l.Spans)
	case ByLength:
		return -int64(l.Span.Len())
	}
	return 0
}

func (s *contents) eachShort(visit func(LaneID, *brief)) {
	id := len(s.lanes)
	for i := range s.sections[sectionBlocks].size() / 8 {
		r := s.block(int(i))
		for range min(blockRecords, s.Len()-id) {
			if r.next() {
				visit(LaneID(id), &r.brief)
			}
			id++
		}
	}
}

func (f *Filter) wants(k Kind) bool { return len(f.Kinds) == 0 || slices.Contains(f.Kinds, k) }

func (f *Filter) chooses(s *Set, l *Lane) bool {
	switch {
	case !f.wants(l.Kind):
	case f.Name != "" && !strings.Contains(l.Name, f.Name):
	case s.isGroup(f.Group) && (l.Kind != KindGoroutine || l.Group != f.Group):
	case f.Within.Len() > 0 && (l.Span.Start >= f.Within.End || l.Span.End <= f.Within.Start):
	default:
		return true
	}
	return false
}

// isGroup says whether a filter's group is one: lane 0 is a P in every set
// that has any.
func (s *contents) isGroup(id LaneID) bool {
	return int(id) < len(s.lanes) && s.lanes[id].kind == KindGroup
}

// At returns the span of a lane in which an instant lies; false when there is
// none, or the lane has no spans.
func (s *Set) At(lane LaneID, t timeline.Time) (Span, bool) {
	list, ok := s.spans(lane)
	if !ok || t < s.origin {
		return Span{}, false
	}
	at := tick(t-s.origin) >> grainShift
	k, ok := list.seek(at)
	for ok && k.end <= at {
		ok = k.next()
	}
	if !ok || k.start > at {
		return Span{}, false
	}
	return s.span(&k), true
}

func (s *contents) span(k *cursor) Span {
	return Span{timeline.Span{Start: s.time(k.start), End: s.time(k.end)}, Class(k.class)}
}

// spanList is the spans of a lane.
type spanList struct {
	buf   []byte // those of a short lane
	chain *chain // where those of another are: so many bytes from a place on
	at, n uint64
	first tick
	skips []byte
}

// spans returns the spans of a lane, if they are there.
func (s *contents) spans(id LaneID) (spanList, bool) {
	if int(id) >= len(s.lanes) {
		b, ok := s.brief(id)
		return spanList{buf: b.buf, first: b.first}, ok
	}
	l := &s.lanes[id]
	return spanList{
		chain: &s.sections[sectionSpans], at: l.spansAt, n: l.spansLen,
		first: l.first,
		skips: s.sections[sectionSkips].one()[int(l.skipAt)*skipSize:][:int(l.skips)*skipSize],
	}, l.whole
}

// before returns how many entries of the index lie before an instant.
func (l *spanList) before(at tick) int {
	return sort.Search(len(l.skips)/skipSize, func(i int) bool {
		return tick(binary.LittleEndian.Uint64(l.skips[i*skipSize:])) >= at
	})
}

// seek returns a cursor on the first span that ends behind an instant or
// begins at it or behind it: one without length may do both.
func (l *spanList) seek(at tick) (k cursor, ok bool) {
	begin, from := l.first, uint64(0)
	if i := l.before(at); i > 0 {
		skip := l.skips[(i-1)*skipSize:]
		begin = tick(binary.LittleEndian.Uint64(skip))
		from = min(binary.LittleEndian.Uint64(skip[8:]), l.n)
	}
	k = l.cursor(from)
	k.end = begin
	for k.next() {
		if k.end > at || k.start >= at {
			return k, true
		}
	}
	return k, false
}

// cursor returns a cursor in front of the span at a place in the list.
func (l *spanList) cursor(from uint64) cursor {
	if l.chain == nil {
		return cursor{buf: l.buf}
	}
	i, buf := l.chain.from(l.at + from)
	n := min(uint64(len(buf)), l.n-from)
	return cursor{buf: buf[:n], chain: l.chain, piece: i, left: l.n - from - n}
}

package tiles

import (
	"iter"
	"time"

	"loupe/value/timeline"
)

// Spans iterates over the spans of a lane that have something in a stretch of
// time, in order, each in its whole length; over none where they were left out.
func (s *Set) Spans(lane LaneID, within timeline.Span) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		if list, ok := s.spans(lane); ok {
			s.in(list, within, yield)
		}
	}
}

// in visits spans of a list, and says whether to go on.
func (s *contents) in(list spanList, within timeline.Span, yield func(Span) bool) bool {
	k, end, ok := s.begin(list, within)
	for ; ok && k.start < end; ok = k.next() {
		if !yield(s.span(&k)) {
			return false
		}
	}
	return true
}

// begin returns a cursor on the first span of a list that has something in a stretch of
// time, where that ends, and whether there may be one.
func (s *contents) begin(list spanList, within timeline.Span) (k cursor, end tick, ok bool) {
	if within.End <= s.origin || within.Len() == 0 {
		return k, 0, false
	}
	k, ok = list.seek(s.tick(within.Start))
	return k, tick(within.End-s.origin+Grain-1) >> grainShift, ok
}

// Owner is whose a span is: a lane, and of a goroutine its group.
type Owner struct{ Lane, Group LaneID }

// SpansOf iterates over the spans of all lanes of a kind that have something in
// a stretch of time, lane after lane: some 5 ns for each span. Of lanes whose
// spans were left out there are none.
func (s *Set) SpansOf(k Kind, within timeline.Span) iter.Seq2[Owner, Span] {
	return func(yield func(Owner, Span) bool) {
		for o, list := range s.listsOf(k, within) {
			if !s.in(list, within, func(span Span) bool { return yield(o, span) }) {
				return
			}
		}
	}
}

// ClassSum is what the spans of one class come to in a stretch of time.
type ClassSum struct {
	// Spans counts them, also those of which a part is in the stretch.
	Spans int
	// Time is how long they are in the stretch, Longest the longest of them there.
	Time, Longest time.Duration
}

// Sums are sums by [Class].
type Sums [8]ClassSum

// Add adds the sums of other spans.
func (c *Sums) Add(o *Sums) {
	for i := range c {
		c[i].Spans += o[i].Spans
		c[i].Time += o[i].Time
		c[i].Longest = max(c[i].Longest, o[i].Longest)
	}
}

// SumsOf iterates over the lanes that [Set.SpansOf] has spans of, with the sums of these,
// which are valid until the next lane: half as long for each span.
func (s *contents) SumsOf(k Kind, within timeline.Span) iter.Seq2[Owner, *Sums] {
	return func(yield func(Owner, *Sums) bool) {
		sums := &Sums{}
		for o, list := range s.listsOf(k, within) {
			*sums = Sums{}
			if s.sum(list, within, sums) && !yield(o, sums) {
				return
			}
		}
	}
}

// sum adds up the spans of a list, and tells whether there are any.
func (s *contents) sum(list spanList, within timeline.Span, sums *Sums) (some bool) {
	k, end, ok := s.begin(list, within)
	if !ok || k.start >= end {
		return false
	}
	// Nearly all spans are in the stretch as a whole, if they are in it at all.
	from, to := s.tick(within.Start+Grain-1), s.tick(within.End)
	var t tickSums
	for ; ok && k.start < end; ok = k.next() {
		c := &sums[k.class&7]
		d := s.span(&k).Overlap(within)
		c.Spans++
		c.Time += d
		c.Longest = max(c.Longest, d)
		if k.end >= from {
			t.take(&k, to)
		}
	}
	for i := range t {
		c := &sums[i]
		c.Spans += t[i].spans
		c.Time += time.Duration(t[i].time) << grainShift
		c.Longest = max(c.Longest, time.Duration(t[i].longest)<<grainShift)
	}
	return true
}

// tickSums are sums by class of spans that count as a whole.
type tickSums [8]struct {
	spans         int
	time, longest tick
}

// take takes the spans behind a cursor that are at hand and end at to or before, but for
// those that need more than two bytes. It is [cursor.next] in a loop, with all of it in
// registers: a third as long for each span.
func (t *tickSums) take(k *cursor, to tick) {
	buf, at, end := k.buf, k.at, k.end
	for at < len(buf) {
		v, n := uint64(buf[at]), 1
		if v >= 0x80 {
			if at+1 == len(buf) || buf[at+1] >= 0x80 {
				break
			}
			v, n = v&0x7f|uint64(buf[at+1])<<7, 2
		}
		d := tick(v >> 3)
		if end+d > to {
			break
		}
		c := &t[v&7]
		c.spans++
		c.time += d
		c.longest = max(c.longest, d)
		at, end = at+n, end+d
	}
	k.at, k.end = at, end
}

// listsOf iterates over the lists of spans of all lanes of a kind, but for some that begin
// behind a stretch of time.
func (s *contents) listsOf(k Kind, within timeline.Span) iter.Seq2[Owner, spanList] {
	return func(yield func(Owner, spanList) bool) {
		for i := range s.lanes {
			if s.lanes[i].kind != k {
				continue
			}
			o := Owner{Lane: LaneID(i)}
			if k == KindGoroutine {
				o.Group, _ = s.groupOf(s.lanes[i].group)
			}
			if list, ok := s.spans(o.Lane); ok && !yield(o, list) {
				return
			}
		}
		if k != KindGoroutine {
			return
		}
		more := true
		s.eachShort(func(id LaneID, b *brief) {
			if more && s.time(b.first) < within.End {
				group, _ := s.groupOf(b.group)
				more = yield(Owner{id, group}, spanList{buf: b.buf, first: b.first})
			}
		})
	}
}

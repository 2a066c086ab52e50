package tiles

import (
	"iter"

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
	if within.End <= s.origin || within.Len() == 0 {
		return true
	}
	k, ok := list.seek(s.tick(within.Start))
	end := tick(within.End-s.origin+Grain-1) >> grainShift
	for ; ok && k.start < end; ok = k.next() {
		if !yield(s.span(&k)) {
			return false
		}
	}
	return true
}

// Owner is whose a span is: a lane, and of a goroutine its group.
type Owner struct{ Lane, Group LaneID }

// SpansOf iterates over the spans of all lanes of a kind that have something in
// a stretch of time, lane after lane: some 5 ns for each span. Of lanes whose
// spans were left out there are none.
func (s *Set) SpansOf(k Kind, within timeline.Span) iter.Seq2[Owner, Span] {
	return func(yield func(Owner, Span) bool) {
		for i := range s.lanes {
			if s.lanes[i].kind != k {
				continue
			}
			o := Owner{Lane: LaneID(i)}
			if k == KindGoroutine {
				o.Group, _ = s.groupOf(s.lanes[i].group)
			}
			if list, ok := s.spans(o.Lane); ok && !s.in(list, within, func(span Span) bool { return yield(o, span) }) {
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
				more = s.in(spanList{buf: b.buf, first: b.first}, within, func(span Span) bool { return yield(Owner{id, group}, span) })
			}
		})
	}
}

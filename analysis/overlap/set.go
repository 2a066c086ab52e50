package overlap

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"
	"time"

	"loupe/value/timeline"
)

// Set is a set of instants: intervals that neither meet nor overlap, in order.
// It is read-only once made.
type Set struct {
	starts, ends []timeline.Time
	// before is the length of all intervals before the one of an index.
	before []time.Duration

	// A grid over the time leads to the few intervals that a search has to
	// look at: cell c begins at origin + c<<shift, and from[c] is the first
	// interval that ends behind that. A shift test asks millions of times.
	origin timeline.Time
	shift  uint
	from   []int32
}

// newSet makes a set of spans in any order, which may overlap. Empty ones are
// left out. The slice is sorted in place.
func newSet(spans []timeline.Span) *Set {
	byStart := func(a, b timeline.Span) int { return cmp.Compare(a.Start, b.Start) }
	if !slices.IsSortedFunc(spans, byStart) {
		slices.SortFunc(spans, byStart)
	}
	s := &Set{}
	total := time.Duration(0)
	for _, span := range spans {
		last := len(s.ends) - 1
		switch {
		case span.End <= span.Start:
		case last >= 0 && span.Start <= s.ends[last]:
			if more := span.End.Sub(s.ends[last]); more > 0 {
				s.ends[last] = span.End
				total += more
			}
		default:
			s.starts, s.ends = append(s.starts, span.Start), append(s.ends, span.End)
			s.before = append(s.before, total)
			total += span.Len()
		}
	}
	s.before = append(s.before, total)
	s.grid()
	return s
}

// grid lays the grid: about two cells for each interval.
func (s *Set) grid() {
	n := len(s.starts)
	if n == 0 {
		return
	}
	s.origin = s.starts[0]
	width := uint64(s.ends[n-1]-s.origin)/uint64(2*n) + 1
	s.shift = uint(bits.Len64(width))
	cells := int(uint64(s.ends[n-1]-s.origin)>>s.shift) + 1
	s.from = make([]int32, cells+1)
	i := 0
	for c := range s.from {
		at := s.origin + timeline.Time(uint64(c)<<s.shift)
		for i < n && s.ends[i] <= at {
			i++
		}
		s.from[c] = int32(i)
	}
}

// after returns the first interval that ends after t.
func (s *Set) after(t timeline.Time) int {
	if len(s.from) == 0 || t < s.origin {
		return 0
	}
	c := uint64(t-s.origin) >> s.shift
	if c >= uint64(len(s.from)-1) {
		return len(s.ends)
	}
	lo, hi := int(s.from[c]), int(s.from[c+1])
	if hi-lo > 8 { // many in one cell
		return lo + sort.Search(hi-lo, func(i int) bool { return s.ends[lo+i] > t })
	}
	for lo < hi && s.ends[lo] <= t {
		lo++
	}
	return lo
}

// Len returns the number of intervals.
func (s *Set) Len() int { return len(s.starts) }

// At returns an interval.
func (s *Set) At(i int) timeline.Span { return timeline.Span{Start: s.starts[i], End: s.ends[i]} }

// First returns the first interval that ends after t; an empty one when none
// does.
func (s *Set) First(t timeline.Time) timeline.Span {
	if i := s.after(t); i < len(s.starts) {
		return s.At(i)
	}
	return timeline.Span{}
}

// Meets tells whether any instant of from <= t < to is in the set.
func (s *Set) Meets(from, to timeline.Time) bool {
	i := s.after(from)
	return i < len(s.starts) && s.starts[i] < to
}

// Time returns for how long the set goes on in from <= t < to.
func (s *Set) Time(from, to timeline.Time) time.Duration {
	return max(0, s.until(to)-s.until(from))
}

// until returns for how long the set goes on before t.
func (s *Set) until(t timeline.Time) time.Duration {
	i := s.after(t)
	d := s.before[i]
	if i < len(s.starts) && t > s.starts[i] {
		d += t.Sub(s.starts[i])
	}
	return d
}

// lengths returns the length of each interval that meets the window, as far as
// it lies in it.
func (s *Set) lengths(w timeline.Span) (out []time.Duration) {
	for i := s.after(w.Start); i < s.Len() && s.starts[i] < w.End; i++ {
		out = append(out, s.At(i).Overlap(w))
	}
	return out
}

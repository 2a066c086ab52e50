package sched

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"loupe/format/exectrace"
	"loupe/value/timeline"
)

// RegionSpans are the times that goroutines spend in some of their user
// regions. A region inside of another counts once.
//
// They take a pass of their own, with a [Summarizer] whose sink gets the
// regions: only when a region ends is it known how long it was and what
// happened in it, or that there is one which has begun before the trace.
type RegionSpans struct {
	choose func(*Region) bool
	spans  map[exectrace.GoID][]timeline.Span
	sorted bool
}

// NewRegionSpans returns the times in the regions for which choose says true.
func NewRegionSpans(choose func(*Region) bool) *RegionSpans {
	return &RegionSpans{choose: choose, spans: make(map[exectrace.GoID][]timeline.Span)}
}

// Region takes one region. It has the form that [Sink] wants.
func (r *RegionSpans) Region(re *Region) {
	if !r.choose(re) {
		return
	}
	s := timeline.Span{Start: re.Start, End: re.End}
	if s.Start == 0 {
		s.Start = math.MinInt64 // older than the trace, which may begin below 0
	}
	if s.End == 0 {
		s.End = math.MaxInt64
	}
	r.spans[re.G] = append(r.spans[re.G], s)
	r.sorted = false
}

// Spans returns the times of one goroutine, in order and without overlap. A
// time that is not known to begin or to end has no bound there.
func (r *RegionSpans) Spans(g exectrace.GoID) []timeline.Span {
	if !r.sorted {
		for id, spans := range r.spans {
			r.spans[id] = union(spans)
		}
		r.sorted = true
	}
	return r.spans[g]
}

// union sorts spans and joins those that overlap. They are changed.
//
// Note: cmd/trace keeps the first of two that overlap. That is the same for
// regions that lie one in the other, but if both have begun before the trace
// it keeps the shorter one.
func union(spans []timeline.Span) []timeline.Span {
	slices.SortFunc(spans, func(a, b timeline.Span) int { return cmp.Compare(a.Start, b.Start) })
	n := 0
	for _, s := range spans {
		if n > 0 && s.Start <= spans[n-1].End {
			spans[n-1].End = max(spans[n-1].End, s.End)
			continue
		}
		spans[n] = s
		n++
	}
	return spans[:n]
}

// overlap returns how much of a time a goroutine spends in its regions.
func (r *RegionSpans) overlap(g exectrace.GoID, s timeline.Span) (sum time.Duration) {
	spans := r.Spans(g)
	first := sort.Search(len(spans), func(i int) bool { return spans[i].End > s.Start })
	for _, o := range spans[first:] {
		if o.Start >= s.End {
			break
		}
		sum += s.Overlap(o)
	}
	return sum
}

package tiles_test

import (
	"cmp"
	"slices"
	"testing"

	"loupe/analysis/tiles"
	"loupe/value/timeline"
)

// TestSums: the sums of a stretch are those of its spans, lane by lane, on all of real
// traces and in the middle of them.
func TestSums(t *testing.T) {
	for name, tr := range realTraces(t) {
		set, _ := build(tr, tiles.Options{})
		whole := set.Span()
		part := timeline.Span{Start: whole.Start + whole.End/3 - whole.Start/3, End: whole.Start + whole.End/2 - whole.Start/2}
		for _, within := range []timeline.Span{whole, part, {}} {
			for _, kind := range []tiles.Kind{tiles.KindProc, tiles.KindGC, tiles.KindGoroutine} {
				want := map[tiles.Owner]*tiles.Sums{}
				for o, span := range set.SpansOf(kind, within) {
					if want[o] == nil {
						want[o] = &tiles.Sums{}
					}
					c, d := &want[o][span.Class], span.Overlap(within)
					c.Spans++
					c.Time += d
					c.Longest = max(c.Longest, d)
				}
				for o, got := range set.SumsOf(kind, within) {
					if w := want[o]; w == nil || *w != *got {
						t.Fatalf("%s, %s, %v: lane %d has %v, want %v", name, kind, within, o.Lane, got, w)
					}
					delete(want, o)
				}
				if len(want) > 0 {
					t.Errorf("%s, %s, %v: %d lanes have no sums", name, kind, within, len(want))
				}
			}
		}
	}
}

// TestFirstLanes: a page of the lanes in an order is that part of all of them, however
// short it is.
func TestFirstLanes(t *testing.T) {
	for name, tr := range realTraces(t) {
		set, _ := build(tr, tiles.Options{})
		for _, order := range []tiles.Order{tiles.ByStart, tiles.BySpans, tiles.ByLength, tiles.ByLane} {
			f := tiles.Filter{Kinds: []tiles.Kind{tiles.KindGoroutine}, Order: order}
			all, total := set.Lanes(f, 0, set.Len())
			if len(all) != total || !slices.IsSortedFunc(all, func(a, b tiles.Lane) int { return cmp.Or(compareLanes(order, a, b), cmp.Compare(a.ID, b.ID)) }) {
				t.Fatalf("%s, order %d: %d of %d lanes, or not in order", name, order, len(all), total)
			}
			for _, page := range [][2]int{{0, 0}, {0, 1}, {0, 3}, {2, 3}, {total / 2, 2}, {total, 5}, {0, 1<<63 - 1}, {1<<63 - 1, 1}} {
				got, n := set.Lanes(f, page[0], page[1])
				from := min(page[0], total)
				if want := all[from : from+min(page[1], total-from)]; !slices.Equal(got, want) || n != total {
					t.Errorf("%s, order %d: %d lanes from %d on are %v, want %v", name, order, page[1], page[0], got, want)
				}
			}
		}
	}
}

// compareLanes puts lanes in an order, those that are equal in it aside.
func compareLanes(o tiles.Order, a, b tiles.Lane) int {
	switch o {
	case tiles.ByStart:
		return cmp.Compare(a.Span.Start, b.Span.Start)
	case tiles.BySpans:
		return cmp.Compare(b.Spans, a.Spans)
	case tiles.ByLength:
		return cmp.Compare(b.Span.Len(), a.Span.Len())
	}
	return 0
}

package tiles_test

import (
	"bytes"
	"maps"
	"reflect"
	"testing"

	"loupe/analysis/tiles"
	"loupe/value/timeline"
)

// TestFold: a set that is folded while the trace is read has the lanes, buckets and sums
// of one that keeps everything.
func TestFold(t *testing.T) {
	for name, tr := range realTraces(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, _ := build(tr, tiles.Options{})
			for _, c := range []struct{ columns, lanes int }{{1500, 400}, {40, 3}, {100, 0}} {
				level := tiles.Finest(whole.Span().Len(), c.columns)
				if n := int64(whole.Span().Len()) >> level; n > int64(c.columns) {
					t.Fatalf("%d columns, want at most %d", n, c.columns)
				}
				set, _ := build(tr, tiles.Options{Fold: &tiles.Fold{Level: level, Lanes: c.lanes}})
				sameLanes(t, whole, set, level, c.lanes)
				sameTotals(t, whole, set)
			}
		})
	}
}

// sameLanes holds lanes against those of a whole set: all but short goroutines beyond so
// many.
func sameLanes(t *testing.T, whole, set *tiles.Set, level, lanes int) {
	t.Helper()
	f := tiles.Filter{Order: tiles.BySpans}
	all, want := whole.Lanes(f, 0, 600)
	if _, n := set.Lanes(f, 0, 1); n != want {
		t.Errorf("%d lanes, want %d", n, want)
	}
	goroutines := 0
	for _, l := range all {
		id, ok := set.Find(l.Kind, l.Subject, l.Name)
		if l.Kind == tiles.KindGoroutine {
			if goroutines++; goroutines > lanes && !ok {
				continue
			}
		}
		if !ok {
			t.Fatalf("%v %d %q is missing", l.Kind, l.Subject, l.Name)
		}
		got := set.Lane(id)
		if got.Spans != l.Spans || got.Span != l.Span || got.Members != l.Members || got.Name != l.Name {
			t.Errorf("lane %+v, want %+v", got, l)
		}
		for at := level; at <= whole.Top(); at++ {
			for i := range uint32(whole.Span().Len()>>at)/1024 + 1 {
				sameTile(t, whole.Tile(tiles.TileID{Lane: l.ID, Level: uint8(at), Index: i}), set.Tile(tiles.TileID{Lane: id, Level: uint8(at), Index: i}))
			}
		}
	}
}

// sameTile holds a tile against that of a whole set. One with few spans of a lane with
// many has buckets instead, and a mean may differ in its last digit.
func sameTile(t *testing.T, want, got tiles.Tile) {
	t.Helper()
	switch {
	case want.Form == tiles.FormSpans && got.Form == tiles.FormBuckets:
		return
	case want.Form != got.Form, want.Level != got.Level, want.Index != got.Index:
		t.Fatalf("tile %d of level %d has form %d, want %d of level %d", got.Index, got.Level, got.Form, want.Form, want.Level)
	case want.Form == tiles.FormValues:
		have := maps.Collect(got.Values())
		for i, v := range want.Values() {
			o := have[i]
			if v.Min != o.Min || v.Max != o.Max || v.Last != o.Last || max(v.Mean-o.Mean, o.Mean-v.Mean) > 1e-5*max(v.Mean, -v.Mean, 1) {
				t.Fatalf("bucket %d of level %d: %+v, want %+v", i, got.Level, o, v)
			}
		}
	case !bytes.Equal(want.Data, got.Data):
		t.Fatalf("tile %d of level %d, form %d: % x, want % x", got.Index, got.Level, got.Form, got.Data, want.Data)
	}
}

// sameTotals holds the sums of all time against those of a whole set.
func sameTotals(t *testing.T, whole, set *tiles.Set) {
	t.Helper()
	going := func() bool { return false }
	name := func(s *tiles.Set, groups map[tiles.LaneID]*tiles.GroupSums) map[string]tiles.GroupSums {
		out := map[string]tiles.GroupSums{}
		for id, g := range groups {
			out[s.Lane(id).Name] = *g
		}
		return out
	}
	for _, kind := range []tiles.Kind{tiles.KindProc, tiles.KindGC, tiles.KindGoroutine} {
		want, wantGroups := whole.Totals(kind, whole.Span(), going)
		got, groups := set.Totals(kind, whole.Span(), going)
		if got != want || !reflect.DeepEqual(name(set, groups), name(whole, wantGroups)) {
			t.Errorf("%v: %v and %v, want %v and %v", kind, got, name(set, groups), want, name(whole, wantGroups))
		}
		if got, groups := set.Totals(kind, timeline.Span{Start: whole.Span().Start, End: whole.Span().Start + whole.Span().End/2 - whole.Span().Start/2}, going); len(groups) > 0 || got != (tiles.Sums{}) {
			t.Errorf("%v: a folded set tells of half of the time: %v", kind, got)
		}
	}
}

// TestAppendLane: the tiles of a lane at once are those that are asked for one by one, and
// none is missing but where a coarser one has its spans.
func TestAppendLane(t *testing.T) {
	for name, tr := range realTraces(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, _ := build(tr, tiles.Options{})
			level := tiles.Finest(whole.Span().Len(), 1500)
			folded, _ := build(tr, tiles.Options{Fold: &tiles.Fold{Level: level, Lanes: 50}})
			for _, set := range []*tiles.Set{whole, folded} {
				lanes, _ := set.Lanes(tiles.Filter{Order: tiles.BySpans}, 0, 80)
				for _, l := range lanes {
					data, n := set.AppendLane(make([]byte, 4), l.ID, level)
					data[0], data[1] = byte(n), byte(n>>8)
					list, err := tiles.ReadTiles(data)
					if err != nil {
						t.Fatal(err)
					}
					checkLaneTiles(t, set, l, level, list)
				}
			}
		})
	}
}

// checkLaneTiles holds tiles of a lane against those that are asked for one by one.
func checkLaneTiles(t *testing.T, set *tiles.Set, l tiles.Lane, level int, list []tiles.Tile) {
	t.Helper()
	have := map[tiles.TileID]tiles.Tile{}
	for _, x := range list {
		have[tiles.TileID{Lane: x.Lane, Level: x.Level, Index: x.Index}] = x
	}
	for at := level; at <= set.Top(); at++ {
		for i := range uint32(set.Span().Len()>>at)/1024 + 1 {
			id := tiles.TileID{Lane: l.ID, Level: uint8(at), Index: i}
			want := set.Tile(id)
			got, ok := have[tiles.TileID{Lane: l.ID, Level: want.Level, Index: want.Index}]
			if !ok { // a coarser one has its spans
				up := at + 1
				for ; up <= set.Top(); up++ {
					if x, ok := have[tiles.TileID{Lane: l.ID, Level: uint8(up), Index: i >> (up - at)}]; ok && x.Form == tiles.FormSpans {
						break
					}
				}
				if up > set.Top() || want.Form != tiles.FormSpans && want.Form != tiles.FormNone {
					t.Fatalf("lane %+v, level %d, tile %d is missing", l, at, i)
				}
				continue
			}
			if got.Form != want.Form || !bytes.Equal(got.Data, want.Data) {
				t.Fatalf("lane %+v, level %d, tile %d: form %d, % x, want form %d, % x", l, at, i, got.Form, got.Data, want.Form, want.Data)
			}
		}
	}
}

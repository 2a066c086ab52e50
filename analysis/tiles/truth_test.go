package tiles_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"loupe/analysis/tiles"
	"loupe/format/exectrace"
	"loupe/value/timeline"
)

// realTraces are traces of programs: of several versions of Go since 1.5, and
// of this one. LOUPE_TRACE names one more.
func realTraces(t *testing.T) map[string]*exectrace.Trace {
	t.Helper()
	all := map[string]*exectrace.Trace{"this process": open(t, record())}
	for _, pattern := range []string{"../../format/exectrace/testdata/old/*.trace", "../../format/exectrace/testdata/recorded/*.trace", os.Getenv("LOUPE_TRACE")} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 && pattern != "" {
			t.Fatalf("%s: no traces, %v", pattern, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tr, err := exectrace.Open(data, exectrace.Options{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all[filepath.Base(name)] = tr
		}
	}
	return all
}

// TestOccupancy holds the buckets of real traces against the spans under them:
// at any zoom no class is more than 1/255 off (the rest as much as the others
// together), and none that is there is missing.
func TestOccupancy(t *testing.T) {
	for name, tr := range realTraces(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := build(tr, tiles.Options{})
			r := rand.New(rand.NewPCG(3, 4))
			lanes, _ := s.Lanes(tiles.Filter{Order: tiles.BySpans, Kinds: []tiles.Kind{tiles.KindProc, tiles.KindThread, tiles.KindGC, tiles.KindGoroutine}}, 0, 40)
			tilesSeen, buckets := 0, 0
			for _, l := range lanes {
				for level := tiles.MinLevel; level <= s.Top(); level++ {
					last := uint64(s.Span().Len()) >> level >> 10
					for _, i := range []uint64{0, r.Uint64N(last + 1), last} {
						tile := s.Tile(tiles.TileID{Lane: l.ID, Level: uint8(level), Index: uint32(i)})
						buckets += checkOccupancy(t, s, l, &tile)
						tilesSeen++
					}
				}
			}
			t.Logf("%d lanes, %d tiles, %d buckets", len(lanes), tilesSeen, buckets)
		})
	}
}

// checkOccupancy compares the buckets of a tile with the spans in them.
func checkOccupancy(t *testing.T, s *tiles.Set, l tiles.Lane, tile *tiles.Tile) (n int) {
	t.Helper()
	width := timeline.Time(1) << tile.Level
	for i, b := range tile.Buckets() {
		n++
		from := s.Origin() + timeline.Time(uint64(tile.Index)<<10+uint64(i))*width
		at := timeline.Span{Start: from, End: from + width}
		var spent [8]time.Duration
		var present uint8
		rest := time.Duration(width)
		for span := range s.Spans(l.ID, at) {
			spent[span.Class] += span.Overlap(at)
			rest -= span.Overlap(at)
			present |= 1 << span.Class
		}
		spent[tiles.ClassRest] += rest // in front of the lane and behind it
		for c := range 8 {
			want := float64(spent[c]) / float64(width) * 255
			got := float64(b.Occupancy[c])
			// The rest is what the others leave: seven that are there for next
			// to nothing have 1/255 each all the same.
			limit := 1.0
			if c == int(tiles.ClassRest) {
				limit = 7
			}
			if got < want-limit-1e-6 || got > want+limit+1e-6 {
				t.Fatalf("%+v level %d tile %d bucket %d: class %d has %v/255, want %.3f", l, tile.Level, tile.Index, i, c, got, want)
			}
			if c != int(tiles.ClassRest) && (spent[c] > 0 && b.Occupancy[c] == 0 || b.Present>>c&1 == 0 && present>>c&1 != 0) {
				t.Fatalf("%+v level %d tile %d bucket %d: class %d was there for %v and is not to be seen: %+v", l, tile.Level, tile.Index, i, c, spent[c], b)
			}
		}
	}
	return n
}

// TestRareSpans looks at every zoom for the stops of the world, the mark
// assists and the long system calls of real traces, with and without the spans
// below the pyramids.
func TestRareSpans(t *testing.T) {
	total := map[string]int{}
	for name, tr := range realTraces(t) {
		whole, _ := build(tr, tiles.Options{})
		bound, _ := build(tr, tiles.Options{Memory: 1})
		for what, rare := range map[string]struct {
			kind  tiles.Kind
			class tiles.Class
			least time.Duration
		}{
			"stops": {tiles.KindProc, tiles.ProcSTW, 0}, "stops of all": {tiles.KindGC, tiles.GCSTW, 0}, "assists": {tiles.KindProc, tiles.ProcAssist, 0},
			"long calls": {tiles.KindGoroutine, tiles.GoSyscall, 20 * time.Microsecond}, "calls of Ps": {tiles.KindProc, tiles.ProcSyscall, 20 * time.Microsecond},
		} {
			n := 0
			for o, span := range whole.SpansOf(rare.kind, whole.Span()) {
				if span.Class != rare.class || span.Len() < rare.least {
					continue
				}
				if n++; n > 300 {
					break
				}
				l := whole.Lane(o.Lane)
				visible(t, whole, l, span)
				if id, ok := bound.Find(l.Kind, l.Subject, ""); ok {
					visible(t, bound, bound.Lane(id), span)
				} else if l.Kind != tiles.KindGoroutine {
					t.Fatalf("%s: %s %d has gone for want of memory", name, l.Kind, l.Subject)
				}
			}
			total[what] += n
		}
	}
	t.Log(total)
	for what, n := range total {
		if n < 10 {
			t.Errorf("%d %s in all traces: they say nothing", n, what)
		}
	}
}

// visible looks for a span on every level.
func visible(t *testing.T, s *tiles.Set, l tiles.Lane, span tiles.Span) {
	t.Helper()
	for level := tiles.MinLevel; level <= s.Top(); level++ {
		at := uint64(span.Start-s.Origin()) >> level
		tile := s.Tile(tiles.TileID{Lane: l.ID, Level: uint8(level), Index: uint32(at >> 10)})
		at = uint64(span.Start-s.Origin()) >> tile.Level // it may be of the base
		seen := false
		for i, b := range tile.Buckets() {
			seen = seen || uint64(i) == at&1023 && b.Present>>span.Class&1 != 0
		}
		if tile.Form == tiles.FormSpans {
			seen = slices.Contains(slices.Collect(tile.Spans(s.Origin())), span)
		}
		if !seen {
			t.Fatalf("%s %d, level %d: %s is not to be seen", l.Kind, l.Subject, level, fmt.Sprint(span))
		}
	}
}

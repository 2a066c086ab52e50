package tiles_test

import (
	"fmt"
	"os"
	"testing"

	"loupe/analysis/tiles"
	"loupe/format/exectrace"
)

// load opens the trace that LOUPE_TRACE names.
func load(b *testing.B) *exectrace.Trace {
	data, err := os.ReadFile(os.Getenv("LOUPE_TRACE"))
	if err != nil {
		b.Skip("LOUPE_TRACE names no trace")
	}
	tr, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return tr
}

// BenchmarkBuild includes the reading: take BenchmarkRead of package
// exectrace away.
func BenchmarkBuild(b *testing.B) {
	tr := load(b)
	var s *tiles.Set
	n := 0
	for b.Loop() {
		s, n = build(tr, tiles.Options{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
	b.ReportMetric(float64(s.Size())/float64(n), "B/event")
	b.ReportAllocs()
}

// BenchmarkBound builds with at most a byte for each event, as far as that
// goes.
func BenchmarkBound(b *testing.B) {
	tr := load(b)
	full, n := build(tr, tiles.Options{})
	var s *tiles.Set
	for b.Loop() {
		s, _ = build(tr, tiles.Options{Memory: int64(n)})
	}
	b.ReportMetric(float64(s.Size())/float64(n), "B/event")
	b.ReportMetric(float64(full.Size())/float64(n), "full-B/event")
	b.Logf("%+v", s.Dropped())
}

// BenchmarkViewport asks for what a window of the browser shows, 40 lanes of
// 2048 buckets, on every level: the worst one counts.
func BenchmarkViewport(b *testing.B) {
	s, _ := build(load(b), tiles.Options{})
	lanes, _ := s.Lanes(tiles.Filter{Order: tiles.BySpans, Kinds: []tiles.Kind{tiles.KindProc, tiles.KindGoroutine}}, 0, 40)
	for level := tiles.MinLevel; level <= s.Top(); level++ {
		middle := uint32(uint64(s.Span().Len()) >> level >> 11)
		var ids []tiles.TileID
		for _, l := range lanes {
			ids = append(ids, tiles.TileID{Lane: l.ID, Level: uint8(level), Index: middle}, tiles.TileID{Lane: l.ID, Level: uint8(level), Index: middle + 1})
		}
		b.Run(fmt.Sprint(level), func(b *testing.B) {
			var out []byte
			for b.Loop() {
				out = s.AppendTiles(out[:0], ids)
			}
			b.ReportMetric(float64(len(out))/1024, "KiB")
			b.ReportAllocs()
		})
	}
}

// BenchmarkOpen opens the file and lists a page of goroutines.
func BenchmarkOpen(b *testing.B) {
	s, _ := build(load(b), tiles.Options{})
	data := s.AppendTo(nil)
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			if _, err := tiles.Open(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("lanes", func(b *testing.B) {
		for b.Loop() {
			s.Lanes(tiles.Filter{Order: tiles.BySpans}, 0, 50)
		}
		b.ReportMetric(float64(s.Len()), "lanes")
	})
}

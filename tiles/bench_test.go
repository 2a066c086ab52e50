package tiles_test

import (
	"os"
	"testing"

	"loupe/exectrace"
	"loupe/tiles"
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

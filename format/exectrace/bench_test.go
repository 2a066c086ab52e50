package exectrace_test

import (
	"os"
	"testing"

	"loupe/format/exectrace"
)

// BenchmarkRead reads the trace that LOUPE_TRACE names.
func BenchmarkRead(b *testing.B) {
	data, err := os.ReadFile(os.Getenv("LOUPE_TRACE"))
	if err != nil {
		b.Skip("LOUPE_TRACE names no trace")
	}
	n := 0
	for b.Loop() {
		tr, err := exectrace.Open(data, exectrace.Options{})
		if err != nil {
			b.Fatal(err)
		}
		n = 0
		for r := tr.Reader(); r.Next(); {
			n++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
	b.ReportAllocs()
}

package sched_test

import (
	"os"
	"testing"

	"loupe/exectrace"
	"loupe/sched"
)

// BenchmarkSummarize reads and summarises the trace that LOUPE_TRACE names.
func BenchmarkSummarize(b *testing.B) {
	data, err := os.ReadFile(os.Getenv("LOUPE_TRACE"))
	if err != nil {
		b.Skip("LOUPE_TRACE names no trace")
	}
	events, goroutines := 0, 0
	for b.Loop() {
		tr, err := exectrace.Open(data, exectrace.Options{})
		if err != nil {
			b.Fatal(err)
		}
		events, goroutines = 0, 0
		r := tr.Reader()
		s := sched.NewSummarizer(r, sched.Sink{
			Goroutine: func(*sched.Goroutine) { goroutines++ },
			Region:    func(*sched.Region) {},
			Task:      func(*sched.Task) {},
		}, sched.SummaryOptions{})
		for r.Next() {
			events++
			s.Event(r.Event())
		}
		s.Finish()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
	b.ReportMetric(float64(goroutines), "goroutines")
	b.ReportAllocs()
}

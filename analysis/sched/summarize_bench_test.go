package sched_test

import (
	"os"
	"testing"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
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
		pass := sweep.New(tr)
		s := sched.NewSummarizer(pass.Goroutines(), sched.Sink{
			Goroutine: func(*sched.Goroutine) { goroutines++ },
			Region:    func(*sched.Region) {},
			Task:      func(*sched.Task) {},
		}, sched.SummaryOptions{})
		pass.Join(s)
		if err := pass.Run(nil); err != nil {
			b.Fatal(err)
		}
		events = int(pass.Events())
		s.Finish()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
	b.ReportMetric(float64(goroutines), "goroutines")
	b.ReportAllocs()
}

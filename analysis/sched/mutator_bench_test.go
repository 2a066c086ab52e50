package sched_test

import (
	"os"
	"testing"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
)

// benchEvents reads the trace that LOUPE_TRACE names again and again, and
// reports the time per event. The function start is called with each reader
// and returns what takes its events.
func benchEvents(b *testing.B, start func(gs *sweep.Goroutines) func(e *exectrace.Event)) {
	data, err := os.ReadFile(os.Getenv("LOUPE_TRACE"))
	if err != nil {
		b.Skip("LOUPE_TRACE names no trace")
	}
	events := 0
	for b.Loop() {
		tr, err := exectrace.Open(data, exectrace.Options{})
		if err != nil {
			b.Fatal(err)
		}
		events = 0
		r := tr.Reader()
		gs := sweep.NewGoroutines(r)
		event := start(gs)
		for r.Next() {
			events++
			gs.Event(r.Event())
			event(r.Event())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
	b.ReportAllocs()
}

// BenchmarkNothing is the cost of the reader and of the table of goroutines.
func BenchmarkNothing(b *testing.B) {
	benchEvents(b, func(*sweep.Goroutines) func(*exectrace.Event) { return func(*exectrace.Event) {} })
}

func BenchmarkMutator(b *testing.B) {
	benchEvents(b, func(gs *sweep.Goroutines) func(*exectrace.Event) {
		return sched.NewMutator(gs, sched.MutatorOptions{}).Event
	})
}

// BenchmarkMMU asks a curve for the windows of a plot.
func BenchmarkMMU(b *testing.B) {
	data, err := os.ReadFile(os.Getenv("LOUPE_TRACE"))
	if err != nil {
		b.Skip("LOUPE_TRACE names no trace")
	}
	m := readMutators(b, data, sched.MutatorOptions{})[0]
	steps := m.Steps()
	for b.Loop() {
		c := sched.NewMMUCurve(steps)
		for w := time.Microsecond; w <= 10*time.Second; w *= 2 {
			c.MMU(w)
		}
	}
	b.ReportMetric(float64(len(steps[0])), "steps")
}

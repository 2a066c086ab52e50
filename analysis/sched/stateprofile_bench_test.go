package sched_test

import (
	"testing"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
)

func BenchmarkStateProfiler(b *testing.B) {
	benchEvents(b, func(gs *sweep.Goroutines) func(*exectrace.Event) {
		return sched.NewStateProfiler(gs, sched.StateProfileOptions{}).Event
	})
}

func BenchmarkStateProfilerCompat(b *testing.B) {
	benchEvents(b, func(gs *sweep.Goroutines) func(*exectrace.Event) {
		return sched.NewStateProfiler(gs, sched.StateProfileOptions{Compat: true}).Event
	})
}

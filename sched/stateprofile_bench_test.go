package sched_test

import (
	"testing"

	"loupe/exectrace"
	"loupe/sched"
)

func BenchmarkStateProfiler(b *testing.B) {
	benchEvents(b, func(r *exectrace.Reader) func(*exectrace.Event) {
		return sched.NewStateProfiler(r, sched.StateProfileOptions{}).Event
	})
}

func BenchmarkStateProfilerCompat(b *testing.B) {
	benchEvents(b, func(r *exectrace.Reader) func(*exectrace.Event) {
		return sched.NewStateProfiler(r, sched.StateProfileOptions{Compat: true}).Event
	})
}

package report

import (
	"testing"

	"loupe/recording"
	"loupe/value/timeline"
)

// TestCutOff: a program that was taken for a server and ended by itself in a later phase is told;
// one that runs anew for each phase is not, nor is one that loupe stopped or that ended in between.
func TestCutOff(t *testing.T) {
	span := func(from, to float64) timeline.Span {
		return timeline.Span{Start: timeline.Time(from * 1e9), End: timeline.Time(to * 1e9)}
	}
	phases := []recording.Phase{{Name: "bare", Span: span(0, 10)}, {Name: "heap", Span: span(10, 10.5), Profiler: "heap"}, {Name: "cpu", Span: span(10.5, 12), Profiler: "cpu"}, {Name: "trace", Span: span(12, 23), Run: 1}}
	for _, c := range []struct {
		name   string
		run    recording.Run
		phases []recording.Phase
		want   string
	}{
		{"in a phase", recording.Run{Span: span(0, 11.9), Exit: "exit status 0"}, phases, "cpu"},
		{"stopped", recording.Run{Span: span(0, 11.9), Exit: "signal: terminated", Stopped: true}, phases, ""},
		{"still running", recording.Run{Span: span(0, 11.9)}, phases, ""},
		{"a tool", recording.Run{Span: span(0, 9.9), Exit: "exit status 0"}, phases[:1], ""},
		{"after its phases", recording.Run{Span: span(0, 30), Exit: "exit status 0"}, phases, ""},
	} {
		m := &recording.Manifest{Phases: c.phases}
		m.Target.Runs = []recording.Run{c.run}
		if got := cutOff(m, 0); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

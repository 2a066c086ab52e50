package report

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/compare"
	"loupe/recording"
	"loupe/value/timeline"
)

// TestPhasesOfRun: of a program that ends by itself it is said which part of its run a profile is of.
func TestPhasesOfRun(t *testing.T) {
	for _, test := range []struct {
		name    string
		run     recording.Run
		entries []recording.Entry
		want    string
	}{
		{"a longer run", recording.Run{Exit: "exit status 0", Span: timeline.Span{End: timeline.Time(12 * time.Second)}}, nil, "cpu 5.00 s of a run of 12.0 s"},
		{"nearly all of it", recording.Run{Exit: "exit status 0", Span: timeline.Span{End: timeline.Time(6 * time.Second)}}, nil, "cpu 5.00 s"},
		{"a service", recording.Run{Exit: "signal: interrupt", Stopped: true, Span: timeline.Span{End: timeline.Time(60 * time.Second)}}, nil, "cpu 5.00 s"},
		{"a load", recording.Run{Exit: "exit status 0", Span: timeline.Span{End: timeline.Time(60 * time.Second)}}, []recording.Entry{{Kind: recording.Load}}, "cpu 5.00 s"},
	} {
		r := &Recording{Manifest: &recording.Manifest{Entries: test.entries, Target: recording.Target{Runs: []recording.Run{test.run}}},
			Phases: []compare.PhaseCost{{Name: "cpu", Length: 5 * time.Second}}}
		if got := r.phaseNames(); got != "Recorded: "+test.want+" (-100% CPU)" {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	ended := func(sec int) recording.Run {
		return recording.Run{Exit: "exit status 0", Span: timeline.Span{End: timeline.Time(sec) * timeline.Time(time.Second)}}
	}
	for sec, want := range map[int]string{6: "cpu 5.00 s", 9: "cpu 5.00 s of a run of 9.00 s"} { // its own run, not the first
		r := &Recording{Manifest: &recording.Manifest{Phases: []recording.Phase{{Name: "bare"}, {Name: "cpu", Run: 1}}, Target: recording.Target{Runs: []recording.Run{ended(12), ended(sec)}}},
			Phases: []compare.PhaseCost{{Name: "cpu", Length: 5 * time.Second}}}
		if got := r.phaseNames(); got != "Recorded: "+want+" (-100% CPU)" {
			t.Errorf("a run of %d s: %q, want %q", sec, got, want)
		}
	}
	if got := (&Recording{Manifest: &recording.Manifest{}}).phaseNames(); strings.TrimSpace(got) != "" {
		t.Errorf("nothing was recorded: %q", got)
	}
}

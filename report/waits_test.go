package report

import (
	"strings"
	"testing"
	"time"

	"loupe/insight"
	"loupe/recording"
	"loupe/value/timeline"
)

// TestMostlyWaits: a tool that has used a CPU for a tenth of its run at most has waited, which its verdict says; not one
// that has worked, was stopped, or has a load, and no service.
func TestMostlyWaits(t *testing.T) {
	wt01 := func(state insight.State) []insight.Finding {
		return []insight.Finding{{Rule: "CP02", State: insight.Fine}, {Rule: "WT01", State: state}}
	}
	for _, x := range []struct {
		name     string
		used     time.Duration
		life     time.Duration
		exit     string
		stopped  bool
		load     bool
		findings []insight.Finding
		want     string
	}{
		{"too short a trace", 200 * time.Millisecond, 14 * time.Second, "exit status 0", false, false, wt01(insight.TooLittle), "waited for 98.6% of its run of 14.0 s, and the recording does not show for what: record again with -phases bare,trace:15s."},
		{"a trace", 200 * time.Millisecond, 14 * time.Second, "exit status 0", false, false, wt01(insight.Found), "no rule names a fault in what it waits for"},
		{"nothing found", 200 * time.Millisecond, 14 * time.Second, "exit status 0", false, false, wt01(insight.Fine), "no rule names a fault in that"},
		{"it worked", 2 * time.Second, 14 * time.Second, "exit status 0", false, false, wt01(insight.TooLittle), ""},
		{"it was short", 2 * time.Millisecond, 500 * time.Millisecond, "exit status 0", false, false, wt01(insight.TooLittle), ""},
		{"nothing was measured", 0, 14 * time.Second, "exit status 0", false, false, wt01(insight.TooLittle), ""},
		{"it was stopped", 200 * time.Millisecond, 14 * time.Second, "signal: terminated", true, false, wt01(insight.TooLittle), ""},
		{"a service", 200 * time.Millisecond, 14 * time.Second, "", false, false, wt01(insight.TooLittle), ""},
		{"a load", 200 * time.Millisecond, 14 * time.Second, "exit status 0", false, true, wt01(insight.TooLittle), ""},
	} {
		span := timeline.Span{End: timeline.Time(x.life)}
		m := &recording.Manifest{Phases: []recording.Phase{{Name: "bare", Span: span, User: x.used}}}
		m.Target.Runs = []recording.Run{{Span: span, Exit: x.exit, Stopped: x.stopped}}
		if x.load {
			m.Entries = append(m.Entries, recording.Entry{Path: "load.requests", Kind: recording.Load})
		}
		if got := mostlyWaits(&Recording{Manifest: m, Findings: x.findings}); (got == "") != (x.want == "") || !strings.Contains(got, x.want) {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

// TestKeepsGrowing: only of a heap that still grew at the end.
func TestKeepsGrowing(t *testing.T) {
	for want, f := range map[bool]insight.Finding{
		true:  {Rule: "GC08", State: insight.Found, Severity: insight.Info, Summary: "the live heap rose steadily from 1 to 9 MiB, and was still rising"},
		false: {Rule: "GC08", State: insight.Fine, Summary: "no lasting growth"},
	} {
		if got := keepsGrowing(&Recording{Findings: []insight.Finding{f}}); (got != "") != want {
			t.Errorf("%q", got)
		}
	}
}

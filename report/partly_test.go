package report

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/compare"
	"loupe/insight"
	"loupe/recording"
	"loupe/value/timeline"
)

// TestAllocatedUpTo: bytes and objects of a tool are told to be of a part of its run where they were counted before its end.
func TestAllocatedUpTo(t *testing.T) {
	const s = timeline.Time(time.Second)
	for _, c := range []struct {
		name         string
		allocs, life timeline.Span // of the second run
		stopped      bool
		want         string
	}{
		{"of a run that is stopped then", timeline.Span{Start: 21 * s, End: 21*s + 100}, timeline.Span{Start: 13 * s, End: 22 * s}, true, ", of the first 8.00 s of a run of 12.0 s"},
		{"of a run that goes on", timeline.Span{Start: 21 * s, End: 21*s + 100}, timeline.Span{Start: 13 * s, End: 29 * s}, false, ", of the first 8.00 s of a run of 16.0 s"},
		{"a whole run", timeline.Span{Start: 13 * s, End: 25 * s}, timeline.Span{Start: 13 * s, End: 25 * s}, false, ""},
		{"shortly before its end", timeline.Span{Start: 25 * s, End: 25*s + 100}, timeline.Span{Start: 13 * s, End: 25*s + 200}, false, ""},
		{"no such phase", timeline.Span{}, timeline.Span{Start: 13 * s, End: 25 * s}, false, ""},
	} {
		m := &recording.Manifest{Target: recording.Target{Runs: []recording.Run{{Exit: "exit status 0", Span: timeline.Span{End: 12 * s}}, {Exit: "exit status 0", Stopped: c.stopped, Span: c.life}}}}
		if c.allocs.End > 0 {
			m.Phases = []recording.Phase{{Name: "allocs", Run: 1, Span: c.allocs}}
		}
		if got := allocatedUpTo(m, wholeRun(m)); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestPartlyProfiled: where most of a run of a program that ends by itself was not profiled, the verdict or a note says so, with the phase that
// covers all of it. Most of a run, a service, and a run without such a profile are told as before.
func TestPartlyProfiled(t *testing.T) {
	for _, c := range []struct {
		name     string
		cpu, run time.Duration
		stopped  bool
		load     bool
		severity insight.Severity
		verdict  bool
		note     bool
	}{
		{"a third", 6 * time.Second, 17 * time.Second, false, false, insight.Info, true, false},
		{"a third, with a warning", 6 * time.Second, 17 * time.Second, false, false, insight.Warning, false, true},
		{"most of it", 10 * time.Second, 17 * time.Second, false, false, insight.Info, false, false},
		{"a service that was stopped", 6 * time.Second, 17 * time.Second, true, false, insight.Info, false, false},
		{"under a load", 6 * time.Second, 17 * time.Second, false, true, insight.Info, false, false},
		{"no CPU profile", 0, 17 * time.Second, false, false, insight.Info, false, false},
	} {
		m := &recording.Manifest{Target: recording.Target{Runs: []recording.Run{{Exit: "exit status 0", Stopped: c.stopped, Span: timeline.Span{End: timeline.Time(c.run)}}}}}
		if c.load {
			m.Entries = []recording.Entry{{Kind: recording.Load}}
		}
		r := &Recording{Manifest: m, Findings: []insight.Finding{{Rule: "CP01", Title: "Hot function", State: insight.Found, Severity: c.severity}}, Cards: []insight.Card{{Finding: 0}}}
		if c.cpu > 0 {
			r.Phases = []compare.PhaseCost{{Name: "cpu", Length: c.cpu}}
		}
		const unseen, phase = "what takes more and more time towards its end is not seen", "-phases bare,cpu:22s,trace"
		note := strings.Join(r.notes(), "\n")
		if got := strings.Contains(note, unseen) && strings.Contains(note, phase); got != c.note {
			t.Errorf("%s: notes %q", c.name, note)
		}
		if got := inFirstPart(r); c.severity == insight.Info && (strings.Contains(got, unseen) && strings.Contains(got, phase)) != c.verdict {
			t.Errorf("%s: verdict %q", c.name, got)
		}
	}
}

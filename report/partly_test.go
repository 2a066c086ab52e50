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

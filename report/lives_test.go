package report

import (
	"strings"
	"testing"
	"time"

	"loupe/insight"
	"loupe/recording"
	"loupe/value/timeline"
)

// TestUnlikeLives: where later runs of a program take far longer, far shorter, or fail, the head of the report says so. Runs that are alike, very short
// ones, and services are as they were.
func TestUnlikeLives(t *testing.T) {
	const well, bad = "exit status 0", "exit status 1"
	for _, c := range []struct {
		name    string
		took    []time.Duration
		exits   []string
		stopped bool
		load    bool
		want    string // "" is none
	}{
		{"a cache that the first fills", []time.Duration{14200 * time.Millisecond, 300 * time.Millisecond}, []string{well, well}, false, false, "very different times (bare 14.2 s, cpu 300 ms)"},
		{"much longer", []time.Duration{14200 * time.Millisecond, 40 * time.Second}, []string{well, well}, false, false, "very different times (bare 14.2 s, cpu 40.0 s)"},
		{"a later one fails", []time.Duration{2 * time.Second, 2 * time.Second}, []string{well, bad}, false, false, "failed (cpu 2.00 s) and others did not (bare 2.00 s)"},
		{"all fail alike", []time.Duration{2 * time.Second, 2 * time.Second}, []string{bad, bad}, false, false, ""},
		{"a profiler's cost", []time.Duration{2 * time.Second, 3 * time.Second}, []string{well, well}, false, false, ""},
		{"very short", []time.Duration{20 * time.Millisecond, 90 * time.Millisecond}, []string{well, well}, false, false, ""},
		{"a service", []time.Duration{2 * time.Second, 20 * time.Second}, []string{well, well}, true, false, ""},
		{"under a load", []time.Duration{2 * time.Second, 20 * time.Second}, []string{well, well}, false, true, ""},
		{"a noisy machine", []time.Duration{2 * time.Second, 20 * time.Second}, []string{well, well}, false, false, ""},
		{"a noisy machine, and a cache", []time.Duration{14200 * time.Millisecond, 300 * time.Millisecond}, []string{well, well}, false, false, "used very different user CPU times (bare 9.00 s, cpu 1.00 s)"},
		{"a noisy machine, and a busy kernel", []time.Duration{2 * time.Second, 20 * time.Second}, []string{well, well}, false, false, ""},
		{"one run", []time.Duration{2 * time.Second}, []string{well}, false, false, ""},
	} {
		m := &recording.Manifest{}
		for i, d := range c.took {
			m.Target.Runs = append(m.Target.Runs, recording.Run{Exit: c.exits[i], Stopped: c.stopped, Span: timeline.Span{End: timeline.Time(d)}})
			m.Phases = append(m.Phases, recording.Phase{Name: []string{"bare", "cpu"}[i], Run: i, Span: timeline.Span{End: timeline.Time(d)}})
		}
		r := &Recording{Manifest: m}
		if strings.HasPrefix(c.name, "a noisy machine") {
			r.Findings = []insight.Finding{{Rule: "BE06", State: insight.Found}}
			if m.Target.Runs[0].User = time.Second; strings.HasSuffix(c.name, "cache") {
				m.Target.Runs[0].User = 9 * time.Second
			}
			if m.Target.Runs[1].User = time.Second; strings.HasSuffix(c.name, "kernel") {
				m.Target.Runs[0].System = 9 * time.Second // written to a full page cache
			}
		}
		if c.load {
			m.Entries = []recording.Entry{{Kind: recording.Load}}
		}
		got := strings.Join(r.ends(), "\n")
		if c.want == "" && strings.Contains(got, "The runs of the program") || c.want == "" && strings.Contains(got, "Some runs") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestUnlikeLivesOfPhase: of several lives in one phase the median counts: the longest of many is no other program.
func TestUnlikeLivesOfPhase(t *testing.T) {
	for _, c := range []struct {
		name string
		bare time.Duration
		cpu  []time.Duration
		want string
	}{
		{"one of many is long", 900 * time.Millisecond, []time.Duration{500 * time.Millisecond, 700 * time.Millisecond, 1500 * time.Millisecond}, ""},
		{"all are shorter than the first", 2 * time.Second, []time.Duration{200 * time.Millisecond, 300 * time.Millisecond, 400 * time.Millisecond}, "very different times (bare 2.00 s, cpu (median of 3) 300 ms)"},
	} {
		m := &recording.Manifest{Phases: []recording.Phase{{Name: "bare"}, {Name: "cpu", Run: 1, Lives: len(c.cpu)}}}
		for _, d := range append([]time.Duration{c.bare}, c.cpu...) {
			m.Target.Runs = append(m.Target.Runs, recording.Run{Exit: "exit status 0", Span: timeline.Span{End: timeline.Time(d)}})
		}
		if got := unlikeLives(m, false); got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

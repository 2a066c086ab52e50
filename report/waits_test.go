package report

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/gc"
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

// TestHoldsMost: of a program that takes much memory it is said which line has most of it; of one that takes little, or of which no line has
// most, nothing.
func TestHoldsMost(t *testing.T) {
	held := func(share float64, state insight.State) insight.Finding {
		return insight.Finding{Rule: "GC16", State: state, Severity: insight.Info, Impact: &insight.Impact{Value: share, Unit: "share of what is in use"}, Evidence: []insight.Evidence{{Function: "main.load", File: "/src/a.go", Line: 9}}}
	}
	for _, x := range []struct {
		name      string
		heap, rss float64 // MiB
		found     insight.Finding
		want      string
	}{
		{"a large heap", 1100, 1200, held(0.995, insight.Found), "(peak heap 1.07 GiB, peak memory (RSS) 1.17 GiB), and 99.5% of what is in use in the heap profile was allocated at /src/a.go:9 in main.load (GC16)."},
		{"resident alone", 400, 1100, held(0.6, insight.Found), "(peak memory (RSS) 1.07 GiB), and 60.0%"},
		{"the heap alone", 600, 0, held(0.6, insight.Found), "(peak heap 600 MiB), and 60.0%"},
		{"a small one", 100, 120, held(0.995, insight.Found), ""},
		{"no line has most", 1100, 1200, held(0.3, insight.Found), ""},
		{"no finding", 1100, 1200, held(0.9, insight.Fine), ""},
	} {
		rows := []compare.Row{{ID: "peak_heap", Name: "Peak heap", Unit: compare.Bytes, Cells: []compare.Cell{{Median: gc.Figure(x.heap * (1 << 20))}}}, {ID: "max_rss", Name: "Peak memory (RSS)", Unit: compare.Bytes, Cells: []compare.Cell{{Median: gc.Figure(x.rss * (1 << 20))}}}}
		r := &Recording{Figures: &compare.Table{Rows: rows}, Findings: []insight.Finding{x.found}}
		if got := holdsMost(r); (got == "") != (x.want == "") || !strings.Contains(got, x.want) {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
		r.Manifest, r.Cards = &recording.Manifest{}, []insight.Card{{Finding: 0}}
		if got := r.verdict(1); x.found.State == insight.Found && strings.Contains(got, nothingSerious) != (x.want == "") && x.want != "" {
			t.Errorf("%s: verdict %q", x.name, got)
		}
		// Where something takes most of the time, the memory is told of behind it.
		hot := insight.Finding{Rule: "CP01", State: insight.Found, Title: "Hot function"}
		r.Findings = append(r.Findings, hot)
		r.Cards = []insight.Card{{Finding: 1, Most: &insight.Most{Share: 0.86, Of: "CPU time"}}, {Finding: 0}}
		if got := r.verdict(2); !strings.HasPrefix(got, "No rule names a fault, but one place takes 86.0% of the CPU time. ") || strings.Contains(got, "It takes much memory (peak") != (x.want != "") {
			t.Errorf("%s: verdict with a hot function %q", x.name, got)
		}
	}
}

// TestLacks: a program that ends by itself is not asked for a longer recording.
func TestLacks(t *testing.T) {
	m := &recording.Manifest{}
	m.Target.Runs = []recording.Run{{Span: timeline.Span{End: 18e9}, Exit: "exit status 0"}}
	if got := lacks(m); got != tooFew {
		t.Errorf("it ended: %s", got)
	}
	m.Target.Runs[0].Stopped = true
	if got := lacks(m); got != tooShort {
		t.Errorf("it was stopped: %s", got)
	}
	if got := lacks(nil); got != tooShort {
		t.Errorf("nothing is known: %s", got)
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

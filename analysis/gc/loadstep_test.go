package gc

import (
	"testing"

	"loupe/format/godebug"
)

// TestLoadStep: the live heap of a program trebles shortly before its log ends. What is
// predicted of other settings holds for what the program then does, in ranges that have no
// good grade.
func TestLoadStep(t *testing.T) {
	r := replayOfRows(t, loadStep(Settings{GOGC: 100}))
	if a := Advise(r, AdviceOptions{Container: 800 << 20, Outside: -1}); a.Confidence == "good" || a.Advised == nil {
		t.Errorf("the confidence is %q, and %+v is advised", a.Confidence, a.Advised)
	}
	for _, s := range []Settings{{GOGC: 50}, {GOGC: 100}, {GOGC: 200}, {GOGC: 400}, {GOGC: GOGCOff, Limit: 720 << 20}, {GOGC: 100, Limit: 200 << 20}, {GOGC: 800, Limit: 400 << 20}} {
		p := r.Predict(s)
		truth := loadStep(s)
		peak := 0.0
		for i := range truth {
			peak = max(peak, truth[i].HeapEndMB)
		}
		t.Logf("%s: %s: collections %.0f [%.0f, %.0f], really %d; peak heap %.0f [%.0f, %.0f], really %.0f", s, p.Grade, p.Collections.Estimate, p.Collections.Low, p.Collections.High, len(truth), p.PeakHeapMB.Estimate, p.PeakHeapMB.Low, p.PeakHeapMB.High, peak)
		if p.Grade == Good {
			t.Errorf("%s: the grade is good, and how the heap goes on is not known", s)
		}
		if n := float64(len(truth)); n < float64(p.Collections.Low) || n > float64(p.Collections.High) {
			t.Errorf("%s: %.0f collections, predicted were %v", s, n, p.Collections)
		}
		if peak < float64(p.PeakHeapMB.Low) || peak > float64(p.PeakHeapMB.High) {
			t.Errorf("%s: the peak heap is %.0f MB, predicted was %v", s, peak, p.PeakHeapMB)
		}
	}
}

// loadStep is the log of a program that allocates 100 MB a second for 300 s and has 50 MB in use,
// and 150 MB in the last 10 s of them, as it is with some settings.
func loadStep(s Settings) []Row {
	const rate, length = 100.0, 300.0
	var rows []Row
	at, live := 0.0, 50.0
	for {
		goal := max(4, live*(1+float64(s.GOGC)/100))
		if s.GOGC == GOGCOff {
			goal = 1e9
		}
		if s.Limit > 0 {
			goal = min(goal, max(live+4, float64(s.Limit)/(1<<20)))
		}
		if at += (goal - live) / rate; at > length {
			return rows
		}
		next := 50.0
		if at >= 290 {
			next = 150
		}
		rows = append(rows, Row{
			GC: int64(len(rows) + 1), AtS: at, MarkMS: 1.1, STW1MS: 0.02, STW2MS: 0.004, CPUAssist: 0.2, CPUBackground: 0.9, CPUIdle: 0.3, CPUSTW1MS: 0.04, CPUSTW2MS: 0.008,
			HeapStartMB: 0.98 * goal, HeapEndMB: goal, HeapLiveMB: next, GoalMB: goal, Procs: 2, Dialect: godebug.Go118.String(),
		})
		live = next
	}
}

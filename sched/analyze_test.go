package sched_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"loupe/exectrace"
	"loupe/sched"
)

// TestAnalyzeTraces looks at every trace in the folder that LOUPE_TRACES
// names: figures that must agree with each other do.
func TestAnalyzeTraces(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(os.Getenv("LOUPE_TRACES"), "*.trace"))
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			tr, err := exectrace.Open(data, exectrace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			a, err := sched.Analyze(tr, sched.AnalyzeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			checkAnalysis(t, a)
		})
	}
}

func checkAnalysis(t *testing.T, a *sched.Analysis) {
	t.Helper()
	var exec time.Duration
	var count int64
	for _, g := range a.Groups {
		exec += g.Exec
		count += g.Count
	}
	if count != a.Info.Goroutines {
		t.Errorf("%d goroutines in groups, %d in all", count, a.Info.Goroutines)
	}
	var busy, span time.Duration
	for k, d := range a.Parallel.Busy {
		busy += time.Duration(k) * d
		span += d
	}
	if span != a.Info.Span.Len() {
		t.Errorf("parallelism covers %v of %v", span, a.Info.Span.Len())
	}
	// A goroutine older than the trace runs from the last sync on in the
	// summary, and from its first event on in the other.
	if diff := (exec - busy).Abs(); diff > span/100+time.Millisecond {
		t.Errorf("goroutines ran for %v, the Ps for %v", exec, busy)
	}
	t.Logf("%d events, %d goroutines, mean %.2f Ps, %d blocks, %d cycles, %d tasks, idle while queued %v, steals %d",
		a.Info.Events, a.Info.Goroutines, a.Parallel.Mean(), len(a.Blocks), len(a.GC.Cycles), len(a.Tasks), a.Parallel.IdleWhileQueued, a.Parallel.Steals)
	for _, g := range a.Groups[:min(3, len(a.Groups))] {
		t.Logf("  %s: %d, exec %v, wait p99 %v, run p50 %v", a.Reader.Name(g.Name), g.Count, g.Exec, g.Wait.Quantile(0.99), g.Run.Quantile(0.5))
	}
}

package sched_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/timeline"
)

// TestAnalyzeTraces: figures that must agree with each other do.
func TestAnalyzeTraces(t *testing.T) {
	for _, f := range traces(t) {
		t.Run(filepath.Base(f), func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			tr, err := exectrace.Open(data, exectrace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var running time.Duration
			a, err := sched.Analyze(tr, sched.AnalyzeOptions{Each: func(_ *exectrace.Reader, i *sched.Interval) {
				if i.State == exectrace.Running {
					running += i.Len()
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			checkAnalysis(t, a, running-beforeKnown(t, data))
		})
	}
}

// beforeKnown is for how long goroutines had run that are older than the trace,
// when the first event told of them: what ran side by side is counted from then on.
func beforeKnown(t *testing.T, data []byte) (d time.Duration) {
	t.Helper()
	tr, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := tr.Reader()
	var sync timeline.Time
	for r.Next() {
		switch e := r.Event(); {
		case e.Kind == exectrace.KindSync || sync == 0:
			sync = e.Time
		case e.Kind == exectrace.KindGoTransition && e.From == exectrace.Undetermined && e.To == exectrace.Running:
			d += time.Duration(e.Time - sync)
		}
	}
	return d
}

func checkAnalysis(t *testing.T, a *sched.Analysis, running time.Duration) {
	t.Helper()
	var count int64
	for _, g := range a.Groups {
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
	if busy != running {
		t.Errorf("goroutines ran for %v, side by side for %v", running, busy)
	}
	t.Logf("%d events, %d goroutines, mean %.2f Ps, %d blocks, %d cycles, %d tasks, idle while queued %v, steals %d",
		a.Info.Events, a.Info.Goroutines, a.Parallel.Mean(), len(a.Blocks), len(a.GC.Cycles), len(a.Tasks), a.Parallel.IdleWhileQueued, a.Parallel.Steals)
	for _, g := range a.Groups[:min(3, len(a.Groups))] {
		t.Logf("  %s: %d, exec %v, wait p99 %v, run p50 %v", a.Reader.Name(g.Name), g.Count, g.Exec, g.Wait.Quantile(0.99), g.Run.Quantile(0.5))
	}
}

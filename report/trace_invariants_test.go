package report_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/report"
	"loupe/report/reporttest"
)

// TestTraceInvariants: no table of loupe trace says what cannot be, of no trace and
// no part of one.
func TestTraceInvariants(t *testing.T) {
	files, err := filepath.Glob("../format/exectrace/testdata/*/*.trace")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d traces, %v", len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"", "state=runnable", "dur>10us", "from=1ms to=3ms", "reason~chan", "func~main from=500us"} {
			tr, err := exectrace.Open(data, exectrace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			f, err := sched.ParseFilter(text)
			if err != nil {
				t.Fatal(err)
			}
			a, err := sched.Analyze(tr, sched.AnalyzeOptions{Filter: f})
			if err != nil {
				t.Fatal(err)
			}
			views := map[string]*report.Trace{
				"summary": report.TraceSummary(a), "goroutines": report.TraceGoroutines(a, false, 50), "creators": report.TraceGoroutines(a, true, 50),
				"blocked": report.TraceBlocked(a, 50), "sched": report.TraceSched(a, 50), "tasks": report.TraceTasks(a, 50),
				"regions": report.TraceRegions(a, 50), "stw": report.TraceSTW(a, 50),
				"hogs":    {Sheets: []*report.Sheet{report.TraceHogs(a, 50)}},
				"compare": report.TraceComparison(sched.Compare(a, a), "a", "b", 50),
			}
			for verb, v := range views {
				for _, wrong := range reporttest.CheckTrace(v) {
					t.Errorf("%s %s -filter %q: %s", filepath.Base(name), verb, text, wrong)
				}
			}
		}
	}
}

// TestInvariants: what cannot be is found.
func TestInvariants(t *testing.T) {
	bad := func(key, other string, value, of any) {
		t.Helper()
		s := &report.Sheet{Key: "t", Columns: []report.Column{{Key: key}, {Key: other}}, Rows: [][]any{{value, of}}}
		if len(reporttest.Check(s)) != 1 {
			t.Errorf("%s %v, %s %v: %q", key, value, other, of, reporttest.Check(s))
		}
	}
	bad("share", "x", report.Share(10.4), nil)
	bad("share", "x", report.Share(-0.1), nil)
	bad("wait_p999_ns", "wait_p99_ns", time.Second, 2*time.Second)
	bad("p50_ns", "max_ns", 3*time.Second, 2*time.Second)
	bad("peak", "count", int64(3), int64(2))
	bad("total_ns", "x", -time.Second, nil)
	bad("idle", "x", "1040 % of the time of all Ps", nil)
	bad("use", "x", report.Course{Values: []float64{1, 4.45}, Top: 2}, nil)
}

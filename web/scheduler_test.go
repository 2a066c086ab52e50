package web

import (
	"reflect"
	"testing"

	"loupe/analysis/sched"
	"loupe/report"
	"loupe/session"
	"loupe/value/timeline"
)

// TestSchedPage holds the page against what loupe trace sched computes with the
// same filter, and that against the range.
func TestSchedPage(t *testing.T) {
	p := pagesOf(t, smallRecording(t, timeline.Clock{Offset: 1e9}))
	trace, _, err := session.New(smallRecording(t, timeline.Clock{Offset: 1e9}).Open()).Trace()
	if err != nil {
		t.Fatal(err)
	}
	f := func(question, filter string) {
		t.Helper()
		var page schedPage
		p.get("sched/trace?s=1"+question, &page)
		if page.Filter != filter || page.Start != 1001e6 {
			t.Errorf("%s: filter %q from %v on, want %q", question, page.Filter, page.Start, filter)
		}
		parsed, err := sched.ParseFilter(filter)
		if err != nil {
			t.Fatal(err)
		}
		a, err := sched.Analyze(trace, sched.AnalyzeOptions{Filter: parsed})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			name      string
			have, all *facts
		}{{"sched", page.Sched, factsOf(report.TraceSched(a, schedRows))}, {"blocked", page.Blocked, factsOf(report.TraceBlocked(a, schedRows))}} {
			if len(x.have.Facts) != len(x.all.Facts) || len(x.have.Tables) != len(x.all.Tables) {
				t.Fatalf("%s: %d facts and %d tables, want %d and %d", x.name, len(x.have.Facts), len(x.have.Tables), len(x.all.Facts), len(x.all.Tables))
			}
			for i := range x.all.Facts {
				if x.have.Facts[i].Shown != x.all.Facts[i].Shown {
					t.Errorf("%s: %s is %q, want %q", x.name, x.all.Facts[i].Head, x.have.Facts[i].Shown, x.all.Facts[i].Shown)
				}
			}
			for i := range x.all.Tables {
				if !reflect.DeepEqual(x.have.Tables[i].Shown, x.all.Tables[i].Shown) {
					t.Errorf("%s: %v, want %v", x.name, x.have.Tables[i].Shown, x.all.Tables[i].Shown)
				}
			}
		}
		if page.Waits.Total != a.Latency.All.Count || page.Runs.Total != a.Runs.All.Count {
			t.Errorf("%d waits and %d runs, want %d and %d", page.Waits.Total, page.Runs.Total, a.Latency.All.Count, a.Runs.All.Count)
		}
	}
	f("", "")
	f("&t0=0&t1=9000000000", "")
	f("&t0=1003000000&t1=1005500000", "from=2ms to=4.5ms")
	f("&t0=1000000000&t1=1004000000", "to=3ms")
	p.refused(404, "sched/trace?s=1&t0=0&t1=1000000", nil)
	p.refused(404, "sched/samples?s=1", nil)

	var samples schedParts
	busy := pagesOf(t, busyRecording(t))
	busy.get("sched/samples?s=1&t0=2500000000&t1=5500000000", &samples)
	if len(samples.Parts) != 1 || samples.Parts[0].Figures.Shown[0][1] != "3" {
		t.Errorf("samples = %+v, want the three of the range", samples.Parts)
	}
}

package web

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"loupe/analysis/compare"
	figures "loupe/analysis/facts" // a page has facts of its own here
	"loupe/insight"
	"loupe/recording/recordingtest"
	"loupe/report"
	"loupe/session"
	"loupe/value/timeline"
)

// TestOverviewFigures holds the figures against those of loupe report, and those
// of a range against the whole.
func TestOverviewFigures(t *testing.T) {
	p := pagesOf(t, busyRecording(t))
	want := tableOf(report.Figures(compare.Compare(figures.Gather(session.New(busyRecording(t).Open())))))
	f := func(question, of string) map[string]string {
		t.Helper()
		var page figurePage
		p.get("overview/figures?s=1"+question, &page)
		if page.Of != of {
			t.Errorf("%s: %q, want %q", question, page.Of, of)
		}
		if (question == "" || question == "&t0=0&t1=8000000000") && !reflect.DeepEqual(page.Figures.Shown, want.Shown) {
			t.Errorf("%s: %v, want %v", question, page.Figures.Shown, want.Shown)
		}
		figures := map[string]string{}
		for _, r := range page.Figures.Shown {
			figures[r[0]] = r[1]
		}
		return figures
	}
	f("", "of phase bare")
	f("&t0=0&t1=8000000000", "of phase bare, 0.00 s to 8.00 s")
	part := f("&t0=3000000000&t1=5000000000", "of phase bare, 3.00 s to 5.00 s")
	if part["Requests"] != "2,000" || part["Total collections"] != "20" || part["Total duration"] != "2.00 s" {
		t.Errorf("the figures of two seconds are %v", part)
	}
	f("&t0=7900000000&t1=10000000000", "of phase trace, 8.00 s to 10.00 s, whose profiler (trace) has a cost too")
}

// TestOverviewTime holds the shares against the small trace, whose Ps run for
// 5.5 of 6 ms.
func TestOverviewTime(t *testing.T) {
	p := pagesOf(t, smallRecording(t, timeline.Clock{Offset: 1e9}))
	var page timePage
	p.get("overview/time?s=1", &page)
	sum := 0.0
	for _, x := range page.Procs {
		sum += x.Share
		if want := 5.5 / 12; x.Key == "running" && math.Abs(x.Share-want) > 0.02 {
			t.Errorf("the Ps run for %v of the time, want %v", x.Share, want)
		}
	}
	if math.Abs(sum-1) > 1e-9 || len(page.Goroutines) == 0 {
		t.Errorf("the shares add up to %v; goroutines %+v", sum, page.Goroutines)
	}
	var top topPage
	p.get("overview/top?s=1&t0=1002000000&t1=1004000000", &top)
	if top.View != "timeline" || len(top.Table.Shown) == 0 {
		t.Errorf("top = %+v", top)
	}
	p.refused(404, "overview/time?s=1&t0=0&t1=1000", nil)
	p.refused(404, "overview/top?s=1&t0=0&t1=1000", nil)
}

// TestFindingsOfPart: of all of the trace the rules that can judge a part say
// what they say of the recording, and of a part what lies in it.
func TestFindingsOfPart(t *testing.T) {
	p := pagesOf(t, recordingOf(busy()))
	// Where the trace ends is an estimate until all of it is read.
	if _, err := p.sources.all[0].traced(t.Context()); err != nil {
		t.Fatal(err)
	}
	var all []insight.Finding
	p.get("findings?s=1", &all)
	var l laneList
	p.get("timeline/lanes?s=1&kinds=gc", &l)
	of := func(from, to timeline.Time) (f partFindings) {
		p.get(fmt.Sprintf("findings/part?s=1&t0=%d&t1=%d", from, to), &f)
		return f
	}
	whole := of(l.Span.Start, l.Span.End)
	if len(whole.Checked) < 5 || whole.Covers != l.Span {
		t.Fatalf("checked %v over %v of %v", whole.Checked, whole.Covers, l.Span)
	}
	for _, f := range whole.Findings {
		i := slices.IndexFunc(all, func(g insight.Finding) bool { return g.Rule == f.Rule })
		if i < 0 || all[i].State != f.State || f.Rule != "SC07" && f.State != insight.TooLittle && all[i].Summary != f.Summary {
			t.Errorf("%s says %q of all of the time, and %q of the recording", f.Rule, f.Summary, all[max(0, i)].Summary)
		}
	}
	middle := (l.Span.Start + l.Span.End) / 2
	for _, f := range of(l.Span.Start, middle).Findings {
		for _, e := range f.Evidence {
			if e.Span != nil && timeline.Time(e.Span[1]) > middle+1 {
				t.Errorf("%s of the first half has evidence up to %d, behind %d", f.Rule, e.Span[1], middle)
			}
		}
	}
	for _, f := range of(middle, middle+1000).Findings {
		if f.State != insight.TooLittle {
			t.Errorf("of a microsecond %s says %q", f.Rule, f.Summary)
		}
	}
	if f := of(l.Span.End+1, l.Span.End+2); f.Covers.Len() != 0 || slices.ContainsFunc(f.Findings, func(f insight.Finding) bool { return f.State != insight.TooLittle }) {
		t.Errorf("behind the trace it says %+v", f)
	}
}

// TestFindingsOfPartOfLog: without a trace the log of the collector is judged.
func TestFindingsOfPartOfLog(t *testing.T) {
	r := recordingtest.New("title x\nhost cpus=4\nphase bare 0s..10s user=20s\nclock stderr.log 5ms error=20ms\n-- stderr.log stderr --\n" +
		recordingtest.Cycles(1000, 10*time.Millisecond, 5*time.Millisecond, func(i int, c *recordingtest.Cycle) {
			if i >= 500 {
				c.STW1 = time.Millisecond
			}
		}))
	p := pagesOf(t, r)
	of := func(from, to time.Duration) insight.State {
		var f partFindings
		p.get(fmt.Sprintf("findings/part?s=1&t0=%d&t1=%d", from, to), &f)
		i := slices.IndexFunc(f.Findings, func(f insight.Finding) bool { return f.Rule == "GC01" })
		if i < 0 || !slices.Contains(f.Checked, "GC01") || f.Covers.Len() != 0 {
			t.Fatalf("of %v to %v it says %+v", from, to, f)
		}
		return f.Findings[i].State
	}
	if quiet, slow := of(0, 2*time.Second), of(3*time.Second, 5*time.Second); quiet != insight.Fine || slow != insight.Found {
		t.Errorf("GC01 is %s of the time without long pauses, and %s of that with them", quiet, slow)
	}
}

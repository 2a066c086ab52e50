package web

import (
	"reflect"
	"slices"
	"testing"

	"loupe/analysis/gc"
	"loupe/analysis/sched"
	"loupe/report"
	"loupe/session"
	"loupe/value/timeline"
)

// TestCollectorPage holds the page against what loupe gc computes.
func TestCollectorPage(t *testing.T) {
	p := pagesOf(t, busyRecording(t))
	rec := busyRecording(t).Open()
	in := session.New(rec)
	log, err := in.Runtime(0)
	if err != nil {
		t.Fatal(err)
	}
	f := func(question string, from, to timeline.Time, requests int64) {
		t.Helper()
		var page gcPage
		p.get("gc?s=1"+question, &page)
		a, b := log.Window(timeline.Span{Start: from, End: to})
		want := gc.Analyse(gc.Window(log.Cycles, a, b), gc.Options{Duration: to.Sub(from), Requests: requests})
		if shown := tableOf(report.GCFigures(&want.Derived)).Shown; len(page.Parts) != 1 || !reflect.DeepEqual(page.Parts[0].Figures.Shown, shown) {
			t.Fatalf("%s:\n%v\nwant\n%v", question, page.Parts, shown)
		}
	}
	f("", 2e9, 6e9, 3999)                             // the load, as in loupe gc
	f("&t0=3000000000&t1=5000000000", 3e9, 5e9, 2000) // the middle of it

	var cycles cyclesPage
	p.get("gc/cycles?s=1&t0=1000000000&t1=2000000000", &cycles)
	if n := len(cycles.Table.Shown); n != 10 || len(cycles.Start) != n || cycles.Start[0] != 1e9 || cycles.Pauses[0].Total != 10 {
		t.Errorf("%d collections from %v on", n, cycles.Start)
	}
	p.refused(404, "gc/cycles?s=1&t0=100&t1=200", nil)

	// Where the trace has none of the range, gctrace gives the curve.
	var mmu mmuPage
	p.get("gc/mmu?s=1&t0=1000000000&t1=2000000000", &mmu)
	if mmu.Covers != (timeline.Span{Start: 1e9, End: 2e9}) || mmu.Source == "execution trace" || mmu.Least[0] != 0 {
		t.Errorf("mmu = %+v", mmu)
	}
	last := len(mmu.Least) - 1
	// Of each tenth of a second, half a millisecond costs a fifth of four Ps.
	if got := mmu.Least[last]; got < 0.995 || got > 1 {
		t.Errorf("in %v ns the program has %v", mmu.Windows[last], got)
	}
}

func TestCutSteps(t *testing.T) {
	steps := [][]sched.UtilStep{{{Time: 0, Util: 1}, {Time: 10, Util: 0}, {Time: 20, Util: 1}, {Time: 30}}}
	f := func(from, to timeline.Time, want ...sched.UtilStep) {
		t.Helper()
		got := cutSteps(steps, timeline.Span{Start: from, End: to})
		if len(want) == 0 && got != nil || len(want) > 0 && (len(got) != 1 || !slices.Equal(got[0], want)) {
			t.Errorf("cut from %d to %d = %v, want %v", from, to, got, want)
		}
	}
	f(0, 30, steps[0]...)
	f(-5, 99, steps[0]...)
	f(12, 25, sched.UtilStep{Time: 12, Util: 0}, sched.UtilStep{Time: 20, Util: 1}, sched.UtilStep{Time: 25})
	f(20, 22, sched.UtilStep{Time: 20, Util: 1}, sched.UtilStep{Time: 22})
	f(30, 40)
}

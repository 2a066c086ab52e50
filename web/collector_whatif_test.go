package web

import (
	"reflect"
	"testing"

	figures "loupe/analysis/facts" // a page has facts of its own here
	"loupe/analysis/gc"
	"loupe/insight"
	"loupe/report"
	"loupe/session"
)

// TestWhatIfPage holds the page against what loupe gc -what-if prints.
func TestWhatIfPage(t *testing.T) {
	p := pagesOf(t, busyRecording(t))
	var page whatIfPage
	p.get("gc/whatif?s=1&gogc=400&limit=2GiB&container=1GiB", &page)

	in := session.New(busyRecording(t).Open())
	round := figures.MostCollections(insight.NewInput(in).Facts.Rounds)
	replay, err := round.Replay(in)
	if err != nil {
		t.Fatal(err)
	}
	chosen := gc.Settings{GOGC: 400, Limit: 2 << 30}
	want := replay.Predict(chosen)
	if page.Chosen.Settings != "GOGC=400 GOMEMLIMIT=2GiB" || page.Chosen.HeapMB != float64(want.PeakHeapMB.Estimate) || page.Said != report.PredictionText(&want) {
		t.Errorf("chosen %+v, %s; want %+v", page.Chosen, page.Said, want)
	}
	choice := replay.Choose(1 << 30)
	if page.Choice != report.ChoiceText(&choice) {
		t.Errorf("choice %q", page.Choice)
	}
	alone := tableOf(report.WhatIfSheet(replay.WhatIf([]gc.Settings{chosen})))
	if len(page.Table.Shown) < 7 || !reflect.DeepEqual(page.Table.Shown[:2], alone.Shown) {
		t.Errorf("table %q, want it to begin with %q", page.Table.Shown, alone.Shown)
	}
	for i := 1; i < len(page.Curve); i++ {
		if a, b := page.Curve[i-1], page.Curve[i]; b.HeapMB < a.HeapMB || b.Share > a.Share*1.05 {
			t.Errorf("from %+v to %+v", a, b)
		}
	}

	p.get("gc/whatif?s=1", &page)
	if page.Chosen.GOGC != 200 || page.Choice != "" {
		t.Errorf("without a question: %+v", page.Chosen)
	}
	for _, bad := range []string{"gogc=fast", "limit=400MB", "gogc=100%20GOMEMLIMIT=1", "container=much", "container=-1"} {
		p.refused(400, "gc/whatif?s=1&"+bad, nil)
	}
	p.refused(404, "gc/whatif?s=1&t0=100&t1=200", nil)
	p.refused(404, "gc/whatif?s=1&t0=1000000000&t1=1200000000", nil) // too few
}

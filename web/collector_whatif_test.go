package web

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

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
	advice := gc.Advise(replay, figures.AdviceOptions(insight.NewInput(in).Facts, gc.AdviceOptions{Container: 1 << 30, Outside: -1}))
	if page.Advice == nil || page.Advice.Said != report.AdviceText(advice) || page.Advice.Container != "1.00 GiB" {
		t.Errorf("advice %+v, want %s", page.Advice, report.AdviceText(advice))
	}
	recorded := replay.Recorded()
	if !reflect.DeepEqual(page.Figures, tableOf(report.PredictionSheet(&recorded, &want))) || page.Grade != report.GradeText(&want) || page.Refused {
		t.Errorf("figures %q, grade %s", page.Figures.Shown, page.Grade)
	}
	for i, chosen := range []string{"400", "2GiB"} {
		k := page.Knobs[i]
		if k.Steps[k.At] != chosen || k.Steps[len(k.Steps)-1] != "off" || !slices.Equal(slices.Compact(slices.Clone(k.Steps)), k.Steps) {
			t.Errorf("%s: step %d of %q, want %s", k.Name, k.At, k.Steps, chosen)
		}
	}
	if !slices.Contains(page.Knobs[1].Steps, "1GiB") {
		t.Errorf("the container is no step of %q", page.Knobs[1].Steps)
	}
	// Each step can be asked about.
	for _, k := range page.Knobs {
		for i, step := range k.Steps {
			var at whatIfPage
			p.get("gc/whatif?s=1&"+k.Name+"="+step, &at)
			if got := at.Knobs[slices.IndexFunc(at.Knobs, func(o knob) bool { return o.Name == k.Name })]; got.Steps[got.At] != step {
				t.Errorf("%s=%s, step %d, is step %d of %q", k.Name, step, i, got.At, got.Steps)
			}
		}
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

	page = whatIfPage{}
	p.get("gc/whatif?s=1&gogc=off", &page)
	if k := page.Knobs; k[0].Steps[k[0].At] != "off" || k[1].Steps[k[1].At] != "off" || !strings.Contains(page.Said, "memory grows by everything") {
		t.Errorf("nothing that collects: %+v, %s", k, page.Said)
	}
	page = whatIfPage{}
	p.get("gc/whatif?s=1", &page)
	if page.Chosen.GOGC != 200 || page.Advice != nil {
		t.Errorf("without a question: %+v, %+v", page.Chosen, page.Advice)
	}
	for _, bad := range []string{"gogc=fast", "limit=400MB", "gogc=100%20GOMEMLIMIT=1", "container=much", "container=-1"} {
		p.refused(400, "gc/whatif?s=1&"+bad, nil)
	}
	p.refused(404, "gc/whatif?s=1&t0=100&t1=200", nil)
	p.refused(404, "gc/whatif?s=1&t0=1000000000&t1=1200000000", nil) // too few
}

// risingLog is of a program whose live heap grows by 3 MB from each collection to the next.
func risingLog() string {
	var b strings.Builder
	for i := range 12 {
		live, start := 20+3*i, 36+6*i
		fmt.Fprintf(&b, "gc %d @%d.000s 2%%: 0.10+20+0.10 ms clock, 0.40+0/20/0+0.40 ms cpu, %d->%d->%d MB, %d MB goal, 0 MB stacks, 0 MB globals, 4 P\n", i+1, i+1, start, start+2, live, 2*live)
	}
	return b.String()
}

// TestWhatIfRefused: of a limit that a rising heap comes to nothing is predicted, and there is
// no advice for a container. The page says why.
func TestWhatIfRefused(t *testing.T) {
	p := pagesOfFiles(t, fstest.MapFS{"rising.log": {Data: []byte(risingLog())}}, "rising.log")
	var page whatIfPage
	p.get("gc/whatif?s=1&gogc=off&limit=100MiB&container=512MiB", &page)
	if !page.Refused || !strings.Contains(page.Grade, "Reason: the live heap rises towards the limit") {
		t.Errorf("refused %t, %s", page.Refused, page.Grade)
	}
	if got := page.Figures.Shown[0]; !strings.HasPrefix(got[1], "at least ") || got[2] != "" || got[3] != "12" {
		t.Errorf("the collections are %q", got)
	}
	if page.Advice == nil || page.Advice.GOGC != "" || page.Advice.Limit != "" || !strings.HasPrefix(page.Advice.Said, "No advice for 512 MiB: the live heap was still rising") {
		t.Errorf("advice %+v", page.Advice)
	}
	page = whatIfPage{}
	p.get("gc/whatif?s=1&gogc=200", &page)
	if page.Refused || !strings.HasPrefix(page.Grade, "Grade poor: ") || page.Advice != nil {
		t.Errorf("GOGC alone: refused %t, %s, %+v", page.Refused, page.Grade, page.Advice)
	}
}

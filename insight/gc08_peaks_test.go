package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// TestGC08Peaks: a heap that grows steadily is a warning where the profiles at its peaks show which lines keep more and
// more, also where none of them has much of it; the map that grows with them is named. What is level at the peaks, what is
// a small part of the growth, and a map with a bound is no such thing.
func TestGC08Peaks(t *testing.T) {
	const store = "package cache\n\nvar seen = map[string]*entry{}\n\nfunc remember(k string) {\n\te := new(entry)\n\te.a = new(a)\n\te.b = new(b)\n\te.c = new(c)\n\tseen[k] = e // map\n}\n\nfunc forget(k string) { delete(seen, k) }\n"
	bounded := strings.Replace(store, "\tseen[k] = e // map", "\tseen[k] = e // map\n\tif len(seen) > 100000 {\n\t\tfor k := range seen {\n\t\t\tdelete(seen, k)\n\t\t\tbreak\n\t\t}\n\t}", 1)
	sliced := strings.Replace(strings.Replace(store, "map[string]*entry{}", "make([]*entry, 9)", 1), "delete(seen, k)", "clear(seen)", 1)
	rises := func(line, look int) int64 { return int64(look+1) * 10 }
	for _, x := range []struct {
		name, source string
		peaks        int
		kept         func(line, look int) int64 // in MB
		severity     Severity
		names        bool
	}{
		{"five lines that rise", store, 8, rises, Warning, true},
		{"into a slice", sliced, 8, rises, Warning, false},
		{"with a bound", bounded, 8, rises, Info, false},
		{"few peaks", store, 4, rises, Info, false},
		{"level at the peaks", store, 8, func(line, look int) int64 { return 70 }, Info, false},
		{"a small part of the growth", store, 8, func(line, look int) int64 {
			if line == 0 {
				return int64(look + 1)
			}
			return []int64{10, 60, 20, 70, 30, 70, 50, 80}[(look+line)%8]
		}, Info, false},
		{"gone again", store, 8, func(line, look int) int64 { return []int64{10, 20, 30, 40, 120, 120, 70, 70}[look] }, Info, false},
	} {
		live := func(s int) float64 { return float64(10+40*s) * mb }
		log := recordingtest.Cycles(20, 100*time.Millisecond, 400*time.Millisecond, func(i int, c *recordingtest.Cycle) { c.Live = int(live(2*i/5) / mb) })
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase heap 9s..10s profiler=heap\nclock stderr.log 0ms\nphase bare 0s..9s\n-- load.requests load phase=bare --\n" +
			"-- stderr.log stderr --\n" + log + metricsTable("/memory/classes/heap/objects:bytes /gc/heap/live:bytes", func(s int) []float64 { return []float64{2 * live(s), live(s)} }))
		look := func(e recording.Entry, n int) {
			var columns []column
			for line := range 5 {
				kept := x.kept(line, n)
				columns = append(columns, column{fmt.Sprintf("main.main shop/cache.remember:a.go:%d", 6+line), []int64{900 * kept, kept << 22, 100 * kept, kept << 20}})
			}
			r.Put(e, heapProfile(columns...))
		}
		withSource(r, "a.go", x.source)
		for i := range x.peaks {
			at := timeline.Time(i+1) * 1e9
			look(recording.Entry{Path: fmt.Sprintf("peak/heap-%02d.pb.gz", i+1), Kind: recording.Heap, Phase: "bare", Span: timeline.Span{Start: at, End: at}}, i)
		}
		look(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap", Span: timeline.Span{Start: 9e9, End: 9e9}}, 7)
		f := answers(t, r, "GC08")[0]
		if f.State != Found || f.Severity != x.severity || strings.Contains(f.Summary, "the map seen, which is filled at a.go:10, grows with it") != x.names {
			t.Errorf("%s: %s %s: %s\n%s", x.name, f.State, f.Severity, f.Summary, f.Advice)
		}
	}
}

package insight

import (
	"testing"
	"time"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestGC08Steady: a service under load whose live heap goes up by the same in every second
// keeps something, also where no collection was forced and it is not much yet: the heap
// profile after it has it in use.
func TestGC08Steady(t *testing.T) {
	// Live and what is in use in the end are in tenths of MB; the line with most of it has
	// allocated so much in all.
	recorded := func(head string, live func(second int) int, inUse, allocated int64) *recordingtest.Recording {
		log := recordingtest.Cycles(20, 100*time.Millisecond, 400*time.Millisecond, func(i int, c *recordingtest.Cycle) { c.Live = live(2*i/5) / 10 })
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase heap 9s..10s profiler=heap\nclock stderr.log 0ms\n" + head +
			"-- stderr.log stderr --\n" + log +
			metricsTable("/memory/classes/heap/objects:bytes /gc/heap/live:bytes", func(s int) []float64 { return []float64{float64(2*live(s)) * mb / 10, float64(live(s)) * mb / 10} }))
		data := heapProfile(
			column{"main.main shop/cache.remember:/src/none.go:11", []int64{9 * allocated, allocated << 20 / 10, 9 * inUse, inUse << 20 / 10 * 4 / 5}},
			column{"main.main shop/cache.note:/src/none.go:20", []int64{100, 9 << 20, 10, inUse << 20 / 10 / 5}},
		)
		return r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, data)
	}
	const server, batch = "phase bare 0s..9s\n-- load.requests load phase=bare --\n", "run 0s..9s exit=\"exit status 0\"\nphase bare 0s..9s\n"
	steady := func(s int) int { return 10 + 8*s }
	f := expect(t, "a leak", recorded(server, steady, 70, 70), "GC08", Found, "rose steadily from", "was still rising", "80.0% of them allocated at none.go:11 in cache.remember")
	severity(t, "a leak", f, Warning)
	if f.Impact.Value < 47 || f.Impact.Value > 49 { // 0.8 MB a second
		t.Errorf("impact %+v, want 48 MB a minute", f.Impact)
	}
	if e := f.Evidence[0]; e.Line != 11 || e.Path != "heap.pb.gz" {
		t.Errorf("evidence %+v", e)
	}
	severity(t, "a line with much garbage beside", expect(t, "turnover", recorded(server, steady, 70, 700), "GC08", Found, "cache.remember"), Warning)
	for what, r := range map[string]*recordingtest.Recording{
		"a pool that fills":      recorded(server, func(s int) int { return []int{10, 80, 130, 165, 182, 190, 194, 196, 198, 199}[min(s, 9)] }, 199, 199),
		"a warm-up":              recorded(server, func(s int) int { return 10 + 60*min(s, 3) + s }, 190, 190),
		"garbage of a long mark": recorded(server, steady, 9, 9),
		"next to nothing":        recorded(server, func(s int) int { return 10 + 2*s }, 26, 26),
		"up and down":            recorded(server, func(s int) int { return 10 + 40*(s%3) }, 70, 70),
	} {
		if f := answers(t, r, "GC08")[0]; f.State == Found {
			t.Errorf("%s: %s", what, f.Summary)
		}
	}
	if f := answers(t, recorded(batch, steady, 70, 70), "GC08")[0]; f.State == Found && f.Severity != Info {
		t.Errorf("a batch: %s: %s", f.Severity, f.Summary)
	}
}

package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// watched is a service of which the runtime's metrics are known for a number of
// seconds, and what was in use in the end.
func watched(seconds int, size, live func(second int) int, inUse int64) *recordingtest.Recording {
	return sampled("/memory/classes/heap/objects:bytes /gc/heap/live:bytes /gc/cycles/total:gc-cycles", seconds, size, live, inUse)
}

// sampled is such a service with metrics of these names.
func sampled(names string, seconds int, size, live func(second int) int, inUse int64) *recordingtest.Recording {
	var b strings.Builder
	fmt.Fprintf(&b, "title x\ntarget url shop module=shop\nphase bare 0s..%ds\nphase heap %ds..%ds profiler=heap\n", seconds, seconds, seconds+1)
	b.WriteString("-- source/search/rss.go source from=/src/rss.go --\n" + rss)
	b.WriteString("-- metrics.ndjson metrics --\nt_ns " + names + "\n")
	for s := range seconds {
		fmt.Fprintf(&b, "%ds %d %d %d\n", s, size(s)<<20, live(s)<<20, s)
	}
	r := recordingtest.New(b.String())
	if inUse == 0 {
		return r
	}
	stacks := picture(
		column{"shop.main:/src/main.go:3 shop/search.store:/src/rss.go:21 strings.ToLower", []int64{1, inUse * 3 / 4 << 20}},
		column{"shop.main:/src/main.go:4 shop/search.find:/src/rss.go:5", []int64{1, inUse / 4 << 20}},
	)
	data := profiletest.Encode(stacks, profiletest.Options{Types: []string{"inuse_objects/count", "inuse_space/bytes"}, Period: 512 << 10})
	return r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, data)
}

// TestGC08Metrics: without gctrace a leak shows in the runtime's metrics and the
// heap profile, which names the line.
func TestGC08Metrics(t *testing.T) {
	rising := func(s int) int { return 10 + 4*s }
	saw := func(s int) int { return 10 + 3*(s%10) }
	for what, change := range map[string]func(r *recordingtest.Recording){
		"the end of the program": func(r *recordingtest.Recording) { r.Manifest.Target.Runs = []recording.Run{{Exit: "exit status 0"}} },
		"another run": func(r *recordingtest.Recording) {
			r.Manifest.Entries[len(r.Manifest.Entries)-1].Run = 1
			r.Manifest.Target.Runs = make([]recording.Run, 2)
		},
	} {
		r := watched(30, rising, rising, 1)
		change(r)
		expect(t, what, r, "GC08", TooLittle, "does not say what was in use while it worked")
	}
	early := func(s int) int { return min(60, 10+10*s) }
	expect(t, "it grew at the start", watched(30, early, early, 60), "GC08", Fine, "60.0 MiB were still in use, but it had stopped growing")
	// What is live doubles until it stands; the size, with the garbage in it, still seems to rise.
	full := func(s int) int { return min(130+s/8, 4<<s) }
	expect(t, "it has filled", watched(30, func(s int) int { return full(s) + 3*s }, full, 135), "GC08", Fine, "134 MiB were still in use, but it had stopped growing")
	// Three readings at the end of a steady rise are no end.
	last := func(s int) int { return min(8+2*s, 64) }
	expect(t, "it grew until just now", watched(32, last, last, 56), "GC08", Found, "the live heap went from 8.00 MiB to 64.0 MiB")
	dips := func(s int) int { return 8 + 4*min(s, 25) - s/29 }
	expect(t, "it may stand", watched(32, dips, dips, 105), "GC08", TooLittle, "whether it has stopped growing needs a longer recording")
	// It rises in the bare phase; in the other phases of its life it does not.
	later := watched(40, func(s int) int { return 8 + 4*min(s, 12) }, func(s int) int { return 8 + 4*min(s, 12) }, 56)
	later.Manifest.Phases[0].Span.End = 14e9
	expect(t, "it levelled off later", later, "GC08", TooLittle, "in the rest of its life the live heap has levelled off")
	still := func(s int) int { return 8 + s%2 }

	f := expect(t, "leak", watched(30, rising, func(s int) int { return 4 * (1 + s) }, 120), "GC08", Found,
		"the live heap went from 4.00 MiB to 120 MiB in 30.0 s and 29 collections", "120 MiB were still in use", "75.0% of them allocated at rss.go:21 in search.store")
	severity(t, "leak", f, Warning)
	if f.Impact.Value < 239 || f.Impact.Value > 241 { // 4 MiB a second
		t.Errorf("impact %+v, want 240 MB a minute", f.Impact)
	}
	if e := f.Evidence[0]; e.Line != 21 || !strings.Contains(e.Source, "cache = ") || e.Path != "heap.pb.gz" {
		t.Errorf("evidence %+v", e)
	}
	expect(t, "saw-tooth", watched(60, saw, still, 9), "GC08", Fine, "no lasting growth")
	expect(t, "garbage that nobody needs", watched(30, rising, still, 12), "GC08", Fine, "12.0 MiB were in use")
	expect(t, "little", watched(30, func(s int) int { return 1 + s/5 }, func(s int) int { return 1 + s/5 }, 6), "GC08", Fine)
	expect(t, "came back", watched(30, rising, func(s int) int { return 100 - s }, 120), "GC08", Fine)
	expect(t, "short", watched(5, rising, rising, 120), "GC08", TooLittle, "5 samples")
	expect(t, "no profile", watched(30, rising, rising, 0), "GC08", NotApplicable, "no heap profile")
}

// TestGC08Goal: where the program's own /debug/pprof alone is asked, the goal of the
// next collection is told and not what lives, which is half of it as a rule.
func TestGC08Goal(t *testing.T) {
	// A collection every five seconds doubles what was in use.
	live := func(s int) int { return 12 + 4*(s/5*5) }
	polled := func(seconds, percent int, inUse int64) *recordingtest.Recording {
		size := func(s int) int { return live(s) + 4*(s%5) }
		goal := func(s int) int { return live(s) * (100 + percent) / 100 }
		return sampled("memstats.HeapAlloc memstats.NextGC memstats.NumGC", seconds, size, goal, inUse)
	}
	for _, percent := range []int{100, 50, 400} {
		what := fmt.Sprintf("leak, GOGC=%d", percent)
		expect(t, what, polled(30, percent, 116), "GC08", Found, "116 MiB were still in use")
		expect(t, what, polled(30, percent, 116), "GC09", Fine, "12.0 MiB, later 112 MiB")
	}
	expect(t, "came back", polled(30, 100, 20), "GC08", Fine, "20.0 MiB were in use")
}

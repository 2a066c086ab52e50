package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/facts"
	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// heapProfile is one of memory allocated and in use.
func heapProfile(columns ...column) []byte {
	return profiletest.Encode(picture(columns...), profiletest.Options{Types: []string{"alloc_objects/count", "alloc_space/bytes", "inuse_objects/count", "inuse_space/bytes"}, Period: 512 << 10})
}

// heapLooks is a recording with heap profiles at peaks, of two lines: how much each has in
// use and has allocated by then, in MB, at each second.
func heapLooks(head string, looks ...[4]int64) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop\n" + head)
	put := func(e recording.Entry, look [4]int64) {
		columns := []column{
			{"main.main shop/cache.remember:/src/none.go:11", []int64{100 * look[1], look[1] << 20, 100 * look[0], look[0] << 20}},
			{"main.main shop/cache.note:/src/none.go:20", []int64{100 * look[3], look[3] << 20, 100 * look[2], look[2] << 20}},
		}
		r.Put(e, heapProfile(columns...))
	}
	for i, look := range looks {
		at := timeline.Time(i+1) * 1e9
		put(recording.Entry{Path: fmt.Sprintf("peak/heap-%02d.pb.gz", i+1), Kind: recording.Heap, Phase: "bare", Span: timeline.Span{Start: at, End: at}}, look)
	}
	return r
}

// TestGC16Peaks: the profile with the most in use counts, wherever it was taken; a line that
// only takes more is a warning where somebody waits for the program.
func TestGC16Peaks(t *testing.T) {
	const load = "phase bare 0s..6s\n-- load.requests load phase=bare --\n"
	leak := [][4]int64{{20, 20, 1, 9}, {40, 40, 1, 20}, {60, 60, 1, 30}, {80, 80, 1, 40}, {100, 100, 1, 50}}
	f := expect(t, "a cache that grows", heapLooks(load, leak...), "GC16", Found, "of 101 MiB in use near the peak", "none.go:11 in cache.remember", "went from 20.0 MiB to 100 MiB in 4.00 s", "was still growing")
	severity(t, "a cache that grows", f, Warning)
	if !strings.Contains(f.Evidence[0].Text, "100% of all that the line had allocated") {
		t.Errorf("evidence %+v", f.Evidence[0])
	}
	f = expect(t, "an index that was read at the start", heapLooks("phase bare 0s..60s\n-- load.requests load phase=bare --\n", leak...), "GC16", Found)
	severity(t, "an index that was read at the start", f, Info)
	f = expect(t, "a batch", heapLooks("run 0s..6s exit=\"exit status 0\"\nphase bare 0s..6s\n", leak...), "GC16", Found, "near the peak")
	severity(t, "a batch", f, Info)
	log := "phase bare 0s..6s\nclock stderr.log 0ms\n-- stderr.log stderr --\n" + recordingtest.Cycles(3, time.Second, time.Second, func(i int, c *recordingtest.Cycle) { c.Live, c.Start, c.End = 200, 210, 210 })
	expect(t, "a profile that has not caught up", heapLooks(log, leak...), "GC16", Found, "a collection found 200 MiB live")
	bounded := [][4]int64{{70, 70, 1, 9}, {80, 400, 1, 9}, {90, 900, 1, 9}}
	f = expect(t, "a cache that lets go", heapLooks(load, bounded...), "GC16", Found)
	severity(t, "a cache that lets go", f, Info)
}

// TestPeakIsNoEnd: of a heap that is all kept a profile at a peak has less, since it has not
// caught up. Nothing was let go for that.
func TestPeakIsNoEnd(t *testing.T) {
	rising := "phase bare 0s..12s\n-- load.requests load phase=bare --\n" +
		metricsTable("/memory/classes/heap/objects:bytes /gc/heap/live:bytes", func(s int) []float64 { return []float64{float64(20+60*s) * mb, float64(20+50*s) * mb} })
	leak := heapLooks(rising, [4]int64{20, 20, 1, 1}, [4]int64{100, 100, 1, 1})
	leak.Manifest.Entries[len(leak.Manifest.Entries)-1].Span.Start = 11e9
	for _, f := range answers(t, leak, "GC09") {
		if f.State == Found {
			t.Errorf("GC09: %s", f.Summary)
		}
	}
}

// TestHeapLater: of a heap that is much larger after the last profile than what that shows, the finding is about a part, and says so; garbage alone
// is no reason.
func TestHeapLater(t *testing.T) {
	for most, says := range map[float64]bool{100: false, 240: false, 300: true} {
		r := heapLooks("phase bare 0s..12s\n-- load.requests load phase=bare --\n"+
			metricsTable("/memory/classes/heap/objects:bytes /gc/heap/live:bytes", func(s int) []float64 {
				if s < 8 {
					return []float64{20 * mb, 20 * mb}
				}
				return []float64{most * mb, 20 * mb}
			}), [4]int64{20, 20, 1, 1}, [4]int64{100, 100, 1, 1})
		f := expect(t, "later", r, "GC16", Found, "were allocated at")
		if got := strings.Contains(f.Summary, "that is a part of the whole: the heap had "); got != says {
			t.Errorf("%g MB later: %s", most, f.Summary)
		}
	}
}

// TestReuseAtPeak: what is in use at a peak is kept, though nothing is left of it when the
// program ends: nobody is told to use it again.
func TestReuseAtPeak(t *testing.T) {
	at := stack.Frame{Func: "shop/cache.remember", File: "/src/none.go", Line: 11}
	f := func(what string, r *recordingtest.Recording, wantKept, wantKnown bool) {
		t.Helper()
		in := NewInput(session.New(r.Open()))
		l := livesOn(in, at)
		if (l.share >= keptShare) != wantKept || l.known != wantKnown {
			t.Errorf("%s: a share of %v, known %v", what, l.share, l.known)
		}
	}
	f("at a peak", heapLooks("phase bare 0s..6s\n", [4]int64{50, 60, 1, 9}, [4]int64{0, 200, 60, 70}), true, true)
	f("garbage", heapLooks("phase bare 0s..6s\n", [4]int64{1, 1000, 50, 60}), false, true)
	f("never seen", recordingtest.New("title x"), false, false)
	ended := heapLooks("run 0s..6s exit=\"exit status 0\"\nphase heap 0s..6s profiler=heap\n")
	ended.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, heapProfile(column{"main.main shop/cache.remember:/src/none.go:11", []int64{900, 90 << 20, 0, 0}}))
	f("looked at when all was over", ended, false, false)
}

// TestLasting: what is in use at a peak, calls in progress may have; that something keeps it
// shows in a profile of a quiet moment, or over time.
func TestLasting(t *testing.T) {
	at := stack.Frame{Func: "shop/cache.remember", File: "/src/none.go", Line: 11}
	f := func(what string, r *recordingtest.Recording, want int64) {
		t.Helper()
		in := NewInput(session.New(r.Open()))
		all, err := facts.RetentionIn(in.Facts)
		if err != nil {
			t.Fatal(err)
		}
		if got := all.Lasting(at); got != want<<20 {
			t.Errorf("%s: %d bytes, want %d MiB", what, got, want)
		}
	}
	burst := heapLooks("phase bare 0s..6s\nphase heap 6s..7s profiler=heap\n", [4]int64{50, 60, 1, 9})
	f("a burst", burst, 0)
	burst.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, heapProfile(column{"main.main shop/cache.remember:/src/none.go:11", []int64{900, 90 << 20, 0, 0}}))
	f("a burst that is over", burst, 0)
	quiet := heapLooks("phase bare 0s..6s\nphase heap 6s..7s profiler=heap\n", [4]int64{50, 60, 1, 9})
	quiet.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, heapProfile(column{"main.main shop/cache.remember:/src/none.go:11", []int64{900, 90 << 20, 400, 40 << 20}}))
	f("still there later", quiet, 40)
	f("all of it over time", heapLooks("phase bare 0s..6s\n", [4]int64{20, 22, 1, 9}, [4]int64{40, 42, 1, 9}, [4]int64{80, 84, 1, 9}), 20)
	f("two peaks of a second", heapLooks("phase bare 0s..6s\n", [4]int64{20, 22, 1, 9}, [4]int64{40, 42, 1, 9}), 0)
	f("used again between", heapLooks("phase bare 0s..6s\n", [4]int64{20, 100, 1, 9}, [4]int64{40, 300, 1, 9}, [4]int64{80, 600, 1, 9}), 0)
}

// TestGC16Uncancelled: contexts that fill the heap are a warning where the source shows that nobody cancels them, with a time
// limit, too.
func TestGC16Uncancelled(t *testing.T) {
	looks := [][4]int64{{20, 20, 1, 9}, {60, 60, 1, 30}, {100, 100, 1, 50}}
	for _, c := range []struct {
		makes, rest string
		warns       bool
	}{
		{"ctx, _ := context.WithTimeout(app, time.Hour)", "work(ctx)", true},
		{"ctx, cancel := context.WithCancel(app)", "_ = cancel\nwork(ctx)", true},
		{"ctx, cancel := context.WithTimeout(app, time.Hour)", "defer cancel()\nwork(ctx)", false},
		{"ctx, cancel := context.WithTimeout(app, time.Hour)", "work(ctx, cancel)", false},
		{"ctx := context.WithValue(app, key{}, 1)", "work(ctx)", false},
	} {
		r := heapLooks("run 0s..6s exit=\"exit status 0\"\nphase bare 0s..6s\n", looks...)
		text := "package cache\n\n\n\n\n\n\n\n\nfunc remember(app context.Context) {\n" + c.makes + "\n" + c.rest + "\n}\n"
		r.Put(recording.Entry{Path: "source/none.go", Kind: recording.Source, Source: "/src/none.go"}, []byte(text))
		f := expect(t, c.makes, r, "GC16", Found)
		if warns := f.Title == uncancelledTitle && f.Severity == Warning; warns != c.warns {
			t.Errorf("%s; %s: %s %s: %s", c.makes, c.rest, f.Severity, f.Title, f.Summary)
		}
	}
}

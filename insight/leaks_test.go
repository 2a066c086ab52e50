package insight

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// looked is a recording with a growth phase: ten looks, one a second, each of them
// a picture of what was there.
func looked(kind recording.Kind, types []string, look func(n int) []column) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\nphase growth 10s..20s profiler=growth\n" +
		"-- source/search/rss.go source from=/src/rss.go --\n" + rss)
	for n := range 10 {
		at := timeline.Time(10+n) * 1e9
		r.Put(recording.Entry{Path: fmt.Sprintf("growth/look-%02d.pb.gz", n), Kind: kind, Phase: "growth", Span: timeline.Span{Start: at, End: at}},
			profiletest.Encode(picture(look(n)...), profiletest.Options{Types: types}))
	}
	return r
}

// crowd is ten looks at goroutines of which there are so many.
func crowd(leaf string, count func(n int) int) *recordingtest.Recording {
	return looked(recording.Goroutine, []string{"goroutine/count"}, func(n int) []column {
		return []column{
			{"shop/feed.fetch.func1:/src/feed/x.go:31 " + leaf, []int64{int64(count(n))}},
			{"main.main:/src/main.go:3 time.Sleep", []int64{1}},
			{"main.loupeAgentStart.func1:/src/zz_loupe_inject.go:3 runtime.gopark", []int64{int64(100 * n)}},
		}
	})
}

func TestSC10Growth(t *testing.T) {
	rising := func(n int) int { return 100 + 40*n }
	f := expect(t, "a leak", crowd("runtime.chansend1", rising), "SC10", Found, "at feed.fetch.func1 at x.go:31 there were 100 goroutines, and 9.00 s later 460, with more")
	severity(t, "a leak", f, Warning)
	near(t, "a leak", f, 40)
	if f.Impact.Low > 40 || f.Impact.High < 40 || f.Evidence[0].Line != 31 || len(f.Evidence[0].Stack) != 2 {
		t.Errorf("impact %+v, evidence %+v", f.Impact, f.Evidence)
	}
	if len(f.Doubts) == 0 || !strings.Contains(f.Doubts[len(f.Doubts)-1], "the source of x.go:31 is not in the recording, or does not parse") {
		t.Errorf("without its source: %q", f.Doubts)
	}
	read := crowd("runtime.chansend1", rising)
	sourceIn(read, "/src/feed/x.go", "package feed\n")
	for _, doubt := range expect(t, "with its source", read, "SC10", Found).Doubts {
		if strings.Contains(doubt, "source") {
			t.Errorf("with its source: %q", doubt)
		}
	}
	expect(t, "a pool", crowd("runtime.chansend1", func(int) int { return 500 }), "SC10", Fine, "the number of goroutines that wait for others grew steadily nowhere over 9.00 s (10 profiles)")
	expect(t, "up and down", crowd("runtime.chansend1", func(n int) int { return 100 + 300*(n%2) }), "SC10", Fine)
	expect(t, "a pool that is full after two thirds", crowd("runtime.chansend1", func(n int) int { return 100 + 60*min(n, 6) }), "SC10", Fine, "at feed.fetch.func1 at x.go:31 there were 100 goroutines at the beginning, and their number then stayed at 460 (10 profiles over 9.00 s)")
	expect(t, "few", crowd("runtime.chansend1", func(n int) int { return 1 + n }), "SC10", TooLittle, "at feed.fetch.func1 at x.go:31 there was 1 goroutine at the beginning and 10 at the end, fewer than 20 more (10 profiles over 9.00 s): record longer")
	expect(t, "a few at first", crowd("runtime.chansend1", func(n int) int { return 1 + min(n, 3) }), "SC10", Fine)
	expect(t, "connections", crowd("internal/poll.runtime_pollWait", rising), "SC10", Fine)
}

// TestSC10Proved: what Go's own search has found is a finding however few they
// are, and what the looks say of the same place is in it.
func TestSC10Proved(t *testing.T) {
	search := func(r *recordingtest.Recording, n int64) *recordingtest.Recording {
		var all []column
		if n > 0 {
			all = []column{{"shop/feed.fetch.func1:/src/feed/x.go:31 runtime.chansend1", []int64{n}}}
		}
		return r.Put(recording.Entry{Path: "goroutineleak.pb.gz", Kind: recording.GoroutineLeak, Phase: "goroutineleak"},
			profiletest.Encode(picture(all...), profiletest.Options{Types: []string{"goroutineleak/count"}}))
	}
	empty := func() *recordingtest.Recording {
		return recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\nphase goroutineleak 10s..11s profiler=goroutineleak\n")
	}
	f := expect(t, "one", search(empty(), 1), "SC10", Found, "1 goroutine at feed.fetch.func1 at x.go:31 can never continue")
	severity(t, "one", f, Warning)
	if len(f.Doubts) > 0 {
		t.Errorf("a proof is doubted: %q", f.Doubts)
	}
	expect(t, "none", search(empty(), 0), "SC10", Fine, "Go's leak search found no goroutine")
	r := search(crowd("runtime.chansend1", func(n int) int { return 100 + 40*n }), 460)
	all := answers(t, r, "SC10")
	if len(all) != 1 || len(all[0].Evidence) != 2 || all[0].Impact.Unit != "goroutines more every second" {
		t.Errorf("one place is told as %+v", all)
	}
}

// TestLeaks: what several rules say of leaks is one verdict, the proof first.
func TestLeaks(t *testing.T) {
	proof := Finding{Rule: "SC10", State: Found, Impact: exactly(412, leakedUnit), Evidence: []Evidence{{Text: "412 leaked here, " + bySearch, File: "/src/feed/x.go", Short: "feed/x.go", Line: 31}}}
	heap := Finding{Rule: "GC08", State: Found, Impact: &Impact{240, "MB a minute", 230, 250}, Evidence: []Evidence{{File: "/src/rss.go", Line: 21}}}
	fine := Finding{Rule: "LD07", State: Fine}
	verdict, leaks := Leaks([]Finding{heap, fine, proof})
	if !strings.HasPrefix(verdict, "A leak, proved by Go. Still growing: goroutines and heap.") || len(leaks) != 2 {
		t.Fatalf("%q, %+v", verdict, leaks)
	}
	if l := leaks[0]; !l.Proved || l.File != "feed/x.go" || l.Much != "412 leaked goroutines" {
		t.Errorf("%+v", l)
	}
	if l := leaks[1]; l.Proved || l.Line != 21 || l.Much != "240 MB a minute [230, 250]" {
		t.Errorf("%+v", l)
	}
	if verdict, _ := Leaks([]Finding{heap}); verdict != "Still growing: heap. It is a leak unless the growth stops at a bound." {
		t.Error(verdict)
	}
	if verdict, leaks := Leaks([]Finding{fine}); verdict != "" || leaks != nil {
		t.Errorf("%q, %+v", verdict, leaks)
	}
}

func TestSC11(t *testing.T) {
	dumped := func(waiters, minutes int, state string) *recordingtest.Recording {
		var b strings.Builder
		b.WriteString("goroutine 1 [IO wait, 90 minutes]:\nmain.main()\n\t/src/main.go:3 +0x1\n\n")
		for g := range waiters {
			fmt.Fprintf(&b, "goroutine %d [%s, %d minutes]:\nshop/feed.fetch.func1()\n\t/src/feed/x.go:31 +0x2\ncreated by shop/feed.fetch in goroutine 1\n\t/src/feed/x.go:30 +0x3\n\n", g+2, state, minutes+g%3)
		}
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nhost cpus=4\nphase bare 0s..10s\n")
		return r.Put(recording.Entry{Path: "stacks.txt", Kind: recording.Stacks, Phase: "stacks"}, []byte(b.String()))
	}
	f := expect(t, "a leak", dumped(96, 20, "chan receive"), "SC11", Found, "96 goroutines have waited for 10 minutes or longer at feed.fetch.func1 at x.go:31 (chan receive), the first for 22")
	severity(t, "a leak", f, Warning)
	near(t, "a leak", f, 96)
	if e := f.Evidence[0]; e.Line != 31 || e.Path != "stacks.txt" || e.Text != "chan receive, 20 to 22 minutes" {
		t.Errorf("evidence = %+v", e)
	}
	expect(t, "some are younger", dumped(96, 8, "select"), "SC11", Found, "32 goroutines have waited")
	expect(t, "young", dumped(96, 7, "chan receive"), "SC11", Fine, "the longest wait is of 90 minutes")
	expect(t, "few", dumped(10, 20, "chan receive"), "SC11", Fine)
	expect(t, "idle connections", dumped(96, 20, "IO wait"), "SC11", Fine)
	expect(t, "no dump", recordingtest.New("title x\nphase bare 0s..10s\n-- stderr.log stderr --\nlistening\n"), "SC11", NotApplicable, "-phases stacks")
}

// TestSC11Kept reads a real dump of the lab leak; testdata/leaks tells how it was
// made.
func TestSC11Kept(t *testing.T) {
	packed, err := os.ReadFile("testdata/leaks/stuck.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	r := recordingtest.New("title x\ntarget package ./labs/leak module=loupe\nhost cpus=2\nphase bare 0s..660s\n")
	r.Put(recording.Entry{Path: "stacks.txt", Kind: recording.Stacks}, text)
	all := answers(t, r, "SC11")
	if len(all) != 1 || all[0].State != Found || !strings.HasPrefix(all[0].Summary, "122 goroutines have waited for 10 minutes or longer at main.(*shop).await.func1 at orders.go:88 (select)") {
		t.Errorf("it says %+v", all)
	}
}

func TestGC08Looks(t *testing.T) {
	heap := func(mb func(n int) int64) *recordingtest.Recording {
		return looked(recording.Heap, []string{"inuse_objects/count", "inuse_space/bytes"}, func(n int) []column {
			return []column{
				{"shop.main:/src/main.go:3 shop/search.store:/src/rss.go:21 strings.ToLower", []int64{1, mb(n) << 20}},
				{"shop.main:/src/main.go:4 shop/search.find:/src/rss.go:5", []int64{1, 8 << 20}},
			}
		})
	}
	f := expect(t, "a leak", heap(func(n int) int64 { return 4 + 4*int64(n) }), "GC08", Found, "the heap in use after a collection went from 12.0 MiB to 48.0 MiB in 9.00 s (10 measurements)")
	severity(t, "a leak", f, Warning)
	near(t, "a leak", f, 240)
	if e := f.Evidence[0]; e.Line != 21 || !strings.Contains(e.Source, "cache = ") || !strings.Contains(e.Text, "36.0 MiB more in 9.00 s, 240 MB a minute") {
		t.Errorf("evidence %+v", e)
	}
	expect(t, "full after two thirds", heap(func(n int) int64 { return 4 + 4*min(int64(n), 6) }), "GC08", TooLittle, "no gctrace")
	expect(t, "full", heap(func(n int) int64 { return 40 }), "GC08", TooLittle, "no gctrace")
	expect(t, "little", heap(func(n int) int64 { return int64(n) / 2 }), "GC08", NotApplicable)
}

// TestGC08Uncollected: heap profiles tell what is in use only after a collection of their own,
// in every one of these ways to see that there was none.
func TestGC08Uncollected(t *testing.T) {
	heap := func(collections, freed, inUse func(n int) int64) *recordingtest.Recording {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\nphase growth 10s..20s profiler=growth\n" +
			"-- source/search/rss.go source from=/src/rss.go --\n" + rss)
		for n := range 10 {
			at := timeline.Time(10+n) * 1e9
			var comments []string
			if c := collections(n); c >= 0 {
				comments = []string{fmt.Sprintf("collections so far: %d", c)}
			}
			use := inUse(n) << 20
			r.Put(recording.Entry{Path: fmt.Sprintf("growth/look-%02d.pb.gz", n), Kind: recording.Heap, Phase: "growth", Span: timeline.Span{Start: at, End: at}},
				profiletest.Encode(picture(column{"shop.main:/src/main.go:3 shop/search.store:/src/rss.go:21 strings.ToLower", []int64{1, use + freed(n)<<20, 1, use}}),
					profiletest.Options{Types: []string{"alloc_objects/count", "alloc_space/bytes", "inuse_objects/count", "inuse_space/bytes"}, Comments: comments}))
		}
		return r
	}
	unknown := func(int) int64 { return -1 }
	each := func(n int) int64 { return int64(n) }
	always := func(v int64) func(int) int64 { return func(int) int64 { return v } }
	rising := func(n int) int64 { return 12 + 4*int64(n) }
	expect(t, "a collection before each", heap(each, each, rising), "GC08", Found, "(9 measurements)") // none before the first
	expect(t, "freed more each time", heap(unknown, func(n int) int64 { return 1 + int64(n) }, rising), "GC08", Found, "(10 measurements)")
	expect(t, "none in between", heap(always(3), always(7), rising), "GC08", TooLittle, "one heap profile shows no trend")
	expect(t, "nothing was ever freed", heap(unknown, always(0), rising), "GC08", TooLittle, "one heap profile shows no trend")
	expect(t, "none at all", heap(always(0), always(0), rising), "GC08", TooLittle, "one heap profile shows no trend")
	stairs := func(n int) int64 { return 12 + 20*int64(n/5) }
	expect(t, "one in between", heap(func(n int) int64 { return 1 + int64(n/5) }, func(n int) int64 { return 1 + int64(n/5) }, stairs), "GC08", TooLittle, "one heap profile shows no trend")
}

func TestGC09(t *testing.T) {
	tide := func(s int) int { return 10 + 6*min(s, 2*(30-s)) } // up to 130 at 20, and back
	f := expect(t, "a burst", watched(31, tide, tide, 10), "GC09", Found, "no leak: 10.0 MiB, later 130 MiB and finally 9.00 MiB were in use after a collection", "100% of the growth was released within 11.0 s")
	severity(t, "a burst", f, Info)
	near(t, "a burst", f, 120)
	expect(t, "the same is no leak", watched(31, tide, tide, 10), "GC08", Fine)
	expect(t, "known by the profile alone", watched(21, tide, tide, 20), "GC09", Found, "finally 20.0 MiB")
	rising := func(s int) int { return 10 + 4*s }
	expect(t, "a leak", watched(30, rising, rising, 126), "GC09", Fine, "less than half of the growth was gone")
	expect(t, "it gave back a little", watched(30, rising, rising, 80), "GC09", Fine, "less than half of the growth was gone")
	expect(t, "small", watched(30, func(s int) int { return 3 + s%5 }, func(s int) int { return 3 + s%5 }, 3), "GC09", Fine, "the heap did not grow")
	expect(t, "up and down", watched(60, func(s int) int { return 10 + s*37%60 }, func(s int) int { return 10 + s*37%60 }, 10), "GC09", Fine, "without a trend")
	expect(t, "early", watched(20, func(s int) int { return 100 - 4*s }, func(s int) int { return 10 + 4*s }, 10), "GC09", TooLittle, "largest at sample 1")
}

// TestGC09AtExit: what is gone when a program has ended, or in another run of it, was not
// released while it worked: nobody is told that there is no leak.
func TestGC09AtExit(t *testing.T) {
	rising := func(s int) int { return 10 + 10*min(s, 28) }
	tool := func(size, live func(s int) int, run int) *recordingtest.Recording {
		r := watched(30, size, live, 1)
		r.Manifest.Target.Kind = "package"
		r.Manifest.Target.Runs = []recording.Run{{Exit: "exit status 0"}, {Exit: "exit status 0"}}
		r.Manifest.Entries[len(r.Manifest.Entries)-1].Run = run
		return r
	}
	expect(t, "another run", tool(rising, rising, 1), "GC09", Fine, "less than half of the growth was gone")
	expect(t, "the same run at its end", tool(rising, rising, 0), "GC09", Fine, "less than half of the growth was gone")
	gone := func(s int) int {
		if s == 29 {
			return 2
		}
		return rising(s)
	}
	expect(t, "the last reading is after the work", tool(gone, gone, 0), "GC09", Fine, "less than half of the growth was gone")
	parts := func(s int) int { // it rises again and again after the peak
		if s > 15 {
			return 20 + 20*(s%3)
		}
		return 10 + 10*s
	}
	expect(t, "two parts", tool(parts, func(s int) int { return min(parts(s), 10+10*min(s, 15)) }, 0), "GC09", Found, "no leak")
	server := watched(30, rising, rising, 1)
	server.Manifest.Target.Runs = []recording.Run{{Exit: "signal: interrupt", Stopped: true}, {}}
	server.Manifest.Entries[len(server.Manifest.Entries)-1].Run = 1
	expect(t, "another start of a server", server, "GC09", Fine, "less than half of the growth was gone")
}

// TestSC10Counted: of a process that is looked at from outside the number of
// goroutines and one profile are all there is.
func TestSC10Counted(t *testing.T) {
	at := "runtime.chanrecv1"
	watched := func(n func(second int) int, waiting int64) *recordingtest.Recording {
		var b strings.Builder
		b.WriteString("title x\ntarget pid 7 module=shop\nphase bare 0s..30s\nphase goroutine 30s..31s profiler=goroutine\n")
		b.WriteString("-- metrics.ndjson metrics --\nt_ns /sched/goroutines:goroutines\n")
		for s := range 31 {
			fmt.Fprintf(&b, "%ds %d\n", s, n(s))
		}
		r := recordingtest.New(b.String())
		if waiting == 0 {
			return r
		}
		stacks := picture(
			column{"shop.serve:/src/main.go:3 shop/search.ask:/src/rss.go:21 " + at + " runtime.gopark", []int64{waiting}},
			column{"shop.main:/src/main.go:4 net/http.(*Server).Serve internal/poll.runtime_pollWait runtime.gopark", []int64{9000}},
		)
		data := profiletest.Encode(stacks, profiletest.Options{Types: []string{"goroutine/count"}})
		return r.Put(recording.Entry{Path: "goroutine.pb.gz", Kind: recording.Goroutine, Phase: "goroutine"}, data)
	}
	leak := func(s int) int { return 112 + 40*s }
	f := expect(t, "a leak", watched(leak, 1200), "SC10", Found, "112 goroutines at the beginning and 1,312 at the end")
	severity(t, "a leak", f, Warning)
	if e := f.Evidence[0]; e.Line != 21 || !strings.Contains(e.Text, "1,200 goroutines wait here") {
		t.Errorf("evidence = %+v", e)
	}
	severity(t, "nobody knows where", expect(t, "nobody knows where", watched(leak, 0), "SC10", Found), Info)
	f = expect(t, "not there", watched(leak, 100), "SC10", Found)
	severity(t, "on the network", f, Info)
	if e := f.Evidence[0]; e.Line != 4 || !strings.Contains(e.Text, "9,000 goroutines are on the network") {
		t.Errorf("evidence = %+v", e)
	}
	at = "time.Sleep"
	f = expect(t, "asleep", watched(leak, 1200), "SC10", Found)
	severity(t, "asleep", f, Warning)
	if e := f.Evidence[0]; e.Line != 21 || !strings.Contains(e.Text, "1,200 goroutines wait here") {
		t.Errorf("evidence = %+v", e)
	}
	expect(t, "a pool that is full", watched(func(s int) int { return min(12+200*s, 512) }, 500), "SC10", Fine, "between 12.0 and 512")
	expect(t, "the same", watched(func(s int) int { return 50 + s%3 }, 50), "SC10", Fine, "between 50.0 and 52.0 goroutines")
	expect(t, "up and down", watched(func(s int) int { return 100 + s%2*(1000-30*s) + s/30*1200 }, 50), "SC10", Fine, "between 100 and 1,300")
	expect(t, "filled in the middle", watched(func(s int) int { return 12 + min(max(s-8, 0), 12)*50 }, 500), "SC10", Fine, "their number then stayed at 612")
}

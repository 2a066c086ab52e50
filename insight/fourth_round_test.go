package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestLK02AllWaits: the share and the bound of a lock are of all waits for it, though its holder
// was only seen to wait in a part of them.
func TestLK02AllWaits(t *testing.T) {
	p := fourConnections()
	inside := accounttest.In("net.(*conn).Read@net.go:1", "main.ask@main.go:20", "main.handle@main.go:8")
	for range 6 {
		arriveAt(p, 5, "network", inside)
		for g := 6; g < 9; g++ {
			arriveAt(p, g, "sync", accounttest.In("sync.(*Mutex).Lock@mutex.go:1", "main.handle@main.go:7"))
		}
		for g := 5; g < 9; g++ {
			p.Pass(6 * time.Millisecond)
			p.Wake(g, "")
			p.Start(g)
			p.Pass(4 * time.Millisecond) // the holder runs
			if g < 8 {
				p.Wake(g+1, accounttest.In("sync.(*Mutex).Unlock@mutex.go:2", "main.handle@main.go:9"))
			}
			finishRequest(p, g)
			if g < 8 {
				p.Start(g + 1)
				p.Block("network", inside)
			}
		}
	}
	f := answers(t, traceOfProgram(t, p), "LK02")[0]
	if f.State != Found || !strings.Contains(f.Summary, "waits 60.0% of its time for the lock in main.handle at main.go:7, 15.0 ms of 25.0 ms on average over 24; in 60.0% of that its holder is waiting for a peer's answer in main.ask at main.go:20") {
		t.Errorf("%s: %s", f.State, f.Summary)
	}
	if f.Impact == nil || f.Impact.Value < 0.59 || f.Impact.Value > 0.61 {
		t.Errorf("impact %+v, want that of all waits", f.Impact)
	}
}

// TestBeyond: what grows with the input, and what allocation costs besides, is no bound, and the
// gain says so.
func TestBeyond(t *testing.T) {
	r := working("10s")
	search := seenAt("CP20", Warning, 60, "/src/search.go", 8).costing(cost{file: "/src/search.go", line: 8, callee: "strings.Contains"})
	search.grows = true
	lower := seenAt("AL09", Warning, 60, "/src/search.go", 5).bytesOf(0.5).costing(cost{file: "/src/search.go", line: 5, callee: "strings.ToLower"})
	all := []Finding{search, lower}
	for _, c := range Cards(NewInput(session.New(r.Open())), all) {
		want := map[string]string{"CP20": "more as the input grows", "AL09": "page faults and cache misses come on top"}[all[c.Finding].Rule]
		if c.Gain == nil || !c.Gain.More || !strings.Contains(c.Gain.Beyond, want) {
			t.Errorf("%s: gain %+v, want %q", all[c.Finding].Rule, c.Gain, want)
		}
	}
}

// TestSizedMap: the first group of a map that is made with a size is put off until something goes
// in, and is no growth; a map that outgrows its size is told so, as a remark.
func TestSizedMap(t *testing.T) {
	const fills = "shop.f:/src/a.go:6"
	recorded := func(made, callee string) *recordingtest.Recording {
		r := mixed("cpu", 600, 1000, "net/http.(*conn).serve", fills, "runtime.mapassign_faststr", callee)
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte("package shop\n\nfunc f(in []string) map[string]int {\n\tm := "+made+"\n\tfor i, s := range in {\n\t\tm[s] = i\n\t}\n\treturn m\n}\n"))
		return r
	}
	const sized, bare = "make(map[string]int, len(in))", "make(map[string]int)"
	expect(t, "the first group", recorded(sized, "internal/runtime/maps.(*Map).growToSmall"), "AL16", Fine)
	f := expect(t, "a size that is too small", recorded(sized, "internal/runtime/maps.(*table).rehash"), "AL16", Found)
	severity(t, "a size that is too small", f, Info)
	if !strings.Contains(f.Advice, "made with a size at a.go:4, and still grows") {
		t.Errorf("advice: %s", f.Advice)
	}
	severity(t, "no size", expect(t, "no size", recorded(bare, "internal/runtime/maps.(*table).rehash"), "AL16", Found), Warning)
}

// TestMapGrownByRecursion: the loop in which a function calls itself is not the one that calls it; what is asked for is the loop around the recursion.
func TestMapGrownByRecursion(t *testing.T) {
	const source = "package shop\n\nfunc f(x *node, seen map[*node]bool) {\n\tseen[x] = true\n\tfor _, y := range x.next {\n\t\tf(y, seen)\n\t}\n}\n\nfunc all(nodes []*node) {\n\tfor _, x := range nodes {\n\t\tf(x, map[*node]bool{})\n\t}\n}\n\nfunc one(x *node) {\n\tf(x, map[*node]bool{})\n}\n"
	recorded := func(outer string) *recordingtest.Recording {
		r := mixed("cpu", 600, 1000, "net/http.(*conn).serve", outer, "shop.f:/src/a.go:6", "shop.f:/src/a.go:6", "shop.f:/src/a.go:4", "runtime.mapassign_fast64ptr", "internal/runtime/maps.(*table).rehash")
		return r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(source))
	}
	f := expect(t, "in a loop", recorded("shop.all:/src/a.go:12"), "AL16", Found)
	if !strings.Contains(f.Advice, "The recursion that fills the map is called in a loop of shop.all at a.go:12") || strings.Contains(f.Advice, "loop of shop.f") {
		t.Errorf("advice: %s", f.Advice)
	}
	if f = expect(t, "once", recorded("shop.one:/src/a.go:17"), "AL16", Found); strings.Contains(f.Advice, "called in a loop") {
		t.Errorf("advice: %s", f.Advice)
	}
}

// TestSC10InProfile: where a goroutine profile has seen more of them at the line than the trace
// has, the finding says how many, and when.
func TestSC10InProfile(t *testing.T) {
	s := newScene(t)
	at := s.stack("runtime.chanrecv2", "shop/feed.fetch.func1:/src/feed/x.go:31")
	s.Left = []sched.Left{{Name: s.name("shop/feed.fetch.func1"), State: exectrace.Waiting, Reason: exectrace.NameChanReceive, Stack: at,
		Count: 412, Created: 400, Longest: 1900 * ms, Quarters: [4]int64{112, 100, 90, 110}}}
	s.manifest = "phase goroutine 4s..5s profiler=goroutine\n"
	waiting := func(n int64) func(r *recordingtest.Recording) {
		return func(r *recordingtest.Recording) {
			withProfile(r, recording.Goroutine, "goroutine", column{"shop/feed.fetch.func1:/src/feed/x.go:31 runtime.chanrecv2 runtime.gopark", []int64{n}})
		}
	}
	s.beside = []func(r *recordingtest.Recording){waiting(12435)}
	s.expect("SC10", Found, "12,435 goroutines wait at feed.fetch.func1 at x.go:31 by a goroutine profile, 7.00 s before the trace ends", "400 more of feed.fetch.func1 came there")
	s.beside = []func(r *recordingtest.Recording){waiting(300)}
	s.expect("SC10", Found, "412 goroutines of feed.fetch.func1 wait at")
}

// TestFewKept: a few samples of what was allocated while a collection marked do not show that
// something keeps it, though they grow with the heap.
func TestFewKept(t *testing.T) {
	in := NewInput(session.New(heapLooks("phase bare 0s..6s\n", [4]int64{1, 20, 1, 1}, [4]int64{1, 60, 1, 1}, [4]int64{3, 180, 1, 1}).Open()))
	got := notAgain(livesOn(in, stack.Frame{Func: "shop/cache.remember", File: "/src/none.go", Line: 11}))
	if !strings.HasPrefix(got, "As far as heap profiles saw, at most 3.00 MiB of what this line") {
		t.Errorf("it says %s", got)
	}
}

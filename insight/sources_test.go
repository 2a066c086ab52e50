package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// alone is a profile of waits that stands alone: nothing says of how long it is.
func alone(kind recording.Kind, columns ...column) *recordingtest.Recording {
	return withProfile(recordingtest.New("title x\ntarget package ./shop module=shop package=shop/cmd/shop"), kind, "", columns...)
}

// withProfile adds a profile of waits, goroutines or memory to a recording.
func withProfile(r *recordingtest.Recording, kind recording.Kind, phase string, columns ...column) *recordingtest.Recording {
	opts := map[recording.Kind]profiletest.Options{
		recording.Mutex:     {Types: []string{"contentions/count", "delay/nanoseconds"}},
		recording.Block:     {Types: []string{"contentions/count", "delay/nanoseconds"}},
		recording.Goroutine: {Types: []string{"goroutine/count"}},
		recording.Heap:      {Types: []string{"alloc_objects/count", "alloc_space/bytes", "inuse_objects/count", "inuse_space/bytes"}, Period: 512 << 10},
		recording.Allocs:    {Types: []string{"alloc_objects/count", "alloc_space/bytes", "inuse_objects/count", "inuse_space/bytes"}, Period: 512 << 10},
	}[kind]
	name := strings.TrimPrefix(string(kind), "pprof.") + ".pb.gz"
	return r.Put(recording.Entry{Path: name, Kind: kind, Phase: phase}, profiletest.Encode(picture(columns...), opts))
}

const (
	unlock27 = "main.main shop/store.(*cache).put:/src/none.go:27 sync.(*Mutex).Unlock"
	unlock31 = "main.main shop/store.(*cache).get:/src/none.go:31 sync.(*RWMutex).Unlock"
	printed  = "main.main shop/store.say:/src/none.go:54 log.Print:/go/log.go:3 log.(*Logger).output:/go/log.go:9 sync.(*Mutex).Unlock"
	once     = "main.main shop/store.open:/src/none.go:60 sync.(*Once).Do sync.(*Once).doSlow sync.(*Mutex).Unlock"
)

// TestLK01Profiled: a mutex profile alone names its lock, how much of all delay it has
// and how often it was waited for.
func TestLK01Profiled(t *testing.T) {
	most := column{unlock27, values(8000, 5500*time.Millisecond)}
	rest := column{unlock31, values(50, 80*time.Millisecond)}
	f := expect(t, "one lock", alone(recording.Mutex, most, rest), "LK01", Found, "5.50 s", "none.go:27", "98.6% of all delay", "8,000 waits", "688 µs on average")
	severity(t, "one lock", f, Warning)
	near(t, "one lock", f, 5500.0/5580)
	doubted(t, f, "does not say how long the program had run")
	if e := f.Evidence[0]; e.Line != 27 || e.Path != "mutex.pb.gz" || len(e.Stack) != 3 {
		t.Errorf("evidence = %+v", e)
	}
	severity(t, "little", expect(t, "little", alone(recording.Mutex, column{unlock27, values(100, 200*time.Millisecond)}), "LK01", Found, "100%"), Info)
	severity(t, "short waits", expect(t, "short waits", alone(recording.Mutex, column{unlock27, values(1e6, 2*time.Second)}), "LK01", Found), Info)
	expect(t, "next to nothing", alone(recording.Mutex, column{unlock27, values(1000, 5*time.Millisecond)}), "LK01", Fine, "5.00 ms", "100% of all delay")
	expect(t, "a moment", alone(recording.Mutex, column{unlock27, values(9, 20*time.Second)}), "LK01", Fine, "in 9 waits")

	// Of a known length it is a share of the Ps' time, as in a trace.
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nhost cpus=4\nphase mutex 10s..20s profiler=mutex")
	f = expect(t, "ten seconds", withProfile(r, recording.Mutex, "mutex", most), "LK01", Found, "in 10.0 s (mutex profile)", "0.550 of them on average, with 4 Ps")
	severity(t, "ten seconds", f, Warning)

	// A block profile has the line that takes it.
	lock := column{"main.main shop/store.(*cache).put:/src/none.go:23 sync.(*Mutex).Lock", values(8000, 5*time.Second)}
	wait := column{"main.main sync.(*WaitGroup).Wait", values(1, time.Hour)}
	expect(t, "block profile", alone(recording.Block, wait, lock), "LK01", Found, "none.go:23", "100% of all delay in the block profile")
}

// TestLK01Source leads from Unlock back to the line that locks.
func TestLK01Source(t *testing.T) {
	c := column{"shop.serve shop/store.(*cache).early:/src/store.go:43 sync.(*Mutex).Unlock", values(8000, 5*time.Second)}
	f := expect(t, "with the source", withProfile(stored(), recording.Mutex, "", c), "LK01", Found, "for cache.mu, taken at store.(*cache).early at store.go:32 and unlocked at line 43")
	if len(f.Evidence) != 2 || f.Evidence[0].Line != 32 || f.Evidence[1].Line != 43 {
		t.Errorf("evidence = %+v", f.Evidence)
	}
}

// TestLK01Library: the lock of a library is nothing that its caller can hold for less.
func TestLK01Library(t *testing.T) {
	f := expect(t, "log", alone(recording.Mutex, column{printed, values(8000, 5*time.Second)}), "LK01", Found, "the lock of log.(*Logger).output", "none.go:54")
	if strings.Contains(f.Advice, "Hold the lock for less") || !strings.Contains(f.Advice, "package log") {
		t.Errorf("advice = %s", f.Advice)
	}
	expect(t, "a Once", alone(recording.Mutex, column{once, values(8000, 5*time.Second)}), "LK01", Found, "none.go:60")
}

// TestLK01Looked counts who stands before a lock in one look.
func TestLK01Looked(t *testing.T) {
	before := func(n int64) column {
		return column{"main.main shop/store.(*cache).put:/src/none.go:23 sync.(*Mutex).Lock sync.runtime_SemacquireMutex runtime.gopark", []int64{n}}
	}
	running := column{"main.main shop/store.(*cache).put:/src/none.go:23 sync.(*Mutex).Lock", []int64{90}}
	f := expect(t, "a queue", alone(recording.Goroutine, before(7)), "LK01", Found, "7 goroutines waited for the lock at store.(*cache).put at none.go:23")
	severity(t, "a queue", f, Info)
	severity(t, "a long one", expect(t, "a long one", alone(recording.Goroutine, before(40)), "LK01", Found), Warning)
	expect(t, "two", alone(recording.Goroutine, before(2)), "LK01", TooLittle, "2 goroutines waited", "5 are needed")
	expect(t, "those who hold it", alone(recording.Goroutine, running), "LK01", TooLittle, "no goroutine was waiting")

	queue := func(n int) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "goroutine %d [sync.Mutex.Lock]:\nsync.(*Mutex).Lock(...)\n\t/go/mutex.go:46\nshop/store.(*cache).put(0xc000010000)\n\t/src/none.go:23 +0x2d\n\n", i+10)
		}
		return []byte(b.String())
	}
	dump := recordingtest.New("title x\ntarget package ./shop module=shop").Put(recording.Entry{Path: "stacks.txt", Kind: recording.Stacks}, queue(7))
	expect(t, "a dump", dump, "LK01", Found, "7 goroutines waited", "none.go:23")
	// That of a process that was asked for it stands in what it has printed.
	dump = alone(recording.Block, column{"main.work:/src/none.go:3 runtime.chanrecv2", values(1000, time.Second)}).
		Put(recording.Entry{Path: "stderr.log", Kind: recording.Stderr}, queue(28))
	expect(t, "a dump on standard error", dump, "LK01", Found, "28 goroutines waited", "none.go:23")
}

// TestLK01OtherTakers: a look at the goroutines has everybody, so that it says who is
// beyond another line that takes the lock.
func TestLK01OtherTakers(t *testing.T) {
	const source = "title x\ntarget package ./shop module=shop\n-- source/store/store.go source from=/src/store.go --\n" +
		"package store\n\nfunc (s *Store) Get() {\n\ts.mu.Lock()\n\ts.mu.Unlock()\n}\n\nfunc (s *Store) Refresh(c chan int) {\n\ts.mu.Lock()\n\t<-c\n}\n"
	const get, refresh = "main.main shop/store.(*Store).Get:/src/store.go:4 sync.(*Mutex).Lock", "main.main shop/store.(*Store).Refresh:/src/store.go:"
	f := func(name string, kind recording.Kind, want string, stacks ...column) {
		t.Helper()
		found := expect(t, name, withProfile(recordingtest.New(source), kind, "", stacks...), "LK01", Found)
		if got := found.Evidence[1]; got.Line != 9 || !strings.HasSuffix(got.Text, want) {
			t.Errorf("%s: %d: %q, want %q", name, got.Line, got.Text, want)
		}
	}
	const parked = " sync.runtime_SemacquireMutex runtime.gopark"
	waiting := column{get + parked, []int64{7}}
	f("a holder", recording.Goroutine, ": 1 goroutine is past this line of the function, and may hold it", waiting, column{refresh + "10 runtime.chanrecv1 runtime.gopark", []int64{1}})
	f("three", recording.Goroutine, ": 3 goroutines are past this line of the function, and may hold it", waiting, column{refresh + "10 runtime.chanrecv1 runtime.gopark", []int64{3}})
	f("nobody", recording.Goroutine, ": no goroutine was seen past this line of the function", waiting)
	f("one who waits", recording.Goroutine, ": no goroutine was seen past this line of the function", waiting, column{refresh + "9 sync.(*Mutex).Lock" + parked, []int64{1}})
	f("a block profile", recording.Block, ": a goroutine that never waits for it is in no block profile, and may hold it", column{get, values(8000, 5*time.Second)})
}

// TestLK01Differs: two files that tell different things of a lock are both heard.
func TestLK01Differs(t *testing.T) {
	lock := column{"main.main shop/store.(*cache).put:/src/none.go:23 sync.(*Mutex).Lock", values(8000, 5*time.Second)}
	same := withProfile(alone(recording.Block, lock), recording.Mutex, "", column{unlock27, values(7000, 4*time.Second)})
	f := expect(t, "they agree", same, "LK01", Found, "block profile")
	if strings.Contains(strings.Join(f.Doubts, "\n"), "different times") {
		t.Errorf("doubts = %q", f.Doubts)
	}
	other := withProfile(alone(recording.Block, lock), recording.Mutex, "", column{unlock31, values(7000, 4*time.Second)})
	doubted(t, expect(t, "they do not", other, "LK01", Found, "block profile"), "the block profile has 100% of the waits of this kind there and the mutex profile 0%, with most at none.go:31")
}

// TestIdleWaits: workers without work, timers, listeners and joins are no finding in
// any file that shows them.
func TestIdleWaits(t *testing.T) {
	idle := []string{
		"main.work:/src/none.go:3 runtime.chanrecv2", "main.wait:/src/none.go:4 runtime.selectgo", "main.cond:/src/none.go:5 sync.(*Cond).Wait",
		"main.main sync.(*WaitGroup).Wait", "main.main time.Sleep", "main.serve net.(*conn).Read internal/poll.runtime_pollWait",
	}
	var waits, looks []column
	for _, frames := range idle {
		waits = append(waits, column{frames, values(1000, time.Hour)})
		looks = append(looks, column{frames + " runtime.gopark", []int64{50}})
	}
	for _, r := range []*recordingtest.Recording{alone(recording.Block, waits...), alone(recording.Goroutine, looks...)} {
		for _, f := range examine(t, r) {
			if f.State == Found {
				t.Errorf("%s: %s", f.Rule, f.Summary)
			}
		}
	}
	expect(t, "nobody sends", alone(recording.Block, waits...), "LK08", Fine, "no goroutine waited to send")
	expect(t, "nobody locks", alone(recording.Block, waits...), "LK01", Fine, "no goroutine waited for a mutex")
}

// TestLK08: a block profile alone names the place at which senders wait.
func TestLK08(t *testing.T) {
	send := func(n int64, wait time.Duration) column {
		return column{"main.main shop/feed.Produce:/src/none.go:14 runtime.chansend1", values(n, wait)}
	}
	f := expect(t, "senders", alone(recording.Block, send(8000, 7*time.Second)), "LK08", Found, "waited 7.00 s to send at feed.Produce at none.go:14", "8,000 waits of 875 µs each")
	severity(t, "senders", f, Info)
	doubted(t, f, "generator")
	expect(t, "hand-offs", alone(recording.Block, send(1e6, 7*time.Second)), "LK08", Fine)
	expect(t, "few", alone(recording.Block, send(99, 7*time.Second)), "LK08", Fine)
	timed := func(wait time.Duration) *recordingtest.Recording {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase block 10s..20s profiler=block")
		return withProfile(r, recording.Block, "block", send(8000, wait))
	}
	expect(t, "many", timed(30*time.Second), "LK08", Found, "3.00 goroutines waited to send", "in 10.0 s")
	expect(t, "a generator", timed(10*time.Second), "LK08", Fine)
	expect(t, "one look", alone(recording.Goroutine, column{"main.main shop/feed.Produce:/src/none.go:14 runtime.chansend1 runtime.gopark", []int64{8}}), "LK08", Found, "8 goroutines waited to send")
}

// TestGC16: a heap profile alone names what is kept, and nothing is said of how fast
// what is kept was allocated.
func TestGC16(t *testing.T) {
	cached := column{"main.main shop/cache.remember:/src/none.go:11 regexp.MustCompile regexp.compile", []int64{1500, 96 << 20, 1500, 96 << 20}}
	little := column{"main.main shop/cache.note:/src/none.go:20", []int64{100, 2 << 20, 100, 2 << 20}}
	scratch := column{"main.main shop/cache.scratch:/src/none.go:30 regexp.MustCompile regexp.compile", []int64{20000, 600 << 20, 10, 1 << 20}}
	r := func(columns ...column) *recordingtest.Recording {
		return withProfile(alone(recording.Heap, columns...), recording.Allocs, "", columns...)
	}
	f := expect(t, "a cache", r(cached, little), "GC16", Found, "of 98.0 MiB in use", "98.0% were allocated at none.go:11 in cache.remember")
	severity(t, "a cache", f, Info)
	expect(t, "compiled once and kept", r(cached, little), "AL14", Fine)
	expect(t, "compiled repeatedly", r(scratch, little), "AL14", Found, "none.go:30")
	expect(t, "nothing kept", r(scratch, little), "GC16", Fine, "of 3.00 MiB in use")
	for _, f := range examine(t, alone(recording.Heap, cached)) {
		if f.State == Found && f.Rule != "GC16" {
			t.Errorf("%s of a heap profile alone: %s", f.Rule, f.Summary)
		}
	}
}

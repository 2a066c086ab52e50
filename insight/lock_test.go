package insight

import (
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// locking is a scene in which goroutines wait at a line for a mutex.
func locking(t *testing.T, n int, wait time.Duration, method string) *scene {
	s := newScene(t)
	s.group("main.serve", 8, 8, 3*time.Second, 0)
	s.block("main.serve", exectrace.NameSync, n, wait, s.stack("internal/sync.(*Mutex).lockSlow", "sync.("+method, "shop/cache.Get:/src/cache/cache.go:20", "main.serve:/src/main.go:3"),
		s.stack("sync.(*Mutex).Unlock", "shop/cache.Get:/src/cache/cache.go:25"))
	// What is no mutex.
	s.block("main.main", exectrace.NameSync, 1, 2*time.Second, s.stack("sync.runtime_SemacquireWaitGroup", "sync.(*WaitGroup).Wait", "main.main:/src/main.go:9"), 0)
	s.block("main.serve", exectrace.NameSync, 1000, time.Second, s.stack("runtime.gcMarkDone:/go/mgc.go:1", "main.serve"), 0)
	return s
}

func TestLK01(t *testing.T) {
	s := locking(t, 1000, 2*ms, "*Mutex).Lock")
	f := s.expect("LK01", Found, "goroutines waited 2.00 s for the lock at cache.Get at cache.go:20", "1.00 of them on average, with 4 Ps", "1,000 waits", "unlocked here, which ended 1,000 of the waits")
	severity(t, "a lock", f, Warning)
	near(t, "a lock", f, 1)
	if f.Evidence[0].Line != 20 || !strings.HasPrefix(f.Evidence[0].About, "g") || f.Evidence[1].Line != 25 || f.Evidence[1].About != "" {
		t.Errorf("evidence = %+v", f.Evidence)
	}
	severity(t, "a small one", locking(t, 1000, 200*us, "*RWMutex).RLock").expect("LK01", Found, "0.100 of them on average"), Info)
	locking(t, 100, 200*us, "*Mutex).Lock").expect("LK01", Fine, "20.0 ms", "0.0100 of them on average")
	locking(t, 9, 200*ms, "*Mutex).Lock").expect("LK01", Fine, "1.80 s", "in 9 waits")
	newScene(t).expect("LK01", Fine, "no goroutine waited for a mutex")
}

// TestLK01OfRequests: a lock at which requests wait is judged by what it is of their time.
func TestLK01OfRequests(t *testing.T) {
	const conns = 10
	taken := accounttest.In("internal/sync.(*Mutex).lockSlow@mutex.go:1", "sync.(*Mutex).Lock@mutex.go:2", "main.handle@main.go:7")
	// Requests on ten connections sleep, and then wait for the lock that goroutine 20 holds.
	requests := func(wait, rest time.Duration, starved bool) *recordingtest.Recording {
		p := accounttest.New()
		for g := range conns {
			p.Connect(100 + g)
		}
		for turn := range 3 {
			for g := range conns {
				p.Arrive(100 + g)
				if turn == 0 && g == 0 {
					p.Create(20, "main.other", accounttest.In("main.handle@main.go:5"))
				}
				p.Block("sleep", accounttest.In("time.Sleep@sleep.go:1", "main.handle@main.go:6"))
			}
			p.Pass(rest)
			for g := range conns {
				p.Wake(100+g, "")
				p.Start(100 + g)
				if turn > 0 && g == 0 {
					p.Wake(20, accounttest.In("main.handle@main.go:6"))
				}
				p.Block("sync", taken)
			}
			p.Start(20)
			if starved {
				p.Preempt("main.other@main.go:30")
			}
			p.Pass(wait)
			if starved {
				p.Start(20)
			}
			for g := range conns {
				p.Wake(100+g, "sync.(*Mutex).Unlock@mutex.go:3;main.other@main.go:31")
			}
			p.Block("chan receive", "runtime.chanrecv1@chan.go:1;main.other@main.go:32")
			for g := range conns {
				p.Start(100 + g)
				p.Respond(100 + g)
			}
		}
		return traceOfProgram(t, p)
	}
	for _, c := range []struct {
		name       string
		wait, rest time.Duration
		starved    bool
		severity   Severity
		says       string
	}{
		{"half of the time", 50 * ms, 50 * ms, false, Warning, ""},
		{"little of the time", 5 * ms, 95 * ms, false, Info, "is too little to make them slow"},
		{"the holder has no P", 50 * ms, 50 * ms, true, Info, "the holder itself waits for a P"},
	} {
		f := answers(t, requests(c.wait, c.rest, c.starved), "LK01")[0]
		if f.State != Found || f.Severity != c.severity || !strings.Contains(strings.Join(f.Doubts, "\n"), c.says) {
			t.Errorf("%s: %s %s: %s\n%q", c.name, f.State, f.Severity, f.Summary, f.Doubts)
		}
		if !slices.ContainsFunc(f.Evidence, func(e Evidence) bool { return strings.Contains(e.Text, "of the time of requests is waiting here") }) {
			t.Errorf("%s: evidence %+v", c.name, f.Evidence)
		}
	}
}

func TestLK04(t *testing.T) {
	s := locking(t, 4000, 10*ms, "*Mutex).Lock") // forty seconds in two: twenty in the queue
	f := s.expect("LK04", Found, "20.0 goroutines queued for the lock at cache.Get at cache.go:20", "a wait took 10.0 ms")
	severity(t, "a queue", f, Warning)
	near(t, "a queue", f, 20)
	if !strings.HasPrefix(f.Advice, "Do more per lock acquisition") {
		t.Errorf("nothing says what the holder does: %s", f.Advice)
	}
	// Where the holder waits under the lock, both rules say the same.
	held := locking(t, 4000, 10*ms, "*Mutex).Lock")
	held.block("main.serve", exectrace.NameNetwork, 100, 10*ms, held.stack("internal/poll.runtime_pollWait", "net.(*conn).Read", "shop/cache.Get:/src/cache/cache.go:22", "main.serve:/src/main.go:3"), 0)
	if f, of := held.expect("LK04", Found), held.expect("LK02", Found); f.Advice != of.Advice {
		t.Errorf("LK04 says %q, and LK02 %q", f.Advice, of.Advice)
	}
	locking(t, 4000, 10*ms, "*RWMutex).RLock").expect("LK04", Fine)
	locking(t, 4000, ms, "*Mutex).Lock").expect("LK04", Fine, "2.00 goroutines queued")
	locking(t, 99, time.Second, "*Mutex).Lock").expect("LK04", Fine)
}

// stopping is a scene with the collector's pauses, of which a part is the wait
// for Ps to stop.
func stopping(t *testing.T, n int, whole, stop time.Duration) *scene {
	s := newScene(t)
	kind := s.name("stop-the-world (GC sweep termination)")
	s.GC.Pauses = []sched.Pauses{{Kind: kind, Histogram: times(n, whole), Stopping: times(n, stop)},
		{Kind: s.name("stop-the-world (start trace)"), Histogram: times(1, time.Second), Stopping: times(1, time.Second)}}
	s.GC.Worst = []sched.Pause{{Kind: kind, Span: timeline.Span{Start: 2e9, End: timeline.Time(2e9).Add(whole)}, Stack: s.stack("runtime.gcStart", "shop/feed.parse:/src/feed/x.go:5"), Stopping: stop}}
	return s
}

func TestGC01Traced(t *testing.T) {
	s := stopping(t, 50, ms, 900*us)
	severity(t, "nothing tells that anybody waited", s.expect("GC01", Found), Info)
	s.manifest = "-- load.requests load phase=bare --\n"
	f := s.expect("GC01", Found, "100% of 50 pauses in the trace were longer than 100 µs", "the longest took 1.00 ms",
		"feed.parse: sweep termination took 1.00 ms, of which 900 µs until the last P had stopped, 1.00 s after the trace began")
	severity(t, "long", f, Warning)
	if e := f.Evidence[0]; e.Line != 5 || e.Short != "feed/x.go" || *e.Span != [2]int64{11e9, 11_001e6} {
		t.Errorf("evidence = %+v", e)
	}
	stopping(t, 50, 90*us, 10*us).expect("GC01", Fine, "none of 50 pauses")
	stopping(t, 39, ms, 10*us).expect("GC01", TooLittle) // and no gctrace either
}

func TestGC02(t *testing.T) {
	f := stopping(t, 50, ms, 900*us).expect("GC02", Found, "90.0% of the time of 50 pauses", "900 µs")
	severity(t, "slow to stop", f, Info)
	near(t, "slow to stop", f, 0.9)
	stopping(t, 50, ms, 400*us).expect("GC02", Fine, "40.0%")
	stopping(t, 50, 90*us, 80*us).expect("GC02", Fine)
	stopping(t, 19, ms, 900*us).expect("GC02", TooLittle, "19 collector pauses")
	newScene(t).expect("GC02", Fine, "no collection")
}

func TestGC05(t *testing.T) {
	s := newScene(t)
	g := s.group("main.serve", 8, 8, 3*time.Second, 0)
	s.group("main.main", 1, 1, time.Second, 0)
	s.Runs.Longest = []sched.Interval{{Name: g.Name, Stack: s.stack("main.wait:/src/main.go:99")}}
	s.GC.Assists = []sched.Assists{{Name: g.Name, Stack: s.stack("fmt.Sprintf:/go/fmt/print.go:1", "main.parse:/src/main.go:12"), Histogram: times(100, 4*ms), Ran: 300 * ms}, {Name: s.name("runtime.bgsweep"), Ran: time.Second}}
	severity(t, "nothing tells that anybody waited", s.expect("GC05", Found), Info)
	s.manifest = "-- load.requests load phase=bare --\n"
	f := s.expect("GC05", Found, "mark assists took 300 ms, 7.50%", "for main.serve it was 10.0%", "100 assists")
	severity(t, "assists", f, Warning)
	near(t, "assists", f, 0.075)
	if f.Evidence[0].Line != 12 {
		t.Errorf("evidence = %+v", f.Evidence[0])
	}
	s.GC.Assists[0].MostRan = 250 * ms
	f = s.expect("GC05", Found, "mark assists took 300 ms")
	severity(t, "one long assist", f, Info)
	doubted(t, f, "one of them, of 250 ms, has most of that time")
	s.GC.Assists[0].MostRan = 0
	// What is little of the wall time, while the CPUs are idle, is not felt.
	s.Parallel.Busy = []time.Duration{1600 * ms, 400 * ms}
	severity(t, "15% of the wall time", s.expect("GC05", Found), Warning)
	s.GC.Assists[0].Ran, g.Exec, s.Groups[1].Exec = 30*ms, 300*ms, 100*ms
	f = s.expect("GC05", Found, "mark assists took 30.0 ms, 7.50%")
	severity(t, "1.5% of the wall time of an idle program", f, Info)
	doubted(t, f, "it is 1.50% of the wall time, in which the Ps were idle for 95.0% of theirs")
	s.Parallel.Busy = []time.Duration{0, 0, 1000 * ms, 1000 * ms}
	severity(t, "busy CPUs", s.expect("GC05", Found), Warning)
	s.Parallel.Busy = nil
	s.GC.Assists[0].Ran, g.Exec, s.Groups[1].Exec = 300*ms, 3*time.Second, time.Second
	s.GC.Assists[0].Stack = s.stack("syscall.write:/go/syscall/z.go:964", "net/http.(*conn).serve:/go/net/http/server.go:2000")
	if f := s.expect("GC05", Found); f.Evidence[0].File != "" {
		t.Errorf("nobody can change that line: %+v", f.Evidence[0])
	}
	s.GC.Assists[0].Ran = 100 * ms
	severity(t, "some", s.expect("GC05", Found, "2.50%"), Info)
	s.GC.Assists[0].Ran = 40 * ms
	s.expect("GC05", Fine, "1.00%")
	s.GC.Assists[0].Ran = 1
	s.expect("GC05", Fine, "none of the program's goroutines did mark assists for a time that can be measured")
	// What loupe's own agent was made to do at the end of main is not the program's; a function of the program that is called like it is.
	g.Exec = 3 * time.Second
	agent := s.stack("runtime/metrics.Read:/go/metrics.go:3", "main.loupeSample.func1:/src/zz_loupe_inject.go:573", "main.main:/src/main.go:9")
	own := s.stack("main.loupeView:/src/view.go:12", "main.main:/src/main.go:8")
	s.GC.Assists = []sched.Assists{{Name: g.Name, Stack: agent, Histogram: times(9, 4*ms), Ran: 300 * ms, Places: map[stack.ID]sched.AssistPlace{agent: {Count: 9, Time: 300 * ms, Ran: 300 * ms}}}}
	s.expect("GC05", Fine, "none of the program's goroutines")
	s.GC.Assists[0].Places = map[stack.ID]sched.AssistPlace{agent: {Count: 4, Time: 200 * ms, Ran: 100 * ms}, own: {Count: 5, Time: 100 * ms, Ran: 200 * ms}}
	if f := s.expect("GC05", Found, "mark assists took 200 ms"); f.Evidence[0].Line != 12 {
		t.Errorf("evidence = %+v", f.Evidence[0])
	}
	s.GC.Assists = nil
	s.expect("GC05", Fine, "none of the program's goroutines")
}

// TestGC05Sampled: assists that enough samples of the CPU have as little are a remark.
func TestGC05Sampled(t *testing.T) {
	for profile, want := range map[string]Severity{
		"runtime.gcAssistAlloc runtime.mallocgc\nshop.f:/src/a.go:5     shop.f:/src/a.go:5\n= 10                   990\n": Info,
		"runtime.gcAssistAlloc runtime.mallocgc\nshop.f:/src/a.go:5     shop.f:/src/a.go:5\n= 100                  900\n": Warning,
		"runtime.gcAssistAlloc runtime.mallocgc\nshop.f:/src/a.go:5     shop.f:/src/a.go:5\n= 1                    99\n":  Warning,
	} {
		f := Finding{Severity: Warning}
		tellSampled(gc05, NewInput(session.New(spentIn(profile).Open())), &f)
		if f.Severity != want || (len(f.Doubts) > 0) != (want == Info) {
			t.Errorf("%s: %s, %q", profile, f.Severity, f.Doubts)
		}
	}
}

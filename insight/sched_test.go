package insight

import (
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
)

const (
	ms = time.Millisecond
	us = time.Microsecond
)

func TestSC01Traced(t *testing.T) {
	s := newScene(t)
	s.group("main.main", 1, 1, 1900*ms, 0)
	s.group("runtime.gcBgMarkWorker", 4, 4, 1500*ms, 0)
	s.Parallel.Running = []time.Duration{100 * ms, 1800 * ms, 100 * ms}
	s.Runs.Longest = []sched.Interval{{Name: s.name("main.main"), Start: 1e9, End: 1_020e6, Stack: s.stack("shop/cart.sum:/src/cart/cart.go:12", "main.main:/src/cmd/shop/main.go:5")}}
	f := s.expect("SC01", Found, "exactly one of 4 Ps", "94.7% of the 1.90 s", "1.05 on average", "main.main ran for 95.0% of the time, 1 goroutine")
	severity(t, "one goroutine in a row", f, Info)
	doubted(t, f, "one goroutine does nearly all of the work")
	near(t, "one P", f, 1.8/1.9)
	for _, e := range f.Evidence { // the longest run has a stack for where it ended
		if e.Line != 0 {
			t.Errorf("without a CPU profile it names a place: %+v", e)
		}
	}
	doubted(t, f, "a trace does not show where its time goes")

	s.Groups[0].Count, s.Groups[0].Peak = 8, 8
	severity(t, "eight that take turns", s.expect("SC01", Found), Warning)

	s.Parallel.Running = []time.Duration{100 * ms, 1500 * ms, 400 * ms}
	s.expect("SC01", Fine, "78.9%")
	s.Parallel.Running = []time.Duration{1500 * ms, 450 * ms, 50 * ms}
	s.Groups[0].Exec = 550 * ms
	s.expect("SC01", Fine, "waited for something other than a P")
	s.Parallel.Running = []time.Duration{1900 * ms, 100 * ms}
	s.expect("SC01", TooLittle, "100 ms")
	s.Parallel.Procs = 1
	s.expect("SC01", NotApplicable, "GOMAXPROCS is 1")
}

func TestSC02(t *testing.T) {
	s := newScene(t)
	at := s.stack("sync.(*WaitGroup).Go:/go/waitgroup.go:237", "shop/paint.pixels:/src/paint/modes.go:32", "main.main:/src/main.go:1")
	g := &sched.Group{Name: s.name("sync.(*WaitGroup).Go.func1"), Creator: at, Count: 200_000, Created: 200_000, Peak: 900, Each: times(200_000, 300), Life: times(200_000, 4*ms)}
	g.Exec = 60 * ms
	s.Creators = []*sched.Group{g}
	f := s.expect("SC02", Found, "200,000 goroutines were started at paint.pixels at modes.go:32, 100,000 a second", "100% for less than 1 µs", "900 were alive")
	severity(t, "a goroutine for each pixel", f, Warning)
	near(t, "a goroutine for each pixel", f, 100_000)
	if f.Evidence[0].Line != 32 {
		t.Errorf("evidence = %+v", f.Evidence[0])
	}

	// A library that starts them for itself leaves nothing to the program.
	g.Creator = s.stack("database/sql.(*Rows).initContextClose:/go/sql.go:3000", "database/sql.(*DB).QueryContext:/go/sql.go:1700", "shop/paint.pixels:/src/paint/modes.go:32", "main.main:/src/main.go:1")
	s.expect("SC02", Fine, "200,000 goroutines")
	g.Creator = at

	g.Syscall = time.Second
	s.expect("SC02", Fine, "200,000 goroutines")
	g.Syscall = 0
	g.Each = times(200_000, 20*us)
	s.expect("SC02", Fine, "100,000 a second")
	g.Each, g.Created = times(1_000, 300), 1_000
	s.expect("SC02", Fine, "500 a second")
}

// pingPong is a scene of two goroutines that take turns.
func pingPong(t *testing.T, n int, run time.Duration) *scene {
	s := newScene(t)
	send := s.stack("runtime.chansend1", "shop/paint.produce:/src/paint/modes.go:71")
	receive := s.stack("runtime.chanrecv2", "shop/paint.produce.func1:/src/paint/modes.go:64")
	s.group("main.main", 1, 1, time.Second, 0).Run = times(n, run)
	s.group("sync.(*WaitGroup).Go.func1", 1, 1, time.Second, 0).Run = times(n, run)
	s.block("main.main", exectrace.NameChanSend, n, 400, send, receive).Alternating = int64(n)
	s.block("sync.(*WaitGroup).Go.func1", exectrace.NameChanReceive, n, 400, receive, send).Alternating = int64(n)
	s.block("runtime.bgsweep", exectrace.NameSync, 100*n, 400, s.stack("runtime.bgsweep"), 0)
	return s
}

func TestSC03(t *testing.T) {
	s := pingPong(t, 100_000, 350)
	f := s.expect("SC03", Found, "200,000 hand-offs, 100,000 a second, between paint.produce at modes.go:71 and paint.produce.func1 at modes.go:64: 100% of all wake-ups",
		"take turns", "100,000 waits at this chan send", "100% were ended by the goroutine that it had itself woken")
	severity(t, "ping-pong", f, Warning)
	near(t, "ping-pong", f, 100_000)

	// A pipeline: each pair of its stages is counted on its own.
	s = pingPong(t, 100_000, 350)
	pull := s.stack("runtime.chanrecv2", "shop/paint.produce:/src/paint/modes.go:66")
	read, deliver := s.stack("runtime.selectgo", "shop/paint.read:/src/paint/modes.go:29"), s.stack("runtime.selectgo", "shop/paint.read:/src/paint/modes.go:30")
	s.block("main.main", exectrace.NameChanReceive, 60_000, 400, pull, deliver)
	s.block("shop/paint.read", exectrace.NameSelect, 40_000, 400, read, pull)
	s.expect("SC03", Found, "200,000 hand-offs, 100,000 a second, between paint.produce at modes.go:71 and paint.produce.func1 at modes.go:64: 66.7% of all wake-ups",
		"there are 100,000 more between paint.produce at modes.go:66 and paint.read at modes.go:30")

	pingPong(t, 100_000, 20*us).expect("SC03", Fine, "on average in between")
	pingPong(t, 1_000, 350).expect("SC03", Fine, "1,000 hand-offs a second")
	s = pingPong(t, 100_000, 350)
	s.block("main.main", exectrace.NameSync, 300_000, us, s.stack("sync.(*Mutex).Lock", "main.lock:/src/main.go:3"), s.stack("main.main"))
	s.expect("SC03", Fine, "40.0% of all wake-ups")
	newScene(t).expect("SC03", Fine, "no goroutine waited for another")

	// What starts a collection waits at a channel of the runtime until its workers are there.
	s = newScene(t)
	s.block("main.main", exectrace.NameChanReceive, 1000, 400, s.stack("runtime.chanrecv1", "runtime.gcBgMarkStartWorkers", "runtime.gcStart", "runtime.mallocgc", "shop/paint.produce:/src/paint/modes.go:71"), s.stack("runtime.chansend1", "runtime.gcBgMarkWorker"))
	s.expect("SC03", Fine, "no goroutine waited for another")
	// What net/http hands over to its own goroutines nobody can change.
	s = newScene(t)
	s.block("net/http.(*conn).serve", exectrace.NameSelect, 300_000, us, s.stack("net/http.(*persistConn).roundTrip:/go/transport.go:2900", "main.ask:/src/main.go:3"), s.stack("net/http.(*persistConn).readLoop:/go/transport.go:2441"))
	s.expect("SC03", Fine, "no goroutine waited for another")
}

func TestSC04(t *testing.T) {
	s := newScene(t)
	at := s.stack("main.fan:/src/main.go:40")
	g := &sched.Group{Name: s.name("main.fan.func1"), Creator: at, Count: 9_800, Created: 9_800, Peak: 9_800, Each: times(9_800, ms)}
	s.Creators = []*sched.Group{g}
	s.Parallel.Queued = make([]time.Duration, 5000)
	s.Parallel.Queued[0], s.Parallel.Queued[4000] = 1500*ms, 500*ms
	f := s.expect("SC04", Found, "9,800 goroutines that were started at main.fan at main.go:40", "on 4 Ps", "25.0% of the time 20 or more")
	severity(t, "a batch", f, Info)
	s.manifest = "-- load.requests load phase=bare --\n"
	severity(t, "a service", s.expect("SC04", Found), Warning)
	g.Peak = 999
	severity(t, "a service that starts some hundreds", s.expect("SC04", Found), Info)
	s.Parallel.Queued[0], s.Parallel.Queued[4000] = 1950*ms, 50*ms
	s.expect("SC04", Fine, "2.50%")
	s.Parallel.Queued[4000], g.Peak = time.Second, 399
	s.expect("SC04", Fine, "at most 399 goroutines")
	// A semaphore before goroutines that never end would let none start any more.
	g.Peak, g.Each = 9_800, times(100, ms)
	s.expect("SC04", Fine, "no goroutine was started and ended")
}

// fannedOut is a scene of a service in which 9,800 goroutines were started at a stack.
func fannedOut(t *testing.T, frames ...string) (*scene, *sched.Group) {
	s := newScene(t)
	g := &sched.Group{Name: s.name("database/sql.(*Rows).awaitDone"), Creator: s.stack(frames...), Count: 9_800, Created: 9_800, Peak: 9_800, Each: times(9_800, ms)}
	s.Creators = []*sched.Group{g}
	s.Parallel.Queued = make([]time.Duration, 5000)
	s.Parallel.Queued[4000] = 2 * time.Second
	s.manifest = "-- load.requests load phase=bare --\n"
	return s, g
}

// TestSC04Library: nobody can put a semaphore before a go statement of a library.
func TestSC04Library(t *testing.T) {
	for _, c := range []struct {
		frames   []string
		library  string // "" is none
		severity Severity
	}{
		{[]string{"database/sql.(*Rows).initContextClose:/go/sql.go:1", "database/sql.(*DB).QueryContext:/go/sql.go:2", "main.find:/src/main.go:40"}, "; database/sql starts them, in calls from that line", Info},
		{[]string{"runtime.systemstack:/go/asm.s:1", "database/sql.(*DB).Query:/go/sql.go:2", "main.Submit:/src/main.go:40", "main.main:/src/main.go:3"}, "; database/sql starts them", Info},
		{[]string{"example.org/driver.(*stmt).query:/d/stmt.go:1", "database/sql.(*DB).QueryContext:/go/sql.go:2", "main.find:/src/main.go:40"}, "; example.org/driver starts them", Info},
		{[]string{"main.find:/src/main.go:40", "net/http.HandlerFunc.ServeHTTP:/go/server.go:1"}, "", Warning},
		{[]string{"sync.(*WaitGroup).Go:/go/wg.go:1", "main.find:/src/main.go:40"}, "", Warning},
		{[]string{"golang.org/x/sync/errgroup.(*Group).Go:/d/errgroup.go:1", "main.find:/src/main.go:40"}, "", Warning},
	} {
		s, _ := fannedOut(t, c.frames...)
		f := s.expect("SC04", Found, "started at main.", "main.go:40", c.library)
		severity(t, c.frames[0], f, c.severity)
		if own := strings.Contains(f.Advice, "semaphore"); own != (c.library == "") || !own && strings.Contains(f.Title, "Unbounded") {
			t.Errorf("%s: %s: advice %q", c.frames[0], f.Title, f.Advice)
		}
		if c.library == "" && strings.Contains(f.Summary, "starts them") {
			t.Errorf("%s: %s", c.frames[0], f.Summary)
		}
	}
}

// TestSC04Flat: a number of goroutines that stays where it is is bounded by something.
func TestSC04Flat(t *testing.T) {
	level := func(all func(second int) float64) string {
		return "-- load.requests load phase=bare --\n" + metricsTable("/sched/goroutines:goroutines", func(s int) []float64 { return []float64{all(s)} })
	}
	flat := level(func(s int) float64 { return float64(min(s*6_000, 9_900-s)) })
	s, g := fannedOut(t, "main.find:/src/main.go:40")
	g.Total, g.SchedWait = 100*time.Second, 3*time.Second
	s.manifest = flat
	s.expect("SC04", Fine, "9,800 goroutines", "3.00% of their time waiting for a P", "between 9,891 and 9,898 in 80.0% of the readings")
	g.SchedWait = 60 * time.Second
	f := s.expect("SC04", Found)
	severity(t, "flat, and they wait for a P", f, Info)
	doubted(t, f, "something bounds it")
	g.SchedWait = 3 * time.Second
	for name, all := range map[string]func(second int) float64{
		"grows":           func(s int) float64 { return float64(1_100 * s) },
		"comes and goes":  func(s int) float64 { return []float64{20, 9_900}[s%2] },
		"of other phases": func(int) float64 { return 400 },
	} {
		s.manifest = level(all)
		severity(t, name, s.expect("SC04", Found), Warning)
	}
}

func TestSC05(t *testing.T) {
	s := newScene(t)
	g := s.group("net/http.(*conn).serve", 20, 20, 7*time.Second, 20*time.Second)
	g.Wait, g.Run = times(1000, 20*ms), times(1000, 7*ms)
	s.Parallel.Running = []time.Duration{0, 0, 0, 0, 2 * time.Second}
	s.manifest = "-- load.requests load phase=bare --\n"
	f := s.expect("SC05", Found, "13.5 goroutines of http.(*conn).serve wanted to run at once", "on 4 Ps", "waited 20.0 s for a P")
	severity(t, "too many", f, Warning)
	s.manifest = "run 0s..10s exit=\"exit status 0\"\n"
	s.expect("SC05", Found) // it was asked, and then ended
	g.Name = s.name("main.compute")
	s.expect("SC05", Fine, "nothing waited for any of them")
	g.SchedWait = time.Second
	s.expect("SC05", Fine, "4.00 goroutines", "3.50 did")
	g.Run = times(100_000, 70*us) // short turns
	s.expect("SC05", Fine, "computes for long")
	g.Run, g.Count = times(1000, 7*ms), 100_000 // items, not workers
	s.expect("SC05", Fine, "computes for long")

	s = newScene(t)
	s.group("main.main", 1, 1, 200*ms, 0)
	s.group("main.work", 1, 1, 1700*ms, 0)
	s.Parallel.Running = []time.Duration{100 * ms, 1900 * ms}
	s.block("main.main", exectrace.NameChanSend, 600, 2*ms, s.stack("main.produce:/src/main.go:8"), s.stack("main.take:/src/main.go:20", "main.work:/src/main.go:19"))
	f = s.expect("SC05", Found, "main.produce at main.go:8 waited 1.20 s to hand something to main.work", "(1 for 4 Ps)", "85.0%", "600 waits")
	severity(t, "one alone, perhaps on purpose", f, Info)
	doubted(t, f, "one goroutine may be alone on purpose")
	s.Groups[1].Peak, s.Groups[1].Count, s.Groups[1].Exec = 2, 2, 3400*ms
	severity(t, "too few", s.expect("SC05", Found, "(2 for 4 Ps)", "85.0%"), Warning)
	s.Groups[1].Peak, s.Groups[1].Count = 1, 1
	s.Groups[1].Exec = 900 * ms
	s.expect("SC05", Fine)
}

func TestSC06(t *testing.T) {
	s := newScene(t)
	s.Parallel.IdleWhileQueued, s.Parallel.IdleLong = 300*ms, 200*ms
	s.Parallel.LongestIdle, s.Parallel.LongestIdleAt = 4*ms, 1_500e6
	f := s.expect("SC06", Found, "in 10.0% of the time", "the longest took 4.00 ms", "500 ms after the trace began")
	severity(t, "often", f, Warning)
	s.Parallel.IdleLong = 30 * ms
	severity(t, "sometimes", s.expect("SC06", Found, "1.50%"), Info)
	s.Parallel.IdleLong = 10 * ms
	s.expect("SC06", Fine, "in 15.0% of the time", "0.500%")
}

func TestSC07(t *testing.T) {
	s := newScene(t)
	g := s.group("main.serve", 10, 10, time.Second, 2*time.Second)
	g.Wait = times(100, 20*ms)
	s.group("runtime.bgsweep", 1, 1, 0, 0).Wait = times(100_000, 10)
	at := s.stack("main.work:/src/main.go:8", "main.serve:/src/main.go:3")
	s.manifest = "-- load.requests load phase=bare --\n"
	s.Latency.Worst = []sched.Interval{{Name: s.name("runtime.bgsweep")}, {G: 7, Name: g.Name, Stack: at, Start: 2e9, End: 2_020e6}, {G: 8, Name: g.Name, Stack: at, Start: 2e9, End: 2_019e6}}
	f := s.expect("SC07", Found, "1% of 100 waits", "66.7% of the time", "goroutine 7 waited here for 20.0 ms, 1.00 s after the trace began")
	severity(t, "long", f, Warning)
	if len(f.Evidence) != 1 || f.Evidence[0].Line != 8 {
		t.Errorf("evidence = %+v, want the place once", f.Evidence)
	}
	s.manifest = "run 0s..10s exit=\"exit status 0\"\n"
	s.expect("SC07", Fine, "nothing waited for any of them")
	s.manifest = "run 0s..10s exit=\"signal: interrupt\" stopped\n"
	f = s.expect("SC07", Found)
	severity(t, "nothing tells that anybody waited", f, Info)
	doubted(t, f, "it is unknown whether anybody waited")
	g.Wait = times(100, 4*ms)
	severity(t, "less long", s.expect("SC07", Found), Info)
	g.Wait = times(100, 500*us)
	s.expect("SC07", Fine, "99% of 100 waits")
	g.Wait = times(49, 20*ms)
	s.expect("SC07", TooLittle, "49 times", "50 are needed")
}

// TestFullMachine: where all CPUs are in use anyway, waits for a P are an info.
func TestFullMachine(t *testing.T) {
	s := newScene(t)
	s.group("main.serve", 10, 10, time.Second, 2*time.Second).Wait = times(100, 20*ms)
	s.Latency.Worst = []sched.Interval{{Name: s.name("main.serve"), Start: 2e9, End: 2_020e6}}
	s.manifest = "-- load.requests load phase=bare --\n"
	severity(t, "room", s.expect("SC07", Found), Warning)
	s.manifest = strings.TrimPrefix(host(4000, 0, 0, 4000, 0, 0), "title x\n")
	f := s.expect("SC07", Found)
	severity(t, "none", f, Info)
	doubted(t, f, "all CPUs were busy")
}

func TestSC10(t *testing.T) {
	s := newScene(t)
	at := s.stack("runtime.chansend1", "shop/feed.fetch.func1:/src/feed/x.go:31")
	s.Left = []sched.Left{{Name: s.name("shop/feed.fetch.func1"), State: exectrace.Waiting, Reason: exectrace.NameChanSend, Stack: at,
		Count: 412, Created: 400, Longest: 1900 * ms, Quarters: [4]int64{112, 100, 90, 110}}}
	l := &s.Left[0]
	f := s.expect("SC10", Found, "412 goroutines of feed.fetch.func1 wait at feed.fetch.func1 at x.go:31", "400 of them started", "1.90 s", "chan send", "[112 100 90 110]")
	severity(t, "a leak", f, Warning)
	near(t, "a leak", f, 200)
	doubted(t, f, "a trace cannot show")
	for what, change := range map[string]func(){
		"a pool":                func() { l.Quarters = [4]int64{412, 0, 0, 0} },
		"only just there":       func() { l.Longest = 500 * ms },
		"few":                   func() { l.Created = 99 },
		"idle connections":      func() { l.Reason = exectrace.NameNetwork },
		"they can run":          func() { l.State = exectrace.Runnable },
		"nothing of the sort":   func() { s.Left = nil },
		"goroutines of Go's":    func() { l.Name = s.name("runtime.bgsweep") },
		"goroutines of loupe's": func() { l.Name = s.name("main.loupeAgentStart.func1") },
	} {
		was := *l
		change()
		if f := s.expect("SC10", Fine); t.Failed() {
			t.Fatalf("%s: %s", what, f.Summary)
		}
		s.Left = []sched.Left{was}
		l = &s.Left[0]
	}
}

// TestSC10Started: goroutines of a library are told with the line of the user's that led to
// them, and those of one line are one finding: a connection has two.
func TestSC10Started(t *testing.T) {
	s := newScene(t)
	dial := s.stack("net/http.(*Transport).dialConn:/go/transport.go:1900", "net/http.(*Transport).dialConnFor:/go/transport.go:1500")
	ask := s.stack("net/http.(*Transport).queueForDial:/go/transport.go:1400", "net/http.(*Client).Get:/go/client.go:400", "shop/rates.ask:/src/rates/ask.go:17", "main.serve:/src/main.go:3")
	loop := func(name, line string) sched.Left {
		return sched.Left{Name: s.name(name), State: exectrace.Waiting, Reason: exectrace.NameSelect, Stack: s.stack("runtime.selectgo:/go/select.go:1", name+":/go/transport.go:"+line),
			Count: 412, Created: 400, Longest: 1900 * ms, Quarters: [4]int64{112, 100, 90, 110}, Creator: dial, Origin: ask}
	}
	s.Left = []sched.Left{loop("net/http.(*persistConn).readLoop", "2450"), loop("net/http.(*persistConn).writeLoop", "2600")}
	said := func() (all []Finding) {
		for _, f := range Run(s.input()) {
			if f.Rule == "SC10" {
				all = append(all, f)
			}
		}
		return all
	}
	all := said()
	if len(all) != 1 || all[0].State != Found {
		t.Fatalf("%d answers: %+v", len(all), all)
	}
	if !slices.ContainsFunc(all[0].Evidence, func(e Evidence) bool { return e.Line == 17 && e.File == "/src/rates/ask.go" }) {
		t.Errorf("evidence %+v", all[0].Evidence)
	}
	fresh := seenAt("LD06", Warning, 50, "/src/rates/ask.go", 17)
	if got := drawn([]Finding{all[0], fresh}, Cards(s.input(), []Finding{all[0], fresh})); got != "LD06(SC10)" {
		t.Errorf("cards: %s", got)
	}
	s.Left[1].Origin = s.stack("net/http.(*Client).Get:/go/client.go:400", "shop/other.ask:/src/other/ask.go:9")
	if all := said(); len(all) != 2 {
		t.Errorf("of two lines: %+v", all)
	}
}

func TestSC14(t *testing.T) {
	s := newScene(t)
	name := s.name("net/http.(*conn).serve")
	s.group("net/http.(*conn).serve", 5, 5, 3*time.Second, 3*time.Second).Wait = times(100, 30*ms)
	h := &sched.Hog{Name: name, Runs: times(50, 20*ms), Delay: 2900 * ms, WorstDelay: 60 * ms,
		Worst: sched.Interval{G: 9, Name: name, Start: 2e9, End: 2_020e6, Stack: s.stack("shop/paint.steps:/src/paint/fractal.go:76")}}
	s.Hogs = []*sched.Hog{h}
	f := s.expect("SC14", Found, "http.(*conn).serve ran 50 times for 10 ms or longer, up to 20.0 ms, while 2.90 others waited on average: they lost 2.90 s in total",
		"goroutine 9 ran for 20.0 ms, 1.00 s after the trace began; meanwhile 3.00 others waited")
	severity(t, "a hog", f, Warning)
	if e := f.Evidence[0]; e.Line != 76 || *e.Span != [2]int64{11e9, 11_020e6} {
		t.Errorf("evidence = %+v", e)
	}
	s.manifest = "run 0s..10s exit=\"exit status 0\"\n"
	severity(t, "a hog among requests", s.expect("SC14", Found), Warning)
	s.Groups[0].Name, h.Name = s.name("main.compute"), s.name("main.compute")
	s.expect("SC14", Fine, "nothing waited for any of them")
	s.manifest = ""
	severity(t, "nothing tells that anybody waited", s.expect("SC14", Found), Info)
	s.Groups[0].Exec = 3 * time.Second
	s.manifest = strings.TrimPrefix(host(4000, 0, 0, 2000, 0, 0), "title x\n")
	s.expect("SC14", TooLittle, "record on a quiet machine")
	s.Groups[0].Exec = 1200 * ms
	doubted(t, s.expect("SC14", Found), "all CPUs were busy")
	s.manifest = ""
	h.Delay, s.Parallel.Waited = 250*ms, 3*time.Second
	s.expect("SC14", Fine, "of 3.00 s in all")
	s.Hogs = nil
	s.expect("SC14", Fine, "no goroutine ran for 10 ms")
}

func TestSC15(t *testing.T) {
	s := newScene(t)
	s.Parallel.Steals = 5_000
	s.block("main.main", 0, 10_000, 50*us, s.stack("syscall.write", "main.save:/src/main.go:4"), 0).State = exectrace.Syscall
	f := s.expect("SC15", Found, "system calls lost 5,000 Ps", "2,500 a second", "main.save: 10,000 system calls, 500 ms in all")
	severity(t, "often", f, Info)
	near(t, "often", f, 2_500)
	s.Parallel.Steals = 1_999
	s.expect("SC15", Fine, "1,000 a second")
	s.Parallel.Steals = 1
	s.expect("SC15", Fine, "lost 1 P,")
}

func TestSC17(t *testing.T) {
	s := newScene(t)
	region := func(name string, total time.Duration) *sched.RegionGroup {
		g := &sched.RegionGroup{Name: s.name(name), Count: 600, Stack: s.stack("main.search:/src/main.go:90"), Time: times(600, total/600)}
		g.Total, g.Exec = total, total
		return g
	}
	task := &sched.TaskGroup{Name: s.name("document"), Count: 600, Latency: times(600, ms),
		Regions: []*sched.RegionGroup{region("Unmarshal", 516*ms), region("ReadAll", 72*ms)}}
	s.Tasks = []*sched.TaskGroup{task}
	f := s.expect("SC17", Found, "of the time of 600 tasks document", "Unmarshal 86.0%, ReadAll 12.0%", "region Unmarshal: 516 ms in all, of which 516 ms running")
	severity(t, "a region", f, Info)
	near(t, "a region", f, 0.86)
	top := task.Regions[0]
	top.Exec, top.SchedWait = 100*ms, 416*ms
	if f := s.expect("SC17", Found, "416 ms waiting for a P"); f.Advice != "Most of the region is waiting for a P: too much computes at once (SC05, SC07)." {
		t.Errorf("advice = %s", f.Advice)
	}
	top.Total = 290 * ms
	s.expect("SC17", Fine, "no region is more than half")
	task.Incomplete = 590
	s.expect("SC17", TooLittle, "10 complete tasks document")
	s.Tasks = nil
	s.expect("SC17", NotApplicable, "marks no regions")
}

// TestEvidenceStack: evidence of the trace has its whole stack, the leaf first.
func TestEvidenceStack(t *testing.T) {
	s := newScene(t)
	at := s.stack("runtime.chanrecv1:/go/chan.go:506", "shop/cart.wait:/src/cart/cart.go:7", "main.main:/src/cmd/shop/main.go:5")
	e := s.input().trace().seen(at, "seen")
	want := []Frame{{"runtime.chanrecv1", "/go/chan.go", 506}, {"shop/cart.wait", "/src/cart/cart.go", 7}, {"main.main", "/src/cmd/shop/main.go", 5}}
	if !slices.Equal(e.Stack, want) || e.Function != want[1].Function || e.Line != want[1].Line {
		t.Errorf("stack %v at %s, want %v", e.Stack, e.Function, want)
	}
	if e := s.input().trace().seen(0, "seen"); e.Stack != nil {
		t.Errorf("no stack gives %v", e.Stack)
	}
}

// TestSC06Cut: what a cut trace has lost looks like a P that is idle, and is no finding.
func TestSC06Cut(t *testing.T) {
	s := newScene(t)
	s.Parallel.IdleWhileQueued, s.Parallel.IdleLong = 300*ms, 200*ms
	s.Parallel.LongestIdle, s.Parallel.LongestIdleAt = 4*ms, 1_500e6
	s.expect("SC06", Found)
	s.Info.Problems = []*exectrace.Problem{{Offset: 9, Generation: 2, Text: "a batch is cut"}}
	s.expect("SC06", TooLittle, "record the trace again")
}

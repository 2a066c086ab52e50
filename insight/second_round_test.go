package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/account/accounttest"
	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// hubHolds is a program whose requests wait for a lock. main.hub holds it while it waits for
// main.send, which waits for a peer.
func hubHolds() *accounttest.Program {
	const hub, send = 40, 41
	const asks = "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;main.send@send.go:4"
	p := accounttest.New()
	p.Connect(5)
	for i := range 20 {
		p.Pass(time.Millisecond)
		p.Arrive(5)
		if i == 0 {
			p.Create(hub, "main.hub", accounttest.In("main.handle@main.go:3"))
			p.Create(send, "main.send", accounttest.In("main.handle@main.go:4"))
		}
		p.Block("sync", accounttest.In("sync.(*RWMutex).RLock@rw.go:1", "main.handle@main.go:7"))
		if i == 0 {
			p.Start(hub)
			p.Block("chan receive", "runtime.chanrecv1@chan.go:1;main.hub@hub.go:6")
			p.Start(send)
			p.Block("network", asks)
		}
		p.Pass(15 * time.Millisecond)
		p.Wake(send, "")
		p.Start(send)
		p.Wake(hub, "runtime.chansend1@chan.go:2;main.send@send.go:5")
		p.Block("network", asks)
		p.Start(hub)
		p.Wake(5, "sync.(*RWMutex).Unlock@rw.go:2;main.hub@hub.go:9")
		p.Block("chan receive", "runtime.chanrecv1@chan.go:1;main.hub@hub.go:6")
		p.Start(5)
		p.Respond(5)
	}
	return p
}

// TestLetGo: a holder that waits for another goroutine is named by where it lets the lock go; one
// that does the waiting itself is not taken for somebody who let go once.
func TestLetGo(t *testing.T) {
	f := answers(t, traceOfProgram(t, hubHolds()), "LK02")[0]
	if f.State != Found || !strings.Contains(f.Summary, "whose holder waits in main.hub at hub.go:6 for a goroutine that is waiting for a peer's answer in main.send at send.go:4") {
		t.Errorf("%s: %s", f.State, f.Summary)
	}
	p := oneByOne("sync", accounttest.In("sync.(*RWMutex).Lock@rw.go:1", "main.handle@main.go:7"), accounttest.In("sync.(*RWMutex).Unlock@rw.go:2", "main.handle@main.go:9"))
	arriveAt(p, 5, "sync", accounttest.In("sync.(*RWMutex).Lock@rw.go:1", "main.handle@main.go:7"))
	p.Start(1)
	p.Create(50, "main.set", "main.main@main.go:90")
	p.Block("chan receive", "main.main@main.go:91")
	p.Start(50)
	p.Wake(5, "sync.(*RWMutex).Unlock@rw.go:2;main.set@set.go:3")
	p.End()
	p.Start(5)
	finishRequest(p, 5)
	f = answers(t, traceOfProgram(t, p), "LK02")[0]
	if f.State != Found || strings.Contains(f.Summary, "lets go") || !strings.Contains(f.Summary, "whose holder is waiting for a peer's answer in main.ask at main.go:20") {
		t.Errorf("%s: %s", f.State, f.Summary)
	}
}

// TestFoldedByBytes: what the collector costs goes under a finding at the line that allocates
// half of all bytes, though it says nothing about bytes itself.
func TestFoldedByBytes(t *testing.T) {
	for bytes, want := range map[string]string{"800 200": "CP18(GC03)", "200 800": "CP18 GC03"} {
		r := working("10s")
		r.Put(recording.Entry{Path: "allocs.pb.gz", Kind: recording.Allocs, Phase: "cpu"}, profiletest.Encode(
			"shop.page:/src/page.go:9 shop.other:/src/other.go:1\nmake make\n= "+bytes+"\n", profiletest.Options{Types: []string{"alloc_space/bytes"}}))
		all := []Finding{seenAt("CP18", Warning, 90, "/src/page.go", 9), seenAt("GC03", Warning, 20, "", 0)}
		if got := drawn(all, Cards(NewInput(session.New(r.Open())), all)); got != want {
			t.Errorf("%s: %s, want %s", bytes, got, want)
		}
	}
}

// TestKeptApart: memory that is kept stays on a card of its own beside what is slow at its line.
func TestKeptApart(t *testing.T) {
	lower := seenAt("AL11", Warning, 60, "/src/search.go", 5).costing(cost{file: "/src/search.go", line: 5})
	kept := seenAt("GC16", Info, 60, "/src/search.go", 5)
	pauses := seenAt("GC01", Info, 90, "/src/search.go", 5)
	leak := seenAt("GC08", Warning, 60, "/src/search.go", 5)
	for want, all := range map[string][]Finding{"AL11 GC01 GC16": {lower, kept, pauses}, "GC08(GC16)": {kept, leak}, "GC16(GC08)": {kept, seenAt("GC08", Info, 90, "", 0)}} {
		got := drawn(all, Cards(NewInput(session.New(working("10s").Open())), all))
		if strings.Contains(got, "(") != strings.Contains(want, "(") || strings.Contains(want, "(") && got != want || len(got) != len(want) {
			t.Errorf("the cards are %s, want %s", got, want)
		}
	}
}

// TestForcedIsNotGarbage: what allocates much and costs no time goes behind collections that the
// program forces, and is not what they are for.
func TestForcedIsNotGarbage(t *testing.T) {
	buffers := seenAt("AL04", Warning, 95, "/src/page.go", 3).bytesOf(0.9).costing(cost{file: "/src/page.go", line: 3})
	forced := seenAt("GC12", Warning, 20, "/src/page.go", 30)
	all := []Finding{buffers, forced}
	if got := drawn(all, Cards(NewInput(session.New(working("10s").Open())), all)); got != "GC12 AL04" {
		t.Errorf("the cards are %s", got)
	}
	all = all[:1]
	if got := drawn(all, Cards(NewInput(session.New(working("10s").Open())), all)); got != "AL04" {
		t.Errorf("the cards are %s", got)
	}
}

// groupsOf are the units of an input: ten of a handler that took a second in all, and n quick
// ones without a name that took three.
func groupsOf(in *Input, n int64) *account.Group {
	g := &account.Group{Name: "main.handle", Seen: times(10, 100*ms), Wall: times(10, 100*ms)}
	quick := &account.Group{Seen: times(int(n), 3*time.Second/time.Duration(n)), Wall: times(int(n), ms)}
	units := &facts.Units{Account: &account.Account{Groups: []*account.Group{g, quick}}, Judged: []*account.Group{g}}
	in.Facts.Units = func() *facts.Units { return units }
	return g
}

// TestOfAll: a share of the time of a handler counts those that may be its own, too, where they
// are many.
func TestOfAll(t *testing.T) {
	in := NewInput(session.New(working("10s").Open()))
	for n, want := range map[int64]float64{30: 0.2, 5: 0.8} {
		g := groupsOf(in, n)
		if got := ofAll(in, g, 0.8); got < want-0.01 || got > want+0.01 {
			t.Errorf("of %d nameless ones: %v, want %v", n, got, want)
		}
	}
}

// TestUnitTimeAll: what a sample of the units spends is carried over to all of them.
func TestUnitTimeAll(t *testing.T) {
	if got := (unitTime{time: time.Second, wall: 2 * time.Second, seen: 6 * time.Second}).all(); got != 3*time.Second {
		t.Errorf("%v, want 3s", got)
	}
	if got := (unitTime{}).all(); got != 0 {
		t.Errorf("%v of nothing", got)
	}
}

// TestGC05Server: what goroutines of the standard library assist with counts as the program's
// where they call it, and not where they work for themselves.
func TestGC05Server(t *testing.T) {
	for name, want := range map[string]Severity{"net/http.(*conn).serve": Warning, "net/http.(*persistConn).readLoop": Info} {
		s := newScene(t)
		s.manifest = "-- load.requests load phase=bare --\n"
		g := s.group(name, 8, 8, time.Second, 0)
		s.group("main.main", 1, 1, 3*time.Second, 0)
		s.GC.Assists = []sched.Assists{{Name: g.Name, Histogram: times(100, 4*ms), Ran: 160 * ms}}
		severity(t, name, s.expect("GC05", Found, "4.00%", "16.0%"), want)
	}
	s := newScene(t)
	s.manifest = "-- load.requests load phase=bare --\n"
	g := s.group("main.serve", 8, 8, time.Second, 0)
	s.GC.Assists = []sched.Assists{{Name: g.Name, Histogram: times(100, 4*ms), Ran: 300 * ms}}
	s.GC.Cycles = make([]sched.Cycle, 3)
	f := s.expect("GC05", Found)
	severity(t, "three collections", f, Info)
	doubted(t, f, "3 collections are too few")
}

// TestSC01ForEachOther: requests that do not wait for each other are as many at a time as the load
// sends.
func TestSC01ForEachOther(t *testing.T) {
	alone := accounttest.New()
	alone.Connect(5)
	for range 20 {
		alone.Pass(time.Millisecond)
		alone.Arrive(5)
		alone.Pass(60 * time.Millisecond)
		pauseIn(alone, 40*time.Millisecond, "sleep", "time.Sleep@sleep.go:1")
		alone.Respond(5)
	}
	for p, little := range map[*accounttest.Program]bool{alone: true, gated(): false} {
		r := traceOfProgram(t, p)
		r.Put(recording.Entry{Path: "load.requests", Kind: recording.Load, Phase: "trace"}, nil)
		if share, ok := forEachOther(NewInput(session.New(r.Open()))); !ok || (share < sc01.param("others")) != little {
			t.Errorf("%v of the time, %v; little: %v", share, ok, little)
		}
	}
	if _, ok := forEachOther(NewInput(session.New(traceOfProgram(t, accounttest.New()).Open()))); ok {
		t.Error("without a load it is known who asks")
	}
}

// TestWT01OwnTrace: that the trace itself stopped the world is no wait of the program.
func TestWT01OwnTrace(t *testing.T) {
	for kind, want := range map[string]State{"start trace": Fine, "read mem stats": Found} {
		r := served(t, 20, func(p *accounttest.Program) {
			p.Stop(kind, 15*time.Millisecond, accounttest.In("runtime.ReadMemStats@mstats.go:1", "main.handle@main.go:7"))
			p.Pass(time.Millisecond)
		})
		if f := answers(t, r, "WT01")[0]; f.State != want {
			t.Errorf("%s: %s: %s", kind, f.State, f.Summary)
		}
	}
}

// TestWT01Join: to wait until all of one's own goroutines have asked is not to stand in a queue
// with them.
func TestWT01Join(t *testing.T) {
	w := 20
	r := served(t, 20, func(p *accounttest.Program) {
		w++
		read := "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1"
		pauseIn(p, 2*time.Millisecond, "network", read)
		p.Create(w, "main.ask", accounttest.In("main.handle@main.go:6"))
		p.Block("sync", accounttest.In("sync.(*WaitGroup).Wait@wg.go:1", "main.handle@main.go:9"))
		p.Start(w)
		p.Block("network", read+";main.handle@main.go:7;main.ask@main.go:20")
		p.Pass(15 * time.Millisecond)
		p.Wake(w, "")
		p.Start(w)
		p.Wake(5, "sync.(*WaitGroup).Done@wg.go:2;main.ask@main.go:21")
		p.End()
		p.Start(5)
	})
	if f := answers(t, r, "WT01")[0]; f.State != Found || strings.Contains(f.Advice, "semaphore") || strings.Contains(f.Summary, "behind others") {
		t.Errorf("%s: %s: %s", f.State, f.Summary, f.Advice)
	}
}

// TestWT01Limiter: a limiter that a client asks limits the program's own calls; one that a handler
// asks keeps an intended rate.
func TestWT01Limiter(t *testing.T) {
	for _, c := range []struct {
		stack    string
		severity Severity
		advice   string
	}{
		{"golang.org/x/time/rate.(*Limiter).Wait@rate.go:3;main.(*transport).RoundTrip@t.go:8;net/http.(*Client).do@client.go:1;main.handle@main.go:7", Warning, "raise the limiter's rate and burst"},
		{"main.(*tokenBucket).Wait@bucket.go:9;net/http.(*Client).do@client.go:1;main.handle@main.go:7", Warning, "raise the limiter's rate and burst"},
		{"golang.org/x/time/rate.(*Limiter).Wait@rate.go:3;main.handle@main.go:7", Info, ""},
	} {
		r := served(t, 20, func(p *accounttest.Program) {
			pauseIn(p, 15*time.Millisecond, "select", c.stack)
		})
		if f := answers(t, r, "WT01")[0]; f.State != Found || f.Severity != c.severity || !strings.Contains(f.Advice, c.advice) || strings.Contains(f.Summary, "own calls") != (c.severity == Warning) {
			t.Errorf("%s: %s %s: %s: %s", c.stack, f.State, f.Severity, f.Summary, f.Advice)
		}
	}
}

// TestSC02Waits: a goroutine that mostly waits is there for that, however little it runs.
func TestSC02Waits(t *testing.T) {
	for reason, want := range map[string]State{"select": Fine, "chan receive": Fine, "": Found} {
		w := 100
		r := served(t, 50, func(p *accounttest.Program) {
			first := w
			for range 10 {
				p.Create(w, "main.ask", accounttest.In("main.handle@main.go:6"))
				w++
			}
			p.Block("sync", accounttest.In("sync.(*WaitGroup).Wait@wg.go:1", "main.handle@main.go:9"))
			for g := first; reason != "" && g < w; g++ {
				p.Start(g)
				p.Pass(2 * time.Microsecond)
				p.Block(reason, "main.ask@main.go:20")
			}
			p.Pass(4 * time.Millisecond)
			for g := first; g < w; g++ {
				if reason != "" {
					p.Wake(g, "")
				}
				p.Start(g)
				p.Pass(2 * time.Microsecond)
				if g == w-1 {
					p.Wake(5, "sync.(*WaitGroup).Done@wg.go:2;main.ask@main.go:21")
				}
				p.End()
			}
			p.Start(5)
		})
		if f := answers(t, r, "SC02")[0]; f.State != want {
			t.Errorf("%q: %s: %s", reason, f.State, f.Summary)
		}
	}
}

// TestOwnLoop: a loop that starts a goroutine each time is no loop of what that one does.
func TestOwnLoop(t *testing.T) {
	const source = `package shop

func f(items []int, wg *group) {
	for range items {
		go func() {
			once() // 6
			for {
				again() // 8
			}
		}()
		wg.Go(func() {
			once() // 12
		})
		func() {
			again() // 15
		}()
		each(func() {
			again() // 18
		})
		go again() // 20
	}
}
`
	r := recordingtest.New("title x")
	r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(source))
	c := newCode(session.New(r.Open()))
	for line, want := range map[int]inLoop{6: loopNo, 8: loopYes, 12: loopNo, 15: loopYes, 18: loopYes, 20: loopYes, 3: loopNo} {
		if got := lineInOwnLoop(c, stack.Frame{File: "/src/a.go", Line: line}); got != want {
			t.Errorf("line %d: %v, want %v", line, got, want)
		}
	}
	if got := lineInLoop(c, stack.Frame{File: "/src/a.go", Line: 6}); got != loopYes {
		t.Error("what the goroutines do is done again and again")
	}
}

// TestMadeWithSize: what is made with a size is not told to be, and a buffer whose size is not
// constant is not said to stay on the stack.
func TestMadeWithSize(t *testing.T) {
	for expr, want := range map[string][2]bool{
		"make(map[string]struct {}, len(ids))": {true, false},
		"make(map[string]int)":                 {false, false},
		"make([]byte, 4096)":                   {true, true},
		"make([]byte, c.partSize)":             {true, false},
		"make([]byte, 0, n)":                   {true, false},
		"new(int)":                             {false, false},
		"&T{...}":                              {false, false},
	} {
		if got := [2]bool{madeWithSize(expr), numberSize(expr)}; got != want {
			t.Errorf("%s: %v, want %v", expr, got, want)
		}
	}
}

// TestWrittenLineByLine: a logger whose time goes into system calls is to write through a buffer.
func TestWrittenLineByLine(t *testing.T) {
	for write, want := range map[string]bool{"60": true, "3": false} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nphase cpu 0s..5s profiler=cpu")
		r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(`
shop.run:/src/sink.go:64                    shop.run:/src/sink.go:64                    shop.other:/src/a.go:1
log.(*Logger).Print                         log.(*Logger).Print
os.(*File).Write                            log.formatHeader
internal/poll.(*FD).Write
syscall.write
internal/runtime/syscall/linux.Syscall6
= `[1:]+write+` 60 40
`))
		f := expect(t, write, r, "CP13", Found, "sink.go:64")
		if strings.HasPrefix(f.Advice, "Write through a buffer") != want || strings.Contains(f.Summary, "system calls that write") != want {
			t.Errorf("%s of 100: %s: %s", write, f.Summary, f.Advice)
		}
	}
}

// TestLK01Standard: a lock that only goroutines of the standard library wait for is shown where its
// package takes it, and is a remark: no line of the program waits.
func TestLK01Standard(t *testing.T) {
	s := newScene(t)
	lock := []string{"sync.(*Mutex).Lock:/go/src/sync/mutex.go:46", "net/http.(*Transport).tryPutIdleConn:/go/src/net/http/transport.go:1087"}
	s.block("net/http.(*persistConn).readLoop", exectrace.NameSync, 1000, 3*ms, s.stack(append(lock, "net/http.(*persistConn).readLoop:/go/src/net/http/transport.go:2303")...), 0)
	f := s.expect("LK01", Found, "tryPutIdleConn at transport.go:1087")
	severity(t, "net/http's own", f, Info)
	if e := f.Evidence[0]; e.Line != 1087 {
		t.Errorf("it is seen at %s:%d", e.File, e.Line)
	}
	s = newScene(t)
	s.block("main.work", exectrace.NameSync, 1000, 3*ms, s.stack("sync.(*Mutex).Lock:/go/src/sync/mutex.go:46", "log.(*Logger).output:/go/src/log/log.go:200", "main.work:/src/main.go:9"), 0)
	severity(t, "the program's line", s.expect("LK01", Found, "main.go:9"), Warning)
}

// TestAssistedAt: a trace tells where goroutines begin to assist.
func TestAssistedAt(t *testing.T) {
	r := served(t, 20, func(p *accounttest.Program) {
		p.Pass(10 * time.Millisecond)
		p.Event("GCMarkAssistBegin", "stack="+accounttest.In("main.parse@main.go:12", "main.handle@main.go:7"))
		p.Pass(2 * time.Millisecond)
		p.Event("GCMarkAssistEnd", "")
		p.Event("GCMarkAssistBegin", "stack="+accounttest.In("main.print@main.go:30", "main.handle@main.go:8"))
		p.Pass(time.Millisecond)
		p.Event("GCMarkAssistEnd", "")
	})
	f := answers(t, r, "GC05")[0]
	if f.State != Found || f.Evidence[0].Line != 12 || !strings.Contains(f.Evidence[0].Text, "most of the time of 40 assists") {
		t.Errorf("%s: %s: %+v", f.State, f.Summary, f.Evidence)
	}
}

// TestListed: what a sentence leaves out it counts.
func TestListed(t *testing.T) {
	for want, parts := range map[string]string{"a, b": "a b", "a, b, c": "a b c", "a, b, c, and 2 more": "a b c d e"} {
		if got := listed(strings.Fields(parts), 3); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestIsQueue: a slice that is taken from the front is a queue, whoever calls it what.
func TestIsQueue(t *testing.T) {
	r := recordingtest.New("title x")
	r.Put(recording.Entry{Path: "source/q.go", Kind: recording.Source, Source: "/src/q.go"}, []byte("package q\n\nfunc (b *buffer) take() packet {\n\tp := b.queue[0]\n\tb.queue = b.queue[1:]\n\tb.rest = b.rest[:2]\n\tlog = other[1:]\n\treturn p\n}\n"))
	c := newCode(session.New(r.Open()))
	for expr, want := range map[string]bool{"append(q.queue, Packet{...})": true, "append(b.rest, p)": false, "append(log, p)": false, "append(([]byte)(nil), payload...)": false, "make([]int, n)": false} {
		if got := isQueue(c, stack.Frame{File: "/src/q.go", Line: 4}, expr); got != want {
			t.Errorf("%s: %v", expr, got)
		}
	}
	if isQueue(c, stack.Frame{File: "/src/gone.go", Line: 4}, "append(b.queue, p)") {
		t.Error("without the source nothing is known")
	}
}

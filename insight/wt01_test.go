package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/format/exectrace/fixture"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// served is a recording whose trace has requests of one connection, which do something
// in their handler.
func served(t *testing.T, n int, do func(p *accounttest.Program)) *recordingtest.Recording {
	t.Helper()
	p := accounttest.New()
	p.Connect(5)
	for range n {
		p.Pass(time.Millisecond)
		p.Arrive(5)
		do(p)
		p.Respond(5)
	}
	return traceOfProgram(t, p)
}

// traceOfProgram is a recording with the trace of a program, which was sent requests.
func traceOfProgram(t *testing.T, p *accounttest.Program) *recordingtest.Recording {
	t.Helper()
	r := recordingtest.New("title x\ntarget package ./shop module=shop package=shop/cmd/shop\nphase trace 0s..10s profiler=trace\n")
	r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, p.Text()))
	return r
}

// timedOut waits in a select until a timer's function ends the wait.
func timedOut(p *accounttest.Program, d time.Duration) {
	p.Block("select", accounttest.In("runtime.selectgo@select.go:1", "main.handle@main.go:7"))
	p.Pass(d)
	p.Create(20, "context.WithDeadlineCause.func2", "")
	p.Start(20)
	p.Wake(5, "runtime.closechan@chan.go:1;context.WithDeadlineCause.func2@context.go:1")
	p.End()
	p.Start(5)
}

// pauseIn waits for a reason until nobody ends it.
func pauseIn(p *accounttest.Program, d time.Duration, reason, leaf string) {
	p.Block(reason, accounttest.In(leaf, "main.handle@main.go:7"))
	p.Pass(d)
	p.Wake(5, "")
	p.Start(5)
}

// sendIn writes to a connection from a line below the handler.
func sendIn(p *accounttest.Program, frames ...string) {
	p.Call(time.Microsecond, accounttest.In(append([]string{"syscall.write@z.go:1", "internal/poll.(*FD).Write@fd.go:1", "net.(*conn).Write@net.go:1"}, frames...)...))
}

func TestWT01(t *testing.T) {
	const sleep, read = "time.Sleep@sleep.go:1", "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1"
	handed := func(reason, leaf string) func(p *accounttest.Program) {
		w := 20
		return func(p *accounttest.Program) {
			w++
			p.Create(w, "main.work", accounttest.In("main.handle@main.go:6"))
			p.Block("chan receive", accounttest.In("main.handle@main.go:7"))
			p.Start(w)
			p.Block(reason, leaf+";main.work@main.go:12")
			p.Pass(15 * time.Millisecond)
			p.Wake(w, "")
			p.Start(w)
			p.Wake(5, "runtime.chansend1@chan.go:2;main.work@main.go:13")
			p.End()
			p.Start(5)
		}
	}
	for _, c := range []struct {
		name     string
		do       func(p *accounttest.Program)
		severity Severity // "" is fine
		says     string
		advises  string
	}{
		{"sleeps", func(p *accounttest.Program) {
			pauseIn(p, 15*time.Millisecond, "sleep", sleep)
			p.Pass(time.Millisecond)
		},
			Warning, "a request of main.handle spends 93.7% of its time sleeping in main.handle at main.go:7: 15.0 ms of 16.0 ms on average over 20", "let the producer signal it"},
		{"polls", func(p *accounttest.Program) {
			for range 6 {
				pauseIn(p, 3*time.Millisecond, "sleep", sleep)
			}
		}, Warning, "in 6.00 waits each", "Do not sleep until"},
		{"tries repeatedly", func(p *accounttest.Program) {
			for range 6 {
				p.Call(time.Microsecond, accounttest.In("syscall.connect@z.go:1", "net.(*netFD).connect@fd.go:1", "net.Dial@dial.go:1", "main.handle@main.go:6"))
				pauseIn(p, 3*time.Millisecond, "sleep", sleep)
			}
		}, Warning, "in 6.00 waits each, between as many calls in main.handle at main.go:6", "exponential backoff"},
		{"keeps a rate", func(p *accounttest.Program) {
			pauseIn(p, 15*time.Millisecond, "select", "golang.org/x/time/rate.(*Limiter).WaitN@rate.go:20;main.handle@main.go:7")
		}, Info, "main.handle at main.go:7", ""},
		{"computes", func(p *accounttest.Program) { p.Pass(15 * time.Millisecond) }, "", "running", ""},
		{"computes and sleeps a little", func(p *accounttest.Program) {
			p.Pass(15 * time.Millisecond)
			pauseIn(p, 2*time.Millisecond, "sleep", sleep)
		}, "", "running", ""},
		{"asks one peer", func(p *accounttest.Program) { pauseIn(p, 15*time.Millisecond, "network", read) }, Info, "waiting for a peer's answer in main.handle at main.go:7", "cache answers that do not change"},
		{"asks repeatedly", func(p *accounttest.Program) {
			for range 8 {
				sendIn(p, "main.handle@main.go:7")
				pauseIn(p, 2*time.Millisecond, "network", read)
			}
		}, Warning, "in 8.00 waits each", "N+1"},
		{"reads one answer in pieces", func(p *accounttest.Program) {
			sendIn(p, "main.handle@main.go:6")
			for range 8 {
				pauseIn(p, 2*time.Millisecond, "network", read)
			}
		}, Info, "in 8.00 waits each for the pieces of one answer", "cache answers that do not change"},
		{"reads from its client", func(p *accounttest.Program) {
			pauseIn(p, 15*time.Millisecond, "network", "internal/poll.(*FD).Read@fd.go:1;net/http.(*connReader).Read@server.go:1;net/http.(*body).Read@transfer.go:1")
		}, "", "waiting for its own client", ""},
		{"waits for a short timer", func(p *accounttest.Program) { p.Pass(time.Millisecond); timedOut(p, 5*time.Millisecond) }, Info, "waiting for a timer in main.handle at main.go:7", "shorten its time"},
		{"waits for a long timer", func(p *accounttest.Program) { p.Pass(time.Millisecond); timedOut(p, 50*time.Millisecond) }, Warning, "waiting for a timer in main.handle at main.go:7", "shorten its time"},
		{"hands over to one that sleeps", handed("sleep", sleep), Warning, "waiting for a channel in main.handle at main.go:7, while the goroutine that ends the wait is sleeping in main.work at main.go:12", "the pause of the goroutine that ends this wait"},
		{"starts a process", func(p *accounttest.Program) {
			p.Call(15*time.Millisecond, accounttest.In("syscall.Syscall6@asm.s:1", "os.(*Process).Wait@exec.go:1", "os/exec.(*Cmd).Run@exec.go:2", "main.handle@main.go:7"))
		}, Warning, "waiting for another process in main.handle at main.go:7", "Do not start a process for each"},
		{"stops the world", func(p *accounttest.Program) {
			p.Stop("read mem stats", 15*time.Millisecond, accounttest.In("runtime.ReadMemStats@mstats.go:1", "main.handle@main.go:7"))
		}, Warning, "in stops of the world (read mem stats) in main.handle at main.go:7", "Stop the world less often"},
		{"stops for a collection", func(p *accounttest.Program) {
			p.Stop("GC sweep termination", 15*time.Millisecond, accounttest.In("runtime.gcStart@mgc.go:1", "main.handle@main.go:7"))
		}, Warning, "in stops of the world (GC sweep termination)", "These stops belong to collections"},
		{"waits for a P", func(p *accounttest.Program) {
			p.Preempt(accounttest.In("main.handle@main.go:7"))
			p.Pass(15 * time.Millisecond)
			p.Start(5)
		}, "", "waiting for a P", ""},
		{"waits for a P and sleeps", func(p *accounttest.Program) {
			p.Preempt(accounttest.In("main.handle@main.go:7"))
			p.Pass(10 * time.Millisecond)
			p.Start(5)
			pauseIn(p, 15*time.Millisecond, "sleep", sleep)
		}, Info, "sleeping", "let the producer"},
		{"streams events", func(p *accounttest.Program) {
			for range 3 {
				pauseIn(p, 5*time.Millisecond, "select", "runtime.selectgo@select.go:1")
				p.Call(time.Microsecond, accounttest.In("syscall.write@z.go:1", "net.(*conn).Write@net.go:1", "main.handle@main.go:8"))
			}
		}, Info, "waiting for a timer", "ends it"},
	} {
		f := answers(t, served(t, 20, c.do), "WT01")[0]
		if c.severity == "" {
			if f.State != Fine || !strings.Contains(f.Summary, c.says) {
				t.Errorf("%s: %s, %s, want fine with %q", c.name, f.State, f.Summary, c.says)
			}
			continue
		}
		if f.State != Found || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Advice, c.advises) && c.name != "streams events" {
			t.Errorf("%s: %s %s: %s\nadvice: %s\nwant %s with %q and %q", c.name, f.State, f.Severity, f.Summary, f.Advice, c.severity, c.says, c.advises)
		}
		if f.Impact == nil || f.Verify == "" || len(f.Evidence) < 2 {
			t.Errorf("%s: the finding is not whole: %+v", c.name, f)
		}
	}
	if f := answers(t, served(t, 9, func(p *accounttest.Program) { pauseIn(p, 20*time.Millisecond, "sleep", sleep) }), "WT01")[0]; f.State != TooLittle || !strings.Contains(f.Summary, "9 requests") {
		t.Errorf("nine requests: %s, %s", f.State, f.Summary)
	}
}

// TestWT01Main: of a program that ends by itself main is judged, of one that goes on not.
func TestWT01Main(t *testing.T) {
	p := accounttest.New()
	for range 20 {
		p.Pass(time.Millisecond)
		p.Block("sleep", "time.Sleep@sleep.go:1;main.retry@main.go:12;main.main@main.go:3")
		p.Pass(15 * time.Millisecond)
		p.Wake(1, "")
		p.Start(1)
	}
	trace := fixture.Trace(t, p.Text())
	for manifest, want := range map[string]State{
		"run 0s..2s pid=7 exit=0\n": Found,
		"run 0s..2s pid=7\n":        NotApplicable,
		"":                          NotApplicable,
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop package=shop/cmd/shop\n" + manifest + "phase trace 0s..10s profiler=trace\n")
		r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, trace)
		f := answers(t, r, "WT01")[0]
		if f.State != want || want == Found && !strings.Contains(f.Summary, "main spends 93.7% of its time sleeping in main.retry at main.go:12") {
			t.Errorf("%q: %s: %s", manifest, f.State, f.Summary)
		}
	}
}

// TestWT01Jobs: of a program that goes on and serves nothing the jobs of its workers are
// judged; of one that ends by itself main is.
func TestWT01Jobs(t *testing.T) {
	const jobs = "runtime.chanrecv1@chan.go:1;main.worker@worker.go:42"
	p := accounttest.New()
	p.Create(7, "main.worker", "main.main@main.go:3")
	p.Block("sleep", "time.Sleep@sleep.go:1;main.main@main.go:5")
	p.Start(7)
	for range 30 {
		p.Block("chan receive", jobs)
		p.Pass(2 * time.Millisecond)
		p.Wake(1, "")
		p.Start(1)
		p.Wake(7, "main.main@main.go:4")
		p.Block("sleep", "time.Sleep@sleep.go:1;main.main@main.go:5")
		p.Start(7)
		p.Pass(time.Millisecond)
		p.Block("sleep", "time.Sleep@sleep.go:1;main.retry@retry.go:12;main.worker@worker.go:44")
		p.Pass(15 * time.Millisecond)
		p.Wake(7, "")
		p.Start(7)
	}
	trace := fixture.Trace(t, p.Text())
	for manifest, want := range map[string]string{
		"run 0s..2s pid=7\n":        "a job of main.worker (worker.go:42) spends 93.7% of its time sleeping in main.retry at retry.go:12",
		"run 0s..2s pid=7 exit=0\n": "main spends",
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop package=shop/cmd/shop\n" + manifest + "phase trace 0s..10s profiler=trace\n")
		r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, trace)
		if f := answers(t, r, "WT01")[0]; f.State != Found || !strings.Contains(f.Summary, want) {
			t.Errorf("%q: %s: %s\nwant %s", manifest, f.State, f.Summary, want)
		}
	}
}

// fourConnections is a program with four connections, 5 to 8, that wait for requests.
func fourConnections() *accounttest.Program {
	p := accounttest.New()
	for g := 5; g < 9; g++ {
		p.Connect(g)
	}
	return p
}

// arriveAt is a request that waits at once.
func arriveAt(p *accounttest.Program, g int, reason, stack string) {
	p.Arrive(g)
	p.Block(reason, stack)
	p.Start(1000 + g)
	p.Block("network", "internal/poll.(*FD).Read@fd.go:1;net/http.(*connReader).backgroundRead@server.go:9")
}

// gated is a program whose requests go one by one through a gate, a channel, and ask a peer
// in it.
func gated() *accounttest.Program {
	return oneByOne("chan send", accounttest.In("main.handle@main.go:7"), accounttest.In("runtime.chanrecv1@chan.go:1", "main.handle@main.go:9"))
}

// oneByOne is a program whose requests wait for each other for a reason, and ask a peer
// when it is their turn.
func oneByOne(reason, waits, lets string) *accounttest.Program {
	return oneByOneAt(reason, waits, lets, accounttest.In("net.(*conn).Read@net.go:1", "main.ask@main.go:20", "main.handle@main.go:8"))
}

// oneByOneAt is the same, where the one whose turn it is asks the peer at a place.
func oneByOneAt(reason, waits, lets, inside string) *accounttest.Program {
	p := fourConnections()
	for range 6 {
		arriveAt(p, 5, "network", inside)
		for g := 6; g < 9; g++ {
			arriveAt(p, g, reason, waits)
		}
		for g := 5; g < 9; g++ {
			p.Pass(10 * time.Millisecond)
			p.Wake(g, "")
			p.Start(g)
			if g < 8 {
				p.Wake(g+1, lets)
			}
			finishRequest(p, g)
			if g < 8 {
				p.Start(g + 1)
				p.Block("network", inside)
			}
		}
	}
	return p
}

// TestWT01Queue: requests that wait for each other behind a narrow gate are told so, and
// not that the peer behind it is slow.
func TestWT01Queue(t *testing.T) {
	f := answers(t, traceOfProgram(t, gated()), "WT01")[0]
	if f.State != Found || f.Severity != Warning || !strings.Contains(f.Summary, "waiting for a channel in main.handle at main.go:7, behind others that are waiting for a peer's answer in main.ask at main.go:20") ||
		!strings.Contains(f.Advice, "lets in fewer at once than the load asks for") {
		t.Errorf("%s %s: %s: %s", f.State, f.Severity, f.Summary, f.Advice)
	}
}

// finishRequest responds where the goroutine that reads behind the request waits already.
func finishRequest(p *accounttest.Program, g int) {
	p.Call(5*time.Microsecond, accounttest.Finish)
	p.Wake(1000+g, accounttest.Over)
	p.Block("sync.(*Cond).Wait", "sync.(*Cond).Wait@cond.go:1;"+accounttest.Over)
	p.Start(1000 + g)
	p.Wake(g, "sync.(*Cond).Broadcast@cond.go:2;net/http.(*connReader).backgroundRead@server.go:9")
	p.End()
	p.Start(g)
	p.Block("network", accounttest.Peek)
}

// mainOf is the recording of a program that ends by itself, after what its goroutines do.
func mainOf(t *testing.T, do func(p *accounttest.Program)) *recordingtest.Recording {
	t.Helper()
	p := accounttest.New()
	do(p)
	r := recordingtest.New("title x\ntarget package ./shop module=shop package=shop/cmd/shop\nrun 0s..2s pid=7 exit=0\nphase trace 0s..10s profiler=trace\n")
	r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, p.Text()))
	return r
}

// TestWT01Files: calls on files have no responder, and give no answers.
func TestWT01Files(t *testing.T) {
	calls := func(n int, each time.Duration, leaf string) Finding {
		return answers(t, mainOf(t, func(p *accounttest.Program) {
			for range n {
				p.Pass(time.Microsecond)
				p.Call(each, leaf+";main.load@main.go:7;main.main@main.go:3")
			}
			p.Pass(20 * time.Millisecond)
		}), "WT01")[0]
	}
	const reads, writes = "syscall.read@z.go:1;os.(*File).Read@file.go:1", "syscall.write@z.go:1;os.(*File).Write@file.go:1"
	for _, c := range []struct {
		name    string
		f       Finding
		says    string
		advises string
		doubts  string
	}{
		{"many short reads", calls(12_000, 15*time.Microsecond, reads), "in 12,000 calls", "bufio.NewReader", "the trace makes short system calls longer"},
		{"many short writes", calls(12_000, 15*time.Microsecond, writes), "in 12,000 calls", "bufio.NewWriter", "the trace makes short system calls longer"},
		{"a walk", calls(12_000, 15*time.Microsecond, "syscall.Getdents@z.go:1;os.(*File).ReadDir@dir.go:1;os.ReadDir@dir.go:2;path/filepath.WalkDir@path.go:1"), "in 12,000 calls", "List fewer folders", "the trace makes short system calls longer"},
		{"many opens", calls(12_000, 15*time.Microsecond, "syscall.openat@z.go:1;os.OpenFile@file.go:1"), "in 12,000 calls", "Open fewer files", ""},
		{"some long reads", calls(5, 40*time.Millisecond, reads), "in 5 calls", "Read less", "which may have to wait for the disk"},
		{"one long read", calls(1, 200*time.Millisecond, reads), "system calls on files", "Read less", "which may have to wait for the disk"},
	} {
		text := c.f.Summary + c.f.Advice + strings.Join(c.f.Doubts, "; ")
		if c.f.State != Found || !strings.Contains(c.f.Summary, c.says) || !strings.Contains(c.f.Advice, c.advises) || !strings.Contains(strings.Join(c.f.Doubts, "; "), c.doubts) {
			t.Errorf("%s: %s: %s\nadvice: %s\ndoubts: %q", c.name, c.f.State, c.f.Summary, c.f.Advice, c.f.Doubts)
		}
		for _, word := range []string{"responder", "answer", "peer", "sync once"} {
			if strings.Contains(text, word) {
				t.Errorf("%s: %q in %s", c.name, word, text)
			}
		}
	}
}

// TestWT01InItsPlace: how many wait for a peer is counted, not supposed.
func TestWT01InItsPlace(t *testing.T) {
	const asks = "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;main.ask@main.go:20;main.work@main.go:12"
	f := answers(t, mainOf(t, func(p *accounttest.Program) {
		for i := range 20 {
			a, b := 20+2*i, 21+2*i
			p.Create(a, "main.work", "main.main@main.go:6")
			p.Create(b, "main.work", "main.main@main.go:6")
			p.Block("chan receive", "runtime.chanrecv1@chan.go:1;main.main@main.go:7")
			for _, g := range []int{a, b} {
				p.Start(g)
				p.Block("network", asks)
			}
			p.Pass(15 * time.Millisecond)
			for _, g := range []int{a, b} {
				p.Wake(g, "")
				p.Start(g)
				if g == b {
					p.Wake(1, "runtime.chansend1@chan.go:2;main.work@main.go:13")
				}
				p.End()
			}
			p.Start(1)
		}
	}), "WT01")[0]
	if f.State != Found || f.Severity != Info {
		t.Errorf("%s %s: %s", f.State, f.Severity, f.Summary)
	}
	doubts := strings.Join(f.Doubts, "; ")
	if !strings.Contains(doubts, "other goroutines wait for the peer in its place: 2.00 of them on average in main.ask at main.go:20") || strings.Contains(doubts, "allowed") {
		t.Errorf("%s: doubts %q", f.Summary, f.Doubts)
	}
}

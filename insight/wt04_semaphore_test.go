package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// behindSemaphore is a program whose requests wait for workers, one for each, of which a semaphore
// lets one in at a time to ask a peer.
func behindSemaphore() *accounttest.Program { return behindSemaphoreOf(readNet, false) }

// behindSemaphoreOf has another wait inside, and may compute meanwhile.
func behindSemaphoreOf(wait string, computes bool) *accounttest.Program {
	const waits = "runtime.chansend1@chan.go:1;main.worker@main.go:6"
	asks := wait + ";main.ask@main.go:20;main.worker@main.go:8"
	const idle = "runtime.chanrecv1@chan.go:2;main.work@main.go:30"
	p := fourConnections()
	p.Wake(1, "")
	p.Start(1)
	for w := 50; w < 54; w++ {
		p.Create(w, "main.work", "main.main@main.go:1")
	}
	for g := 60; g < 62 && computes; g++ {
		p.Create(g, "main.burn", "main.main@main.go:2")
	}
	p.Block("network", "internal/poll.(*FD).Accept@fd.go:2")
	for w := 50; w < 54; w++ {
		p.Start(w)
		p.Block("chan receive", idle)
	}
	for range 6 {
		for i := range 4 {
			p.Wake(50+i, "")
			p.Start(50 + i)
			if i == 0 {
				p.Block("network", asks)
			} else {
				p.Block("chan send", waits)
			}
			arriveAt(p, 5+i, "chan receive", accounttest.In("runtime.chanrecv1@chan.go:1", "main.handle@main.go:40"))
		}
		for i := range 4 {
			if computes {
				p.Start(60)
			}
			p.Pass(10 * time.Millisecond)
			if computes {
				p.Preempt("main.burn@main.go:50")
			}
			p.Wake(50+i, "")
			p.Start(50 + i)
			if i < 3 {
				p.Wake(51+i, "runtime.chanrecv1@chan.go:1;main.worker.func1@main.go:7;main.worker@main.go:9")
			}
			p.Wake(5+i, "runtime.chansend1@chan.go:1;main.work@main.go:33")
			p.Block("chan receive", idle)
			if i < 3 {
				p.Start(51 + i)
				p.Block("network", asks)
			}
			p.Start(5 + i)
			finishRequest(p, 5+i)
		}
	}
	return p
}

// TestSemaphore: a semaphore that work waits for, in other goroutines than that of the request, is
// found by its source with its limit; one that lets in all of them, or without a known limit, is not.
func TestSemaphore(t *testing.T) {
	for made, want := range map[string]bool{
		"make(chan struct{}, 1)":     true,
		"make(chan struct{}, 100)":   false, // the slots are not taken up
		"make(chan struct{}, limit)": false,
		"make(chan request, 1)":      false, // a queue
	} {
		r := traceOfProgram(t, behindSemaphore())
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"},
			[]byte("package main\n\nvar sem = "+made+"\n\nfunc worker() {\n\tsem <- struct{}{}\n\tdefer func() { <-sem }()\n\task()\n}\n"))
		in := NewInput(session.New(r.Open()))
		g := in.Facts.Units().Judged[0]
		f, ok := checkSemaphore(wt04, in, in.trace(), g)
		if ok != want {
			t.Errorf("%s: %v %s", made, ok, f.Summary)
		}
		if ok && (f.Severity != Info || !strings.Contains(f.Summary, "which lets 1 at once in, by main.go:3;") || !strings.Contains(f.Summary, "of them wait at main.go:6 to get in")) {
			t.Errorf("%s: %s %s", made, f.Severity, f.Summary)
		}
	}
}

// TestSemaphoreOfCPUs: a limit that goes by the CPUs is a warning, but not where what is done inside
// may need them: a child process, what the program computes itself, or a program that it has started.
func TestSemaphoreOfCPUs(t *testing.T) {
	const child = "internal/syscall/unix.Waitid@w.go:1;os.(*Process).pidfdWait@exec.go:1;os/exec.(*Cmd).Run@exec.go:2"
	const full = `{"t_ns":1000000000,"busy_ns":0,"idle_ns":0}
{"t_ns":5000000000,"busy_ns":15900000000,"idle_ns":100000000}
`
	const idle = `{"t_ns":1000000000,"busy_ns":0,"idle_ns":0}
{"t_ns":5000000000,"busy_ns":1000000000,"idle_ns":15000000000}
`
	for _, c := range []struct {
		name, wait string
		computes   bool
		host       string
		more       string
		why        string // "" is a warning
	}{
		{"a peer", readNet, false, "", "", ""},
		{"a peer, on a busy machine", readNet, false, full, "", ""},
		{"a child process", child, false, full, "", "they wait for child processes, which may compute"},
		{"a child process, on an idle machine", child, false, idle, "", ""},
		{"while the program computes", readNet, true, "", "", "the program's own goroutines kept 9"},
		{"a peer that it has started", readNet, false, full, "func start(cmd *exec.Cmd) { cmd.Start() }", "the program starts other programs (main.go:11)"},
		{"a peer, and it has started others", readNet, false, idle, "func start(cmd *exec.Cmd) { cmd.Start() }", ""},
	} {
		r := traceOfProgram(t, behindSemaphoreOf(c.wait, c.computes))
		r.Manifest.Host.CPUs = 1
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"},
			[]byte("package main; import \"os/exec\"\n\nvar sem = make(chan struct{}, runtime.NumCPU())\n\nfunc worker() {\n\tsem <- struct{}{}\n\tdefer func() { <-sem }()\n\task()\n}\n\n"+c.more+"\n"))
		if c.host != "" {
			r.Put(recording.Entry{Path: "os.ndjson", Kind: recording.OS}, []byte(c.host))
		}
		in := NewInput(session.New(r.Open()))
		f, ok := checkSemaphore(wt04, in, in.trace(), in.Facts.Units().Judged[0])
		if want := map[bool]Severity{true: Warning, false: Info}[c.why == ""]; !ok || f.Severity != want || !strings.Contains(f.Advice, c.why) {
			t.Errorf("%s: %v %s: %s\n%s", c.name, ok, f.Severity, f.Summary, f.Advice)
		}
	}
}

// TestInsideKinds tells system calls on files from those on connections, and from waits.
func TestInsideKinds(t *testing.T) {
	for leaf, want := range map[string]bool{"os.(*File).Sync": true, "syscall.Open": true, "net.(*conn).Write": false, "os/exec.(*Cmd).Run": false} {
		frames := []stack.Frame{{Func: leaf}, {Func: "main.f"}}
		if got := isOnFiles(&facts.Wait{Frames: frames, Block: &sched.Block{State: exectrace.Syscall}}); got != want {
			t.Errorf("%s: %v", leaf, got)
		}
		if isOnFiles(&facts.Wait{Frames: frames, Block: &sched.Block{State: exectrace.Waiting}}) {
			t.Errorf("%s: a wait is no system call", leaf)
		}
	}
}

// TestLimitOf: the limit is read where the semaphore is made, and whether it goes by the CPUs.
func TestLimitOf(t *testing.T) {
	for source, want := range map[string]string{
		"func f() { sem := semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0)))\n\tsem.Acquire(ctx, 1) }":           "runtime.GOMAXPROCS(0) by the CPUs",
		"func f() { n := runtime.NumCPU(); sem := semaphore.NewWeighted(int64(n))\n\tsem.Acquire(ctx, 1) }":        "n by the CPUs",
		"func f() { n := runtime.NumCPU(); n = 8; sem := semaphore.NewWeighted(int64(n))\n\tsem.Acquire(ctx, 1) }": "",
		"func f() { sem := semaphore.NewWeighted(64)\n\tsem.Acquire(ctx, 1) }":                                     "64",
		"func f() { sem := semaphore.NewWeighted(4 * most)\n\tsem.Acquire(ctx, 1) }":                               "",
	} {
		in := sourcesOf(source)
		at := stack.Frame{Func: "main.f", File: "a.go", Line: 4}
		s := semaphoreOn(in, at, []stack.Frame{{Func: "golang.org/x/sync/semaphore.(*Weighted).Acquire"}, at})
		got := ""
		switch {
		case s != nil && s.cpus:
			got = s.limit + " by the CPUs"
		case s != nil && s.n > 0:
			got = s.limit
		}
		if got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}

// TestLimitOfGroup: the limit of an errgroup is what SetLimit gives it.
func TestLimitOfGroup(t *testing.T) {
	at := stack.Frame{Func: "main.f", File: "a.go", Line: 4}
	s := semaphoreOn(sourcesOf("func f() {\tg.SetLimit(runtime.NumCPU())\n\tg.Go(work) }"), at, []stack.Frame{{Func: "golang.org/x/sync/errgroup.(*Group).Go"}, at})
	if s == nil || !s.cpus || s.limit != "runtime.NumCPU()" || s.made.Line != 3 {
		t.Errorf("%+v", s)
	}
}

// TestLimitOfSeveral: of several with one name that of the same file is meant; without one, none is known.
func TestLimitOfSeveral(t *testing.T) {
	const take, made = "func f() {\n\tsem.Acquire(ctx, 1) }", "var sem = semaphore.NewWeighted(8)"
	at := stack.Frame{Func: "main.f", File: "a.go", Line: 4}
	for _, c := range []struct {
		name  string
		texts []string
		known bool
	}{
		{"one elsewhere", []string{take, made}, true},
		{"two elsewhere", []string{take, made, made}, false},
		{"three elsewhere", []string{take, made + "\n" + made, made}, false},
		{"its own among others", []string{take + "\n" + made, made, made}, true},
		{"two of its own", []string{take + "\n" + made + "\n" + made, made}, false},
	} {
		s := semaphoreOn(sourcesOf(c.texts...), at, []stack.Frame{{Func: "golang.org/x/sync/semaphore.(*Weighted).Acquire"}, at})
		if (s != nil) != c.known {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

// sourcesOf is a recording with files a.go, b.go, and so on.
func sourcesOf(texts ...string) *Input {
	r := recordingtest.New("title x\nphase trace 0s..10s profiler=trace\n")
	for i, text := range texts {
		name := string(rune('a'+i)) + ".go"
		r.Put(recording.Entry{Path: "source/" + name, Kind: recording.Source, Source: name}, []byte("package main\n\n"+text+"\n"))
	}
	return NewInput(session.New(r.Open()))
}

// TestGivesBack: who sends to a channel and receives from it takes a slot; a worker that another function feeds does not.
func TestGivesBack(t *testing.T) {
	for text, want := range map[string]bool{
		"func pay() {\nslots <- struct{}{}\ndefer func() { <-slots }()\n}":                           true,
		"func (g *gate) enter() {\ng.slots <- struct{}{}\n}\nfunc (g *gate) release() { <-g.slots }": true,
		"func feed() {\nwork <- 1\n}\nfunc worker() { for range n { <-work } }":                      false,
		"func pay() {\nslots <- struct{}{}\n<-other\n}":                                              false,
	} {
		c := sourceOf("package main\n\n" + text + "\n")
		if got := givesBack(c, stack.Frame{Func: "main.pay", File: "a.go", Line: 4}); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

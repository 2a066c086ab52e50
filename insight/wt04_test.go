package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/session"
)

// waitingAll are requests on all four connections that wait for somebody, six times;
// serve ends the waits, and lets those respond whose waits are over when it waits itself.
func waitingAll(serve func(p *accounttest.Program, wake func(g int, stack string), respond func())) *accounttest.Program {
	return waitingFor("chan receive", "runtime.chanrecv1@chan.go:1", serve)
}

// waitingFor is waitingAll with a reason to wait and the function that does.
func waitingFor(reason, leaf string, serve func(p *accounttest.Program, wake func(g int, stack string), respond func())) *accounttest.Program {
	p := fourConnections()
	p.Wake(1, "")
	p.Start(1)
	p.Create(50, "main.serve", "main.main@main.go:1")
	p.Block("network", "internal/poll.(*FD).Accept@fd.go:2")
	p.Start(50)
	p.Block("sleep", "time.Sleep@sleep.go:1;main.serve@main.go:30")
	for range 6 {
		for g := 5; g < 9; g++ {
			arriveAt(p, g, reason, accounttest.In(leaf, "main.handle@main.go:7"))
		}
		p.Wake(50, "")
		p.Start(50)
		var woken []int
		respond := func() {
			for _, g := range woken {
				p.Start(g)
				finishRequest(p, g)
			}
			woken = nil
		}
		serve(p, func(g int, stack string) {
			woken = append(woken, g)
			p.Wake(g, stack)
		}, respond)
		p.Block("sleep", "time.Sleep@sleep.go:1;main.serve@main.go:30")
		respond()
	}
	return p
}

// asks is a call of the goroutine that serves.
func asks(p *accounttest.Program, g int, d time.Duration, respond func()) {
	p.Call(time.Microsecond, "syscall.write@z.go:1;internal/poll.(*FD).Write@fd.go:1;net.(*conn).Write@net.go:1;main.serve@main.go:31")
	p.Block("network", readNet+";main.serve@main.go:32")
	respond()
	p.Pass(d)
	p.Wake(g, "")
	p.Start(g)
}

const sends = "runtime.chansend1@chan.go:1;main.serve@main.go:33"

func TestWT04(t *testing.T) {
	worker := waitingAll(func(p *accounttest.Program, wake func(g int, stack string), respond func()) {
		for g := 5; g < 9; g++ {
			asks(p, 50, 10*time.Millisecond, respond)
			wake(g, sends)
		}
	})
	// It takes one from a channel without room, and the next when that is done.
	taker := waitingFor("chan send", "runtime.chansend1@chan.go:1", func(p *accounttest.Program, wake func(g int, stack string), respond func()) {
		for g := 5; g < 9; g++ {
			wake(g, "runtime.chanrecv2@chan.go:1;main.serve@main.go:33")
			asks(p, 50, 10*time.Millisecond, respond)
		}
	})
	// The rest of an answer is of the same call: nobody has nothing to do meanwhile.
	client := waitingAll(func(p *accounttest.Program, wake func(g int, stack string), respond func()) {
		for g := 5; g < 9; g++ {
			asks(p, 50, 8*time.Millisecond, respond)
			p.Block("network", readNet+";net/http.(*bodyEOFSignal).Read@transport.go:1;main.serve@main.go:34")
			p.Pass(2 * time.Millisecond)
			p.Wake(50, "")
			p.Start(50)
			wake(g, sends)
		}
	})
	// One call is for all of them: nobody waits for what is done for another.
	poller := waitingAll(func(p *accounttest.Program, wake func(g int, stack string), respond func()) {
		asks(p, 50, 40*time.Millisecond, respond)
		for g := 5; g < 9; g++ {
			wake(g, sends)
		}
	})
	// It reads events that come for one or the other, and asks nobody.
	reader := waitingAll(func(p *accounttest.Program, wake func(g int, stack string), respond func()) {
		for g := 5; g < 9; g++ {
			p.Block("network", readNet+";main.serve@main.go:32")
			respond()
			p.Pass(10 * time.Millisecond)
			p.Wake(50, "")
			p.Start(50)
			wake(g, sends)
		}
	})
	// One request brings what the others have waited for.
	event := fourConnections()
	for range 6 {
		for g := 5; g < 8; g++ {
			arriveAt(event, g, "chan receive", accounttest.In("runtime.chanrecv1@chan.go:1", "main.handle@main.go:7"))
		}
		event.Pass(20 * time.Millisecond)
		event.Arrive(8)
		for g := 5; g < 8; g++ {
			event.Wake(g, accounttest.In("runtime.closechan@chan.go:1", "main.publish@main.go:40"))
		}
		event.Block("network", "internal/poll.(*FD).Read@fd.go:1;net/http.(*connReader).Read@server.go:1;net/http.(*body).Read@transfer.go:1")
		event.Start(1008)
		event.Block("network", "internal/poll.(*FD).Read@fd.go:1;net/http.(*connReader).backgroundRead@server.go:9")
		for g := 5; g < 8; g++ {
			event.Start(g)
			finishRequest(event, g)
		}
		event.Wake(8, "")
		event.Start(8)
		finishRequest(event, 8)
	}
	for _, c := range []struct {
		name string
		p    *accounttest.Program
		says []string // none is fine
	}{
		{"a semaphore of one", gated(), []string{"waits 60.0% of its time in main.handle at main.go:7 until others are done: 15.0 ms of 25.0 ms on average over 24; only one gets through at a time",
			"waiting for a peer's answer in main.ask at main.go:20", "is a lock"}},
		{"one worker", worker, []string{"waits 60.0% of its time in main.handle at main.go:7 until others are done: 15.0 ms of 25.0 ms on average over 24; one goroutine serves all of them",
			"waiting for a peer's answer in main.serve at main.go:32", "Start more workers"}},
		{"one worker that takes", taker, []string{"waits 99.9% of its time in main.handle at main.go:7 until others are done", "one goroutine serves all of them",
			"waiting for a peer's answer in main.serve at main.go:32", "Start more workers"}},
		{"one worker that reads bodies", client, []string{"waits 60.0% of its time in main.handle at main.go:7 until others are done", "one goroutine serves all of them", "waiting for a peer's answer in main.serve at main.go:32"}},
		{"one call for all", poller, nil},
		{"a reader of events", reader, nil},
		{"an event that others wait for", event, nil},
	} {
		r := traceOfProgram(t, c.p)
		in := NewInput(session.New(r.Open()))
		all := Run(in)
		f := answers(t, r, "WT04")[0]
		if c.says == nil {
			if f.State != Fine {
				t.Errorf("%s: %s: %s", c.name, f.State, f.Summary)
			}
			continue
		}
		for _, s := range c.says {
			if f.State != Found || f.Severity != Warning || !strings.Contains(f.Summary+f.Advice, s) {
				t.Errorf("%s: %s %s: %s %s\nwant %q", c.name, f.State, f.Severity, f.Summary, f.Advice, s)
			}
		}
		if got := drawn(all, Cards(in, all)); !strings.Contains(got, "WT04(") || strings.Contains(got, " WT01") {
			t.Errorf("%s: the cards are %s", c.name, got)
		}
	}
}

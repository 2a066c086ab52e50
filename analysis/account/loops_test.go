package account_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/account/accounttest"
	"loupe/value/stack"
)

// The stacks of the loops.
const (
	jobs    = "runtime.chanrecv1@chan.go:1;main.worker@worker.go:42"
	reply   = "runtime.chanrecv1@chan.go:1;main.ask@ask.go:7;main.worker@worker.go:47"
	entries = "runtime.selectgo@select.go:1;main.flusher@flusher.go:5"
	accept  = "internal/poll.(*FD).Accept@fd.go:2;net.(*TCPListener).Accept@tcpsock.go:3;main.main@main.go:8"
	read    = "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:2;bufio.(*Reader).ReadString@bufio.go:3;main.handle@handle.go:31"
	write   = "syscall.write@z.go:1;net.(*conn).Write@net.go:4;main.handle@handle.go:33"
	asleep  = "time.Sleep@sleep.go:1;main.producer@producer.go:6"
	makes   = "main.main@main.go:3"
)

// loopsOf are the groups of an account, but for main and workers, with their rows.
func loopsOf(a *account.Account) (all []string) {
	for _, g := range a.Groups {
		if g.Unit < account.Main {
			all = append(all, fmt.Sprintf("%d %s %s: %s", g.Wall.Count, g.Unit, g.Name, strings.Join(rowsOf(&g.All), ", ")))
		}
	}
	return all
}

// queue is a program with a producer, goroutine 8, that gives a worker, goroutine 7, n jobs;
// the worker, whose job begins and ends, waits at a stack for them.
func queue(n int, function, head string, job func(p *accounttest.Program)) *accounttest.Program {
	p := accounttest.New()
	p.Create(7, function, makes)
	p.Create(8, "main.producer", makes)
	p.Block("select", "main.main@main.go:9")
	reason := map[bool]string{true: "select", false: "chan receive"}[strings.Contains(head, "selectgo")]
	p.Start(7)
	p.Block(reason, head)
	p.Start(8)
	for range n {
		p.Wake(7, "main.producer@producer.go:5")
		p.Block("sleep", asleep)
		p.Start(7)
		job(p)
		p.Block(reason, head)
		p.Pass(5 * ms) // nothing to do
		p.Wake(8, "")
		p.Start(8)
	}
	return p
}

func wantLoops(t *testing.T, what string, p *accounttest.Program, want ...string) {
	t.Helper()
	wantLoopsServed(t, what, p, nil, want...)
}

func wantLoopsServed(t *testing.T, what string, p *accounttest.Program, serves func(string) bool, want ...string) {
	t.Helper()
	if got := loopsOf(accountOf(t, p, account.Options{Scope: stack.Scope{Modules: []string{"project"}}, Serves: serves})); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestJobs: a job is from the end of the wait for it to the wait for the next one, in which
// the worker may wait for others.
func TestJobs(t *testing.T) {
	wantLoops(t, "a worker", queue(20, "main.worker", jobs, func(p *accounttest.Program) {
		p.Pass(2 * ms)
		p.Call(ms, "syscall.write@z.go:1;main.worker@worker.go:45")
	}), "19 job main.worker (worker.go:42): running main.worker:45 2ms, system_call main.worker:45 1ms")

	// A wait that is deeper is within the job, whoever ends it, and also before the
	// first wait for a job has come again.
	p := accounttest.New()
	p.Create(7, "main.worker", makes)
	p.Create(8, "main.producer", makes)
	p.Block("select", "main.main@main.go:9")
	p.Start(7)
	p.Block("chan receive", reply)
	p.Start(8)
	for range 20 {
		p.Wake(7, "main.producer@producer.go:15")
		p.Block("sleep", asleep)
		p.Start(7)
		p.Block("chan receive", jobs)
		p.Pass(5 * ms)
		p.Wake(8, "")
		p.Start(8)
		p.Wake(7, "main.producer@producer.go:5")
		p.Block("sleep", asleep)
		p.Start(7)
		p.Pass(ms)
		p.Block("chan receive", reply)
		p.Wake(8, "")
		p.Start(8)
		p.Pass(4 * ms)
	}
	wantLoops(t, "a worker that asks", p, "18 job main.worker (worker.go:42): channel main.ask:7 for running main.producer:15 4ms, running main.ask:7 1ms")
}

// TestNoJobs: what looks like a worker and is none.
func TestNoJobs(t *testing.T) {
	wantLoops(t, "a log flusher", queue(50, "main.flusher", entries, func(p *accounttest.Program) {
		p.Pass(3 * us)
		p.Call(20*us, "syscall.write@z.go:1;main.flusher@flusher.go:9")
	}))
	wantLoops(t, "few jobs", queue(9, "main.worker", jobs, func(p *accounttest.Program) { p.Pass(2 * ms) }))
	wantLoops(t, "the loop of a library", queue(20, "example.com/pool.(*Pool).run", "runtime.chanrecv1@chan.go:1;example.com/pool.(*Pool).run@pool.go:42", func(p *accounttest.Program) {
		p.Pass(2 * ms)
	}))

	ticks := accounttest.New()
	ticks.Create(7, "main.poller", makes)
	ticks.Block("select", "main.main@main.go:9")
	ticks.Start(7)
	for range 30 {
		ticks.Block("chan receive", "runtime.chanrecv1@chan.go:1;main.poller@poller.go:4")
		ticks.Pass(10 * ms)
		ticks.Wake(7, "")
		ticks.Start(7)
		ticks.Pass(3 * ms)
	}
	wantLoops(t, "a ticker", ticks)

	// Idle workers, which one message ends.
	idle := accounttest.New()
	for g := 7; g < 27; g++ {
		idle.Create(g, "main.worker", makes)
	}
	idle.Block("sleep", asleep)
	for g := 7; g < 27; g++ {
		idle.Start(g)
		idle.Block("chan receive", jobs)
	}
	idle.Pass(50 * ms)
	idle.Wake(1, "")
	idle.Start(1)
	for g := 7; g < 27; g++ {
		idle.Wake(g, "main.main@main.go:30")
	}
	idle.Block("select", "main.main@main.go:31")
	for g := 7; g < 27; g++ {
		idle.Start(g)
		idle.Pass(ms)
		idle.End()
	}
	wantLoops(t, "an idle pool", idle)
}

// TestExchanges: an exchange on an accepted connection is from the end of the wait for
// what comes to the next such wait. One that the program has made itself has none: what it
// reads there are answers.
func TestExchanges(t *testing.T) {
	for _, accepted := range []bool{true, false} {
		p := accounttest.New()
		if accepted {
			p.Block("network", accept)
			p.Wake(1, "")
			p.Start(1)
		}
		p.Create(5, "main.handle", "main.main@main.go:9")
		p.Block("network", accept)
		p.Start(5)
		for range 20 {
			p.Block("network", read)
			p.Pass(30 * ms)
			p.Wake(5, "")
			p.Pass(200 * us)
			p.Start(5)
			p.Pass(3 * ms)
			p.Call(10*us, write)
		}
		var want []string
		if accepted {
			want = []string{"18 exchange main.handle (handle.go:31): running main.handle:33 3ms, runnable main.handle:31 200µs"}
		}
		wantLoops(t, fmt.Sprintf("accepted: %v", accepted), p, want...)
	}
}

// TestOldExchanges: of a connection that is older than the trace, who has made it is told
// by another one in the same function, or by a closure behind the wait for connections.
func TestOldExchanges(t *testing.T) {
	// Goroutine 5 is older than the trace; goroutine 6 is accepted within it.
	program := func(function string, line int, another bool) *accounttest.Program {
		at := strings.Replace(read, "main.handle@handle.go:31", fmt.Sprintf("%s@main.go:%d", function, line), 1)
		p := accounttest.New()
		p.Event("GoStatusStack", "g=5 m=18446744073709551615 gstatus=waiting stack="+at)
		p.Block("network", accept)
		if another {
			p.Wake(1, "")
			p.Start(1)
			p.Create(6, function, "main.main@main.go:9")
			p.Block("network", accept)
			p.Start(6)
			p.Block("network", at)
		}
		for range 20 {
			p.Pass(30 * ms)
			p.Wake(5, "")
			p.Start(5)
			p.Pass(3 * ms)
			p.Block("network", at)
		}
		return p
	}
	wantLoops(t, "another one is accepted", program("main.handle", 31, true), "18 exchange main.handle (main.go:31): running main.handle:31 3ms")
	wantLoops(t, "a closure behind it", program("main.main.func2", 14, false), "18 exchange main.main.func2 (main.go:14): running main.main.func2:14 3ms")
	wantLoops(t, "a closure before it", program("main.main.func1", 5, false))
	wantLoops(t, "nothing tells", program("main.handle", 31, false))
	wantLoopsServed(t, "the source starts another one", program("main.handle", 31, false), func(f string) bool { return f == "main.serve" })
	wantLoopsServed(t, "the source starts it", program("main.handle", 31, false), func(f string) bool { return f == "main.handle" }, "18 exchange main.handle (main.go:31): running main.handle:31 3ms")
}

// TestRequestsFirst: where there are requests they come first, and where there are many
// nothing else counts.
func TestRequestsFirst(t *testing.T) {
	for _, n := range []int{20, 150} {
		p := accounttest.New()
		p.Connect(5)
		p.Arrive(5)
		p.Create(7, "main.worker", accounttest.In("main.handle@main.go:6"))
		p.Pass(ms)
		p.Respond(5)
		p.Start(7)
		p.Block("chan receive", jobs)
		for range n {
			p.Arrive(5)
			p.Wake(7, accounttest.In("main.handle@main.go:7"))
			p.Pass(ms)
			p.Respond(5)
			p.Start(7)
			p.Pass(2 * ms)
			p.Block("chan receive", jobs)
		}
		a := accountOf(t, p, account.Options{})
		var units []string
		for _, g := range a.Groups {
			units = append(units, g.Unit.String())
		}
		want := "request job main"
		if n > 100 {
			want = "request main"
		}
		if got := strings.Join(units, " "); got != want {
			t.Errorf("with %d requests the units are %s, want %s", n, got, want)
		}
		if g := a.Groups[0]; g.Wall.Count != int64(n)+1 || g.Wall.Max > 2*time.Millisecond {
			t.Errorf("%d requests of up to %v", g.Wall.Count, g.Wall.Max)
		}
	}
}

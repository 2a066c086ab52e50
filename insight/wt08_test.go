package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/account/accounttest"
	"loupe/analysis/facts"
	"loupe/value/stack"
)

// expires is a program with four connections whose requests find an answer ready, one
// each apart, until five times it has expired and missed does what requests do then.
func expires(apart time.Duration, missed func(p *accounttest.Program)) *accounttest.Program {
	p := fourConnections()
	for range 5 {
		for i := range 20 {
			p.Pass(apart)
			p.Arrive(5 + i%4)
			p.Respond(5 + i%4)
		}
		missed(p)
	}
	return p
}

// load asks a peer, below a handler, and waits for the answer.
func load(p *accounttest.Program, g int) {
	p.Arrive(g)
	p.Call(time.Microsecond, accounttest.In("syscall.write@z.go:1", "internal/poll.(*FD).Write@fd.go:1", "net.(*conn).Write@net.go:1", "main.load@main.go:20", "main.cached@main.go:12", "main.handle@main.go:7"))
	p.Block("network", accounttest.In(readNet, "main.load@main.go:21", "main.cached@main.go:12", "main.handle@main.go:7"))
	p.Start(1000 + g)
	p.Block("network", "internal/poll.(*FD).Read@fd.go:1;net/http.(*connReader).backgroundRead@server.go:9")
}

// loaded is the end of that.
func loaded(p *accounttest.Program, g int) {
	p.Wake(g, "")
	p.Start(g)
	finishRequest(p, g)
}

func TestWT08(t *testing.T) {
	const ms = time.Millisecond
	// all of them load, one each apart.
	all := func(apart time.Duration) func(p *accounttest.Program) {
		return func(p *accounttest.Program) {
			for g := 5; g < 9; g++ {
				load(p, g)
				p.Pass(apart)
			}
			p.Pass(20 * ms)
			for g := 5; g < 9; g++ {
				loaded(p, g)
			}
		}
	}
	// One loads, and others go on with what they have.
	one := func(p *accounttest.Program) {
		for range 3 {
			load(p, 5)
			for i := range 8 {
				p.Pass(2 * ms)
				p.Arrive(6 + i%3)
				p.Respond(6 + i%3)
			}
			loaded(p, 5)
		}
	}
	// One loads, and the others wait for it.
	flight := func(p *accounttest.Program) {
		load(p, 5)
		for g := 6; g < 9; g++ {
			p.Pass(ms)
			arriveAt(p, g, "chan receive", accounttest.In("runtime.chanrecv1@chan.go:1", "main.cached@main.go:14", "main.handle@main.go:7"))
		}
		p.Pass(20 * ms)
		p.Wake(5, "")
		p.Start(5)
		for g := 6; g < 9; g++ {
			p.Wake(g, accounttest.In("runtime.closechan@chan.go:1", "main.cached@main.go:16", "main.handle@main.go:7"))
		}
		finishRequest(p, 5)
		for g := 6; g < 9; g++ {
			p.Start(g)
			finishRequest(p, g)
		}
	}
	each := fourConnections()
	for range 20 {
		all(ms)(each)
	}
	for _, c := range []struct {
		name  string
		p     *accounttest.Program
		found bool
	}{
		{"an answer that expires", expires(ms, all(ms)), true},
		{"each request does the work", each, false},
		{"a request alone has missed", expires(ms, one), false},
		{"the others wait for the first", expires(ms, flight), false},
		{"others come beside the usual ones", expires(50*ms, all(ms/10)), false},
	} {
		r := traceOfProgram(t, c.p)
		f := answers(t, r, "WT08")[0]
		if !c.found {
			if f.State != Fine {
				t.Errorf("%s: %s: %s", c.name, f.State, f.Summary)
			}
			continue
		}
		const says = "20 of 120 requests make the same call in main.load at main.go:21, called in main.cached at main.go:12, most of them at once: in 5 bursts, 4.00 each on average; while the first one is making it, 100% of the others that begin do the same, at other times 4.76%"
		if f.State != Found || f.Severity != Warning || !strings.Contains(f.Summary, says) || !strings.Contains(f.Advice, "singleflight") || f.Evidence[0].Line != 12 {
			t.Errorf("%s: %s %s: %s\n%s\nat %d, want %q", c.name, f.State, f.Severity, f.Summary, f.Advice, f.Evidence[0].Line, says)
		}
	}
}

// TestWT08Slots: where the calls of the bursts hold the slots that requests queue for, the bursts are the cause of the
// queue, however little of the time is their own wait; where other calls hold most of them, they are not.
func TestWT08Slots(t *testing.T) {
	const ms = time.Millisecond
	s := newScene(t)
	query := stack.Frame{Func: "main.query", File: "/src/q.go", Line: 21}
	other := stack.Frame{Func: "main.audit", File: "/src/q.go", Line: 90}
	queue := account.Site{Frame: stack.Frame{Func: "main.query", File: "/src/q.go", Line: 18}, User: true, Stack: s.stack("runtime.chansend1", "main.query:/src/q.go:18", "main.visit:/src/q.go:32", "main.handle:/src/q.go:8")}
	elsewhere := account.Site{Frame: stack.Frame{Func: "main.lane", File: "/src/q.go", Line: 70}, User: true, Stack: s.stack("runtime.chansend1", "main.lane:/src/q.go:70", "main.handle:/src/q.go:8")}
	in := s.input()
	for _, c := range []struct {
		name  string
		at    account.Site
		own   time.Duration // of other calls on the line
		inner stack.Frame   // where those inside are meanwhile
		fills bool
	}{
		{"they hold most of it", queue, 40 * ms, query, true},
		{"others hold most of it", queue, 200 * ms, query, false},
		{"those inside do something else", queue, 40 * ms, other, false},
		{"another queue", elsewhere, 40 * ms, query, false},
	} {
		g := &account.Group{Unit: account.Request, Name: "main.handle"}
		g.All.Wall = 1000 * ms
		g.All.Rows = []account.Row{
			{Kind: account.Answer, Site: account.Site{Frame: query, User: true}, Time: 100*ms + c.own},
			{Kind: account.Channel, Site: c.at, Time: 500 * ms, Queued: 500 * ms, Cause: account.Cause{Kind: account.Answer, Site: account.Site{Frame: c.inner, User: true}}},
		}
		u := &facts.Units{Account: &account.Account{Groups: []*account.Group{g}, Gates: []account.Gate{{Kind: account.Channel, Site: c.at, Waits: 50, Width: 8, Steady: 1}}}}
		x := &rush{UnitStampede: &account.Stampede{Path: []stack.Frame{query, {Func: "main.load", File: "/src/q.go", Line: 30}}, Time: 100 * ms}, group: g, wall: g.All.Wall}
		if x.fills(wt08, u, in.trace()); (x.queue != nil) != c.fills {
			t.Errorf("%s: %v, %v held", c.name, x.queue, x.held)
		}
		if want := 0.5 * 100 / 140; c.fills && (x.felt() < want-0.01 || x.felt() > want+0.01) {
			t.Errorf("%s: felt %v, want %v", c.name, x.felt(), want)
		}
	}
	row := &account.Row{Time: ms}
	c := &causal{all: []Finding{{Rule: "WT04", Severity: Warning, waits: []*account.Row{row}}, {Rule: "WT08", Severity: Warning, waits: []*account.Row{row}, fills: true}, {Rule: "LK06", Severity: Warning, waits: []*account.Row{{Time: ms}}}}}
	if !c.follows(0, 1) || c.follows(1, 0) || c.follows(2, 1) {
		t.Errorf("WT04 under WT08: %v, WT08 under WT04: %v, another queue: %v", c.follows(0, 1), c.follows(1, 0), c.follows(2, 1))
	}
}

// TestHolderFirst: contention that says what the holder does is the cause of a convoy, not its symptom.
func TestHolderFirst(t *testing.T) {
	c := &causal{all: []Finding{seenAt("LK01", Warning, 80, "a.go", 7), seenAt("LK04", Warning, 90, "a.go", 7)}, rank: map[int]float64{0: 0.1, 1: 0.9}}
	if !c.follows(1, 0) || !c.follows(0, 1) {
		t.Error("without a holder either may be under the other")
	}
	c.all[0].holder = true
	if !c.follows(1, 0) || c.follows(0, 1) {
		t.Error("the one with a holder is the cause")
	}
}

// TestUnderOwnLock: those that make a call at the same time under a lock of their own ask for different things; a lock
// for reading, or one that is let go before, says nothing.
func TestUnderOwnLock(t *testing.T) {
	for text, want := range map[string]bool{
		"t.mu.Lock()\ndefer t.mu.Unlock()\nt.text = renew(u)":                        true,
		"t.mu.RLock()\ndefer t.mu.RUnlock()\nt.text = renew(u)":                      false,
		"t.mu.Lock()\nt.mu.Unlock()\nt.text = renew(u)":                              false,
		"if t.one { t.mu.Lock()\ndefer t.mu.Unlock() }\nt.text = renew(u)":           false, // it may not have come that way
		"switch { case t.one: t.mu.Lock()\ndefer t.mu.Unlock() }\nt.text = renew(u)": false,
		"if t.one {\nt.mu.Lock(); defer t.mu.Unlock()\nt.text = renew(u) }":          true,
	} {
		s := &rush{UnitStampede: &facts.UnitStampede{Most: 3, Path: []stack.Frame{{Func: "main.renew", File: "b.go", Line: 9}, {Func: "main.(*token).get", File: "a.go", Line: 6}}}}
		if _, got := s.underOwnLock(sourceOf("package main\n\nfunc (t *token) get(u int) {\n" + text + "\n}\n")); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

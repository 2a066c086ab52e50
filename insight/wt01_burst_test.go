package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// slotRun is a program whose main starts a goroutine for each item through a library that lets so many run at once: the library's
// own code frees the slot when the function of the program has returned. Each call passes a limiter, which makes those from
// the first on wait, and takes until the limiter permits the next one.
type slotRun struct {
	items, slots int
	burst        int           // how many calls pass the limiter without a wait
	every        time.Duration // from one that waited to the next
	call         time.Duration // how long a call takes
	leaf         string        // where the wait for a timer is
}

func (s slotRun) do(p *accounttest.Program) {
	const group = ";golang.org/x/sync/errgroup.(*Group).Go.func1@errgroup.go:78"
	const work, first = ";main.get@main.go:37;main.list.func1@main.go:48" + group, 20
	const full = "runtime.chansend1@chan.go:1;golang.org/x/sync/errgroup.(*Group).Go@errgroup.go:70;main.list@main.go:46;main.main@main.go:34"
	type step struct {
		at   time.Duration
		item int
		asks bool // it goes on to its call; else it ends
	}
	now, running, next := time.Duration(0), []step{}, time.Duration(0)
	begin := func(item int) {
		p.Create(first+item, "golang.org/x/sync/errgroup.(*Group).Go.func1", "golang.org/x/sync/errgroup.(*Group).Go@errgroup.go:72;main.list@main.go:46;main.main@main.go:34")
	}
	ask := func(item int) {
		p.Call(time.Microsecond, "syscall.write@z.go:1;internal/poll.(*FD).Write@fd.go:1;net.(*conn).Write@net.go:1;main.get@main.go:45;main.list.func1@main.go:48"+group)
		p.Block("network", "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;net/http.(*persistConn).roundTrip@transport.go:9;net/http.(*Transport).roundTrip@transport.go:8;main.get@main.go:45;main.list.func1@main.go:48"+group)
		running = append(running, step{now + s.call, item, false})
	}
	start := func(item int) {
		p.Start(first + item)
		if item < s.burst {
			ask(item)
			return
		}
		next = max(next, now) + s.every
		p.Block("select", s.leaf+work)
		running = append(running, step{next, item, true})
	}
	begun := s.slots
	for item := range s.slots {
		begin(item)
	}
	p.Block("chan send", full)
	for item := range s.slots {
		start(item)
	}
	for len(running) > 0 {
		i := 0
		for j := range running {
			if running[j].at < running[i].at {
				i = j
			}
		}
		x := running[i]
		running = append(running[:i], running[i+1:]...)
		p.Pass(max(0, x.at-now))
		now = max(now, x.at)
		p.Wake(first+x.item, "")
		p.Start(first + x.item)
		if x.asks {
			ask(x.item)
			continue
		}
		if begun >= s.items {
			p.End()
			continue
		}
		p.Wake(1, "runtime.chanrecv1@chan.go:2;golang.org/x/sync/errgroup.(*Group).done@errgroup.go:40"+group)
		p.End()
		p.Start(1)
		begin(begun)
		begun++
		p.Block("chan send", full)
		start(begun - 1)
	}
}

// TestWT01LimiterBehindSlots: what main waits for is what all goroutines do that have the slots, and not what the one did that freed
// the last one: a limiter, whose burst is too small, or whose pace is meant; or the peer.
func TestWT01LimiterBehindSlots(t *testing.T) {
	const ms = time.Millisecond
	const limiter = "golang.org/x/time/rate.(*Limiter).wait@rate.go:20;golang.org/x/time/rate.(*Limiter).Wait@rate.go:10"
	const source = "package main\n\nimport \"golang.org/x/time/rate\"\n\nvar l = rate.NewLimiter(50, 100)\n"
	for _, c := range []struct {
		name     string
		run      slotRun
		severity Severity
		gang     bool
		says     string
		advice   string
	}{
		{"a burst that is spent", slotRun{200, 10, 60, 20 * ms, 12 * ms, limiter}, Warning, true, "60 of 200 calls in the trace went through without a wait", "where it is made, at client.go:5"},
		{"a steady pace", slotRun{200, 10, 0, 20 * ms, 12 * ms, limiter}, Info, true, "waiting for a timer in main.get at main.go:37", "A limiter makes it wait"},
		{"other timers", slotRun{200, 10, 60, 20 * ms, 12 * ms, "runtime.selectgo@select.go:1"}, Warning, true, "waiting for a timer in main.get at main.go:37", "the pause of the goroutine"},
		{"the peer", slotRun{200, 10, 200, 20 * ms, 12 * ms, limiter}, Info, false, "a peer's answer in main.get at main.go:45", "let more ask at once"},
		{"the limiter hardly waits", slotRun{200, 10, 190, ms, 12 * ms, limiter}, Info, false, "a peer's answer in main.get at main.go:45", "let more ask at once"},
	} {
		r := mainOf(t, c.run.do)
		withSource(r, "client.go", source)
		f := answers(t, r, "WT01")[0]
		if gang := strings.Contains(f.Summary, "for goroutines of main.list.func1, which spend"); f.State != Found || f.Severity != c.severity || gang != c.gang || !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Advice, c.advice) {
			t.Errorf("%s: %s %s: %s\n%s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
		for _, e := range f.Evidence {
			if strings.Contains(e.Text, "main.get: ") && !strings.Contains(fmt.Sprint(e.Stack), "main.list.func1") {
				t.Errorf("%s: a way that was not seen with it: %s %v", c.name, e.Text, e.Stack)
			}
		}
	}
}

// TestWT01CauseStack: the way that is shown to what another goroutine does is one of such a goroutine, though main comes by the same
// line when it waits for nobody.
func TestWT01CauseStack(t *testing.T) {
	const ms = time.Millisecond
	run := slotRun{100, 10, 100, 0, 12 * ms, ""}
	f := answers(t, mainOf(t, func(p *accounttest.Program) {
		for range 5 {
			p.Call(time.Microsecond, "syscall.write@z.go:1;internal/poll.(*FD).Write@fd.go:1;net.(*conn).Write@net.go:1;main.get@main.go:45;main.first@main.go:60;main.main@main.go:33")
			p.Block("network", "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;main.get@main.go:45;main.first@main.go:60;main.main@main.go:33")
			p.Pass(ms)
			p.Wake(1, "")
			p.Start(1)
		}
		run.do(p)
	}), "WT01")[0]
	shown := false
	for _, e := range f.Evidence {
		if strings.Contains(e.Text, "meanwhile") {
			shown = true
			if way := fmt.Sprint(e.Stack); strings.Contains(way, "main.first") || !strings.Contains(way, "main.list.func1") {
				t.Errorf("%s: %s", e.Text, way)
			}
		}
	}
	if !shown {
		t.Errorf("%s: %+v", f.Summary, f.Evidence)
	}
}

// TestBurstSpent: a limiter has a burst where a good part of the calls went through without a wait.
func TestBurstSpent(t *testing.T) {
	for b, want := range map[burstSpent]bool{
		{363, 241}: true, {20, 10}: true, {200, 200}: false, {1000, 950}: false, {15, 6}: false, {0, 0}: false, {100, 160}: false,
	} {
		if b.hasBurst() != want {
			t.Errorf("%+v: %v", b, !want)
		}
	}
}

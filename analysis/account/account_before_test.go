package account_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/account/accounttest"
)

// TestBefore: a wait of main that was under way when the trace began, of which there is no stack, is counted at the line
// of its later waits of the kind, where nearly all of these are at one line and last as long. Where another goroutine
// ended it, or it was longer, it is known of it that it was a wait.
func TestBefore(t *testing.T) {
	const poll, other = "time.Sleep@sleep.go:1;main.poll@main.go:9;main.main@main.go:3", "time.Sleep@sleep.go:1;main.rest@main.go:20;main.main@main.go:4"
	sleep := func(p *accounttest.Program, d time.Duration, stack string) {
		p.Block("sleep", stack)
		p.Pass(d)
		p.Wake(1, "")
		p.Start(1)
		p.Pass(ms)
	}
	for _, c := range []struct {
		name   string
		first  time.Duration
		stacks []string
		before time.Duration
		most   string
	}{
		{"the same", 60 * ms, []string{poll, poll}, 60 * ms, "sleep main.poll:9 260ms"},
		{"longer than those", 300 * ms, []string{poll, poll}, 0, "other :0 300ms"},
		{"one of two", 60 * ms, []string{poll, other}, 0, "sleep main.poll:9 100ms"},
		{"none later", 60 * ms, nil, 0, "other :0 60ms"},
	} {
		p := accounttest.NewWaiting()
		p.Pass(c.first)
		p.Wake(1, "")
		p.Start(1)
		p.Pass(ms)
		for _, stack := range c.stacks {
			sleep(p, 100*ms, stack)
		}
		a := accountOf(t, p, account.Options{})
		g := a.Groups[len(a.Groups)-1]
		if got := rowsOf(&g.All); g.Unit != account.Main || g.Before.Round(ms) != c.before || len(got) == 0 || got[0] != c.most {
			t.Errorf("%s: %v before, %q", c.name, g.Before, got)
		}
	}
}

// TestBeforeOfAnother: who waits for a goroutine that has been waiting since before the trace, of which there is no stack, waits for what nearly
// all later waits of that goroutine are, if they were as long and nobody ended them.
func TestBeforeOfAnother(t *testing.T) {
	const poll, other, takes = "time.Sleep@sleep.go:1;main.poll@poll.go:9", "time.Sleep@sleep.go:1;main.rest@poll.go:20;main.poll@poll.go:5", "runtime.chanrecv1@chan.go:1;main.poll@poll.go:30"
	for _, c := range []struct {
		name   string
		first  time.Duration
		later  []string // the stacks of the later waits
		woken  bool     // a goroutine ends the first wait
		most   string
		before time.Duration
	}{
		{"the same line", 60 * ms, []string{poll, poll}, false, "channel main.handle:5 for sleep main.poll:9 60ms", 60 * ms},
		{"longer than those", 300 * ms, []string{poll, poll}, false, "channel main.handle:5 300ms", 0},
		{"one of two lines", 60 * ms, []string{poll, other}, false, "channel main.handle:5 60ms", 0},
		{"none later", 60 * ms, nil, false, "channel main.handle:5 60ms", 0},
		{"of a library", 60 * ms, []string{"internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:2;net/http.(*persistConn).readLoop@transport.go:3"}, false, "network main.handle:5 60ms", 60 * ms},
		{"another goroutine ends it", 60 * ms, []string{poll, poll}, true, "channel main.handle:5 for accept main.main:1 60ms", 0},
	} {
		p := accounttest.New()
		p.Event("GoStatus", "g=7 m=18446744073709551615 gstatus=waiting")
		p.Connect(5)
		p.Arrive(5)
		p.Block("chan receive", accounttest.In("main.handle@main.go:5"))
		p.Pass(c.first)
		if c.woken {
			p.Wake(1, "")
			p.Start(1)
			p.Wake(7, "main.main@main.go:3")
			p.Block("network", "internal/poll.(*FD).Accept@fd.go:1;net.(*TCPListener).Accept@net.go:2;main.main@main.go:1")
		} else {
			p.Wake(7, "")
		}
		p.Start(7)
		p.Wake(5, "runtime.chansend1@chan.go:2;main.poll@poll.go:12")
		for _, stack := range c.later {
			p.Block(map[bool]string{true: "sleep", false: "network"}[strings.HasPrefix(stack, "time.Sleep")], stack)
			p.Pass(100 * ms)
			p.Wake(7, "")
			p.Start(7)
		}
		p.Block("chan receive", takes)
		p.Start(5)
		p.Respond(5)
		a := accountOf(t, p, account.Options{ID: 1})
		g := a.Groups[0]
		got := rowsOf(&g.All)
		before := time.Duration(0)
		for _, r := range g.All.Rows {
			before += r.Before
		}
		if g.Unit != account.Request || len(got) == 0 || !slices.Contains(got, c.most) || before.Round(ms) != c.before {
			t.Errorf("%s: %v before, %q", c.name, before, got)
		}
		if a.One == nil || len(a.One.Steps) == 0 {
			t.Errorf("%s: no steps", c.name)
		}
	}
}

package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// TestWT01AtOnce: who starts a goroutine for each item, all of which ask at once, is not told to let more ask at once; who has a few work
// through many items, starts them in turns, or has them wait for a slot is.
func TestWT01AtOnce(t *testing.T) {
	const read = "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;net/http.(*persistConn).roundTrip@transport.go:9;net/http.(*Transport).roundTrip@transport.go:8;main.get@main.go:42;main.list.func1@main.go:30"
	const write = "syscall.write@z.go:1;internal/poll.(*FD).Write@fd.go:1;net.(*conn).Write@net.go:1;main.get@main.go:42;main.list.func1@main.go:30"
	const ms = time.Millisecond
	// turn starts goroutines, each of which makes calls one after another, and waits for all of them.
	turn := func(p *accounttest.Program, first, n, calls int) {
		for g := range n {
			p.Create(first+g, "main.list.func1", "main.list@main.go:28;main.main@main.go:20")
		}
		p.Block("sync", "sync.(*WaitGroup).Wait@waitgroup.go:1;main.list@main.go:40;main.main@main.go:20")
		for call := range calls {
			for g := range n {
				if call > 0 {
					p.Wake(first+g, "")
				}
				p.Start(first + g)
				p.Call(time.Microsecond, write)
				p.Block("network", read)
			}
			p.Pass(120 * ms)
		}
		for g := range n {
			p.Wake(first+g, "")
			p.Start(first + g)
			if g == n-1 {
				p.Wake(1, "sync.(*WaitGroup).Done@waitgroup.go:2;main.list.func1@main.go:31")
			}
			p.End()
		}
		p.Start(1)
	}
	for _, c := range []struct {
		name string
		do   func(p *accounttest.Program)
		all  bool
	}{
		{"one for each item", func(p *accounttest.Program) { turn(p, 20, 48, 1) }, true},
		{"a few for many items", func(p *accounttest.Program) { turn(p, 20, 6, 8) }, false},
		{"in turns", func(p *accounttest.Program) {
			for i := range 6 {
				turn(p, 20+10*i, 8, 1)
			}
		}, false},
	} {
		f := answers(t, mainOf(t, c.do), "WT01")[0]
		all, more := strings.HasPrefix(f.Advice, allAtOnce), strings.Contains(f.Advice, "let more ask at once")
		if f.State != Found || all != c.all || more == c.all {
			t.Errorf("%s: %s %s: %s\n%s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
	}
}

// TestWT01SharedCall: who waits in a singleflight.Group for the call of another is not told to let more ask at once.
func TestWT01SharedCall(t *testing.T) {
	const wait = "sync.(*WaitGroup).Wait@waitgroup.go:1;%smain.load@main.go:40;main.main@main.go:20"
	for _, c := range []struct{ through, says string }{
		{"golang.org/x/sync/singleflight.(*Group).Do@singleflight.go:100;", "share one call"},
		{"", "let more ask at once"},
	} {
		f := answers(t, mainOf(t, func(p *accounttest.Program) {
			for range 5 {
				p.Create(20, "main.load.func1", "main.load@main.go:28;main.main@main.go:20")
				p.Block("sync", fmt.Sprintf(wait, c.through))
				p.Start(20)
				p.Call(time.Microsecond, "syscall.write@z.go:1;internal/poll.(*FD).Write@fd.go:1;net.(*conn).Write@net.go:1;main.get@main.go:42;main.load.func1@main.go:30")
				p.Block("network", "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;net/http.(*persistConn).roundTrip@transport.go:9;net/http.(*Transport).roundTrip@transport.go:8;main.get@main.go:42;main.load.func1@main.go:30")
				p.Pass(120 * time.Millisecond)
				p.Wake(20, "")
				p.Start(20)
				p.Wake(1, "sync.(*WaitGroup).Done@waitgroup.go:2;main.load.func1@main.go:31")
				p.End()
				p.Start(1)
			}
		}), "WT01")[0]
		if f.State != Found || !strings.Contains(f.Advice, c.says) {
			t.Errorf("%q: %s: %s\n%s", c.through, f.State, f.Summary, f.Advice)
		}
	}
}

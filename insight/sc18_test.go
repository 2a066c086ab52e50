package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// waitingMany is a program whose goroutines, from 20 on, wait for a reason; main does something
// with them, 120 times in as many ms.
func waitingMany(n int, reason, stack string, do func(p *accounttest.Program, g int)) *accounttest.Program {
	p := accounttest.New()
	for g := 20; g < 20+n; g++ {
		p.Create(g, "main.wait", "main.main@main.go:1")
	}
	p.Block("sleep", "time.Sleep@sleep.go:1;main.main@main.go:2")
	for g := 20; g < 20+n; g++ {
		p.Start(g)
		p.Block(reason, stack)
	}
	for range 120 {
		p.Pass(time.Millisecond)
		do(p, n)
	}
	return p
}

func TestSC18(t *testing.T) {
	const wait = "sync.(*Cond).Wait@cond.go:1;main.wait@main.go:12"
	const sleep = "time.Sleep@sleep.go:1;main.wait@main.go:12"
	// wakes lets main wake all with a call; each of them then goes on.
	wakes := func(call string, on func(p *accounttest.Program, g int)) func(p *accounttest.Program, n int) {
		return func(p *accounttest.Program, n int) {
			p.Wake(1, "")
			p.Start(1)
			for g := 20; g < 20+n; g++ {
				p.Wake(g, call+";main.put@main.go:30")
			}
			p.Block("sleep", "time.Sleep@sleep.go:1;main.main@main.go:2")
			for g := 20; g < 20+n; g++ {
				p.Start(g)
				on(p, g)
				p.Block("sync.(*Cond).Wait", wait)
			}
		}
	}
	again := func(*accounttest.Program, int) {}
	const broadcast = "sync.(*Cond).Broadcast@cond.go:2"
	for _, c := range []struct {
		name string
		p    *accounttest.Program
		says string // "" is fine
	}{
		{"a herd", waitingMany(50, "sync.(*Cond).Wait", wait, wakes(broadcast, again)),
			"95.3% of the turns that goroutines got were wasted at main.wait at main.go:12: woken by a Broadcast, they waited again at once, 48"},
		{"a herd that waits for the lock", waitingMany(50, "sync.(*Cond).Wait", wait, wakes(broadcast, func(p *accounttest.Program, g int) {
			p.Block("sync", "sync.(*Mutex).Lock@mutex.go:1;"+wait)
			p.Wake(g, "")
			p.Start(g)
		})), "woken by a Broadcast"},
		{"a herd that hands the lock on", waitingMany(50, "sync.(*Cond).Wait", wait, func(p *accounttest.Program, n int) {
			p.Wake(1, "")
			p.Start(1)
			for g := 20; g < 20+n; g++ {
				p.Wake(g, broadcast+";main.put@main.go:30")
			}
			p.Block("sleep", "time.Sleep@sleep.go:1;main.main@main.go:2")
			for g := 21; g < 20+n; g++ {
				p.Start(g)
				p.Block("sync", "sync.(*Mutex).Lock@mutex.go:1;"+wait)
			}
			for g := 20; g < 20+n; g++ {
				p.Start(g)
				if g+1 < 20+n {
					p.Wake(g+1, "sync.(*Mutex).Unlock@mutex.go:2;"+wait)
				}
				p.Block("sync.(*Cond).Wait", wait)
			}
		}), "woken by a Broadcast"},
		{"all have waited for it", waitingMany(50, "sync.(*Cond).Wait", wait, wakes(broadcast, func(p *accounttest.Program, g int) {
			p.Call(time.Microsecond, "syscall.write@z.go:1;main.wait@main.go:13")
		})), ""},
		{"all compute", waitingMany(50, "sync.(*Cond).Wait", wait, wakes(broadcast, func(p *accounttest.Program, g int) { p.Pass(60 * time.Microsecond) })), ""},
		{"one at a time", waitingMany(50, "sync.(*Cond).Wait", wait, wakes("sync.(*Cond).Signal@cond.go:2", again)), ""},
		{"two wait", waitingMany(2, "sync.(*Cond).Wait", wait, wakes(broadcast, again)), ""},
		{"polling", waitingMany(50, "sleep", sleep, func(p *accounttest.Program, n int) {
			for g := 20; g < 20+n; g++ {
				p.Wake(g, "")
				p.Start(g)
				p.Block("sleep", sleep)
			}
		}), "woken by a timer, they waited again at once, 49"},
		{"timers that do something", waitingMany(50, "sleep", sleep, func(p *accounttest.Program, n int) {
			for g := 20; g < 20+n; g++ {
				p.Wake(g, "")
				p.Start(g)
				p.Pass(12 * time.Microsecond)
				p.Block("sleep", sleep)
			}
		}), ""},
		{"the runtime's own", waitingMany(1, "sleep", sleep, func(p *accounttest.Program, n int) {
			p.Wake(20, "")
			p.Start(20)
			for range 50 {
				p.Event("GoStop", `reason_string="runtime.Gosched" stack=runtime.goschedIfBusy@proc.go:1;runtime.bgsweep@mgcsweep.go:2`)
				p.Start(20)
			}
			p.Block("sleep", sleep)
		}), ""},
		{"spinning", waitingMany(1, "sleep", sleep, func(p *accounttest.Program, n int) {
			p.Wake(20, "")
			p.Start(20)
			for range 50 {
				p.Event("GoStop", `reason_string="runtime.Gosched" stack=runtime.Gosched@proc.go:1;main.wait@main.go:14`)
				p.Start(20)
			}
			p.Block("sleep", sleep)
		}), "of runtime.Gosched at main.wait at main.go:14"},
	} {
		f := answers(t, traceOfProgram(t, c.p), "SC18")[0]
		want := Found
		if c.says == "" {
			want = Fine
		}
		if f.State != want || !strings.Contains(f.Summary, c.says) {
			t.Errorf("%s: %s\nwant %q", c.name, fmt.Sprint(f.State, " ", f.Severity, ": ", f.Summary), c.says)
		}
	}
}

package insight

import (
	"math"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// TestWT01Place: a wait that is named by a pause of another goroutine accounts for what that pause takes.
func TestWT01Place(t *testing.T) {
	const sleep = "time.Sleep@sleep.go:1"
	handed := func(asks time.Duration) func(p *accounttest.Program) {
		w := 20
		return func(p *accounttest.Program) {
			w++
			p.Create(w, "main.work", accounttest.In("main.handle@main.go:6"))
			p.Block("chan receive", accounttest.In("main.handle@main.go:7"))
			p.Start(w)
			p.Block("sleep", sleep+";main.work@main.go:12")
			p.Pass(15 * time.Millisecond)
			p.Wake(w, "")
			p.Start(w)
			if asks > 0 {
				p.Block("network", "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;main.work@main.go:14")
				p.Pass(asks)
				p.Wake(w, "")
				p.Start(w)
			}
			p.Wake(5, "runtime.chansend1@chan.go:2;main.work@main.go:13")
			p.End()
			p.Start(5)
		}
	}
	for _, row := range []struct {
		name  string
		do    func(p *accounttest.Program)
		share float64
		says  bool
	}{
		{"it pauses and nothing else", handed(0), 1, false},
		{"it pauses and asks a little", handed(100 * time.Microsecond), 0.99, false},
		{"it pauses and asks", handed(5 * time.Millisecond), 0.75, true},
		{"the request itself pauses", func(p *accounttest.Program) {
			pauseIn(p, 15*time.Millisecond, "sleep", sleep)
			p.Pass(5 * time.Millisecond)
		}, 0.75, false},
	} {
		f := answers(t, served(t, 20, row.do), "WT01")[0]
		says := strings.Contains(f.Summary, "; 15.0 ms of it is at main.go:12")
		if f.Impact == nil || math.Abs(f.Impact.Value-row.share) > 0.02 || says != row.says {
			t.Errorf("%s: %+v, says %t: %s; want %g, %t", row.name, f.Impact, says, f.Summary, row.share, row.says)
		}
	}
}

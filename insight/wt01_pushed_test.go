package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// TestPushed: work is handed to one worker while others of the same kind have none. Where they are of another kind, or all are
// busy, nothing of the sort is said.
func TestPushed(t *testing.T) {
	const (
		receives = "runtime.chanrecv1@chan.go:1;main.work@main.go:12"
		asks     = "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;main.ask@main.go:20;main.work@main.go:13"
		sends    = "runtime.chansend1@chan.go:2;main.submit@main.go:30;main.main@main.go:7"
	)
	run := func(idle int, other string) Finding {
		return answers(t, mainOf(t, func(p *accounttest.Program) {
			start := func(g int, by, at string) {
				p.Create(g, "main.work", by)
				p.Preempt("main.main@main.go:5")
				p.Start(g)
				reason := "network"
				if at == receives {
					reason = "chan receive"
				}
				p.Block(reason, at)
				p.Start(1)
			}
			start(20, "main.start@main.go:9;main.main@main.go:5", asks)
			for i := range 3 {
				at := asks
				if i < idle {
					at = receives
				}
				start(21+i, other, at)
			}
			for range 20 {
				p.Block("chan send", sends)
				p.Pass(15 * time.Millisecond)
				p.Wake(20, "")
				p.Start(20)
				p.Wake(1, receives)
				p.Block("network", asks)
				p.Start(1)
			}
			for i := range idle {
				p.Wake(21+i, "runtime.closechan@chan.go:5;main.main@main.go:9")
			}
		}), "WT01")[0]
	}
	const same = "main.start@main.go:9;main.main@main.go:5"
	f := run(3, same)
	if f.Severity != Warning || !strings.Contains(f.Summary, "meanwhile at least 3.00 of the 4 goroutines that receive at main.work at main.go:12 wait for work there, on other channels") || f.Advice != pushedAdvice {
		t.Errorf("%s: %s\nadvice: %s", f.Severity, f.Summary, f.Advice)
	}
	doubted(t, f, pushedDoubt)
	for name, f := range map[string]Finding{"all busy": run(0, same), "of another kind": run(3, "main.start@main.go:9;main.main@main.go:6")} {
		if strings.Contains(f.Summary, "on other channels") || f.Advice == pushedAdvice {
			t.Errorf("%s: %s", name, fmt.Sprint(f.Summary, f.Advice))
		}
	}
}

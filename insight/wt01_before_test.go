package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// TestWT01Before: who waits for a goroutine that had been waiting since before the trace, for what the trace does not show, is told
// of the part that it does show, and of the rest that nothing is known; of a short one nothing is said.
func TestWT01Before(t *testing.T) {
	const read, poll = "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;main.work@main.go:15", "time.Sleep@sleep.go:1;main.work@main.go:12"
	const part, unknown, counted = "; during ", "the trace does not show what the goroutine that ends it did", "was already waiting when the trace began"
	for _, c := range []struct {
		name         string
		first        time.Duration // the wait since before the trace
		reason, leaf string        // of the later ones, of 50 ms each
		later        int
		says, lacks  []string
	}{
		{"something else, for most of it", 800, "network", read, 11, []string{part, unknown}, []string{counted}},
		{"something else, for a third", 300, "network", read, 11, []string{part, unknown}, []string{counted}},
		{"nearly all is known", 70, "network", read, 16, []string{", while the goroutine that ends the wait is "}, []string{part, unknown}},
		{"as long as the later ones", 52, "network", read, 9, []string{counted}, []string{part, unknown}},
		{"the pauses of a poller, longer before", 800, "sleep", poll, 11, []string{part, unknown}, []string{counted}},
	} {
		p := accounttest.New()
		p.Event("GoStatus", "g=7 m=18446744073709551615 gstatus=waiting")
		p.Connect(5)
		for i := range c.later + 1 {
			p.Pass(time.Millisecond)
			p.Arrive(5)
			p.Block("chan receive", accounttest.In("main.handle@main.go:7"))
			if i == 0 {
				p.Pass(c.first * time.Millisecond)
			} else {
				p.Pass(50 * time.Millisecond)
			}
			p.Wake(7, "")
			p.Start(7)
			p.Wake(5, "runtime.chansend1@chan.go:2;main.work@main.go:20")
			p.Block(c.reason, c.leaf)
			p.Start(5)
			p.Respond(5)
		}
		f := answers(t, traceOfProgram(t, p), "WT01")[0]
		all := f.Summary + "\n" + strings.Join(f.Doubts, "\n")
		for _, want := range c.says {
			if !strings.Contains(all, want) {
				t.Errorf("%s: it does not say %q:\n%s", c.name, want, all)
			}
		}
		for _, not := range c.lacks {
			if strings.Contains(all, not) {
				t.Errorf("%s: it says %q:\n%s", c.name, not, all)
			}
		}
	}
}

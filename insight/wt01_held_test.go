package insight

import (
	"math"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// TestWT01Held: the pause of another goroutine accounts for the waits that it has ended alone, what waits by itself or for a lock
// for all of its wait.
func TestWT01Held(t *testing.T) {
	const sleep, other, read = "time.Sleep@sleep.go:1;main.work@main.go:12", "time.Sleep@sleep.go:1;main.work@main.go:22", "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;main.work@main.go:15"
	type wait struct {
		reason, leaf string
		length       time.Duration
	}
	for _, c := range []struct {
		name  string
		waits []wait // what ends one wait after the other at the same line; none is the unit's own pause
		want  float64
		says  bool // how much of the wait it is
	}{
		{"one pause", []wait{{"sleep", sleep, 15}}, 1, false},
		{"the same pause again", []wait{{"sleep", sleep, 15}, {"sleep", sleep, 5}}, 1, false},
		{"a pause, then a peer", []wait{{"sleep", sleep, 15}, {"network", read, 5}}, 0.75, true},
		{"two pauses", []wait{{"sleep", sleep, 12}, {"sleep", other, 8}}, 0.6, true},
		{"a peer, then a pause", []wait{{"network", read, 15}, {"sleep", sleep, 5}}, 1, false},
		{"its own", nil, 1, false},
	} {
		w := 20
		f := answers(t, served(t, 20, func(p *accounttest.Program) {
			for _, x := range c.waits {
				w++
				p.Create(w, "main.work", accounttest.In("main.handle@main.go:6"))
				p.Block("chan receive", accounttest.In("main.handle@main.go:7"))
				p.Start(w)
				p.Block(x.reason, x.leaf)
				p.Pass(x.length * time.Millisecond)
				p.Wake(w, "")
				p.Start(w)
				p.Wake(5, "runtime.chansend1@chan.go:2;main.work@main.go:13")
				p.End()
				p.Start(5)
			}
			if c.waits == nil {
				pauseIn(p, 15*time.Millisecond, "sleep", "time.Sleep@sleep.go:1")
			}
		}), "WT01")[0]
		if f.Impact == nil || math.Abs(f.Impact.Value-c.want) > 0.02 || strings.Contains(f.Summary, "; during ") != c.says {
			t.Errorf("%s: %+v, want %v\n%s", c.name, f.Impact, c.want, f.Summary)
		}
	}
}

package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// batchesOf is a program of which main reads a channel, while a goroutine of it starts others in batches and waits for all of each: these wait for a
// reason for some time.
func batchesOf(rounds int, reason, stack string, took ...time.Duration) *accounttest.Program {
	p, next := accounttest.New(), 100
	p.Create(7, "main.feed", "main.main@main.go:30")
	p.Block("chan receive", "runtime.chanrecv1@chan.go:1;main.main@main.go:31")
	p.Start(7)
	for range rounds {
		first := next
		for range took {
			p.Create(next, "main.part", "main.feed@main.go:5")
			next++
		}
		p.Block("sync", "sync.(*WaitGroup).Wait@wg.go:1;main.feed@main.go:7")
		for g := first; g < next; g++ {
			p.Start(g)
			p.Block(reason, stack)
		}
		past := time.Duration(0)
		for i, d := range took {
			p.Pass(d - past)
			past = d
			p.Wake(first+i, "")
			p.Start(first + i)
			if i == len(took)-1 {
				p.Wake(1, "runtime.chansend1@chan.go:1;main.part@main.go:13")
				p.Wake(7, "sync.(*WaitGroup).Done@wg.go:2;main.part@main.go:14")
			}
			p.End()
		}
		p.Start(1)
		p.Block("chan receive", "runtime.chanrecv1@chan.go:1;main.main@main.go:31")
		p.Start(7)
	}
	return p
}

// TestWT05Groups: batches of a goroutine that main has started are told where the source shows that the next one needs nothing of the last one, and
// most of a batch is done early.
func TestWT05Groups(t *testing.T) {
	const ms = time.Millisecond
	const ask = readNet + ";main.part@main.go:12"
	const loop = "func feed() {\n\tfor i, x := range all {\n\t\tgo part(x)\n\t\tif i%4 == 3 {\n\t\t\twg.Wait()\n\t\t}\n\t}\n}\n"
	late := []time.Duration{2 * ms, 2 * ms, 3 * ms, 20 * ms}
	for _, c := range []struct {
		name, source  string
		rounds        int
		reason, stack string
		took          []time.Duration
		found         bool
	}{
		{"the last one is late", loop, 30, "network", ask, late, true},
		{"all alike", loop, 30, "network", ask, []time.Duration{18 * ms, 19 * ms, 20 * ms, 20 * ms}, false},
		{"few", loop, 5, "network", ask, late, false},
		{"they wait for who takes what they give", loop, 30, "chan send", "runtime.chansend1@chan.go:1;main.part@main.go:12", late, false},
		{"for a lock", loop, 30, "sync", "sync.(*Mutex).Lock@mutex.go:1;main.part@main.go:12", late, false},
		{"the next one needs the last", "func feed() {\n\tfor range depth {\n\t\tfor i := range level { go func() { next[i] = part(level[i]) }() }\n\n\t\twg.Wait()\n\t\tlevel = next\n\t}\n}\n", 30, "network", ask, late, false},
		{"one batch each", "func feed() {\n\tfor _, x := range all {\n\t\tgo part(x)\n\t}\n\twg.Wait()\n}\n", 30, "network", ask, late, false},
	} {
		r := traceOfProgram(t, batchesOf(c.rounds, c.reason, c.stack, c.took...))
		withSource(r, "main.go", "package main\n\n"+c.source)
		f := answers(t, r, "WT05")[0]
		if (f.Title == batchTitle) != c.found {
			t.Errorf("%s: %s %s: %s", c.name, f.State, f.Title, f.Summary)
		}
		if c.found && (f.Severity != Warning || !strings.Contains(f.Summary, "main.feed at main.go:7 for all of a batch before the next one: 4 goroutines in each, of which 1.3") || !strings.Contains(f.Advice, "or 4 workers")) {
			t.Errorf("%s: %s: %s: %s", c.name, f.Severity, f.Summary, f.Advice)
		}
	}
}

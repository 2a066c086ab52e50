package insight

import (
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
)

// gangStep is a wait of a worker for one item.
type gangStep struct {
	reason, stack string
	d             time.Duration
}

// What a worker waits for in main.get, whose loop has line 9 for the call and line 13 for the pause.
const (
	gangWay  = ";main.get@main.go:%;main.check.func1@main.go:30"
	gangDial = "internal/poll.(*FD).WaitWrite@fd.go:1;net.(*netFD).connect@fd.go:2;net.(*Dialer).DialContext@dial.go:1"
	gangRead = "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1"
)

func gangWait(d time.Duration, reason, leaf, line string) gangStep {
	return gangStep{reason, leaf + strings.Replace(gangWay, "%", line, 1), d}
}

// gangWork is a program whose main hands items to four workers, each of which has steps.
func gangWork(items int, steps func(item int) []gangStep) func(p *accounttest.Program) {
	return func(p *accounttest.Program) { gangRuns(p, items, steps) }
}

// gangRuns is what it does.
func gangRuns(p *accounttest.Program, items int, steps func(item int) []gangStep) {
	const workers, first = 4, 20
	now, due, todo := time.Duration(0), [workers]time.Duration{}, [workers][]gangStep{}
	next := func(w int) { // it runs, and goes on to its next step
		p.Block(todo[w][0].reason, todo[w][0].stack)
		due[w] = now + todo[w][0].d
		todo[w] = todo[w][1:]
	}
	for w := range workers {
		p.Create(first+w, "main.check.func1", "main.check@main.go:40;main.main@main.go:50")
	}
	p.Block("chan send", "runtime.chansend1@chan.go:1;main.check@main.go:41;main.main@main.go:50")
	for w := range workers {
		p.Start(first + w)
		todo[w] = steps(w)
		next(w)
	}
	for item := workers; item < items; {
		w := 0
		for i := range due {
			if due[i] < due[w] {
				w = i
			}
		}
		p.Pass(due[w] - now)
		now = due[w]
		p.Wake(first+w, "")
		p.Start(first + w)
		if len(todo[w]) > 0 {
			next(w)
			continue
		}
		p.Wake(1, "runtime.chanrecv1@chan.go:2;main.check.func1@main.go:28")
		todo[w] = steps(item)
		item++
		next(w)
		p.Start(1)
		p.Block("chan send", "runtime.chansend1@chan.go:1;main.check@main.go:41;main.main@main.go:50")
	}
}

// gangTries is a source of main.get, with what ends its loop.
func gangTries(head, end string) string {
	return "package main\n\n\n\n\n\nfunc get(x string) error {\n" + head + "\n\terr := ask(x)\n\t" + end + "\n\tlog(err)\n\n\t<-pause.C\n\t}\n}\n"
}

// TestWT01Gang: who hands items to several goroutines waits for what all of them are held up by, and not for what the
// one did that was free first; where that is pauses between tries that fail again, it says so.
func TestWT01Gang(t *testing.T) {
	const ms = time.Millisecond
	pause, sleeps := gangWait(60*ms, "select", "runtime.selectgo@select.go:1", "13"), gangWait(60*ms, "sleep", "time.Sleep@sleep.go:1", "13")
	dial, ask := gangWait(2*ms, "network", gangDial, "9"), gangWait(9*ms, "network", gangRead, "9")
	every := func(n int, other ...gangStep) func(int) []gangStep { // each nth item is another
		return func(item int) []gangStep {
			if item%n == 0 {
				return slices.Clone(other)
			}
			return []gangStep{ask}
		}
	}
	tries := gangTries("\tfor attempt := 0; ; attempt++ {", "if !again(err) || attempt >= most { return err }")
	polls := gangTries("\tfor {", "if state == ready { return nil }")
	for _, c := range []struct {
		name, source string
		do           func(p *accounttest.Program)
		gang, vain   bool
	}{
		{"no connection, three times", tries, gangWork(300, every(5, dial, pause, dial, pause, dial, pause, dial)), true, true},
		{"sleeps between them", gangTries("\tfor range 4 {", "if err == nil { return nil }"), gangWork(300, every(5, dial, sleeps, dial, sleeps, dial, sleeps, dial)), true, true},
		{"a status, three times", tries, gangWork(300, every(5, ask, pause, ask, pause, ask, pause, ask)), true, true},
		{"passes with the second try", tries, gangWork(600, every(4, dial, pause, ask)), true, false},
		{"a status that passes", tries, gangWork(600, every(4, ask, pause, ask)), true, false},
		{"polls until it is ready", polls, gangWork(300, every(5, ask, pause, ask, pause, ask, pause, ask)), true, false},
		{"without the source", "", gangWork(300, every(5, dial, pause, dial, pause, dial, pause, dial)), true, false},
		{"no pauses", tries, gangWork(600, every(5, dial, dial, dial)), false, false},
		{"few", tries, gangWork(600, every(60, dial, pause, dial, pause, dial, pause, dial)), false, false},
		{"pauses when it has let main go on", tries, lingering(200, "time.Sleep@sleep.go:1;main.rest@main.go:60"), false, false},
	} {
		r := mainOf(t, c.do)
		if c.source != "" {
			r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte(c.source))
		}
		f := answers(t, r, "WT01")[0]
		gang := strings.Contains(f.Summary, "for goroutines of main.check.func1, which spend") && strings.Contains(f.Summary, "main.get at main.go:13")
		if vain := strings.HasPrefix(f.Title, "Retries that fail again"); gang != c.gang || vain != c.vain || vain && f.Severity != Warning {
			t.Errorf("%s: %s %s: %s: %s", c.name, f.State, f.Severity, f.Title, f.Summary)
		}
		if c.vain && (!strings.Contains(f.Advice, "IsNotFound") || !strings.Contains(f.Summary, "tries of the call at main.get at main.go:9")) {
			t.Errorf("%s: %s\n%s", c.name, f.Summary, f.Advice)
		}
	}
}

// lingering is a program whose main waits for one goroutine after another, each of which goes on to rest when it has let
// main go on.
func lingering(n int, rest string) func(p *accounttest.Program) {
	return func(p *accounttest.Program) {
		for g := range n {
			p.Create(20+g, "main.check.func1", "main.check@main.go:40;main.main@main.go:50")
			p.Block("chan receive", "runtime.chanrecv1@chan.go:1;main.check@main.go:41;main.main@main.go:50")
			p.Start(20 + g)
			p.Block("network", gangRead+strings.Replace(gangWay, "%", "9", 1))
			p.Pass(9 * time.Millisecond)
			p.Wake(20+g, "")
			p.Start(20 + g)
			p.Wake(1, "runtime.chansend1@chan.go:2;main.check.func1@main.go:28")
			p.Block("sleep", rest+";main.check.func1@main.go:29")
			p.Start(1)
		}
	}
}

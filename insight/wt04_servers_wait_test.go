package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
)

// TestWT04Behind: who serves a queue may wait for a lock that a goroutine in the background holds, or for another
// goroutine: then more workers do not help. Those who wait themselves for the peer, compute, wait briefly for a lock or for
// what they have started are as they were.
func TestWT04Behind(t *testing.T) {
	const (
		others  = "main.main@main.go:2"
		lock    = "sync.(*Mutex).Lock@mutex.go:1;main.(*store).Add@store.go:49;main.serve@main.go:31"
		unlock  = "sync.(*Mutex).Unlock@mutex.go:2;main.(*store).Process@store.go:76;main.export@exporter.go:43"
		receive = "runtime.chanrecv1@chan.go:1;main.serve@main.go:31"
		pause   = "time.Sleep@sleep.go:1;main.export@exporter.go:41"
	)
	// behind has the goroutine that serves wait at a stack until one that begins with a function has asked a peer for a time.
	behind := func(reason, at, root, maker, ends string, d, own time.Duration) *accounttest.Program {
		made := false
		post := readNet + ";main.post@exporter.go:66;main.(*store).Process@store.go:74;" + root + "@exporter.go:43"
		return waitingAll(func(p *accounttest.Program, wake func(g int, stack string), respond func()) {
			if !made {
				made = true
				p.Create(60, root, maker)
				p.Block("sleep", "time.Sleep@sleep.go:1;main.serve@main.go:30")
				p.Start(60)
				p.Block("sleep", strings.Replace(pause, "main.export", root, 1))
				p.Wake(50, "")
				p.Start(50)
			}
			for g := 5; g < 9; g++ {
				p.Block(reason, at)
				respond()
				p.Wake(60, "")
				p.Start(60)
				p.Block("network", post)
				p.Pass(d)
				p.Wake(60, "")
				p.Start(60)
				p.Wake(50, ends)
				p.Block("sleep", strings.Replace(pause, "main.export", root, 1))
				p.Start(50)
				if own > 0 {
					asks(p, 50, own, respond)
				}
				wake(g, sends)
			}
		})
	}
	computes := waitingAll(func(p *accounttest.Program, wake func(g int, stack string), respond func()) {
		for g := 5; g < 9; g++ {
			p.Pass(10 * time.Millisecond)
			wake(g, sends)
		}
	})
	const ms = time.Millisecond
	for _, c := range []struct {
		name      string
		p         *accounttest.Program
		says, not string
	}{
		{"a lock held during I/O", behind("sync", lock, "main.export", others, unlock, 10*ms, 0),
			"for the lock at main.(*store).Add at store.go:49, whose holder is waiting for a peer's answer in main.post at exporter.go:66", "Start more workers"},
		{"a lock held briefly", behind("sync", lock, "main.export", others, unlock, ms, 9*ms), "Start more workers", "More workers do not help"},
		{"the I/O of its own", behind("sync", lock, "main.export", others, unlock, ms/100, 10*ms), "in main.serve at main.go:32 meanwhile", "More workers do not help"},
		{"what it has started", behind("chan receive", receive, "main.serve.func1", "main.serve@main.go:29", "runtime.chansend1@chan.go:1;main.serve.func1@exporter.go:44", 10*ms, 0), "Start more workers", "More workers do not help"},
		{"another goroutine", behind("chan send", "runtime.chansend1@chan.go:1;main.serve@main.go:31", "main.export", others, "runtime.chanrecv1@chan.go:1;main.export@exporter.go:44", 10*ms, 0),
			"for other goroutines in main.serve at main.go:31, where the one that they wait for is waiting for a peer's answer in main.post at exporter.go:66", "Start more workers"},
		{"computes", computes, "running", "More workers do not help"},
	} {
		f := answers(t, traceOfProgram(t, c.p), "WT04")[0]
		all := f.Title + ": " + f.Summary + " " + f.Advice
		if f.State != Found || !strings.Contains(all, c.says) || strings.Contains(all, c.not) {
			t.Errorf("%s: %s %s", c.name, f.State, all)
		}
		if strings.HasPrefix(c.says, "for the lock") && (f.Title != "Requests queue for workers that wait for a lock" || f.lockAt != "store.go:49" || !strings.HasPrefix(f.Advice, "More workers do not help")) {
			t.Errorf("%s: %s %q %s", c.name, f.Title, f.lockAt, f.Advice)
		}
	}
}

// TestLK02Workers: main waits for goroutines that wait for a lock which one in the background holds while it asks a peer.
func TestLK02Workers(t *testing.T) {
	const source = "package main\n\nfunc (s *store) Add() {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\ts.n++\n}\n\nfunc (s *store) Process() {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\tpost(s.n)\n}\n"
	const (
		lock   = "sync.(*Mutex).Lock@mutex.go:1;main.(*store).Add@store.go:4;main.work.func1@main.go:31"
		passes = "sync.(*Mutex).Unlock@mutex.go:2;main.(*store).Add@store.go:7;main.work.func1@main.go:31"
		frees  = "sync.(*Mutex).Unlock@mutex.go:2;main.(*store).Process@store.go:12;main.export@exporter.go:43"
		pause  = "time.Sleep@sleep.go:1;main.export@exporter.go:41"
		holds  = ";main.post@exporter.go:66;main.(*store).Process@store.go:12;main.export@exporter.go:43"
	)
	// work has four goroutines wait for the lock for a time, and compute for another, twenty times.
	work := func(held, computed time.Duration) func(p *accounttest.Program) {
		return func(p *accounttest.Program) {
			p.Create(60, "main.export", "main.main@main.go:2")
			for g := 20; g < 24; g++ {
				p.Create(g, "main.work.func1", "main.work@main.go:40;main.main@main.go:50")
			}
			p.Block("sync", "sync.(*WaitGroup).Wait@waitgroup.go:1;main.work@main.go:44;main.main@main.go:50")
			p.Start(60)
			p.Block("sleep", pause)
			for n := range 20 {
				for g := 20; g < 24; g++ {
					p.Start(g)
					p.Pass(computed)
					p.Preempt("main.work.func1@main.go:32")
				}
				p.Wake(60, "")
				p.Start(60)
				p.Block("network", readNet+holds)
				for g := 20; g < 24; g++ {
					p.Start(g)
					p.Block("sync", lock)
				}
				p.Pass(held)
				p.Wake(60, "")
				p.Start(60)
				p.Wake(20, frees)
				p.Block("sleep", pause)
				for g := 20; g < 24; g++ {
					if p.Start(g); g < 23 {
						p.Wake(g+1, passes)
					}
					if n < 19 {
						p.Preempt("main.work.func1@main.go:32")
					} else if g == 23 {
						p.Wake(1, "sync.(*WaitGroup).Done@waitgroup.go:2;main.work.func1@main.go:33")
						p.End()
					} else {
						p.End()
					}
				}
			}
			p.Start(1)
		}
	}
	for name, x := range map[string]struct {
		held, computed time.Duration
		found          bool
	}{
		"held during I/O": {20 * time.Millisecond, time.Millisecond, true},
		"held briefly":    {100 * time.Microsecond, 20 * time.Millisecond, false},
	} {
		r := mainOf(t, work(x.held, x.computed))
		r.Put(recording.Entry{Path: "source/store.go", Kind: recording.Source, Source: "store.go"}, []byte(source))
		f := answers(t, r, "LK02")[0]
		if x.found != (f.State == Found && f.Severity == Warning) || x.found && (!strings.Contains(f.Summary, "a goroutine of main.work.func1 waits") || !strings.Contains(f.Summary, "main.(*store).Process holds store.mu, taken at store.go:10, for 100% of the time that others wait for it, waiting for a peer's answer in main.post at exporter.go:66") ||
			!strings.Contains(f.Summary, "; main waits ") || !strings.Contains(f.Evidence[0].Text, "called under the lock, which is taken at line 10: ")) {
			t.Errorf("%s: %s %s: %s %+v", name, f.State, f.Severity, f.Summary, f.Evidence)
		}
		if strings.Contains(f.Summary, "was not seen held") {
			t.Errorf("%s: %s", name, f.Summary)
		}
		// The waits alone lead to who holds it, too.
		in := NewInput(session.New(r.Open()))
		w, _ := in.Facts.WaitsOf(recording.ExecTrace)
		if found, otherwise := heldAcross(lk02, in, w[0], nil, ownLocks(w[0])); len(found) > 0 && (!strings.HasPrefix(found[0].Summary, "main.(*store).Process holds the lock that others wait for, and meanwhile waits in ") || found[0].Evidence[0].Function != "main.(*store).Process") {
			t.Errorf("%s: %s: %+v", name, found[0].Summary, found[0].Evidence[0])
		} else if x.found != (len(found) > 0) || strings.Contains(otherwise.Summary, "was not seen held") {
			t.Errorf("%s: by the waits: %+v %s", name, found, otherwise.Summary)
		}
	}
}

// TestHeldElsewhere: another line that takes the lock holds it for those who wait where it lets them go; not one that lets nobody
// go, that takes another lock, or that only reads as they do.
func TestHeldElsewhere(t *testing.T) {
	const source = "package main\n\nfunc (s *store) Add() {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\ts.n++\n}\n\nfunc (s *store) Write() {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\tpost(s.n)\n}\n\nfunc (c *client) ask() {\n\tc.mu.Lock()\n\tdefer c.mu.Unlock()\n\tpost(c.n)\n}\n"
	c := sourceOf(source)
	at := func(line int) stack.Frame { return stack.Frame{File: "a.go", Line: line} }
	for _, x := range []struct {
		name  string
		letGo []stack.Frame
		want  int // the line that takes it
	}{
		{"lets them go", []stack.Frame{at(6), at(12)}, 10},
		{"lets nobody go", []stack.Frame{at(6)}, 0},
		{"another lock", []stack.Frame{at(18)}, 0},
	} {
		all := heldElsewhere(c, at(4), x.letGo)
		if len(all) > 1 || (len(all) == 1) != (x.want > 0) || len(all) == 1 && all[0].from != x.want {
			t.Errorf("%s: %+v", x.name, all)
		}
	}
}

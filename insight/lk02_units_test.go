package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/account/accounttest"
	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
)

// TestWorkAt: of a line on which a call is made and a deferred Unlock lets go, the call is
// what is done under the lock.
func TestWorkAt(t *testing.T) {
	at := stack.Frame{Func: "main.(*wal).Append", File: "wal.go", Line: 28}
	g := &account.Group{Calls: []account.Call{{Path: []stack.Frame{{Func: "main.other", Line: 1}}, Stack: 3}, {Path: []stack.Frame{at}, Stack: 7}}}
	row := &facts.UnitRow{Cause: account.Cause{Site: facts.UnitSite{Frame: at, Stack: 5}}}
	if got := workAt(g, row); got != 7 {
		t.Errorf("stack %d, want that of the call", got)
	}
	row.Cause.Site.Frame.Line = 30
	if got := workAt(g, row); got != 5 {
		t.Errorf("stack %d of a line without a call", got)
	}
}

// TestLK02Units: the account says what the holder of a lock does, also where the lock is
// taken and let go in functions that are there for nothing else, and in a closure.
func TestLK02Units(t *testing.T) {
	lock := accounttest.In("sync.(*Mutex).Lock@mutex.go:1", "main.(*store).lock@store.go:3", "main.handle@main.go:7")
	for name, unlock := range map[string]string{
		"in the function":   accounttest.In("sync.(*Mutex).Unlock@mutex.go:2", "main.handle@main.go:9"),
		"in a method":       accounttest.In("sync.(*Mutex).Unlock@mutex.go:2", "main.(*store).unlock@store.go:5", "main.handle@main.go:9"),
		"in a closure":      accounttest.In("sync.(*Mutex).Unlock@mutex.go:2", "main.handle.func1@main.go:6", "main.handle@main.go:9"),
		"in a method value": accounttest.In("sync.(*Mutex).Unlock@mutex.go:2", "main.(*store).unlock@store.go:5", "main.handle.deferwrap1@main.go:6", "main.handle@main.go:9"),
	} {
		r := traceOfProgram(t, oneByOne("sync", lock, unlock))
		in := NewInput(session.New(r.Open()))
		all := Run(in)
		f := answers(t, r, "LK02")[0]
		if f.State != Found || f.Severity != Warning || !strings.Contains(f.Summary, "a request of main.handle waits 60.0% of its time for the lock in main.(*store).lock at store.go:3, whose holder is waiting for a peer's answer in main.ask at main.go:20 meanwhile: 15.0 ms of 25.0 ms") {
			t.Errorf("%s: %s %s: %s", name, f.State, f.Severity, f.Summary)
		}
		if got := drawn(all, Cards(in, all)); !strings.Contains(got, "LK02(LK01 WT01)") && !strings.Contains(got, "LK02(WT01)") {
			t.Errorf("%s: the cards are %s", name, got)
		}
	}
	// What was done in another function than the one that lets go was before the lock was
	// taken, for all that is known.
	elsewhere := oneByOne("sync", lock, accounttest.In("sync.(*Mutex).Unlock@mutex.go:2", "main.update@main.go:40", "main.handle@main.go:9"))
	if f := answers(t, traceOfProgram(t, elsewhere), "LK02")[0]; f.State == Found && strings.Contains(f.Summary, "a request of") {
		t.Errorf("another function: %s", f.Summary)
	}
}

// TestLK02Lines: what a holder waits for in several calls of one function, none of which is most
// of it, is one thing; LK01 names it on its card, and where the limits of LK02 are not reached
// nobody says that the lock is not held during I/O.
func TestLK02Lines(t *testing.T) {
	p := fourConnections()
	inside := func(line int) string {
		return accounttest.In("net.(*conn).Read@net.go:1", fmt.Sprintf("main.ask@main.go:%d", line), "main.handle@main.go:8")
	}
	for range 6 {
		arriveAt(p, 5, "network", inside(20))
		for g := 6; g < 9; g++ {
			arriveAt(p, g, "sync", accounttest.In("sync.(*Mutex).Lock@mutex.go:1", "main.handle@main.go:7"))
		}
		for g := 5; g < 9; g++ {
			for _, line := range []int{21, 22, 0} {
				p.Pass(4 * time.Millisecond)
				p.Wake(g, "")
				p.Start(g)
				if line > 0 {
					p.Block("network", inside(line))
				}
			}
			if g < 8 {
				p.Wake(g+1, accounttest.In("sync.(*Mutex).Unlock@mutex.go:2", "main.handle@main.go:9"))
			}
			finishRequest(p, g)
			if g < 8 {
				p.Start(g + 1)
				p.Block("network", inside(20))
			}
		}
	}
	r := traceOfProgram(t, p)
	f := answers(t, r, "LK02")[0]
	if f.State != Found || f.Severity != Warning || !strings.Contains(f.Summary, "whose holder is waiting for a peer's answer in main.ask at main.go:2") || f.Evidence[0].Line != 8 || f.Evidence[1].Line < 20 || f.Evidence[2].Line < 20 {
		t.Errorf("%s %s: %s %+v", f.State, f.Severity, f.Summary, f.Evidence)
	}
	f = answers(t, r, "LK01")[0]
	if !strings.Contains(f.Summary, "meanwhile its holder is waiting for a peer's answer in main.ask at main.go:2") || !strings.HasPrefix(f.Advice, "Find out first what the lock is there for: the sources do not show it. If only") || f.Evidence[1].Line < 20 {
		t.Errorf("%s: %s %+v", f.Summary, f.Advice, f.Evidence)
	}
	in := NewInput(session.New(r.Open()))
	w, _ := in.Facts.WaitsOf(recording.ExecTrace)
	_, otherwise := heldAcross(lk02, in, w[0], nil, ownLocks(w[0]))
	if otherwise.State != "" && !strings.Contains(otherwise.Summary, "its holder was waiting for a peer's answer") {
		t.Errorf("it says %s", otherwise.Summary)
	}
}

// TestLK02Shared: what is done under a lock in a function that nobody who waits for it runs is the holder's, also where
// those that wait ask a peer by the same line of a helper; what the holder's goroutine does by that line outside of the
// function, and what goroutines of other kinds do, is not.
func TestLK02Shared(t *testing.T) {
	const helper = "main.call@conn.go:31"
	lets := "sync.(*Mutex).Unlock@mutex.go:2;main.(*group).pingAll@group.go:130;main.watch@group.go:170"
	under := "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;" + helper + ";main.measure@group.go:92;main.(*group).pingAll@group.go:126;main.watch@group.go:170"
	for name, x := range map[string]struct {
		inside string
		found  bool
	}{
		"under the lock":         {under, true},
		"fanned out":             {"", true},
		"outside of it":          {"internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;" + helper + ";main.measure@group.go:92;main.watch@group.go:168", false},
		"of the kind that waits": {"internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;main.other@conn.go:40;main.watch@group.go:168", false},
	} {
		p := fourConnections()
		const watch = 40
		arriveAt(p, 5, "network", accounttest.In("internal/poll.(*FD).Read@fd.go:1", "net.(*conn).Read@net.go:1", helper, "main.handle@main.go:9"))
		p.Pass(time.Millisecond)
		p.Wake(5, "")
		p.Start(5)
		p.Create(watch, "main.watch", accounttest.In("main.handle@main.go:5"))
		finishRequest(p, 5)
		p.Start(watch)
		for round := range 6 {
			child := 60 + round
			if x.inside == "" {
				p.Create(child, "main.measure", "main.(*group).pingAll@group.go:125;main.watch@group.go:170")
				p.Block("sync", "sync.(*WaitGroup).Wait@waitgroup.go:1;main.(*group).pingAll@group.go:126;main.watch@group.go:170")
				p.Start(child)
				p.Block("network", "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;"+helper+";main.measure@group.go:92")
			} else {
				p.Block("network", x.inside)
			}
			for g := 5; g < 9; g++ {
				arriveAt(p, g, "sync", accounttest.In("sync.(*Mutex).Lock@mutex.go:1", "main.(*group).dial@group.go:59", "main.handle@main.go:7"))
			}
			p.Pass(40 * time.Millisecond)
			if x.inside == "" {
				p.Wake(child, "")
				p.Start(child)
				p.Wake(watch, "sync.(*WaitGroup).Done@waitgroup.go:2;main.measure@group.go:94")
				p.End()
			} else {
				p.Wake(watch, "")
			}
			p.Start(watch)
			for g := 5; g < 9; g++ {
				p.Wake(g, lets)
			}
			p.Block("sleep", "time.Sleep@sleep.go:1;main.watch@group.go:171")
			for g := 5; g < 9; g++ {
				p.Start(g)
				p.Block("network", accounttest.In("internal/poll.(*FD).Read@fd.go:1", "net.(*conn).Read@net.go:1", helper, "main.handle@main.go:9"))
				p.Pass(time.Millisecond)
				p.Wake(g, "")
				p.Start(g)
				finishRequest(p, g)
			}
			p.Pass(5 * time.Millisecond)
			p.Wake(watch, "")
			p.Start(watch)
		}
		r := traceOfProgram(t, p)
		f := answers(t, r, "LK02")[0]
		named := strings.Contains(f.Summary, "main.(*group).pingAll at group.go:126 holds the lock for 100% of the time that others wait for it, waiting for a peer's answer in main.call at conn.go:31")
		if x.inside == "" {
			if f.State != Found || f.Severity != Warning || !strings.Contains(f.Summary, "in main.(*group).pingAll at group.go:130") && !strings.Contains(f.Summary, "is waiting for a peer's answer in main.call at conn.go:31") {
				t.Errorf("%s: %s %s: %s %s", name, f.State, f.Severity, f.Summary, f.Advice)
			}
		} else if found := f.State == Found && f.Severity == Warning && named && f.Evidence[0].Line == 126 && strings.HasPrefix(f.Advice, "Find out first what the lock is there for"); found != x.found {
			t.Errorf("%s: %s %s: %s %s", name, f.State, f.Severity, f.Summary, f.Advice)
		}
	}
}

// TestLK01Writes: LK01 does not tell to write without the lock what the lock keeps in order, also where the line that writes lets go
// of the lock as well.
func TestLK01Writes(t *testing.T) {
	lock := accounttest.In("sync.(*Mutex).Lock@mutex.go:1", "main.handle@main.go:7")
	for inside, kept := range map[string]bool{"internal/poll.(*FD).Write@fd.go:1;net.(*conn).Write@net.go:1": true, "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1": false} {
		p := oneByOneAt("sync", lock, accounttest.In("sync.(*Mutex).Unlock@mutex.go:2", "main.handle@main.go:9"), accounttest.In(append(strings.Split(inside, ";"), "main.handle@main.go:9")...))
		r := traceOfProgram(t, p)
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte("package main\n\nimport \"sync\"\n\nfunc handle(m *message) {\n\tdefer s.mu.Unlock() // runs at the end\n\ts.mu.Lock()\n\ts.n++\n\ts.peer.exchange(m.text)\n}\n"))
		f := answers(t, r, "LK01")[0]
		if f.State != Found || strings.HasPrefix(f.Advice, keepsOrder) != kept || strings.HasPrefix(f.Advice, "Find out first what the lock") == kept {
			t.Errorf("%s: %s: %s → %s", inside, f.State, f.Summary, f.Advice)
		}
	}
}

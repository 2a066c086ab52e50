package insight

import (
	"strings"
	"testing"

	"loupe/analysis/account"
	"loupe/analysis/account/accounttest"
	"loupe/analysis/facts"
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

package account_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/account/accounttest"
	"loupe/value/stack"
)

// workersOf are the groups of workers, with how many there are and what they do.
func workersOf(a *account.Account) (all []string) {
	for _, g := range a.Groups {
		if g.Unit == account.Worker {
			all = append(all, fmt.Sprintf("%d %s: %s", g.Wall.Count, g.Name, strings.Join(rowsOf(&g.All), ", ")))
		}
	}
	return all
}

// TestWorkersLock: what waits for a mutex in a function that WaitGroup.Go has started does not wait for a WaitGroup.
func TestWorkersLock(t *testing.T) {
	const root = ";sync.(*WaitGroup).Go.func1@waitgroup.go:5"
	p := accounttest.New()
	for g := 7; g < 9; g++ {
		p.Create(g, "sync.(*WaitGroup).Go.func1", "main.main@main.go:3")
	}
	p.Block("sync", "sync.(*WaitGroup).Wait@waitgroup.go:1;main.main@main.go:9")
	for g := 7; g < 9; g++ {
		p.Start(g)
		p.Block("sync", "sync.(*Mutex).Lock@mutex.go:1;main.work@main.go:20"+root)
	}
	p.Pass(8 * time.Millisecond)
	for g := 7; g < 9; g++ {
		p.Wake(g, "")
		p.Start(g)
		p.End()
	}
	all := accountOf(t, p, account.Options{Scope: stack.Scope{Modules: []string{"project"}}})
	if got := strings.Join(workersOf(all), "; "); !strings.Contains(got, "lock main.work:20") || strings.Contains(got, "wait_group") {
		t.Error(got)
	}
}

// TestWorkers: a goroutine that the program has started is a unit from its begin to its end, or to that of the trace.
func TestWorkers(t *testing.T) {
	const makes = "main.main@main.go:3"
	work := func(p *accounttest.Program, g int, root string) {
		p.Start(g)
		p.Pass(2 * time.Millisecond)
		p.Block("sleep", "time.Sleep@sleep.go:1;main.pause@main.go:30;main.work@main.go:20"+root)
	}
	for _, c := range []struct{ what, function, root, want string }{
		{"a function of the program", "main.work", "", "2 main.work: sleep main.pause:30 9ms, running main.pause:30 2ms, runnable main.main:3 1ms"},
		{"of a group of the library", "sync.(*WaitGroup).Go.func1", ";sync.(*WaitGroup).Go.func1@waitgroup.go:5", "2 main.work: sleep main.pause:30 9ms, running main.pause:30 2ms"},
		{"of a library, for itself", "net/http.(*persistConn).readLoop", ";net/http.(*persistConn).readLoop@transport.go:5", ""},
	} {
		p := accounttest.New()
		for g := 7; g < 9; g++ {
			p.Create(g, c.function, makes)
		}
		p.Block("sync", "sync.(*WaitGroup).Wait@waitgroup.go:1;main.main@main.go:9")
		work(p, 7, c.root)
		work(p, 8, c.root)
		p.Pass(8 * time.Millisecond)
		p.Wake(7, "")
		p.Start(7)
		p.End() // 8 goes on
		all := accountOf(t, p, account.Options{Scope: stack.Scope{Modules: []string{"project"}}})
		for _, g := range all.Groups {
			if ids := map[account.Unit]int{account.Main: 1, account.Worker: 0}[g.Unit]; len(g.Slowest) != ids || ids > 0 && g.Slowest[0].ID != 1 {
				t.Errorf("%s: %s: %d have ids", c.what, g.Unit, len(g.Slowest))
			}
		}
		if got := strings.Join(workersOf(all), "; "); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

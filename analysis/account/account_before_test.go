package account_test

import (
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/account/accounttest"
)

// TestBefore: a wait of main that was under way when the trace began, of which there is no stack, is counted at the line
// of its later waits of the kind, where nearly all of these are at one line and last as long. Where another goroutine
// ended it, or it was longer, it is known of it that it was a wait.
func TestBefore(t *testing.T) {
	const poll, other = "time.Sleep@sleep.go:1;main.poll@main.go:9;main.main@main.go:3", "time.Sleep@sleep.go:1;main.rest@main.go:20;main.main@main.go:4"
	sleep := func(p *accounttest.Program, d time.Duration, stack string) {
		p.Block("sleep", stack)
		p.Pass(d)
		p.Wake(1, "")
		p.Start(1)
		p.Pass(ms)
	}
	for _, c := range []struct {
		name   string
		first  time.Duration
		stacks []string
		before time.Duration
		most   string
	}{
		{"the same", 60 * ms, []string{poll, poll}, 60 * ms, "sleep main.poll:9 260ms"},
		{"longer than those", 300 * ms, []string{poll, poll}, 0, "other :0 300ms"},
		{"one of two", 60 * ms, []string{poll, other}, 0, "sleep main.poll:9 100ms"},
		{"none later", 60 * ms, nil, 0, "other :0 60ms"},
	} {
		p := accounttest.NewWaiting()
		p.Pass(c.first)
		p.Wake(1, "")
		p.Start(1)
		p.Pass(ms)
		for _, stack := range c.stacks {
			sleep(p, 100*ms, stack)
		}
		a := accountOf(t, p, account.Options{})
		g := a.Groups[len(a.Groups)-1]
		if got := rowsOf(&g.All); g.Unit != account.Main || g.Before.Round(ms) != c.before || len(got) == 0 || got[0] != c.most {
			t.Errorf("%s: %v before, %q", c.name, g.Before, got)
		}
	}
}

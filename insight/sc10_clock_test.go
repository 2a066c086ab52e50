package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/value/stack"
)

// TestEndsByClock: a loop at whose ticks a clock is asked ends by the time, also behind a clock of the program's own and a helper; how long that is comes
// from the field, or from whoever calls what sets it. Another condition is none of the time.
func TestEndsByClock(t *testing.T) {
	const hub = `package main

type clock interface{ Now() time.Time }

type session struct {
	mu sync.Mutex
	last time.Time
	clock clock
	idle time.Duration
	gone bool
}

func (s *session) watch() {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		<-t.C // wait
		if s.stale() {
			return
		}
	}
}

func (s *session) stale() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	RETURN
}

func start(c clock, idle time.Duration) *session {
	return &session{clock: c, idle: idle}
}
`
	const called = "\nfunc main() {\n\tstart(real{}, 40*time.Second)\n}\n"
	for _, x := range []struct {
		returns, more string
		ends, untold  bool
		limit         bool // longer than eight seconds
		advice        string
	}{
		{"return s.clock.Now().After(s.last.Add(s.idle))", called, true, false, true, "end when their time is over (a.go:18)"},
		{"now := s.clock.Now()\n\treturn now.Sub(s.last) > s.idle", called, true, false, true, "end when their time is over"},
		{"return time.Since(s.last) > 2*time.Second", called, true, false, false, "end when their time is over"},
		{"return s.clock.Now().After(s.last.Add(s.idle))", "", true, true, false, "end when their time is over"},
		{"return s.gone", called, false, false, false, "end when the condition at a.go:18 says so"},
		{"return s.clock.Now().After(s.last) && s.asked()", called, false, false, false, "the condition at a.go:18"},
	} {
		text := strings.Replace(hub, "RETURN", x.returns, 1) + x.more
		c, at := sourceOf(text), stack.Frame{Func: "main.(*session).watch", File: "a.go", Line: lineOfMark(text, "wait")}
		_, ends := endsByClock(c, at)
		_, untold := clockUntold(c, at)
		loops := loopsAround(c, at)
		_, limit := loopLimit(c, loops[0], "a.go", 8*time.Second)
		advice := tickAdvice(c, at)
		if ends != x.ends || untold != x.untold || limit != x.limit || !strings.Contains(advice, x.advice) || strings.Contains(advice, "Stop does not close") {
			t.Errorf("%s: ends %v, untold %v, limit %v, %s", x.returns, ends, untold, limit, advice)
		}
	}
}

// TestOwnStop: that a stopped ticker leaves who waits for it is said only where another function may stop it.
func TestOwnStop(t *testing.T) {
	for body, want := range map[string]bool{
		"tick := time.NewTicker(d)\n\tdefer tick.Stop()\n\tfor range tick.C { // wait\n\t\tcount()\n\t}":                                        false,
		"tick := time.NewTicker(d)\n\tgo func() {\n\t\tfor range tick.C { // wait\n\t\t\tcount()\n\t\t}\n\t}()\n\ttime.Sleep(d)\n\ttick.Stop()": true,
	} {
		text := "package main\n\nfunc run() {\n\t" + body + "\n}\n"
		advice := tickAdvice(sourceOf(text), stack.Frame{Func: "main.run", File: "a.go", Line: lineOfMark(text, "wait")})
		if !strings.Contains(advice, "they wait for tick.C alone") || strings.Contains(advice, "Stop does not close") != want {
			t.Errorf("%s: %s", body, advice)
		}
	}
}

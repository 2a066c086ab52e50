package insight

import (
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestPaceBetween: calls that come slower than a limiter lets them through come in bursts; those
// that do something between any two of them do not.
func TestPaceBetween(t *testing.T) {
	const ms = time.Millisecond
	ends := func(n int, gap func(i int) time.Duration) (all []time.Duration) {
		at := time.Duration(0)
		for i := range n {
			at += gap(i)
			all = append(all, at)
		}
		return all
	}
	even := func(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }
	bursts := ends(40, func(i int) time.Duration {
		if i%4 == 0 {
			return 400 * ms
		}
		return 50 * ms
	})
	for _, c := range []struct {
		name            string
		ends            []time.Duration
		calls           int64
		unknown         bool
		bursts, reached bool
	}{
		{"bursts", bursts, 50, false, true, false},
		{"at the limit", ends(40, even(50*ms)), 40, false, false, true},
		{"at the limit, and most of the time is not waited", ends(40, func(i int) time.Duration { return 50*ms + time.Duration(i%3)*ms }), 40, false, false, true},
		{"most come without a wait", bursts, 140, false, false, true},
		{"several at once", ends(40, even(50*ms)), 90, false, false, false},
		{"no usual distance", ends(40, func(i int) time.Duration { return time.Duration(1+i*i) * ms }), 40, false, false, false},
		{"the calls are not known", bursts, 40, true, false, false},
		{"few", bursts[:8], 8, false, false, false},
	} {
		p := paceBetween("x", c.ends, c.calls, c.unknown, slices.Max(c.ends))
		if p.bursts() != c.bursts || p.reached() != c.reached {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

// TestWT01LimiterBurst: the waits of main for a limiter are those of bursts, or of its rate; with a
// limiter nothing is said of calls that fail.
func TestWT01LimiterBurst(t *testing.T) {
	const ms = time.Millisecond
	const source = "package client\n\nimport \"golang.org/x/time/rate\"\n\nfunc open() *rate.Limiter {\n\tburst := 1\n\treturn rate.NewLimiter(rate.Limit(20), burst)\n}\n"
	const elsewhere = "package client\n\nfunc open() *limiter { return newLimiter(rate.Limit(20), 1) }\n"
	const lim, at = "golang.org/x/time/rate.(*Limiter).wait@rate.go:20", ";main.do@main.go:7;main.main@main.go:3"
	run := func(text, leaf string, n int, compute, wait func(i int) time.Duration) Finding {
		r := mainOf(t, func(p *accounttest.Program) {
			for i := range n {
				p.Pass(compute(i))
				if d := wait(i); d > 0 {
					p.Block("select", leaf+at)
					p.Pass(d)
					p.Wake(1, "")
					p.Start(1)
				}
				p.Call(time.Microsecond, "syscall.write@z.go:1;internal/poll.(*FD).Write@fd.go:1;net.(*conn).Write@net.go:1;main.do@main.go:8;main.main@main.go:3")
				p.Block("network", "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;main.do@main.go:9;main.main@main.go:3")
				p.Pass(ms)
				p.Wake(1, "")
				p.Start(1)
			}
		})
		withSource(r, "client.go", text)
		return answers(t, r, "WT01")[0]
	}
	first := func(i int, a, b time.Duration) time.Duration {
		if i%5 == 0 {
			return a
		}
		return b
	}
	for _, c := range []struct {
		name, text, leaf string
		compute, wait    func(i int) time.Duration
		severity         Severity
		says, advice     string
	}{
		{"bursts", source, lim, func(i int) time.Duration { return first(i, 200*ms, 0) }, func(i int) time.Duration { return first(i, 0, 49*ms) }, Warning, "every 50.0 ms", "where it is made, at client.go:7"},
		{"made elsewhere", elsewhere, lim, func(i int) time.Duration { return first(i, 200*ms, 0) }, func(i int) time.Duration { return first(i, 0, 49*ms) }, Warning, "come in bursts", "a larger burst, as many"},
		{"at the limit", source, lim, func(int) time.Duration { return ms / 10 }, func(int) time.Duration { return 49 * ms }, Info, "its limit is reached", "fewer calls"},
		{"at the limit, and computes as long", source, lim, func(int) time.Duration { return 20 * ms }, func(int) time.Duration { return 29 * ms }, Info, "its limit is reached", "fewer calls"},
		{"no limiter", source, "runtime.selectgo@select.go:1", func(i int) time.Duration { return first(i, 200*ms, 0) }, func(i int) time.Duration { return first(i, 0, 49*ms) }, Warning, "", "exponential backoff"},
	} {
		f := run(c.text, c.leaf, 60, c.compute, c.wait)
		if f.State != Found || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Advice, c.advice) || c.says != "" && strings.Contains(f.Advice, "backoff") {
			t.Errorf("%s: %s %s: %s: %s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
	}
}

// TestLimiterShared: a limiter that is asked at several lines, or changed, is not judged by one of them.
func TestLimiterShared(t *testing.T) {
	for source, want := range map[string]bool{
		"func f() { l.Wait(ctx) }":                             false,
		"func f() {\nl.Wait(ctx)\nwg.Wait()\n}":                false,
		"func f() {\nl.Wait(ctx)\nl.WaitN(ctx, 3)\n}":          true,
		"func f() { l.Wait(ctx) }\nfunc g() { l.SetLimit(5) }": true,
	} {
		r := recordingtest.New("title x")
		withSource(r, "a.go", "package main\n\n"+source+"\n")
		if got := limiterShared(NewInput(session.New(r.Open())).code); got != want {
			t.Errorf("%s: %v", source, got)
		}
	}
}

// TestLimits: what keeps a rate is found by its name; who waits for a peer within a function of such a name waits for that.
func TestLimits(t *testing.T) {
	for stacked, want := range map[string]string{
		"time.Sleep main.(*RateLimiter).Wait main.handle":                                            "main.(*RateLimiter).Wait",
		"golang.org/x/time/rate.(*Limiter).wait golang.org/x/time/rate.(*Limiter).Wait net/http.Get": "golang.org/x/time/rate.(*Limiter).wait",
		"runtime.selectgo k8s.io/client-go/util/flowcontrol.(*tokenBucketRateLimiter).Wait main.get": "k8s.io/client-go/util/flowcontrol.(*tokenBucketRateLimiter).Wait",
		"internal/poll.runtime_pollWait net.(*conn).Read pgx.Query main.(*Store).ListRatelimits":     "",
		"runtime.selectgo database/sql.(*DB).conn main.(*Store).ListRatelimits main.handle":          "",
		"runtime.selectgo net/http.(*persistConn).roundTrip main.(*limiterClient).Allow main.handle": "",
		"runtime.selectgo main.fetch main.handle":                                                    "",
	} {
		var frames []stack.Frame
		for _, name := range strings.Fields(stacked) {
			frames = append(frames, stack.Frame{Func: name})
		}
		if got, _ := limits(frames); got != want {
			t.Errorf("%s: %q", stacked, got)
		}
	}
}

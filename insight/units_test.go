package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/format/exectrace/fixture"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestMainBesideRequests: a tool that serves a few requests beside its work is judged by main; one that serves most of
// the time, one whose main waits for the end alone, and a service are not.
func TestMainBesideRequests(t *testing.T) {
	const poll, once = "time.Sleep@sleep.go:1;main.poll@main.go:9;main.main@main.go:3", "time.Sleep@sleep.go:1;main.main@main.go:4"
	const ended, load = "run 0s..10s exit=\"exit status 0\"\n", ""
	ms := time.Millisecond
	for _, c := range []struct {
		name, runs string
		work       time.Duration // of a request
		pause      time.Duration
		in         string // where main pauses each time; once for all where it is empty
		want       string // the unit of WT01
	}{
		{"beside", ended, 2 * ms, 100 * ms, poll, "main spends 99."},
		{"most of it", ended, 90 * ms, 100 * ms, poll, "a request of main.handle"},
		{"main waits for the end", ended, 2 * ms, 100 * ms, "", "a request of main.handle"},
		{"a service", load, 2 * ms, 100 * ms, poll, "a request of main.handle"},
	} {
		p := accounttest.New()
		p.Connect(5)
		p.Wake(1, "")
		p.Start(1)
		if c.in == "" {
			p.Block("sleep", once)
		}
		for range 20 {
			if c.in != "" {
				p.Block("sleep", c.in)
			}
			p.Pass(c.pause - c.work)
			p.Arrive(5)
			p.Block("sleep", accounttest.In("time.Sleep@sleep.go:1", "main.handle@main.go:30"))
			p.Pass(c.work)
			p.Wake(5, "")
			p.Start(5)
			p.Respond(5)
			if c.in != "" {
				p.Wake(1, "")
				p.Start(1)
				p.Pass(ms)
			}
		}
		r := recordingtest.New("title x\ntarget package ./shop module=shop package=shop/cmd/shop\n" + c.runs + "phase trace 0s..10s profiler=trace\n")
		r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, p.Text()))
		if f := answers(t, r, "WT01")[0]; !strings.HasPrefix(f.Summary, c.want) {
			t.Errorf("%s: %s", c.name, f.Summary)
		}
	}
}

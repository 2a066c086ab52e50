package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/format/exectrace/fixture"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

// TestPollsWith: a loop that ends with what it learns, and pauses for the same time in each turn, polls. What goes through
// items, ends by an error, a context or the time, pauses for longer each time, or waits for no timer, does not.
func TestPollsWith(t *testing.T) {
	for text, want := range map[string]bool{
		"for !ready(id) {\ntime.Sleep(d)\n}":                     true,
		"for {\ntime.Sleep(d)\nif ready(id) {\nreturn nil\n}\n}": true,
		"for {\nselect {\ncase <-time.After(o.Every):\ncase <-ctx.Done():\nreturn ctx.Err()\n}\nif p.Done() {\nbreak\n}\n}":         true,
		"for {\nselect {\ncase <-ticker.C:\ncase <-ctx.Done():\nreturn ctx.Err()\n}\nif p.Done() {\nbreak\n}\n}":                    true,
		"for {\nselect {\ncase <-changed:\ncase <-ctx.Done():\nreturn ctx.Err()\n}\nif p.Done() {\nbreak\n}\n}":                     false,
		"for {\nselect {\ncase <-time.After(wait):\ncase <-ctx.Done():\nreturn ctx.Err()\n}\nwait *= 2\nif p.Done() {\nbreak\n}\n}": false,
		"for {\ntime.Sleep(d)\nd *= 2\nif ready(id) {\nreturn nil\n}\n}":                                                            false,
		"for {\ntime.Sleep(d)\nif err := report(id); err != nil {\nreturn err\n}\n}":                                                false,
		"for {\ntime.Sleep(d)\nif ctx.Err() != nil {\nreturn nil\n}\nreport(id)\n}":                                                 false,
		"for {\ntime.Sleep(d)\nif time.Now().After(end) {\nreturn nil\n}\nreport(id)\n}":                                            false,
		"for _, id := range ids {\ntime.Sleep(d)\nif find(id) {\nreturn nil\n}\n}":                                                  false,
		"for time.Now().Before(end) {\ntime.Sleep(d)\nreport(id)\n}":                                                                false,
		"if !ready(id) {\ntime.Sleep(d)\n}":                                                                                         false,
	} {
		c, at := lineFive(text)
		if _, _, grows, got := pollsWith(c, []stack.Frame{at}, func(stack.Frame) bool { return true }); got && !grows != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestWT01Cadence: of pauses of one length one each is lost at most, of those that grow the last one of each; where that is little it is an info.
func TestWT01Cadence(t *testing.T) {
	const equal = "package main\n\nfunc wait(id int) {\n\tfor {\n\t\tif ready(id) {\n\t\t\treturn\n\t\t}\n\t\ttime.Sleep(pause) // 8\n\n\t}\n}\n"
	growing := strings.Replace(equal, "// 8\n", "// 8\n\t\tpause = min(2*pause, limit)", 1)
	for _, c := range []struct {
		name, source string
		pauses       []time.Duration
		want         Severity
		title, says  string
	}{
		{"equal and long", equal, []time.Duration{200 * ms, 200 * ms}, Warning, "Main spends much of its time waiting at one line", "the loop polls with a pause of 200 ms, 2 pauses for each of 4 things waited for: one pause of each is the most that is lost, 49.9%"},
		{"equal and short", equal, []time.Duration{40 * ms, 40 * ms, 40 * ms, 40 * ms, 40 * ms, 40 * ms, 40 * ms, 40 * ms, 40 * ms, 40 * ms}, Info, "Main spends much of its time waiting at one line", "the most that is lost, 9."},
		{"they double", growing, []time.Duration{25 * ms, 50 * ms, 100 * ms, 200 * ms}, Warning, growingTitle, "pauses that grow, from 25.0 ms to 200 ms, 4 pauses for each of 4 things waited for: the last pause of each, 200 ms on average, is the most that is lost, 53"},
		{"they grow, and not far", growing, []time.Duration{30 * ms, 40 * ms, 40 * ms, 40 * ms, 40 * ms, 40 * ms, 40 * ms, 40 * ms, 40 * ms, 40 * ms}, Info, growingTitle, "the most that is lost, 10."},
	} {
		r := recordingtest.New("title x\ntarget package . module=main package=main\nrun 0s..10s exit=\"exit status 0\"\nphase trace 0s..10s profiler=trace\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(c.source))
		p := accounttest.New()
		for range 4 {
			for _, d := range c.pauses {
				p.Block("sleep", "time.Sleep@time.go:1;main.wait@/src/main.go:8;main.main@/src/main.go:30")
				p.Pass(d)
				p.Wake(1, "")
				p.Start(1)
			}
			p.Block("network", "internal/poll.(*FD).Read@fd.go:1;main.take@/src/main.go:40;main.main@/src/main.go:31")
			p.Pass(1 * ms)
			p.Wake(1, "")
			p.Start(1)
		}
		r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, p.Text()))
		f := answers(t, r, "WT01")[0]
		if f.Severity != c.want || f.Title != c.title || !strings.Contains(f.Summary, c.says) {
			t.Errorf("%s: %s %q: %s", c.name, f.Severity, f.Title, f.Summary)
		}
	}
}

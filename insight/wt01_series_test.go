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

// TestSeriesAnew: pauses of one call only grow where the function makes them and its loop multiplies them.
func TestSeriesAnew(t *testing.T) {
	for text, want := range map[string]bool{
		"d := time.Millisecond\nfor {\ntime.Sleep(d) /*1*/\nd *= 2\n}":                                       true,
		"d := time.Millisecond\nfor {\ntime.Sleep(d) /*1*/\nd = min(d*2, most)\n}":                           true,
		"d := time.Millisecond\nfor {\ntime.Sleep(d) /*1*/\nd *= 2\nif d > most {\nd = most\n}\n}":           true,
		"d := time.Millisecond\nfor ; ; d *= 2 {\ntime.Sleep(d) /*1*/\n}":                                    true,
		"d := time.Millisecond\nfor {\ntime.Sleep(d) /*1*/\nd *= 2\nif got {\nd = time.Millisecond\n}\n}":    false,
		"for {\ntime.Sleep(d) /*1*/\nd *= 2\n}":                                                              false,
		"d := time.Millisecond\nfor {\ntime.Sleep(d) /*1*/\n}":                                               false,
		"d := time.Millisecond\nfor {\ntime.Sleep(d) /*1*/\nd += step\n}":                                    false,
		"d := time.Millisecond\nfor {\ntime.Sleep(d + rand.N(d)) /*1*/\nd *= 2\n}":                           false,
		"for {\nd := time.Millisecond\ntime.Sleep(d) /*1*/\nd *= 2\n}":                                       false,
		"d := time.Millisecond\nfor {\nselect {\ncase <-time.After(d): /*1*/\ncase <-done:\n}\nd = 4 * d\n}": true,
	} {
		text = "func f() {\n" + text + "\n}"
		at, c := numbered("package main\n\n" + text)[0], sourcesOf(text).code
		if got := seriesAnew(c, at, loopsAround(c, at)[0]); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestSeriesOfCalls: a function that polls and is called again at once begins another series; where that does not show, the finding
// does not count them.
func TestSeriesOfCalls(t *testing.T) {
	const source = "package main\n\nfunc wait(id int) {\n\tpause := first\n\tfor {\n\t\tif ready(id) {\n\t\t\treturn\n\t\t}\n\t\ttime.Sleep(pause) // 9\n\t\t// grow\n\t}\n}\n\nfunc main() {\n\tfor id := range 9 {\n\t\twait(id) // 16\n\t}\n}\n"
	for _, c := range []struct {
		name, source string
		pauses       []time.Duration
		want         Severity
		says         string
	}{
		{"they grow", strings.Replace(source, "// grow", "pause *= 4", 1), []time.Duration{5 * ms, 20 * ms, 80 * ms}, Warning, "3 pauses for each of 9 things waited for: the last pause of each, 80.0 ms on average, is the most that is lost, 76"},
		{"one each", strings.Replace(source, "// grow", "pause *= 4", 1), []time.Duration{50 * ms}, Warning, "a pause of 50.0 ms, one pause for each of 9 things waited for"},
		{"equal ones", source, []time.Duration{20 * ms, 20 * ms, 20 * ms}, Info, "which of these pauses was the last one for something that is waited for does not show"},
		{"called once", strings.Replace(source, "for id := range 9 {", "if id := 9; true {", 1), []time.Duration{20 * ms, 20 * ms, 20 * ms}, Info, "27 pauses for each of 1 thing waited for"},
	} {
		r := recordingtest.New("title x\ntarget package . module=main package=main\nrun 0s..10s exit=\"exit status 0\"\nphase trace 0s..10s profiler=trace\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(c.source))
		p := accounttest.New()
		pass := func(kind, at string, d time.Duration) {
			p.Block(kind, at)
			p.Pass(d)
			p.Wake(1, "")
			p.Start(1)
		}
		for range 9 {
			for _, d := range c.pauses {
				pass("sleep", "time.Sleep@time.go:1;main.wait@/src/main.go:9;main.main@/src/main.go:16", d)
			}
		}
		pass("network", "internal/poll.(*FD).Read@fd.go:1;main.take@/src/main.go:40;main.main@/src/main.go:31", ms)
		r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, p.Text()))
		f := answers(t, r, "WT01")[0]
		if f.Severity != c.want || !strings.Contains(f.Summary, c.says) {
			t.Errorf("%s: %s %q: %s\n%s", c.name, f.Severity, f.Title, f.Summary, f.Advice)
		}
	}
}

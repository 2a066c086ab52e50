package insight

import (
	"math"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/format/exectrace/fixture"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestForcedCosts: forced collections account for the largest of the busy time, the samples of the collector and what who
// forces them waits.
func TestForcedCosts(t *testing.T) {
	forces, reads := "runtime.GC@mgc.go:1", "net.(*conn).Read@net.go:1"
	pauses := func(calls string, d time.Duration) func(p *accounttest.Program) {
		return func(p *accounttest.Program) {
			if pauseIn(p, d, "wait until GC ends", calls); d < 10*time.Millisecond {
				p.Pass(10*time.Millisecond - d)
			}
		}
	}
	samples := func(collector int64) []column {
		return []column{{"runtime.gcBgMarkWorker runtime.gcDrain", []int64{collector}}, {"runtime.main main.main:/src/main.go:5", []int64{200 - collector}}}
	}
	always := func(i int, c *recordingtest.Cycle) { c.Forced = true }
	mostly := func(i int, c *recordingtest.Cycle) { c.Forced = i%10 < 6 }
	for _, row := range []struct {
		name    string
		do      func(p *accounttest.Program) // nil is no trace
		profile []column
		forced  func(i int, c *recordingtest.Cycle)
		share   float64
		of      string
		says    string
		not     string
	}{
		{"the busy time alone", nil, nil, always, 0.3, "busy time", "30.0%", "waits"},
		{"samples of the collector", nil, samples(140), always, 0.7, "CPU time", "with idle-time marking, 70.0% of the CPU time", "waits"},
		{"most collections are forced", nil, samples(140), mostly, 0.42, "CPU time", "with idle-time marking, 70.0%", "waits"},
		{"fewer samples of the collector", nil, samples(20), always, 0.3, "busy time", "30.0%", "idle-time"},
		{"a request waits", pauses(forces, 9*time.Millisecond), samples(140), always, 0.9, "time of requests", "a request of main.handle waits for 89.9% of its time in these calls, at main.go:7", ""},
		{"a request waits less", pauses(forces, 2*time.Millisecond), nil, always, 0.3, "busy time", "waits for 2", "idle-time"},
		{"a request waits for something else", pauses(reads, 9*time.Millisecond), nil, always, 0.3, "busy time", "30.0%", "waits"},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop package=shop/cmd/shop\nhost cpus=4\nphase bare 0s..10s user=20s\nphase cpu 10s..15s profiler=cpu\nphase trace 15s..25s profiler=trace\n" +
			collectingText(60, 100*time.Millisecond, row.forced) + cpuClasses(6, 0))
		if row.do != nil {
			p := accounttest.New()
			p.Connect(5)
			for range 20 {
				p.Pass(time.Millisecond)
				p.Arrive(5)
				row.do(p)
				p.Respond(5)
			}
			r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, p.Text()))
		}
		if row.profile != nil {
			withProfile(r, recording.CPU, "cpu", row.profile...)
		}
		in := NewInput(session.New(r.Open()))
		f := checkForced(gc12, in)[0]
		if f.State != Found || f.Severity != Warning || math.Abs(f.Impact.Value-row.share) > 0.02 || f.Impact.Unit != "share of the "+row.of ||
			!strings.Contains(f.Summary, row.says) || row.not != "" && strings.Contains(f.Summary, row.not) {
			t.Errorf("%s: %s %+v: %s; want %g of %s, %q and not %q", row.name, f.State, f.Impact, f.Summary, row.share, row.of, row.says, row.not)
		}
	}
}

// TestMeasures: a collection whose effect is read behind it, or that gives what is timed an even start, belongs to a measurement.
func TestMeasures(t *testing.T) {
	for text, want := range map[string]bool{
		"func f() {\n\nruntime.GC()\nruntime.ReadMemStats(&m)\n}":                                            true,
		"func f() {\n\nruntime.GC()\nif err := pprof.Lookup(\"heap\").WriteTo(w, 0); err != nil {\n}\n}":     true,
		"func f() {\n\nruntime.GC()\nstart := time.Now()\nwork()\nreport(time.Since(start))\n}":              true,
		"func f() {\nruntime.SetFinalizer(x, done)\nruntime.GC()\n}":                                         true,
		"func f() {\n\nruntime.GC()\n}\n\nfunc main() {\nf()\nruntime.ReadMemStats(&m)\n}":                   true,
		"func f() {\nlog.Print()\nruntime.GC()\n}\n\nfunc main() {\nf()\nruntime.ReadMemStats(&m)\n}":        false,
		"func f() {\nruntime.ReadMemStats(&m)\nruntime.GC()\n}":                                              false,
		"func f() {\nstart := time.Now()\nruntime.GC()\nwork()\nmore()\nlast()\nend()\nseen = time.Now()\n}": false,
		"func f() {\n\nruntime.GC()\nreturn\n}\n\nfunc main() {\nf()\nruntime.KeepAlive(m)\n}":               false,
		"func f() {\nfor range 10 {\nruntime.GC()\nwork()\n}\n}":                                             false,
	} {
		r := recordingtest.New("title x")
		withSource(r, "a.go", "package main\n\n"+text+"\n")
		e := Evidence{File: "a.go", Line: 5, Function: "main.f", Stack: []Frame{{"runtime.GC", "mgc.go", 1}, {"main.f", "a.go", 5}, {"main.main", "a.go", 9}}}
		if got := measuresHeap(NewInput(session.New(r.Open())).code, e); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestForcedScans: what forced collections scan is their cost, and not one of the shape of the data.
func TestForcedScans(t *testing.T) {
	for _, row := range []struct {
		name  string
		all   []Finding
		cards string
	}{
		{"forced ones", []Finding{seenAt("GC12", Warning, 80, "/src/gc.go", 3), seenAt("GC13", Warning, 90, "/src/tree.go", 5)}, "GC12(GC13)"},
		{"a remark about them", []Finding{seenAt("GC12", Info, 80, "/src/gc.go", 3), seenAt("GC13", Warning, 90, "/src/tree.go", 5)}, "GC13 GC12"},
		{"none", []Finding{seenAt("GC13", Warning, 90, "/src/tree.go", 5)}, "GC13"},
	} {
		all := row.all
		underCause(all)
		if got := drawn(all, Cards(NewInput(session.New(working("10s").Open())), all)); got != row.cards {
			t.Errorf("%s: %s, want %s", row.name, got, row.cards)
		}
	}
}

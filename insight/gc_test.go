package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/format/loadlog/loadlogtest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/timeline"
)

// busyHost are samples of a machine all of whose CPUs were in use, half of
// them by others.
const busyHost = `
-- os.ndjson os --
t_ns  pid  user_ns  busy_ns  idle_ns  self_ns
1s    7    0s       0s       0s       0s
2s    7    1s       3900ms   100ms    1s
3s    7    2s       7800ms   200ms    2s
4s    7    3s       11700ms  300ms    3s
`

// collecting is a program on 4 Ps that collects n times within 10 s.
func collecting(n int, pace time.Duration, change func(i int, c *recordingtest.Cycle), more ...string) *recordingtest.Recording {
	return recordingtest.New("title x\nhost cpus=4\nphase bare 0s..10s user=20s\nclock stderr.log 5ms error=20ms\n" +
		"-- stderr.log stderr --\n" + recordingtest.Cycles(n, 10*time.Millisecond, pace, change) + strings.Join(more, ""))
}

func TestGC01(t *testing.T) {
	const µs = time.Microsecond
	one := func(i int, c *recordingtest.Cycle) {
		if i == 6 {
			c.STW1, c.Mark, c.STW2 = 312*µs, 2*time.Millisecond, 150*µs
		}
	}
	f := expect(t, "one long collection", collecting(60, 100*time.Millisecond, one), "GC01", Found,
		"2 of 120 pauses", "1 before marking, 1 after it", "longest took 312 µs")
	severity(t, "one long collection", f, Info)
	near(t, "one long collection", f, 2.0/120)
	// gc 7 began 610 ms after the start of the program, which is 615 ms on
	// the axis; its second pause came after 312 µs and 2 ms.
	for i, want := range []string{"gc 7 at 0.610 s: sweep termination 312 µs [615000000 615312000]", "gc 7 at 0.610 s: mark termination 150 µs [617312000 617462000]"} {
		if got := fmt.Sprint(f.Evidence[i].Text, " ", *f.Evidence[i].Span); got != want {
			t.Errorf("evidence = %s, want %s", got, want)
		}
	}
	long := func(i int, c *recordingtest.Cycle) { c.STW1 = 900 * µs }
	f = expect(t, "all are long", collecting(60, 100*time.Millisecond, long), "GC01", Found, "60 of 120")
	severity(t, "nothing tells that anybody waited", f, Info)
	f = expect(t, "all are long, under load", collecting(60, 100*time.Millisecond, long, "-- load.requests load phase=bare --\n"), "GC01", Found, "60 of 120")
	severity(t, "all are long, under load", f, Warning)
	f = expect(t, "on a busy host", collecting(60, 100*time.Millisecond, long, busyHost), "GC01", Found, "60 of 120")
	severity(t, "on a busy host", f, Info)
	doubted(t, f, "all CPUs were busy")
	doubted(t, f, "the machine was noisy: other programs used")
	expect(t, "at the limit", collecting(60, 100*time.Millisecond, func(i int, c *recordingtest.Cycle) { c.STW1, c.STW2 = 100*µs, 100*µs }), "GC01", Fine, "none of 120")
	expect(t, "few collections", collecting(19, 100*time.Millisecond, long), "GC01", TooLittle, "19 collections", "20 are needed")
	expect(t, "outside of the phase", collecting(40, 500*time.Millisecond, func(i int, c *recordingtest.Cycle) {
		if c.At > 10*time.Second {
			c.STW1 = time.Second
		}
	}), "GC01", Fine)
	expect(t, "attached", recordingtest.New("title x\nphase bare 0s..10s run=-1"), "GC01", NotApplicable)
}

// cpuClasses are runtime/metrics of 10 s on 4 Ps: 20 s idle, and this much of the
// rest for the collector, part of it marking on idle Ps.
func cpuClasses(total, idle float64) string {
	return fmt.Sprintf(`
-- metrics.ndjson metrics --
t_ns /cpu/classes/gc/total:cpu-seconds /cpu/classes/gc/mark/idle:cpu-seconds /cpu/classes/total:cpu-seconds /cpu/classes/idle:cpu-seconds
0s   1        1         100       50
5s   1        1         120       60
9s   %g       %g        140       70
`, 1+total, 1+idle)
}

func TestGC03(t *testing.T) {
	pace := 100 * time.Millisecond
	// (4−1) of (40−20−1) s.
	f := expect(t, "metrics", collecting(60, pace, nil, cpuClasses(4, 1)), "GC03", Found, "15.8%", "60 collections")
	severity(t, "metrics", f, Warning)
	near(t, "metrics", f, 3.0/19)
	if e := f.Evidence[0]; e.Phase != "bare" || *e.Span != [2]int64{0, 10e9} || !strings.Contains(e.Text, "runtime/metrics") {
		t.Errorf("evidence = %+v", e)
	}
	severity(t, "info", expect(t, "info", collecting(60, pace, nil, cpuClasses(1.4, 0)), "GC03", Found, "7.00%"), Info)
	severity(t, "critical", expect(t, "critical", collecting(60, pace, nil, cpuClasses(6, 0)), "GC03", Found, "30.0%"), Critical)
	expect(t, "a small share", collecting(60, pace, nil, cpuClasses(0.9, 0)), "GC03", Fine, "4.50%")
	expect(t, "marking on idle Ps alone", collecting(60, pace, nil, cpuClasses(5, 5)), "GC03", Fine, "0%")
	expect(t, "few collections", collecting(19, pace, nil, cpuClasses(4, 0)), "GC03", TooLittle, "19 collections")
	severity(t, "few collections, and long", expect(t, "few collections, and long", collecting(5, pace, nil, cpuClasses(6, 0)), "GC03", Found, "in 5 collections"), Warning)
	expect(t, "three", collecting(3, pace, nil, cpuClasses(6, 0)), "GC03", TooLittle, "3 collections")

	// Without metrics: 60 collections, each of which takes 50 ms of background
	// work, truncated to whole milliseconds: 3.03 s.
	marking := func(i int, c *recordingtest.Cycle) { c.Background, c.Idle = 50*time.Millisecond, time.Second }
	r := collecting(60, pace, marking)
	f = expect(t, "gctrace, of 20 s", r, "GC03", Found, "15.2% of the CPU time used")
	near(t, "gctrace, of 20 s", f, 60*0.0505/20)
	r = collecting(60, pace, marking)
	r.Manifest.Phases[0].User = 4 * time.Second
	severity(t, "a program that idles otherwise", expect(t, "gctrace, of 4 s", r, "GC03", Found, "75.8%"), Critical)
	r = collecting(60, pace, marking)
	r.Manifest.Phases[0].User = 0
	f = expect(t, "gctrace, of 4 Ps", r, "GC03", Found, "7.5")
	if !strings.Contains(f.Evidence[0].Text, "of the time of all Ps") {
		t.Errorf("evidence = %+v", f.Evidence[0])
	}
}

// TestGC03Sampled: where the samples of a CPU profile are certainly fewer than what the runtime says,
// the figure and the severity are theirs; where they agree, they are evidence, and no doubt is left.
func TestGC03Sampled(t *testing.T) {
	for _, c := range []struct {
		collecting, other int64
		severity          Severity // empty is fine
		says              string
		agrees            bool
	}{
		{150, 850, Warning, "15.8% of the busy time", true},
		{70, 930, Info, "7.00% of the CPU time used", false},
		{20, 980, "", "2.00% of the CPU time used", false},
		{7, 93, Warning, "15.8% of the busy time", false}, // too few to say so
	} {
		r := collecting(60, 100*time.Millisecond, nil, cpuClasses(4, 1))
		withProfile(r, recording.CPU, "bare", column{"runtime.gcBgMarkWorker runtime.gcDrain", []int64{c.collecting / 2}},
			column{"main.main runtime.mallocgc runtime.gcmarknewobject", []int64{c.collecting - c.collecting/2}}, column{"main.main main.work", []int64{c.other}})
		f := answers(t, r, "GC03")[0]
		if f.Severity != c.severity || !strings.Contains(f.Summary, c.says) {
			t.Errorf("%d of %d: %s: %s", c.collecting, c.other, f.Severity, f.Summary)
		}
		said := false
		for _, e := range f.Evidence {
			said = said || strings.Contains(e.Text, "samples of the CPU profile are in the collector")
		}
		if said != c.agrees {
			t.Errorf("%d of %d: %+v", c.collecting, c.other, f.Evidence)
		}
	}
}

func TestGC04(t *testing.T) {
	// The phase lasts for 10 s, so n collections have a pace of 10 s / n.
	dense := func(n int, change func(i int, c *recordingtest.Cycle)) *recordingtest.Recording {
		return collecting(n, 10*time.Second/time.Duration(n+2), change)
	}
	f := expect(t, "fast", dense(5000, nil), "GC04", Found, "a collection every 2.00 ms", "live heap 2")
	severity(t, "fast", f, Info) // the pace alone is no fault
	near(t, "fast", f, 1e10/4995)
	if e := f.Evidence[0]; e.Phase != "bare" || *e.Span != [2]int64{0, 10e9} {
		t.Errorf("evidence = %+v", e)
	}
	severity(t, "5 ms", expect(t, "5 ms", dense(2000, nil), "GC04", Found, "5.00 ms"), Info)
	expect(t, "10 ms", dense(1000, nil), "GC04", Fine, "10.0 ms")
	expect(t, "a heap that grew", dense(100, func(i int, c *recordingtest.Cycle) { c.Live = 1 + i*i/50 }), "GC04", Fine, "MB (median; up to ")
	if f := answers(t, dense(100, func(i int, c *recordingtest.Cycle) { c.Live = 20 + i%10 }), "GC04")[0]; strings.Contains(f.Summary, "median") {
		t.Errorf("an even heap: %s", f.Summary)
	}
	expect(t, "few collections", dense(19, nil), "GC04", TooLittle, "19 collections")
	expect(t, "no collections", recordingtest.New("title x\nphase bare 0s..5s\n-- stderr.log stderr --\n"+recordingtest.Scheds(4, 2, 2)), "GC04", TooLittle, "printed nothing")
	expect(t, "runtime.GC in a loop", dense(5000, func(i int, c *recordingtest.Cycle) { c.Forced = i%3 > 0 }), "GC04", NotApplicable, "forced by the program")
	expect(t, "runtime.GC now and then", dense(5000, func(i int, c *recordingtest.Cycle) { c.Forced = i%3 == 0 }), "GC04", Found)
	r := dense(5000, nil)
	r.Clock("load.requests", 0).Put(recording.Entry{Path: "load.requests", Kind: recording.Load, Phase: "bare"},
		loadlogtest.Encode(loadlogtest.Steady(20000, 10*time.Second, time.Millisecond)))
	expect(t, "under load", r, "GC04", Found, "4.00 requests for each")
}

// leaking is a program that collects 40 times in 10 s, every fourth time by
// runtime.GC, while its live heap rises from 10 to 49 MB.
func leaking(change func(i int, c *recordingtest.Cycle)) *recordingtest.Recording {
	return collecting(40, 240*time.Millisecond, func(i int, c *recordingtest.Cycle) {
		c.Live, c.Forced = 10+i, i%4 == 0
		if change != nil {
			change(i, c)
		}
	})
}

func TestGC08(t *testing.T) {
	f := expect(t, "leak", leaking(nil), "GC08", Found, "rose from 11.5 to 47.5 MB", "40 collections", "10 of them forced")
	severity(t, "leak", f, Warning)
	if f.Impact.Value < 249 || f.Impact.Value > 251 { // 1 MB in 0.24 s
		t.Errorf("impact = %+v, want 250 MB a minute", f.Impact)
	}
	g := func(what string, state State, words string, change func(i int, c *recordingtest.Cycle)) {
		t.Helper()
		expect(t, what, leaking(change), "GC08", state, words)
	}
	g("flat", Fine, "no lasting growth", func(i int, c *recordingtest.Cycle) { c.Live = 30 + i%2 })
	g("falls", Fine, "no lasting growth", func(i int, c *recordingtest.Cycle) { c.Live = 60 - i })
	g("a tenth more", Fine, "no lasting growth", func(i int, c *recordingtest.Cycle) { c.Live = 300 + i })
	g("up and down", Fine, "fell back to 30.9 MB", func(i int, c *recordingtest.Cycle) { c.Live = 30 + i%20 })
	g("a jump that stays", Fine, "no lasting growth", func(i int, c *recordingtest.Cycle) { c.Live = 30 + 30*min(i/39, 1) })
	g("nothing forced", TooLittle, "only 0 of them were forced", func(i int, c *recordingtest.Cycle) { c.Forced = false })
	g("two forced", TooLittle, "only 2 of them were forced", func(i int, c *recordingtest.Cycle) { c.Forced = i%20 == 0 })
	g("garbage under load", Fine, "survived the forced ones went from 10.0 to 10.0 MB", func(i int, c *recordingtest.Cycle) {
		if c.Forced {
			c.Live = 10
		}
	})
	g("levelled off between forced ones", Fine, "had stopped growing by the end, at 34.0 MB", func(i int, c *recordingtest.Cycle) { c.Live = 10 + min(i, 24) })
	g("levelled off, with garbage in the others", Fine, "had stopped growing by the end, at 34.0 MB", func(i int, c *recordingtest.Cycle) {
		if c.Live = 10 + min(i, 24); !c.Forced {
			c.Live += i % 3
		}
	})
	g("stands for a moment at the end", Found, "10 of them forced", func(i int, c *recordingtest.Cycle) { c.Live = 10 + min(i, 34) })
	g("in jumps that become larger", Found, "10 of them forced", func(i int, c *recordingtest.Cycle) { c.Live = 10 + 8*(i/9) })
	g("grows on where nothing was forced any more", Found, "5 of them forced", func(i int, c *recordingtest.Cycle) {
		c.Live, c.Forced = 10+min(i, 6)+max(0, i-18), i%4 == 0 && i < 20
	})
	few := collecting(9, time.Second, func(i int, c *recordingtest.Cycle) { c.Live, c.Forced = 10*(i+1), true })
	// A log whose heap goes up and up is not "nothing was found", whoever forced what.
	growing := func(mb func(i int) int) *recordingtest.Recording {
		return collecting(80, 100*time.Millisecond, func(i int, c *recordingtest.Cycle) { c.Live, c.Start, c.End = mb(i), 2*mb(i), 2*mb(i) })
	}
	expect(t, "unforced, and mostly freed in between", growing(func(i int) int { return 3 + 30*(i%8) + 4*i }), "GC08", TooLittle, "but fell from", "in between")
	f = expect(t, "unforced", growing(func(i int) int { return 3 + 4*i }), "GC08", Found, "was still growing at the end")
	atPeak := growing(func(i int) int { return 3 + 4*i })
	atPeak.Put(recording.Entry{Path: "peak/heap-01.pb.gz", Kind: recording.Heap, Phase: "bare", Span: timeline.Span{Start: 9e9, End: 9e9}}, heapProfile(
		column{"main.main shop/cache.remember:/src/none.go:11", []int64{100, 60 << 20, 100, 60 << 20}}, column{"main.main shop/cache.note:/src/none.go:20", []int64{100, 3 << 20, 100, 3 << 20}}))
	if g := expect(t, "unforced, with a profile at a peak", atPeak, "GC08", Found); !g.atPeak || g.Evidence[len(g.Evidence)-1].Line != 11 {
		t.Errorf("%+v", g.Evidence)
	}
	severity(t, "unforced", f, Info)
	doubted(t, f, "no collection was forced")
	expect(t, "a cache that is full", growing(func(i int) int { return min(3+10*i, 200) }), "GC08", Fine, "no lasting growth")
	expect(t, "few collections", few, "GC08", TooLittle, "9 collections")
	expect(t, "no collections", recordingtest.New("title x\nphase bare 0s..5s\n-- stderr.log stderr --\nhello\n"), "GC08", TooLittle, "printed nothing")
}

// TestGC08Longest looks at the longest of several rounds: each process has a
// heap of its own.
func TestGC08Longest(t *testing.T) {
	flat := recordingtest.Cycles(30, 10*time.Millisecond, 200*time.Millisecond, func(i int, c *recordingtest.Cycle) { c.Live, c.Forced = 5, true })
	leak := recordingtest.Cycles(40, 10*time.Millisecond, 200*time.Millisecond, func(i int, c *recordingtest.Cycle) { c.Live, c.Forced = 10+i, true })
	r := recordingtest.New("title x\nphase bare 0s..10s run=0\nphase bare-2 20s..30s run=1\nclock stderr-2.log 20s\n" +
		"-- stderr.log stderr run=0 --\n" + flat + "-- stderr-2.log stderr run=1 --\n" + leak)
	f := expect(t, "two rounds", r, "GC08", Found, "40 collections")
	if e := f.Evidence[0]; e.Phase != "bare-2" || *e.Span != [2]int64{20e9, 30e9} {
		t.Errorf("evidence = %+v", e)
	}
}

// TestUntold: a program that is not Go, or whose gctrace is off, is not one that
// never collects.
func TestUntold(t *testing.T) {
	const text = "title x\ntarget binary x env=GODEBUG=gctrace=%d,schedtrace=1000\nphase bare 0s..5s\n-- stderr.log stderr --\n"
	for _, id := range []string{"GC01", "GC03", "GC04", "GC08"} {
		expect(t, "a shell", recordingtest.New(fmt.Sprintf(text, 1)+"hello\n"), id, TooLittle, "printed nothing")
		expect(t, "gctrace=0", recordingtest.New(fmt.Sprintf(text, 0)+recordingtest.Scheds(4, 2, 2)), id, TooLittle, "printed nothing")
		expect(t, "a quiet program", recordingtest.New(fmt.Sprintf(text, 1)+recordingtest.Scheds(4, 2, 2)), id, Fine, "no collection")
	}
}

// TestNoRoomUnderLimit: where the goals follow from no GOGC, as under a limit of memory that
// the program has set, a larger GOGC is not advised. With GOGC=200 the program of these
// lines made 59 collections and not 9.
func TestNoRoomUnderLimit(t *testing.T) {
	var log strings.Builder
	for n := range 80 {
		fmt.Fprintf(&log, "gc %d @%.3fs 46%%: 0.13+19+0.004 ms clock, 0.27+16/5.7/7.4+0.009 ms cpu, 44->48->44 MB, 44 MB goal, 0 MB stacks, 0 MB globals, 2 P\n", n+1, 0.025*float64(n+1))
	}
	r := recordingtest.New("title limit\ntarget package ./x module=x\nhost cpus=2\nphase bare 0s..2100ms user=4s\nclock stderr.log 0ms error=1ms\n-- stderr.log stderr --\n" + log.String())
	f := expect(t, "under a limit", r, "GC03", Found)
	if strings.Contains(f.Advice, "GOGC") || !strings.Contains(strings.Join(f.Doubts, ";"), "no advice on GOGC") {
		t.Errorf("advice %q, doubts %q", f.Advice, f.Doubts)
	}
}

// TestLessAllocated: the advice to allocate less names the lines that have most of the bytes, each once.
func TestLessAllocated(t *testing.T) {
	for _, c := range []struct {
		name    string
		columns []column
		want    string
	}{
		{"no profile", nil, "an allocs profile shows at which lines"},
		{"two lines", []column{{"main.main:/src/main.go:5 main.load:/src/load.go:9", []int64{1, 600, 0, 0}}, {"main.main:/src/main.go:6", []int64{1, 390, 0, 0}}, {"main.main:/src/main.go:7", []int64{1, 10, 0, 0}}}, "first where most bytes are allocated: load.go:9 (60.0%) and main.go:6 (39.0%)."},
		{"one line on two ways", []column{{"main.main:/src/main.go:5 main.load:/src/load.go:9", []int64{1, 600, 0, 0}}, {"main.main:/src/main.go:6 main.load:/src/load.go:9", []int64{1, 400, 0, 0}}}, "allocated: load.go:9 (100%)."},
		{"below the program's lines", []column{{"main.main:/src/main.go:5 main.load:/src/load.go:9 encoding/json.Unmarshal", []int64{1, 1000, 0, 0}}}, "allocated: load.go:9 (100%)."},
		{"libraries alone", []column{{"net/http.(*conn).serve", []int64{1, 1000, 0, 0}}}, "who calls what does"},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase allocs 5s..9s profiler=allocs\n")
		if c.columns != nil {
			withProfile(r, recording.Allocs, "allocs", c.columns...)
		}
		if got := lessAllocated(NewInput(session.New(r.Open()))); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

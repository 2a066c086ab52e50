package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// stop adds n stops of the world of a kind that are asked for at a stack.
func (s *scene) stop(kind string, n int, each time.Duration, at stack.ID) {
	p := sched.Stops{Kind: s.name("stop-the-world (" + kind + ")"), Stack: at, Histogram: times(n, each)}
	p.Worst.Span.Start, p.Worst.Span.End = 2e9, 2e9+1
	s.GC.Stops = append(s.GC.Stops, p)
}

func TestGC17(t *testing.T) {
	read := []string{"runtime.ReadMemStats:/go/mstats.go:369", "shop/watch.collect:/src/watch/watch.go:17"}
	s := newScene(t)
	s.stop("read mem stats", 1_000, 200*us, s.stack(read...))
	s.stop("goroutine profile", 10, ms, s.stack("runtime/pprof.(*Profile).WriteTo:/go/pprof.go:1", "shop/watch.dump:/src/watch/watch.go:30"))
	f := s.expect("GC17", Found, "10.5% of the time", "1,010 stops, 505 a second", "for runtime.ReadMemStats in watch.collect at watch.go:17",
		"1,000 stops of runtime.ReadMemStats, 200 ms in total", "10 stops of pprof.(*Profile).WriteTo")
	severity(t, "statistics a thousand times a second", f, Warning)
	near(t, "statistics a thousand times a second", f, 0.105)
	if e := f.Evidence[0]; e.Line != 17 || !strings.Contains(f.Advice, "runtime/metrics") {
		t.Errorf("evidence %+v, advice %q", e, f.Advice)
	}

	g := func(what string, state State, words string, kind string, n int, each time.Duration, frames ...string) Finding {
		t.Helper()
		s := newScene(t)
		s.stop(kind, n, each, s.stack(frames...))
		return s.expect("GC17", state, words)
	}
	g("once a second", Fine, "1.00 a second", "read mem stats", 2, 200*us, read...)
	severity(t, "ten times a second on a slow machine", g("", Found, "10.0 a second", "read mem stats", 20, 2*ms, read...), Info)
	g("the collector", Fine, "the program itself never stopped the world", "GC mark termination", 1_000, ms, "runtime.gcBgMarkWorker:/go/mgc.go:1")
	g("forced, which GC12 tells of", Fine, "the program itself never stopped the world", "GC sweep termination", 1_000, ms, "runtime.GC:/go/mgc.go:1", "main.main:/src/main.go:3")
	g("our own trace", Fine, "the program itself never stopped the world", "start trace", 1, 300*ms, "runtime/trace.Start:/go/trace.go:1", "main.loupeStartTrace:/src/zz_loupe_inject.go:3")
	g("our trace of a test", Fine, "the program itself never stopped the world", "start trace", 1, 300*ms, "runtime/trace.Start:/go/trace.go:1", "shop.loupeStartTrace:/src/zz_loupe_inject_test.go:3", "shop.init.0:/src/zz_loupe_inject_test.go:9")
	g("a look at /debug/vars", Fine, "the program itself never stopped the world", "read mem stats", 20, 30*ms, "runtime.ReadMemStats:/go/mstats.go:1", "expvar.memstats:/go/expvar.go:1", "expvar.expvarHandler:/go/expvar.go:2", "main.wrap:/src/main.go:8")
	g("the runtime follows the CPU limit", Fine, "the program itself never stopped the world", "GOMAXPROCS", 1, 300*ms, "runtime.updateMaxProcsGoroutine:/go/proc.go:1")
	g("without a stack", Fine, "the program itself never stopped the world", "start trace", 1, 300*ms)
	g("somebody's look through /debug/pprof", Fine, "the program itself never stopped the world", "all goroutines stack trace", 1, 300*ms, "runtime.Stack:/go/mprof.go:1", "net/http/pprof.handler.ServeHTTP:/go/pprof.go:1", "main.wrap:/src/main.go:8")
	g("a trace without its end", TooLittle, "does not say what 1,000 stops, 1.00 s in total, were for", exectrace.Unnamed, 1_000, ms, "runtime.mallocgc:/go/malloc.go:1", "main.main:/src/main.go:3")
	g("few without a name", Fine, "the program itself never stopped the world", exectrace.Unnamed, 2, us)
	g("one long stop", Found, "for debug.WriteHeapDump", "write heap dump", 1, 300*ms, "runtime/debug.WriteHeapDump:/go/stubs.go:1", "main.dump:/src/main.go:3")
	f = g("a benchmark that stops its timer", Found, "testing.(*B).StopTimer", "read mem stats", 1_000, 200*us, "runtime.ReadMemStats:/go/mstats.go:1", "testing.(*B).StopTimer:/go/benchmark.go:1", "shop.BenchmarkCart:/src/cart_test.go:8")
	if !strings.Contains(f.Advice, "out of the loop") {
		t.Errorf("advice %q", f.Advice)
	}
	f = g("a kind that nobody knows", Found, "“new kind”", "new kind", 100, ms)
	if !strings.Contains(f.Advice, "less often") {
		t.Errorf("advice %q", f.Advice)
	}
}

// pauses are counters of runtime/metrics over 4 s: so many stops, half of them for half a
// millisecond and longer.
func pauseCounts(n string) string {
	return "title x\nphase bare 0s..5s\n-- metrics.ndjson metrics --\n" +
		"t_ns /sched/pauses/total/other:seconds#count /sched/pauses/total/other:seconds#p50 /gc/cycles/total:gc-cycles /gc/cycles/forced:gc-cycles\n" +
		"500ms 10 0.0005 1 0\n" + "4500ms " + n + " 0.0005 40 0\n"
}

// TestGC17Counted: without a trace the counters tell that there is something, and the CPU
// profile where.
func TestGC17Counted(t *testing.T) {
	r := recordingtest.New(pauseCounts("4010"))
	f := expect(t, "a thousand a second", r, "GC17", Found, "1,000 times a second", "half of the times for 500 µs or longer", "at least 25.0% of the time")
	severity(t, "a thousand a second", f, Warning)
	doubted(t, f, "record with -phases trace")
	r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "bare"}, profiletest.Profile(`
		main.main               main.main
		main.watch:/src/m.go:9  main.work:/src/m.go:20
		runtime.ReadMemStats    .
		= 50 50`))
	f = expect(t, "with a profile", r, "GC17", Found)
	if len(f.Evidence) != 2 || f.Evidence[1].Line != 9 {
		t.Errorf("evidence %+v", f.Evidence)
	}
	expect(t, "ten a second", recordingtest.New(pauseCounts("50")), "GC17", Fine, "40 times in 4.00 s")
	expect(t, "before Go 1.22", recordingtest.New("title x\nphase bare 0s..5s\n-- metrics.ndjson metrics --\nt_ns /gc/heap/live:bytes\n1s 5\n4s 5\n"), "GC17", TooLittle, "from Go 1.22")
}

func TestGC12(t *testing.T) {
	forced := func(share int) func(i int, c *recordingtest.Cycle) {
		return func(i int, c *recordingtest.Cycle) { c.Forced = i%10 < share }
	}
	pace := 100 * time.Millisecond
	f := expect(t, "all", collecting(60, pace, forced(10), cpuClasses(6, 0)), "GC12", Found, "60 of 60 collections", "6.00 a second", "30.0%")
	severity(t, "all", f, Warning)
	near(t, "all", f, 0.3)
	doubted(t, f, "record with -phases trace")
	expect(t, "a third", collecting(60, pace, forced(3), cpuClasses(6, 0)), "GC12", Fine, "18 of 60")
	expect(t, "four of them", collecting(4, pace, forced(10), cpuClasses(6, 0)), "GC12", Fine, "4 of 4")
	expect(t, "cheap ones", collecting(60, pace, forced(10), cpuClasses(0.1, 0)), "GC12", Fine, "0.5")
	expect(t, "none", collecting(60, pace, nil, cpuClasses(6, 0)), "GC12", Fine, "0 of 60")
	looks := recordingtest.New("title x\nhost cpus=4\nphase growth 0s..10s profiler=growth\n" + collectingText(60, pace, forced(10)))
	all, err := RunPart(NewInput(session.New(looks.Open())), timeline.Span{End: 9e9}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if f.Rule == "GC12" && f.State == Found {
			t.Errorf("the looks of the recording are the program's: %s", f.Summary)
		}
	}

	s := newScene(t)
	s.manifest = collectingText(60, pace, forced(10)) + cpuClasses(6, 0)
	s.stop("GC sweep termination", 60, ms, s.stack("runtime.GC:/go/mgc.go:1", "shop/cart.clean:/src/cart/cart.go:40", "net/http.(*conn).serve:/go/server.go:1"))
	for _, f := range Run(s.input()) {
		switch {
		case f.Rule == "GC12":
			if f.State != Found || f.Evidence[0].Line != 40 || !strings.Contains(f.Evidence[0].Text, "60 stops of runtime.GC") {
				t.Errorf("%s, evidence %+v", f.Summary, f.Evidence)
			}
		case f.Rule == "GC03" && (f.State != Found || f.Severity != Info || !strings.HasPrefix(f.Advice, "See GC12 first")):
			t.Errorf("the symptom keeps advice of its own: %+v", f)
		}
	}
}

// collectingText is the log of a program that collects, without the head of the recording.
func collectingText(n int, pace time.Duration, change func(i int, c *recordingtest.Cycle)) string {
	return "clock stderr.log 5ms error=20ms\n-- stderr.log stderr --\n" + recordingtest.Cycles(n, 10*time.Millisecond, pace, change)
}

// TestUnderCause: a cause takes the advice of its symptoms, and nobody else's; one that is
// no warning takes none.
func TestUnderCause(t *testing.T) {
	make := func(severity Severity) []Finding {
		return []Finding{
			{Rule: "SC07", State: Found, Severity: Warning, Advice: "fewer goroutines"},
			{Rule: "SC14", State: Fine, Summary: "fine"},
			{Rule: "LK01", State: Found, Severity: Warning, Advice: "a lock"},
			{Rule: "GC17", State: Found, Severity: severity, Advice: "the cause"},
		}
	}
	all := make(Warning)
	underCause(all)
	if all[0].Severity != Info || !strings.HasPrefix(all[0].Advice, "See GC17 first") {
		t.Errorf("symptom %+v", all[0])
	}
	if all[1].Advice != "" || all[2].Advice != "a lock" || all[2].Severity != Warning || all[3].Advice != "the cause" {
		t.Errorf("others %+v", all[1:])
	}
	all = make(Info)
	underCause(all)
	if all[0].Advice != "fewer goroutines" || all[0].Severity != Warning {
		t.Errorf("under an info %+v", all[0])
	}
	for _, c := range causes {
		for _, id := range append(c.symptoms, c.rule) {
			if c.why == "" || !hasRule(id) {
				t.Errorf("cause %s names %s", c.rule, id)
			}
		}
	}
}

func hasRule(id string) bool {
	for _, r := range Rules() {
		if r.ID == id {
			return true
		}
	}
	return false
}

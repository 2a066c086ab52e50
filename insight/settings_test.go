package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/gc"
	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// reading is a recording of 10 s with readings of runtime/metrics each second: columns of
// names, and values that are joined to them at each second.
func reading(head, names string, values func(second int) []float64) *recordingtest.Recording {
	return recordingtest.New("title x\nhost cpus=4\nphase bare 0s..10s user=20s\n" + head + metricsTable(names, values))
}

func metricsTable(names string, values func(second int) []float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n-- metrics.ndjson metrics --\nt_ns %s\n", names)
	for s := range 10 {
		fmt.Fprintf(&b, "%ds %s\n", s, strings.Trim(fmt.Sprint(values(s)), "[]"))
	}
	return b.String()
}

const (
	mb = 1 << 20
	// cpuNames are what the collector's share is made of.
	cpuNames = " /cpu/classes/gc/total:cpu-seconds /cpu/classes/gc/mark/idle:cpu-seconds /cpu/classes/total:cpu-seconds /cpu/classes/idle:cpu-seconds"
)

// busyWith are readings of four Ps that are busy, with a share of the collector.
func busyWith(second int, share float64) []float64 {
	return []float64{4 * share * float64(second), 0, 4 * float64(second), 0}
}

func TestGC06(t *testing.T) {
	limiter := func(share float64, last func(second int) float64) *recordingtest.Recording {
		return reading("", "/gc/limiter/last-enabled:gc-cycle /gc/cycles/total:gc-cycles /gc/gomemlimit:bytes"+cpuNames, func(s int) []float64 {
			return append([]float64{last(s), float64(100 * s), 64 * mb}, busyWith(s, share)...)
		})
	}
	rising := func(s int) float64 { return float64(90 * s) }
	f := expect(t, "on", limiter(0.5, rising), "GC06", Found, "last at collection 810 of 900", "50.0%")
	severity(t, "on", f, Critical)
	if !strings.Contains(f.Advice, "GOMEMLIMIT") {
		t.Errorf("advice %q", f.Advice)
	}
	busy := recordingtest.New("title x\nhost cpus=4\nphase bare 0s..10s user=20s\n" + busyHost + metricsTable("/gc/limiter/last-enabled:gc-cycle /gc/cycles/total:gc-cycles"+cpuNames, func(s int) []float64 {
		return append([]float64{rising(s), float64(100 * s)}, busyWith(s, 0.5)...)
	}))
	f = expect(t, "on a busy host, without a limit", busy, "GC06", Found, "last at collection 810 of 900")
	severity(t, "on a busy host, without a limit", f, Info)
	doubted(t, f, "the limiter counts the time of Ps")
	expect(t, "before", limiter(0.5, func(int) float64 { return 3 }), "GC06", Fine, "never on")
	expect(t, "for a moment", limiter(0.02, rising), "GC06", Fine, "2.00%")
	expect(t, "another Go", reading("", "/gc/heap/live:bytes", func(int) []float64 { return []float64{1} }), "GC06", TooLittle, "too old")
}

// underLimit are readings of a program with a limit: so much memory in use of 64 MB, with
// so much live, and the collector's share.
func underLimit(used, live, gogc, share float64) *recordingtest.Recording {
	return reading("", "/memory/classes/total:bytes /memory/classes/heap/released:bytes /gc/gomemlimit:bytes /gc/gogc:percent /gc/heap/goal:bytes /gc/heap/live:bytes /gc/scan/stack:bytes /gc/scan/globals:bytes /gc/cycles/total:gc-cycles"+cpuNames,
		func(s int) []float64 {
			return append([]float64{(used + 10) * mb, 10 * mb, 64 * mb, gogc, min(60, live*(1+gogc/100)) * mb, live * mb, 0, 0, float64(50 * s)}, busyWith(s, share)...)
		})
}

func TestGC07(t *testing.T) {
	f := expect(t, "full", underLimit(63, 50, 100, 0.5), "GC07", Found, "98.4% of the limit of 64.0 MiB", "50.0 MiB of it is live heap", "garbage collection took 50.0%")
	severity(t, "full", f, Critical)
	near(t, "full", f, 0.5)
	severity(t, "some", expect(t, "some", underLimit(63, 50, 100, 0.15), "GC07", Found), Warning)
	expect(t, "it rests", underLimit(63, 50, 100, 0.05), "GC07", Fine, "5.00%")
	expect(t, "room", underLimit(50, 50, 100, 0.5), "GC07", Fine, "78.1%")
	expect(t, "between two collections", underLimit(56, 40, 100, 0.3), "GC07", Found, "87.5% of the limit")
	expect(t, "GOGC decides", underLimit(63, 50, 10, 0.5), "GC07", Fine, "0% of the readings")
	for _, c := range []struct{ name, env, set, says, never string }{
		{"by the environment", "GOMEMLIMIT=64MiB", "", "This limit is GOMEMLIMIT in the environment", "overrides"},
		{"by the environment, though a call may", "GOMEMLIMIT=64MiB", "n", "This limit is GOMEMLIMIT in the environment", "The source sets"},
		{"by the source", "GOMEMLIMIT=100MiB", "64 << 20", "The source sets the limit", "is this limit"},
		{"by the source alone", "GOGC=100", "n", "The source sets the limit", "is this limit"},
		{"by a call of another number", "GOMEMLIMIT=64MiB", "32 << 20", "This limit is GOMEMLIMIT in the environment", "debug.SetMemoryLimit"},
		{"of a program that runs already", "", "n", "The limit is GOMEMLIMIT in the environment, or debug.SetMemoryLimit (a.go:5)", "The source sets"},
	} {
		r := underLimit(63, 50, 100, 0.5)
		if c.env != "" {
			r.Manifest.Target.Env = []string{c.env}
			r.Manifest.Target.Runs = []recording.Run{{PID: 7}}
		}
		if c.set != "" {
			r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\nimport \"runtime/debug\"\nvar n int64\nfunc main() {\ndebug.SetMemoryLimit("+c.set+")\n}\n"))
		}
		if f := answers(t, r, "GC07")[0]; !strings.Contains(f.Advice, c.says) || strings.Contains(f.Advice, c.never) {
			t.Errorf("%s: %s\nwant %q, never %q", c.name, f.Advice, c.says, c.never)
		}
	}
	unlimited := reading("", "/memory/classes/total:bytes /memory/classes/heap/released:bytes /gc/gomemlimit:bytes", func(int) []float64 { return []float64{100, 0, 9223372036854775807} })
	expect(t, "no limit", unlimited, "GC07", Fine, "no memory limit")
}

func TestGC10(t *testing.T) {
	resident := func(anon int) *recordingtest.Recording {
		os := "-- os.ndjson os --\nt_ns pid rss rss_anon\n"
		for s := range 10 {
			os += fmt.Sprintf("%ds 7 %d %d\n", s, 3000*mb, anon*mb)
		}
		return reading(os, "/memory/classes/total:bytes /memory/classes/heap/released:bytes", func(int) []float64 { return []float64{800 * mb, 100 * mb} })
	}
	f := expect(t, "C", resident(1900), "GC10", Found, "1.86 GiB are resident", "700 MiB", "1.17 GiB are outside it")
	near(t, "C", f, 1200.0/1900)
	expect(t, "a little more", resident(790), "GC10", Fine)
	expect(t, "mapped files alone", resident(700), "GC10", Fine, "at the samples, at most 700 MiB were resident")
	start := "-- os.ndjson os --\nt_ns pid rss_anon\n0ms 7 1000000\n"
	for s := range 4 {
		start += fmt.Sprintf("%ds 7 %d\n", s+1, (700+10*s)*mb)
	}
	expect(t, "a sample at the start", reading(start, "/memory/classes/total:bytes /memory/classes/heap/released:bytes", func(int) []float64 { return []float64{800 * mb, 100 * mb} }), "GC10", Fine, "of at most 730 MiB resident", "700 MiB")
	expect(t, "an older recording", resident(0), "GC10", TooLittle, "which Linux reports")

	// A heap that comes and goes between two samples is not C.
	os := "-- os.ndjson os --\nt_ns pid rss_anon\n"
	for s := range 9 {
		os += fmt.Sprintf("%dms 7 %d\n", 1000*s+500, []int{900, 100}[s%2]*mb)
	}
	waves := reading(os, "/memory/classes/total:bytes /memory/classes/heap/released:bytes", func(s int) []float64 { return []float64{[]float64{100, 900}[s%2] * mb, 0} })
	expect(t, "waves", waves, "GC10", Fine)

	// Nobody knows what the runtime held where its samples are missing.
	grows := func(outside int, lines ...string) *recordingtest.Recording {
		os := "-- os.ndjson os --\nt_ns pid rss_anon\n"
		for s := range 9 {
			os += fmt.Sprintf("%dms 7 %d\n", 1000*s+700, (outside+300+300*s)*mb)
		}
		return recordingtest.New("title x\nhost cpus=4\nphase bare 0s..10s user=20s\n" + os + "\n-- metrics.ndjson metrics --\nt_ns /memory/classes/total:bytes /memory/classes/heap/released:bytes\n" + strings.Join(lines, "\n") + "\n")
	}
	line := func(s int) string { return fmt.Sprintf("%ds %d 0", s, (100+300*s)*mb) }
	expect(t, "all samples, and C", grows(3000, line(0), line(1), line(2), line(3), line(4), line(5), line(6), line(7), line(8), line(9)), "GC10", Found)
	expect(t, "cut in the middle, and C", grows(3000, line(0), line(1), line(2), line(3)), "GC10", Found)
	expect(t, "cut after the first sample", grows(0, line(0)), "GC10", TooLittle)
	expect(t, "a gap", grows(0, line(0), line(4), line(8)), "GC10", TooLittle)
}

func TestGC11(t *testing.T) {
	stacks := func(of float64) *recordingtest.Recording {
		return reading("", "/memory/classes/heap/stacks:bytes /memory/classes/total:bytes /memory/classes/heap/released:bytes /sched/goroutines:goroutines",
			func(int) []float64 { return []float64{of * mb, 1000 * mb, 0, 50_000} })
	}
	f := expect(t, "many", stacks(420), "GC11", Found, "420 MiB", "42.0%", "50,000 goroutines", "8.60 KiB each")
	severity(t, "many", f, Warning)
	severity(t, "some", expect(t, "some", stacks(210), "GC11", Found), Info)
	expect(t, "few", stacks(150), "GC11", Fine, "15.0%")
	// The smallest stacks do not come from deep calls or large arrays.
	smallest := reading("", "/memory/classes/heap/stacks:bytes /memory/classes/total:bytes /memory/classes/heap/released:bytes /sched/goroutines:goroutines",
		func(int) []float64 { return []float64{300 * mb, 660 * mb, 0, 151_000} })
	f = expect(t, "the smallest", smallest, "GC11", Found, "2.03 KiB each")
	if strings.Contains(f.Advice, "deep") || strings.Contains(f.Advice, "arrays") || !strings.Contains(f.Advice, "fewer goroutines") || f.Verify == "" {
		t.Errorf("advice %q", f.Advice)
	}
	// Those that wait where they need little keep what a deeper call needed.
	waiting := func(of float64, calls string) *recordingtest.Recording {
		r := reading("", "/memory/classes/heap/stacks:bytes /memory/classes/total:bytes /memory/classes/heap/released:bytes /sched/goroutines:goroutines",
			func(int) []float64 { return []float64{of * mb, 100 * mb, 0, 1500} })
		return withProfile(r, recording.Goroutine, "", column{calls + "runtime.chanrecv1 runtime.gopark", []int64{1490}}, column{"main.main shop/client.write:/src/none.go:30", []int64{10}})
	}
	const read = "main.main shop/client.read:/src/none.go:14 "
	f = expect(t, "that stay large", waiting(48, read), "GC11", Found, "48.0 MiB", "1,500 goroutines", "32.8 KiB each", "wait only", "a deeper call")
	severity(t, "that stay large", f, Warning)
	if !strings.Contains(f.Advice, "separate goroutine that ends") {
		t.Errorf("advice %q", f.Advice)
	}
	f = expect(t, "that are deep", waiting(48, read+strings.Repeat("shop/client.walk ", 30)), "GC11", Found)
	severity(t, "that are deep", f, Info)
	f = expect(t, "of the library", waiting(48, "net/http.(*conn).serve net/http.(*connReader).Read "), "GC11", Found)
	severity(t, "of the library", f, Info)
	f = expect(t, "that are small", waiting(21, read), "GC11", Found, "14.3 KiB each")
	severity(t, "that are small", f, Info)
}

func TestGC13(t *testing.T) {
	scanned := func(scan, live, share float64) *recordingtest.Recording {
		return reading("", "/gc/scan/heap:bytes /gc/heap/live:bytes"+cpuNames, func(s int) []float64 {
			return append([]float64{scan * mb, live * mb}, busyWith(s, share)...)
		})
	}
	f := expect(t, "a tree", scanned(1400, 1600, 0.2), "GC13", Found, "1.37 GiB of 1.56 GiB", "20.0%")
	severity(t, "a tree", f, Info)
	// The counters of CPU time change when a collection ends: the first change under load may be of the start.
	started := func(begun time.Duration, collections ...int) *recordingtest.Recording {
		r := reading("", "/gc/scan/heap:bytes /gc/heap/live:bytes"+cpuNames, func(s int) []float64 {
			n := 0
			for _, at := range collections {
				if s >= at {
					n = at
				}
			}
			gc := 0.0
			if n >= 2 {
				gc = 4 * 0.4 * 2 // all of it before the second second
			}
			return []float64{1400 * mb, 1600 * mb, gc, 0, 4 * float64(n), 0}
		})
		r.Manifest.Target.Runs = []recording.Run{{Span: timeline.Span{Start: timeline.Time(begun)}}}
		return r
	}
	expect(t, "the start alone", started(-5*time.Second, 2), "GC13", Fine, "an unknown share")
	expect(t, "the start, and nothing later", started(-5*time.Second, 2, 5, 8), "GC13", Fine, "took 0%")
	expect(t, "a process that begins with it", started(0, 2, 5, 8), "GC13", Found, "10.0%")
	// Who keeps most of it in small objects is told so, and not that too much is allocated.
	kept := func(share float64, objects, size int64) *recordingtest.Recording {
		r := scanned(1400, 1600, share)
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, heapProfile(
			column{"main.main shop/index.add:/src/index.go:40", []int64{objects, objects * size, objects, objects * size}},
			column{"main.main shop/page.load:/src/page.go:3", []int64{1000, 1 << 20, 1000, 1 << 20}}))
		return r
	}
	f = expect(t, "small objects", kept(0.25, 20<<20, 48), "GC13", Found, "20,971,520 objects of 48 B that were allocated at index.go:40 and stay")
	severity(t, "small objects", f, Warning)
	severity(t, "few large ones", expect(t, "few large ones", kept(0.25, 1<<10, 1<<20), "GC13", Found), Info)
	severity(t, "of less cost", expect(t, "of less cost", kept(0.15, 20<<20, 48), "GC13", Found), Info)
	severity(t, "a small part", expect(t, "a small part", kept(0.25, 5<<20, 48), "GC13", Found), Info)
	severity(t, "without pointers", expect(t, "without pointers", kept(0.25, 40<<20, 48), "GC13", Found), Info)
	expect(t, "numbers", scanned(400, 1600, 0.2), "GC13", Fine)
	expect(t, "cheap", scanned(1400, 1600, 0.05), "GC13", Fine)
	expect(t, "small", scanned(14, 16, 0.2), "GC13", Fine)
}

func TestGC14(t *testing.T) {
	contained := func(limit int, goal, live, memlimit float64) *recordingtest.Recording {
		os := fmt.Sprintf("-- os.ndjson os --\nt_ns pid cgroup_limit\n1s 7 %d\n2s 7 %d\n", limit*mb, limit*mb)
		return reading(os, "/gc/heap/goal:bytes /gc/gomemlimit:bytes /gc/heap/live:bytes", func(int) []float64 { return []float64{goal * mb, memlimit, live * mb} })
	}
	const none = 9223372036854775807
	f := expect(t, "no limit", contained(2048, 1536, 800, none), "GC14", Found, "1.50 GiB", "2.00 GiB")
	severity(t, "no limit", f, Warning)
	if !strings.Contains(f.Advice, "GOMEMLIMIT=1843MiB") {
		t.Errorf("advice %q", f.Advice)
	}
	f = expect(t, "too full for a limit", contained(2048, 3000, 1700, none), "GC14", Found)
	if strings.Contains(f.Advice, "Set GOMEMLIMIT") {
		t.Errorf("advice %q leads to thrashing", f.Advice)
	}
	expect(t, "room", contained(2048, 1000, 500, none), "GC14", Fine, "1000 MiB")
	expect(t, "set", contained(2048, 1536, 800, 1800*mb), "GC14", Fine, "1.76 GiB")
	expect(t, "no container", contained(0, 1536, 800, none), "GC14", Fine, "no cgroup")
}

func TestGC15(t *testing.T) {
	queued := func(executed func(s int) float64) *recordingtest.Recording {
		return reading("", "/gc/finalizers/queued:finalizers /gc/finalizers/executed:finalizers", func(s int) []float64 { return []float64{float64(5000 * s), executed(s)} })
	}
	f := expect(t, "behind", queued(func(s int) float64 { return float64(1000 * s) }), "GC15", Found, "36,000 finalizers are queued", "45,000 were queued and 9,000 ran")
	severity(t, "behind", f, Warning)
	expect(t, "in time", queued(func(s int) float64 { return float64(5000 * s) }), "GC15", Fine, "at most 0")
	expect(t, "a burst that passes", queued(func(s int) float64 { return float64(5000*s) - float64(500*(9-s)) }), "GC15", Fine)
}

func TestGC18(t *testing.T) {
	tight := func(i int, c *recordingtest.Cycle) {
		c.Live, c.Start, c.End, c.Goal, c.Mark, c.Background = 400, 415, 420, 420, 20*time.Millisecond, 20*time.Millisecond
	}
	change := tight
	set := func(gogc, share float64, more string) *recordingtest.Recording {
		return recordingtest.New("title x\nhost cpus=4\nphase bare 0s..10s user=20s\nclock stderr.log 5ms error=20ms\n-- stderr.log stderr --\n" + recordingtest.Cycles(60, 10*time.Millisecond, 100*time.Millisecond, change) +
			metricsTable("/gc/gogc:percent /gc/gomemlimit:bytes"+cpuNames, func(s int) []float64 {
				return append([]float64{gogc, 9223372036854775807}, busyWith(s, share)...)
			}) + more)
	}
	source := "-- source/main.go source from=/src/main.go --\npackage main\n\nimport rt \"runtime/debug\"\n\nfunc tune() {\n\trt.SetGCPercent(5)\n}\n"
	f := expect(t, "low", set(5, 0.5, source), "GC18", Found, "GOGC=5 was in force, by runtime/metrics", "50.0%")
	severity(t, "low", f, Warning)
	if e := f.Evidence[len(f.Evidence)-1]; e.Line != 6 || e.Source != "rt.SetGCPercent(5)" {
		t.Errorf("evidence %+v", f.Evidence)
	}
	change = nil // goals that are not those of GOGC=5
	expect(t, "of which no gain is predicted", set(5, 0.5, ""), "GC18", Fine, "predicted to change little")
	change = tight
	expect(t, "cheap", set(5, 0.02, ""), "GC18", Fine, "2.00%")
	change = nil
	under := recordingtest.New("title x\nhost cpus=4\nphase bare 0s..10s user=20s\nclock stderr.log 5ms error=20ms\n-- stderr.log stderr --\n" + recordingtest.Cycles(60, 10*time.Millisecond, 100*time.Millisecond, nil) +
		metricsTable("/gc/gogc:percent /gc/gomemlimit:bytes /gc/heap/goal:bytes /gc/heap/live:bytes /gc/scan/stack:bytes /gc/scan/globals:bytes"+cpuNames, func(s int) []float64 {
			return append([]float64{50, 64 * mb, 51 * mb, 50 * mb, 0, 0}, busyWith(s, 0.5)...)
		}))
	expect(t, "where the limit decides", under, "GC18", Fine, "GC07")
	expect(t, "the default", set(100, 0.5, ""), "GC18", Fine, "GOGC=100")
	expect(t, "off", set(1.8e19, 0.5, ""), "GC18", Fine, "GOGC=off")
}

// periods are samples of the system over 10 s in which so many of 100 periods were throttled.
func periods(throttled int) string {
	return fmt.Sprintf("-- os.ndjson os --\nt_ns pid user_ns busy_ns idle_ns periods throttled_periods\n0s 7 0s 0s 0s 1000 500\n10s 7 10s 20s 20s 1100 %d\n", 500+throttled)
}

func TestSC08(t *testing.T) {
	quota := func(host string, throttled int) *recordingtest.Recording {
		return recordingtest.New("title x\nhost " + host + "\nphase bare 0s..10s user=20s\n" + periods(throttled))
	}
	f := expect(t, "often", quota("cpus=64 quota=2", 31), "SC08", Found, "31.0% of the periods", "quota of 2.00 CPUs")
	severity(t, "often", f, Warning)
	if !strings.Contains(f.Advice, "Set GOMAXPROCS to the quota, 2") {
		t.Errorf("advice %q", f.Advice)
	}
	f = expect(t, "as many Ps as CPUs", quota("cpus=2 quota=2", 31), "SC08", Found)
	if !strings.Contains(f.Advice, "Raise the quota") {
		t.Errorf("advice %q", f.Advice)
	}
	severity(t, "now and then", expect(t, "now and then", quota("cpus=64 quota=2", 6), "SC08", Found), Info)
	expect(t, "seldom", quota("cpus=64 quota=2", 4), "SC08", Fine, "4.00%")
	expect(t, "no quota", quota("cpus=64", 0), "SC08", Fine, "no CPU quota")
	attached := recordingtest.New("title x\ntarget url http://x/debug/pprof\nhost cpus=64 quota=2\nphase bare 0s..10s run=-1\n" + periods(31))
	for _, id := range []string{"SC08", "SC09"} {
		expect(t, "the quota of who records", attached, id, TooLittle, "of an attached service")
	}

	f = expect(t, "64 Ps", quota("cpus=64 quota=2", 31), "SC09", Found, "64 Ps, by the number of CPUs, on 64 CPUs, at a quota of 2.00 CPUs", "31.0%")
	severity(t, "64 Ps", f, Warning)
	expect(t, "never throttled", quota("cpus=64 quota=2", 0), "SC09", Fine)
	expect(t, "fits", quota("cpus=2 quota=2", 31), "SC09", Fine)
	expect(t, "half a CPU more", quota("cpus=2 quota=1.5", 31), "SC09", Fine)
}

// TestSC09Few: one P of eight, which is busy and waited for.
func TestSC09Few(t *testing.T) {
	few := func(user string, waiting int, env string) *recordingtest.Recording {
		log := ""
		for s := 1; s < 10; s++ {
			log += fmt.Sprintf("SCHED %dms: gomaxprocs=1 idleprocs=0 threads=6 spinningthreads=0 needspinning=0 idlethreads=2 runqueue=%d [ 0 ] schedticks=[ 9 ]\n", 1000*s, waiting)
		}
		return recordingtest.New("title x\ntarget package ./x module=x" + env + "\nhost cpus=8\nphase bare 0s..10s user=" + user + "\nclock stderr.log 0ms error=1ms\n-- stderr.log stderr --\n" + log + periods(0))
	}
	f := expect(t, "one of eight", few("9900ms", 3, ""), "SC09", Found, "1 P, by schedtrace, on 8 CPUs", "99.0% busy", "75.0% of the time")
	severity(t, "one of eight", f, Warning)
	severity(t, "asked for", expect(t, "asked for", few("9900ms", 3, " env=GOMAXPROCS=1"), "SC09", Found), Info)
	expect(t, "nobody waits", few("9900ms", 0, ""), "SC09", Fine)
	expect(t, "half idle", few("5s", 3, ""), "SC09", Fine, "50.0% busy")
}

func TestSC12(t *testing.T) {
	threads := func(n int) *recordingtest.Recording {
		return recordingtest.New(fmt.Sprintf("title x\nhost cpus=4\nphase bare 0s..10s\n-- os.ndjson os --\nt_ns pid threads\n1s 7 12\n2s 7 %d\n", n))
	}
	f := expect(t, "many", threads(214), "SC12", Found, "214 threads for 4 Ps")
	severity(t, "many", f, Info)
	doubted(t, f, "record with -phases goroutine")
	severity(t, "very many", expect(t, "very many", threads(1500), "SC12", Found), Warning)
	expect(t, "some", threads(90), "SC12", Fine, "at most 90 threads")
	r := threads(214)
	r.Put(recording.Entry{Path: "goroutine.pb.gz", Kind: recording.Goroutine, Phase: "bare"}, profiletest.Encode(`
		main.main               main.main
		main.read:/src/m.go:9   main.wait:/src/m.go:20
		syscall.Read            runtime.gopark
		= 200 300`, profiletest.Options{Types: []string{"goroutine/count"}}))
	f = expect(t, "at a line", r, "SC12", Found, "most of them are kept by 200 goroutines in system calls, at main.read at m.go:9")
	severity(t, "at a line", f, Warning)
	if len(f.Evidence) != 2 || f.Evidence[1].Line != 9 {
		t.Errorf("evidence %+v", f.Evidence)
	}
}

// TestTellRoom: what the advice says of a larger limit agrees with the prediction.
func TestTellRoom(t *testing.T) {
	to := gc.Settings{GOGC: 100, Limit: 240 * mb}
	for _, c := range []struct {
		m            room
		says, doubts string
	}{
		{room{Gains: true}, "Raise the limit: GOGC=100 GOMEMLIMIT=240MiB", ""},
		{room{Little: true, Unlikely: true, Why: "it is predicted to change little"}, "Keep less (GC16 says what is kept), or allocate less: that is where the gain is", ""},
		{room{Unlikely: true, Why: "too uncertain"}, "as it was", "gains: too uncertain"},
	} {
		f := Finding{Advice: "as it was"}
		tellRoom(&f, to, c.m)
		if doubts := strings.Join(f.Doubts, "; "); !strings.HasPrefix(f.Advice, c.says) || !strings.HasSuffix(doubts, c.doubts) || c.doubts == "" && doubts != "" {
			t.Errorf("%+v: %s; doubts %s", c.m, f.Advice, doubts)
		}
	}
}

// TestGC06Lines: where no limit of memory is the reason, the advice names the lines that allocate most.
func TestGC06Lines(t *testing.T) {
	limiter := func() *recordingtest.Recording {
		return reading("phase allocs 10s..11s profiler=allocs\n", "/gc/limiter/last-enabled:gc-cycle /gc/cycles/total:gc-cycles"+cpuNames, func(s int) []float64 {
			return append([]float64{float64(90 * s), float64(100 * s)}, busyWith(s, 0.5)...)
		})
	}
	f := expect(t, "nobody knows", limiter(), "GC06", Found)
	severity(t, "no limit", f, Warning)
	if !strings.Contains(f.Advice, "an allocs profile shows at which lines") {
		t.Errorf("advice %q", f.Advice)
	}
	most := column{"main.main main.run:/src/run.go:9 runtime.makeslice", []int64{9000, 90 << 20, 0, 0}}
	rest := column{"main.main main.run:/src/run.go:12 runtime.makeslice", []int64{100, 1 << 20, 0, 0}}
	f = expect(t, "a line", withProfile(limiter(), recording.Allocs, "allocs", most, rest), "GC06", Found)
	if !strings.Contains(f.Advice, "run.go:9 (98.9%)") || strings.Contains(f.Advice, "run.go:12") || strings.Contains(f.Advice, "cannot keep up with the allocation rate: allocate less") {
		t.Errorf("advice %q", f.Advice)
	}
}

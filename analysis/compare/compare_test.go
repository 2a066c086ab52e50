package compare_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/format/loadlog"
	"loupe/format/loadlog/loadlogtest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// gather reads the figures of a recording.
func gather(t *testing.T, r *recordingtest.Recording) *facts.Facts {
	t.Helper()
	return facts.Gather(session.New(r.Open()))
}

// service is a service under load. The phase lasts from 1 to 6 s, the load
// from 1.5 to 5.5 s: 1,000 requests of 10 ms in 4 s. Of its ten collections
// seven start under load, one every half second from 2 s on.
func service() *recordingtest.Recording {
	at := []time.Duration{500, 1200, 2000, 2500, 3000, 3500, 4000, 4500, 5000, 5800}
	cycles := recordingtest.Cycles(len(at), 0, 0, func(i int, c *recordingtest.Cycle) {
		c.At = at[i] * time.Millisecond
		c.STW1, c.Mark, c.STW2 = 150*time.Microsecond, 9800*time.Microsecond, 50*time.Microsecond
		c.Assist, c.Background, c.Idle = 2*time.Millisecond, 6*time.Millisecond, 2*time.Millisecond
		c.Start, c.End, c.Live, c.Goal = 8, 10, 4, 9
	})
	r := recordingtest.New(`
		title service
		host cpus=4
		run 0s..7s exit="exit status 0" stopped
		phase bare 1s..6s user=2s system=500ms rss=67108864
		clock load.requests 1500ms
		-- metrics.ndjson metrics --
		t_ns  /gc/heap/allocs:bytes
		1s    0
		2s    1000000000
		5s    4000000000
		6s    4000000001
		-- stderr.log stderr --
` + cycles)
	return r.Put(recording.Entry{Path: "load.requests", Kind: recording.Load, Phase: "bare"},
		loadlogtest.Encode(loadlogtest.Steady(1000, 4*time.Second, 10*time.Millisecond)))
}

// cells prints a table's first column with full precision.
func cells(table *compare.Table) string {
	var b strings.Builder
	for _, r := range table.Rows {
		fmt.Fprintf(&b, "%s %.6g\n", r.ID, float64(r.Cells[0].Median))
	}
	return b.String()
}

// TestPeakHeap: the peak is the largest heap that a collection or a sample of the metrics has seen.
func TestPeakHeap(t *testing.T) {
	for metric, want := range map[string]string{"4000000": "peak_heap 1.04858e+07\n", "50000000": "peak_heap 5e+07\n", "": "peak_heap 1.04858e+07\n"} {
		r := service()
		if metric != "" {
			table := recordingtest.New("run 0s..7s exit=\"exit status 0\" stopped\nphase bare 1s..6s\n-- metrics.ndjson metrics --\nt_ns  /memory/classes/heap/objects:bytes\n2s  1000\n5s  " + metric + "\n6s  1000\n")
			r.Files["metrics.ndjson"] = table.Files["metrics.ndjson"]
		}
		if got := cells(compare.Compare(gather(t, r))); !strings.Contains(got, want) {
			t.Errorf("%s: %s; want %s", metric, got, want)
		}
	}
}

// TestRows works every row out by hand. A collection takes 10 ms of wall time
// and 0.6+2+6+0.2 ms of 4 Ps, 2.2 ms of the whole; 7 of them in 4 s.
func TestRows(t *testing.T) {
	got := cells(compare.Compare(gather(t, service())))
	want := `requests 1000
requests_per_sec 250
duration 4e+09
latency_p50 1e+07
latency_p99 1e+07
cpu_per_request 2.5e+06
bytes_per_request 4e+06
allocation_rate 1e+09
gc_percent 0.0175
gc_cpu_percent 0.00354375
collections 7
gc_total 7e+07
gc_pace 5.71429e+08
requests_per_collection 142.857
stw_over 7
stw_max 150000
assist_percent 0.2
peak_heap 1.04858e+07
max_rss 6.71089e+07
`
	if got != want {
		t.Errorf("rows:\n%s\nwant:\n%s", got, want)
	}
}

// TestEnded is a program without a load that ends by itself within the phase:
// what counts is the whole process.
func TestEnded(t *testing.T) {
	r := recordingtest.New(`
		title batch
		run 10ms..3010ms user=4s system=1s rss=1048576 exit="exit status 0"
		phase bare 20ms..3020ms user=3990ms
	`)
	want := "duration 3e+09\nwall_time 3e+09\ncpu 5e+09\nmax_rss 1.04858e+06\n"
	if got := cells(compare.Compare(gather(t, r))); got != want {
		t.Errorf("rows:\n%s\nwant:\n%s", got, want)
	}
	f := func(what string, change func(*recording.Run)) {
		t.Helper()
		r := recordingtest.New("title x\nrun 10ms..3010ms user=4s exit=\"exit status 0\"\nphase bare 20ms..3020ms user=3s")
		change(&r.Manifest.Target.Runs[0])
		facts := gather(t, r)
		if facts.Rounds[0].Ended || facts.Rounds[0].Duration != 3*time.Second || facts.Rounds[0].CPU != 3*time.Second {
			t.Errorf("%s: %+v, want the figures of the phase", what, facts.Rounds[0])
		}
		if got := cells(compare.Compare(facts)); got != "" {
			t.Errorf("%s: rows %s, want none: a phase is as long as it was asked to be", what, got)
		}
	}
	f("stopped by loupe", func(r *recording.Run) { r.Stopped = true })
	f("its end was not seen", func(r *recording.Run) { r.Exit = "" })
	f("ended in a later phase", func(r *recording.Run) { r.Span.End = 9e9 })
}

// TestCollectorOff has a runtime that was asked to tell of collections: zero
// of them is a figure, the pace between them is not. One that was asked not to
// tells nothing.
func TestCollectorOff(t *testing.T) {
	silent := recordingtest.New("title off\ntarget package x env=GODEBUG=gctrace=0,schedtrace=1000\nphase bare 0s..5s\n-- stderr.log stderr --\n" + recordingtest.Scheds(4, 2, 2, 2))
	if row, ok := compare.Compare(gather(t, silent)).Row("collections"); ok {
		t.Errorf("with gctrace=0 there are %+v", row)
	}
	closed := recordingtest.New("title off\ntarget package x env=GODEBUG=gctrace=1,schedtrace=1000\nphase bare 0s..5s\n-- stderr.log stderr --\n" + recordingtest.Scheds(4, 2, 2, 2) +
		"-- metrics.ndjson metrics --\n{\"t_ns\":0,\"/gc/cycles/total:gc-cycles\":7}\n")
	if row, ok := compare.Compare(gather(t, closed)).Row("collections"); ok {
		t.Errorf("a runtime that collected with its standard error closed has %+v", row)
	}
	shell := recordingtest.New("title off\ntarget binary x env=GODEBUG=gctrace=1,schedtrace=1000\nphase bare 0s..5s\n-- stderr.log stderr --\nhello\n")
	if row, ok := compare.Compare(gather(t, shell)).Row("collections"); ok {
		t.Errorf("a program that is not Go has %+v", row)
	}
	r := recordingtest.New("title off\ntarget package x env=GODEBUG=gctrace=1,schedtrace=1000\nphase bare 0s..5s\n-- stderr.log stderr --\n" + recordingtest.Scheds(4, 2, 2, 2))
	table := compare.Compare(gather(t, r))
	for id, want := range map[string]float64{"collections": 0, "gc_percent": 0, "gc_cpu_percent": 0, "gc_total": 0, "stw_over": 0, "stw_max": 0, "assist_percent": 0} {
		row, ok := table.Row(id)
		if !ok || float64(row.Cells[0].Median) != want {
			t.Errorf("%s = %+v, %v, want %v", id, row, ok, want)
		}
	}
	for _, id := range []string{"gc_pace", "requests_per_collection", "peak_heap"} {
		if row, ok := table.Row(id); ok {
			t.Errorf("%s = %+v, want no such row", id, row)
		}
	}
	if _, ok := compare.Compare(gather(t, recordingtest.New("title x\nphase bare 0s..5s\n-- stderr.log stderr --\nhello\n"))).Row("collections"); ok {
		t.Error("a program whose runtime said nothing has a number of collections")
	}
}

// TestRounds takes every round's own process, log and load, and leaves out
// the phases with a profiler.
func TestRounds(t *testing.T) {
	r := recordingtest.New(`
		title rounds
		phase bare 0s..4s run=0 round=1 order=1
		phase bare-2 10s..14s run=1 round=2 order=4
		phase cpu-2 14s..16s run=1 profiler=cpu
		clock stderr-2.log 10s
		-- stderr.log stderr run=0 --
` + recordingtest.Cycles(40, 0, 100*time.Millisecond, nil) + `
		-- stderr-2.log stderr run=1 --
` + recordingtest.Cycles(60, 0, 100*time.Millisecond, nil))
	f := gather(t, r)
	if len(f.Rounds) != 2 {
		t.Fatalf("%d rounds", len(f.Rounds))
	}
	// The second process collects for two more seconds, in the phase of the
	// CPU profile.
	for i, round := range f.Rounds {
		if n := round.GC.Derived.Collections; n != 40 {
			t.Errorf("round %d has %d collections, want 40", i+1, n)
		}
	}
}

// TestDamaged: what cannot be read is left out and said, and everything else is
// there.
func TestDamaged(t *testing.T) {
	f := func(file string, data []byte, want string, rows ...string) {
		t.Helper()
		r := service()
		if data == nil {
			delete(r.Files, file)
		} else {
			r.Files[file].Data = data
		}
		table := compare.Compare(gather(t, r))
		if len(table.Notes) != 1 || !strings.HasPrefix(table.Notes[0], "service: cannot read "+file) || !strings.HasSuffix(table.Notes[0], want) {
			t.Errorf("damaged %s: the notes are %q, want one that ends in %q", file, table.Notes, want)
		}
		got := cells(table)
		for _, row := range rows {
			name, absent := strings.CutPrefix(row, "!")
			if strings.Contains(got, name) == absent {
				t.Errorf("damaged %s: %q; the rows are\n%s", file, row, got)
			}
		}
	}
	whole := "phase bare is shown without its requests"
	f("load.requests", []byte("garbage"), whole, "!requests", "!cpu_per_request", "collections 9\n", "max_rss")
	f("load.requests", service().Files["load.requests"].Data[:100], whole, "!requests")
	f("load.requests", nil, whole, "!requests", "peak_heap")
	f("stderr.log", nil, "phase bare is shown without its collections and its scheduler", "!gc_percent", "requests 1000\n", "max_rss")
}

// TestCutLoad keeps the requests before a cut in a load log. The CPU time is
// that of all of them.
func TestCutLoad(t *testing.T) {
	r := service()
	data := loadlogtest.Encode(loadlogtest.Steady(10000, 4*time.Second, 400*time.Microsecond))
	cut := data[:len(data)/2]
	left, _ := loadlog.Decode(cut)
	n := left.Len()
	if n < 4000 || n > 6000 {
		t.Fatalf("%d requests are left of half of 10,000", n)
	}
	r.Files["load.requests"].Data = cut
	table := compare.Compare(gather(t, r))
	got := cells(table)
	for _, row := range []string{fmt.Sprintf("requests %d\n", n), "requests_per_sec 2500\n"} {
		if !strings.Contains(got, row) {
			t.Errorf("want %q; the rows are\n%s", row, got)
		}
	}
	if strings.Contains(got, "cpu_per_request") {
		t.Errorf("the CPU time of all requests is that of some:\n%s", got)
	}
	want := fmt.Sprintf("shown up to the end of its first %d,%03d requests, without its CPU time", n/1000, n%1000)
	if len(table.Notes) != 1 || !strings.Contains(table.Notes[0], want) {
		t.Errorf("the notes are %q, want %q", table.Notes, want)
	}
}

// TestDamagedPhase is a profiler's phase whose requests cannot be read.
func TestDamagedPhase(t *testing.T) {
	r := recordingtest.New("title x\nphase bare 0s..10s user=19s\nphase cpu 10s..15s profiler=cpu user=11s")
	r.Put(recording.Entry{Path: "b", Kind: recording.Load, Phase: "cpu"}, []byte("garbage"))
	if c := compare.PhaseCosts(session.New(r.Open()))[1]; c.RPS.Known() || !strings.Contains(c.Error, "cannot read b") {
		t.Errorf("the phase is %+v", c)
	}
}

// TestPhaseCosts: 10 s at 2 CPUs for 1,000 requests are 20 ms each; under the
// profiler 5 s at 2.2 CPUs for 400 are 27.5 ms, 1.375 times as much.
func TestPhaseCosts(t *testing.T) {
	r := recordingtest.New(`
		title costs
		phase bare 0s..10s user=19s system=1s
		phase cpu 10s..15s profiler=cpu user=11s
		phase heap 15s..15010ms profiler=heap user=10ms
		phase mutex 16s..18s profiler=mutex error="no requests"
	`)
	r.Put(recording.Entry{Path: "a", Kind: recording.Load, Phase: "bare"}, loadlogtest.Encode(loadlogtest.Steady(1000, 10*time.Second, time.Millisecond)))
	r.Put(recording.Entry{Path: "b", Kind: recording.Load, Phase: "cpu"}, loadlogtest.Encode(loadlogtest.Steady(400, 5*time.Second, time.Millisecond)))
	costs := compare.PhaseCosts(session.New(r.Open()))
	var b strings.Builder
	for _, c := range costs {
		fmt.Fprintf(&b, "%s %s %d %.4g %.4g %.4g %.4g %s\n", c.Name, c.Length, c.Requests, c.RPS, c.CPU, c.PerRequest, c.Cost, c.Error)
	}
	want := `bare 10s 1000 100 2 2e+07 NaN 
cpu 5s 400 80 2.2 2.75e+07 1.375 
heap 10ms 0 NaN NaN NaN NaN 
mutex 2s 0 NaN NaN NaN NaN no requests
`
	if b.String() != want {
		t.Errorf("costs:\n%s\nwant:\n%s", b.String(), want)
	}
}

// TestPhaseCostsWithoutLoad compares CPUs used, when the program is busy.
func TestPhaseCostsWithoutLoad(t *testing.T) {
	f := func(bare, cpu string, want float64) {
		t.Helper()
		r := recordingtest.New(fmt.Sprintf("title x\nphase bare 0s..10s user=%s\nphase cpu 10s..20s profiler=cpu user=%s", bare, cpu))
		got := float64(compare.PhaseCosts(session.New(r.Open()))[1].Cost)
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("cost of %s against %s = %v, want %v", cpu, bare, got, want)
		}
	}
	f("10s", "12s", 1.2)
	f("100ms", "400ms", math.NaN()) // an idle program: the ratio says nothing
}

// TestPhaseCostsOfChildren: the CPU time of a process that has ended includes its children, that of a part of a run does not: only what
// the process used itself is compared, and where the samples do not tell that, nothing is.
func TestPhaseCostsOfChildren(t *testing.T) {
	for _, c := range []struct {
		name            string
		bareEnd, cpuEnd string
		samples         string
		want            float64
	}{
		{"a part of a run", "exit=0", "stopped exit=x", "0s 1 0s 0s\n10s 1 2s 8s\n10.5s 2 0s 0s\n20.5s 2 2.2s 8s\n", 1.1},
		{"the last sample comes early", "exit=0", "stopped exit=x", "0s 1 0s 0s\n9s 1 1.8s 7.2s\n10.5s 2 0s 0s\n20.5s 2 2.2s 8s\n", 1.1},
		{"a sample after the end", "exit=0", "stopped exit=x", "0s 1 0s 0s\n9.8s 1 1.96s 7.2s\n9.9s 1 0s 8s\n10.5s 2 0s 0s\n20.5s 2 2.2s 8s\n", 1.1},
		{"no children", "exit=0", "stopped exit=x", "0s 1 0s 0s\n10s 1 10s 0s\n10.5s 2 0s 0s\n20.5s 2 2.2s 0s\n", 0.22},
		{"both ran to their ends", "exit=0", "exit=0", "0s 1 0s 0s\n10s 1 2s 8s\n10.5s 2 0s 0s\n20.5s 2 2.2s 8s\n", 1.1},
	} {
		used := "user=2200ms"
		if c.cpuEnd == "exit=0" {
			used = "user=11s"
		}
		text := "title x\nrun 0s..10s pid=1 user=10s " + c.bareEnd + "\nrun 10500ms..20500ms pid=2 " + used + " " + c.cpuEnd +
			"\nphase bare 0s..10s run=0 user=10s\nphase cpu 10500ms..20500ms run=1 profiler=cpu " + used + "\n-- os.ndjson os --\n"
		for line := range strings.Lines(c.samples) {
			var at, user, family float64
			var pid int
			if _, err := fmt.Sscanf(line, "%gs %d %gs %gs", &at, &pid, &user, &family); err != nil {
				t.Fatal(err)
			}
			text += fmt.Sprintf("{\"t_ns\":%.0f,\"pid\":%d,\"user_ns\":%.0f,\"family_ns\":%.0f}\n", at*1e9, pid, user*1e9, family*1e9)
		}
		if got := float64(compare.PhaseCosts(session.New(recordingtest.New(text).Open()))[1].Cost); math.Abs(got-c.want) > 0.01 {
			t.Errorf("%s: cost %v, want %v", c.name, got, c.want)
		}
	}
}

// TestAttached has no gctrace: collections and bytes come from /debug/vars.
func TestAttached(t *testing.T) {
	r := recordingtest.New(`
		title attached
		phase bare 0s..10s run=-1
		-- vars.ndjson vars --
		{"t_ns":1000000000,"vars":{"memstats":{"TotalAlloc":1000,"NumGC":3}}}
		{"t_ns":5000000000,"vars":{"memstats":{"TotalAlloc":9000,"NumGC":13}}}
	`)
	if got := cells(compare.Compare(gather(t, r))); got != "allocation_rate 2000\ncollections 10\n" {
		t.Errorf("rows:\n%s", got)
	}
}

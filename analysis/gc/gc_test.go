package gc

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/format/godebug"
)

func near(t *testing.T, what string, got Figure, want float64) {
	t.Helper()
	if math.IsNaN(want) != !got.Known() || math.Abs(float64(got)-want) > 1e-6*math.Max(1, math.Abs(want)) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func cycles(t *testing.T, lines ...string) []godebug.Cycle {
	t.Helper()
	l := godebug.Parse([]byte(strings.Join(lines, "\n") + "\n"))
	if len(l.Cycles) != len(lines) {
		t.Fatalf("%d cycles of %d lines", len(l.Cycles), len(lines))
	}
	return l.Cycles
}

// TestTable works out the well-known table of a web service's run from its
// first and last line: 10,000 requests in 5,311 ms.
func TestTable(t *testing.T) {
	run := cycles(t,
		"gc 3 @3.182s 0%: 0.015+0.59+0.096 ms clock, 0.19+0.10/1.3/3.0+1.1 ms cpu, 4->4->2 MB, 5 MB goal, 12 P",
		"gc 2553 @8.452s 14%: 0.004+0.33+0.051 ms clock, 0.056+0.12/0.56/0.94+0.61 ms cpu, 4->4->2 MB, 5 MB goal, 12 P")
	s := Analyse(run, Options{Duration: 5311 * time.Millisecond, Requests: 10000})
	d := s.Derived
	if d.Collections != 2551 || d.Lines != 2 || d.Missing != 2549 {
		t.Errorf("%d collections, %d lines, %d missing; want 2551, 2, 2549", d.Collections, d.Lines, d.Missing)
	}
	near(t, "duration", d.DurationMS, 5311)
	near(t, "pace", d.PaceMS, 5311.0/2551) // ~2.08 ms
	near(t, "requests per collection", d.RequestsPerCollection, 10000.0/2551)
	near(t, "requests per second", d.RequestsPerSec, 10000/5.311) // ~1,882
	near(t, "gctrace percent", d.GCTracePercent, 14)
	near(t, "gctrace total", d.GCTraceTotalMS, 5311*0.14)
	// Two lines do not stand for 2,551 collections; what the runtime has counted
	// does: under 1% of 3.182 s and 14 to 15% of 8.452 s.
	near(t, "gc total", d.GCTotalMS, math.NaN())
	near(t, "gc percent", d.GCPercent, math.NaN())
	within(t, "GC share of the Ps", d, 100*(0.14*8452-0.01*(3183+beforeInit))/5311, 100*0.15*(8455+beforeInit)/5311)
	near(t, "pace p50", d.PaceP50MS, 5270.0/2550)
	hasNotes(t, s, NoteMissing, NoteFewCycles, NotePsTime, NoteResolution, NoteCumulative)
}

// within holds the collector's share between bounds, and its own bounds too.
func within(t *testing.T, what string, d Derived, low, high float64) {
	t.Helper()
	if !(Figure(low) <= d.CPULowPercent && d.CPULowPercent <= d.CPUPercent && d.CPUPercent <= d.CPUHighPercent && d.CPUHighPercent <= Figure(high)) {
		t.Errorf("%s is %.3f%%, between %.3f%% and %.3f%%; want it within %.3f%% and %.3f%%", what, d.CPUPercent, d.CPULowPercent, d.CPUHighPercent, low, high)
	}
}

func hasNotes(t *testing.T, s *Summary, want ...NoteID) {
	t.Helper()
	got := map[NoteID]string{}
	for _, n := range s.Notes {
		got[n.ID] = n.Text
	}
	for _, id := range want {
		if got[id] == "" {
			t.Errorf("no note %s in %v", id, s.Notes)
		}
	}
}

// run4 is four collections with round figures: 100 ms apart, 2 Ps.
var run4 = []string{
	"gc 5 @1.000s 4%: 0.050+10+0.20 ms clock, 0.10+4.0/6.0/10+0.40 ms cpu, 10->12->8 MB, 14 MB goal, 2 P",
	"gc 6 @1.100s 4%: 0.15+20+0.050 ms clock, 0.30+0/10/0+0.10 ms cpu, 16->20->9 MB, 16 MB goal, 2 P",
	"gc 7 @1.200s 4%: 0.050+10+0.050 ms clock, 0.10+0/5.0/0+0.10 ms cpu, 17->18->10 MB, 18 MB goal, 2 P",
	"gc 8 @1.300s 4%: 0.050+10+0.050 ms clock, 0.10+0/5.0/0+0.10 ms cpu, 18->19->11 MB, 20 MB goal, 2 P (forced)",
}

func TestDerived(t *testing.T) {
	s := Analyse(cycles(t, run4...), Options{Duration: 400 * time.Millisecond, Requests: 200, Unrecognised: 3})
	d := s.Derived
	if d.Collections != 4 || d.Missing != 0 || d.Forced != 1 || d.Procs != 2 || d.Overshoot != 1 || s.Unrecognised != 3 {
		t.Errorf("%+v", d)
	}
	clock := 10.25 + 20.2 + 10.1 + 10.1
	near(t, "gc total", d.GCTotalMS, clock)
	near(t, "gc percent", d.GCPercent, 100*clock/400)
	near(t, "mark percent", d.MarkPercent, 100*50.0/400)
	near(t, "stw percent", d.STWPercent, 100*0.65/400)
	// The lines have 15 ms of marking for each P, and 17 with what was cut off;
	// the runtime's count leaves it at that.
	within(t, "GC share of the Ps", d, 100*15/400.0, 100*18/400.0)
	near(t, "assist percent", d.AssistPercent, 100*4.0/(20+10+5+5))
	near(t, "assist of Ps", d.AssistOfPsPercent, 100*4.0/(2*400))
	near(t, "pace", d.PaceMS, 100)
	near(t, "pace p90", d.PaceP90MS, 100)
	near(t, "requests per collection", d.RequestsPerCollection, 50)
	near(t, "requests per second", d.RequestsPerSec, 500)
	near(t, "stw1 max", d.STW1.MaxMS, 0.15)
	near(t, "stw1 p50", d.STW1.P50MS, 0.05)
	near(t, "stw1 total", d.STW1.TotalMS, 0.3)
	near(t, "stw2 max", d.STW2.MaxMS, 0.2)
	near(t, "stw max", d.STW.MaxMS, 0.25)
	if d.STW1.Over != 1 || d.STW2.Over != 1 || d.STW.Over != 2 || d.STW.Count != 4 {
		t.Errorf("pauses over the limit: %d, %d, %d of %d, want 1, 1, 2 of 4", d.STW1.Over, d.STW2.Over, d.STW.Over, d.STW.Count)
	}
	// Between collections 16-8, 17-9, 18-10 MB; during marking 2, 4, 1 MB.
	near(t, "allocation", d.AllocMBPerSec, (8+8+8+2+4+1)/0.3)
	near(t, "overshoot", d.OvershootMaxRatio, 1.25)
	near(t, "peak heap", d.PeakHeapMB, 20)
	near(t, "peak goal", d.PeakGoalMB, 20)
	hasNotes(t, s, NoteUnrecognised, NoteForced, NoteFewCycles)
}

// TestSpan takes the duration from the log when none is given.
func TestSpan(t *testing.T) {
	s := Analyse(cycles(t, run4...), Options{})
	near(t, "duration", s.Derived.DurationMS, 300+10.1)
	near(t, "requests per collection", s.Derived.RequestsPerCollection, math.NaN())
	hasNotes(t, s, NoteSpan)
}

func TestWindow(t *testing.T) {
	run := cycles(t, run4...)
	f := func(from, to time.Duration, want ...int64) {
		t.Helper()
		var got []int64
		for _, y := range Window(run, from, to) {
			got = append(got, y.N)
		}
		if !slices.Equal(got, want) {
			t.Errorf("Window(%v, %v) = %v, want %v", from, to, got, want)
		}
	}
	ms := time.Millisecond
	f(0, time.Hour, 5, 6, 7, 8)
	f(1100*ms, 1300*ms, 6, 7)
	f(1101*ms, 1300*ms, 7)
	f(2*time.Second, time.Hour)
	f(1300*ms, 1100*ms)
}

func TestRuns(t *testing.T) {
	text := append(slices.Clone(run4), strings.Replace(run4[0], "gc 5 @1.000s", "gc 1 @0.010s", 1))
	s := Analyse(cycles(t, text...), Options{})
	if len(s.Runs) != 2 || s.Derived.Collections != 4 || s.Runs[1].Derived.Collections != 1 || len(s.Cycles) != 5 || s.Cycles[4].Run != 1 {
		t.Errorf("%d runs, %+v", len(s.Runs), s.Derived)
	}
	hasNotes(t, s, NoteRuns)
}

func TestTrend(t *testing.T) {
	f := func(live func(i int) int, n int, want Direction, slope float64) {
		t.Helper()
		run := make([]godebug.Cycle, n)
		for i := range run {
			run[i] = godebug.Cycle{N: int64(i + 1), At: time.Duration(i) * time.Second, HeapLive: int64(live(i)) << 20, Procs: 1, Dialect: godebug.Go118}
		}
		got := Analyse(run, Options{}).Derived.Live
		if got == nil || got.Direction != want || math.Abs(got.Slope.Estimate-slope) > 0.02 {
			t.Errorf("trend %+v, want %s with slope %v", got, want, slope)
		}
	}
	saw := func(i int) int { return i * 7 % 5 }
	f(func(i int) int { return 100 + saw(i) }, 60, Steady, 0)
	f(func(i int) int { return 100 + i/2 + saw(i) }, 60, Rising, 0.5)
	f(func(i int) int { return 100 - i/2 + saw(i) }, 60, Falling, -0.5)
	f(func(i int) int { return 100 + i/600 }, 1000, Steady, 0) // within the resolution
	f(func(i int) int { return 100 + i/10 }, 5000, Rising, 0.1)
	if got := Analyse(cycles(t, run4[:2]...), Options{}).Derived.Live; got != nil {
		t.Errorf("a trend of two points: %+v", got)
	}
}

func TestGo14(t *testing.T) {
	l := godebug.Parse([]byte("gc1(1): 2+0+2672+0 us, 0 -> 3 MB, 21 (21-0) objects, 2 goroutines, 15/0/0 sweeps, 0(0) handoff, 0(0) steal, 0/0/0 yields\n" +
		"gc2(1): 0+0+4595+1 us, 0 -> 0 MB, 74 (76-2) objects, 4 goroutines, 21/0/0 sweeps, 0(0) handoff, 0(0) steal, 0/0/0 yields\n"))
	s := Analyse(l.Cycles, Options{})
	near(t, "gc total", s.Derived.GCTotalMS, 7.27)
	near(t, "gc percent", s.Derived.GCPercent, math.NaN())
	near(t, "pace", s.Derived.PaceMS, math.NaN())
	near(t, "cpu", s.Derived.CPUPercent, math.NaN())
	near(t, "peak", s.Derived.PeakHeapMB, 3)
	s = Analyse(l.Cycles, Options{Duration: time.Second})
	near(t, "gc percent", s.Derived.GCPercent, 0.727)
	near(t, "pace", s.Derived.PaceMS, 500)
	hasNotes(t, s, NoteNoTimes)
}

func TestStale(t *testing.T) {
	s := Analyse(cycles(t, "gc 8 @1.151s 38%: 21+0+65 ms clock, 43+59/70/41+131 ms cpu, 24->24->24 MB, 24 MB goal, 2 P (forced)"), Options{Duration: time.Second})
	if share := s.Derived.CPUPercent; share < 0 || share > 100*176.0/2000 {
		t.Errorf("the share is %v%%", share)
	}
	near(t, "assist", s.Derived.AssistPercent, math.NaN())
	hasNotes(t, s, NoteStale)
}

// TestContract holds the names that other programs rely on.
func TestContract(t *testing.T) {
	b, err := json.Marshal(Analyse(cycles(t, run4...), Options{}))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Schema       string
		Cycles       []map[string]any
		Derived      map[string]any
		Unrecognised *int
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != "loupe.gc/1" || doc.Unrecognised == nil || len(doc.Cycles) != 4 {
		t.Errorf("%s", b)
	}
	for _, name := range strings.Fields("gc at_s stw1_ms mark_ms stw2_ms cpu_stw1_ms cpu_assist_ms cpu_background_ms cpu_idle_ms cpu_stw2_ms heap_start_mb heap_end_mb heap_live_mb goal_mb procs forced") {
		if _, ok := doc.Cycles[0][name]; !ok {
			t.Errorf("cycles have no %q", name)
		}
	}
	for _, name := range strings.Fields("collections gc_percent gc_total_ms pace_ms requests_per_collection") {
		if _, ok := doc.Derived[name]; !ok {
			t.Errorf("derived has no %q", name)
		}
	}
	if v := doc.Derived["requests_per_collection"]; v != nil {
		t.Errorf("requests_per_collection = %v without requests, want null", v)
	}
	want := map[string]any{"gc": 6.0, "at_s": 1.1, "stw1_ms": 0.15, "mark_ms": 20.0, "cpu_background_ms": 10.0, "heap_end_mb": 20.0, "procs": 2.0, "forced": false}
	for name, v := range want {
		if doc.Cycles[1][name] != v {
			t.Errorf("%s = %v, want %v", name, doc.Cycles[1][name], v)
		}
	}
	var back Summary
	if err := json.Unmarshal(b, &back); err != nil || back.Derived.RequestsPerCollection.Known() {
		t.Errorf("cannot read it back: %v", err)
	}
}

// TestEmpty and the samples: nothing panics, everything can be printed, and
// the input is not modified.
func TestEmpty(t *testing.T) {
	for _, run := range [][]godebug.Cycle{nil, {}, make([]godebug.Cycle, 1), make([]godebug.Cycle, 5)} {
		if _, err := json.Marshal(Analyse(run, Options{})); err != nil {
			t.Error(err)
		}
	}
	files, _ := filepath.Glob("../../format/godebug/testdata/*.txt")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		l := godebug.Parse(data)
		before := slices.Clone(l.Cycles)
		s := Analyse(l.Cycles, Options{Unrecognised: l.Stats.Malformed})
		if _, err := json.Marshal(s); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if !reflect.DeepEqual(before, l.Cycles) {
			t.Errorf("%s: the cycles were modified", file)
		}
		if d := s.Derived; d.GCPercent > 100 || d.CPUPercent > 100 {
			t.Errorf("%s: %.1f%% of the time, %.1f%% of the Ps", file, d.GCPercent, d.CPUPercent)
		}
	}
}

func BenchmarkAnalyse(b *testing.B) {
	run := make([]godebug.Cycle, 100000)
	for i := range run {
		run[i] = godebug.Cycle{N: int64(i + 1), At: time.Duration(i) * 2 * time.Millisecond, Mark: time.Millisecond, HeapLive: int64(i%50) << 20, Procs: 8}
	}
	for b.Loop() {
		Analyse(run, Options{})
	}
}

func ExampleAnalyse() {
	log := godebug.Parse([]byte(`listening on :5000
gc 3 @3.182s 0%: 0.015+0.59+0.096 ms clock, 0.19+0.10/1.3/3.0+1.1 ms cpu, 4->4->2 MB, 5 MB goal, 12 P
gc 2553 @8.452s 14%: 0.004+0.33+0.051 ms clock, 0.056+0.12/0.56/0.94+0.61 ms cpu, 4->4->2 MB, 5 MB goal, 12 P
`))
	d := Analyse(log.Cycles, Options{Duration: 5311 * time.Millisecond, Requests: 10000}).Derived
	fmt.Printf("%d collections, one every %.2f ms, %.2f requests each\n", d.Collections, d.PaceMS, d.RequestsPerCollection)
	// Output: 2551 collections, one every 2.08 ms, 3.92 requests each
}

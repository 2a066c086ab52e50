package gc

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loupe/format/godebug"
)

func replayOf(t *testing.T, file string) *Replay {
	t.Helper()
	r, err := NewReplay(&Summary{Cycles: recordedRows(t, file)}, ReplayOptions{})
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return r
}

// TestPredictionsOfRuntimes predicts, from a log with GOGC=100, the same
// program's logs with GOGC=25 and 400, of each Go version.
func TestPredictionsOfRuntimes(t *testing.T) {
	files, _ := filepath.Glob("testdata/go*-gogc100.log")
	for _, file := range files {
		r := replayOf(t, file)
		if self := float64(r.SelfCheck()); math.Abs(self-1) > 0.15 {
			t.Errorf("%s: replayed with its own settings: %.2f of the collections", file, self)
		}
		for _, gogc := range []int{25, 400} {
			other := strings.Replace(file, "gogc100", map[int]string{25: "gogc25", 400: "gogc400"}[gogc], 1)
			_, m, err := measure(&Summary{Cycles: recordedRows(t, other)})
			if err != nil {
				t.Fatal(err)
			}
			p := r.Predict(Settings{GOGC: gogc})
			t.Logf("%s: collections %.1f, %d recorded; heap %.0f, %.0f recorded; %s", other, float64(p.Collections.Estimate), m.Collections, float64(p.PeakHeapMB.Estimate), float64(m.PeakHeapMB), p.Grade)
			if n := Figure(m.Collections); n < p.Collections.Low || n > p.Collections.High {
				t.Errorf("%s: predicted %.1f collections, recorded %v", other, p.Collections, n)
			}
			if off := p.PeakHeapMB.Estimate / m.PeakHeapMB; off < 0.5 || off > 2 {
				t.Errorf("%s: predicted a heap of %.0f MB, recorded %.0f", other, float64(p.PeakHeapMB.Estimate), float64(m.PeakHeapMB))
			}
		}
	}
}

// steady is a log of a program whose live heap is constant, with the numbers
// that the pacer's rules give: 64 MB live, a collection every second.
func steady(n int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{
			GC: int64(i + 100), AtS: float64(i), MarkMS: 20, STW1MS: 0.1, STW2MS: 0.1, CPUBackground: 20, CPUSTW1MS: 0.2, CPUSTW2MS: 0.2,
			HeapStartMB: 124, HeapEndMB: 126, HeapLiveMB: 64, GoalMB: 128, Procs: 4, Dialect: godebug.Go118.String(),
		}
	}
	return rows
}

func TestSteadyProgram(t *testing.T) {
	r, err := NewReplay(&Summary{Cycles: steady(100)}, ReplayOptions{CPU: 50 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	near := func(name string, got Figure, want, by float64) {
		t.Helper()
		if math.Abs(float64(got)-want) > by {
			t.Errorf("%s is %.4g, want %.4g", name, float64(got), want)
		}
	}
	near("self check", r.SelfCheck(), 1, 0.05)
	p := r.Predict(Settings{GOGC: 200})
	near("collections at 200", p.Collections.Estimate, 50, 3)
	near("heap at 200", p.PeakHeapMB.Estimate, 190, 5)
	near("GC CPU at 200", p.GCCPUMS.Estimate, 50*20.4, 60)
	near("duration at 200", p.DurationMS, 100_000, 1500)
	if p.Grade != Good || p.State != Unlimited {
		t.Errorf("grade %s, state %s", p.Grade, p.State)
	}
	// A limit that has no room between it and the live heap.
	p = r.Predict(Settings{GOGC: GOGCOff, Limit: 70 << 20})
	if p.State != Thrashing || p.Grade != Poor || p.Collections.Estimate < 1000 {
		t.Errorf("GOMEMLIMIT=70MiB for 64 MB: %+v", p)
	}
	p = r.Predict(Settings{GOGC: GOGCOff, Limit: 400 << 20})
	near("collections with 400 MiB", p.Collections.Estimate, 100*62/297., 3)
	if p.State != Limited || p.MemoryMB.Estimate > 400 {
		t.Errorf("GOMEMLIMIT=400MiB: %+v", p)
	}
	if p = r.Predict(Settings{GOGC: GOGCOff}); p.State != Unbounded || p.Collections.Estimate != 0 {
		t.Errorf("GOGC=off: %+v", p)
	}
	near("heap with GOGC=off", p.PeakHeapMB.Estimate, 64+99*62, 100)
	// A second run at GOGC=200 that took 3 s less: collections cost three
	// times what gctrace says.
	r.Calibrate(Settings{GOGC: 200}, 47*time.Second)
	near("CPU at 400", r.Predict(Settings{GOGC: 400}).CPUMS.Estimate, 45_500, 300)
	near("CPU at 50", r.Predict(Settings{GOGC: 50}).CPUMS.Estimate, 56_000, 1000)
}

func TestLimitOnAGrowingHeap(t *testing.T) {
	rows := steady(60)
	for i := range rows {
		y := &rows[i]
		y.HeapLiveMB += float64(i)
		y.HeapStartMB, y.HeapEndMB, y.GoalMB = y.HeapStartMB+2*float64(i), y.HeapEndMB+2*float64(i), y.GoalMB+2*float64(i)
	}
	r, err := NewReplay(&Summary{Cycles: rows}, ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Predict(Settings{GOGC: 200}); !p.Collections.High.Known() {
		t.Errorf("GOGC=200: %+v", p)
	}
	// How near the live heap comes to the limit is not in the log.
	if p := r.Predict(Settings{GOGC: GOGCOff, Limit: 180 << 20}); p.Refused == "" || p.Collections.High.Known() || p.Collections.Estimate.Known() || p.Collections.Low < 10 {
		t.Errorf("GOMEMLIMIT=180MiB: %+v", p)
	}
}

func TestForcedCollectionsStay(t *testing.T) {
	rows := steady(60)
	for i := 0; i < len(rows); i += 3 {
		rows[i].Forced = true
	}
	r, err := NewReplay(&Summary{Cycles: rows}, ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Predict(Settings{GOGC: 10_000}); p.Collections.Estimate < 19 || p.Collections.Estimate > 22 {
		t.Errorf("%.1f collections, want the 20 forced ones", float64(p.Collections.Estimate))
	}
}

func TestPeriodicCollections(t *testing.T) {
	rows := steady(60)
	for i := range rows {
		rows[i].AtS = float64(i) * 60
	}
	r, err := NewReplay(&Summary{Cycles: rows}, ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// An hour: the runtime collects every two minutes, unless GOGC is off.
	if p := r.Predict(Settings{GOGC: 10_000}); p.Collections.Estimate < 28 || p.Collections.Estimate > 32 {
		t.Errorf("%.1f collections, want about 30", float64(p.Collections.Estimate))
	}
}

func TestChoose(t *testing.T) {
	r, err := NewReplay(&Summary{Cycles: steady(100)}, ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f := func(mb int64, verdict Verdict, gogc int) {
		t.Helper()
		c := r.Choose(mb << 20)
		if c.Verdict != verdict {
			t.Errorf("%d MiB: %s, want %s", mb, c.Verdict, verdict)
		}
		if c.Prediction != nil && (c.Prediction.Settings.GOGC != gogc || c.Prediction.Settings.Limit != containerLimit(mb<<20)) {
			t.Errorf("%d MiB: %s, want GOGC=%d", mb, c.Prediction.Settings, gogc)
		}
		if verdict != TooSmall && c.Prediction == nil {
			t.Errorf("%d MiB: nothing chosen", mb)
		}
	}
	f(1, TooSmall, 0)
	f(70, TooSmall, 0)
	f(100, TooSmall, 0)
	f(120, Tight, 100)
	f(150, Fits, 50)
	// More than GOGC=100 spares this program less than half a percent.
	f(4000, Fits, 100)
}

func TestCannotTell(t *testing.T) {
	f := func(change func([]Row) []Row, want string) {
		t.Helper()
		_, err := NewReplay(&Summary{Cycles: change(steady(40))}, ReplayOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	f(func(r []Row) []Row { return nil }, "too few")
	f(func(r []Row) []Row { return r[:5] }, "too few")
	f(func(r []Row) []Row {
		for i := range r {
			r[i].Dialect = godebug.Go16.String()
		}
		return r
	}, "Go 1.17")
	f(func(r []Row) []Row {
		for i := range r {
			r[i].Forced = true
		}
		return r
	}, "forced")
	f(func(r []Row) []Row {
		for i := range r {
			r[i].GC *= 3
		}
		return r
	}, "no line")
	f(func(r []Row) []Row {
		for i := range r {
			r[i].HeapStartMB, r[i].HeapEndMB, r[i].HeapLiveMB = 2, 2, 2
		}
		return r
	}, "resolution")
}

// TestAbsurdLogs gives what no runtime prints, and asks for settings that no
// one has: it ends, and JSON can be made of the answer.
func TestAbsurdLogs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	wild := func() float64 {
		return []float64{0, 1, 1e-9, -3, 1e18, math.NaN(), math.Inf(1), math.Inf(-1), 64, 100, r.Float64() * 1000}[r.IntN(11)]
	}
	for range 20 {
		rows := steady(8 + r.IntN(30))
		for i := range rows {
			for _, field := range []*float64{
				&rows[i].AtS, &rows[i].MarkMS, &rows[i].STW1MS, &rows[i].CPUAssist, &rows[i].CPUIdle, &rows[i].CPUBackground,
				&rows[i].HeapStartMB, &rows[i].HeapEndMB, &rows[i].HeapLiveMB, &rows[i].GoalMB, &rows[i].StacksMB, &rows[i].GlobalsMB,
			} {
				if r.IntN(8) == 0 {
					*field = wild()
				}
			}
			if r.IntN(9) == 0 {
				rows[i].Procs, rows[i].Forced = r.IntN(1e6)-10, true
			}
		}
		p, err := NewReplay(&Summary{Cycles: rows}, ReplayOptions{CPU: time.Duration(r.Int64())})
		if err != nil {
			continue
		}
		p.Calibrate(Settings{GOGC: 400}, time.Duration(r.Int64()))
		w := p.WhatIf([]Settings{{GOGC: 0}, {GOGC: 100}, {GOGC: math.MaxInt32}, {GOGCOff, 1}, {GOGCOff, math.MaxInt64}, {100, 50 << 20}})
		c := p.Choose(int64(r.Uint64() >> 1))
		w.Choice = &c
		if _, err := json.Marshal(w); err != nil {
			t.Fatal(err)
		}
	}
}

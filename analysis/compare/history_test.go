package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/format/benchmark"
)

// written is a day.
func written(day int) time.Time { return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC) }

// historyFile is a file with one figure.
func historyFile(name string, day int, unit string, values ...float64) HistoryFile {
	return HistoryFile{Name: name, Modified: written(day), Figures: []*benchmark.Figure{
		{Config: map[string]string{"goos": "linux"}, Name: "BenchmarkX-2", Unit: unit, Values: values},
	}}
}

// seriesFiles are files of one figure, a value for each, that is measured so often.
func seriesFiles(unit string, times int, values ...float64) (files []HistoryFile) {
	for i, v := range values {
		files = append(files, historyFile(fmt.Sprintf("run%d.txt", i), i+1, unit, slices.Repeat([]float64{v}, times)...))
	}
	return files
}

func changesOf(t *testing.T, files []HistoryFile) ([]LevelChange, *History) {
	t.Helper()
	h := HistoryOf(files, HistoryOptions{})
	if len(h.Series) != 1 {
		t.Fatalf("%d series", len(h.Series))
	}
	return h.Series[0].Changes, h
}

// noisy are values around levels, so many of each.
func noisy(seed uint64, each int, levels ...float64) (values []float64) {
	r := rand.New(rand.NewPCG(seed, 7))
	for _, l := range levels {
		for range each {
			values = append(values, l*(1+0.01*r.NormFloat64()))
		}
	}
	return values
}

func TestHistoryStep(t *testing.T) {
	changes, h := changesOf(t, seriesFiles("ns/op", 3, noisy(1, 12, 100, 110)...))
	if len(changes) != 1 {
		t.Fatalf("changes: %+v", changes)
	}
	c := changes[0]
	if c.Since != 12 || c.Last != 11 || c.SinceRun != "run12.txt" || c.Shape != StepShape || c.Verdict != Slower || !c.Worse || c.Unsure || !c.Newest ||
		math.Abs(float64(c.Ratio)-1.1) > 0.02 || c.Low > 1.1 || c.High < 1.1 || c.P >= 0.05 || c.BeforeRuns != 12 {
		t.Errorf("%+v", c)
	}
	if len(h.Regressed(0.05)) != 1 || len(h.Regressed(0.2)) != 0 {
		t.Error("regressed", h.Regressed(0.05), h.Regressed(0.2))
	}
	// A regression that was mended is none.
	changes, h = changesOf(t, seriesFiles("ns/op", 1, noisy(2, 12, 100, 110, 100)...))
	if len(changes) != 2 || changes[1].Verdict != Faster || len(h.Regressed(0)) != 0 {
		t.Errorf("%+v", changes)
	}
	// What is better when there is more of it.
	files := seriesFiles("widgets/s", 1, noisy(3, 12, 100, 80)...)
	for _, f := range files {
		f.Figures[0].Better = 1
	}
	changes, h = changesOf(t, files)
	if len(changes) != 1 || changes[0].Verdict != Less || !changes[0].Worse || len(h.Regressed(0.1)) != 1 || len(h.Regressed(0.3)) != 0 {
		t.Errorf("%+v", changes)
	}
	// As much as counts as none.
	var small []float64
	for i := range 60 {
		small = append(small, 1000+float64(i%7)/7+5*float64(i/30))
	}
	if changes, _ = changesOf(t, seriesFiles("ns/op", 1, small...)); len(changes) != 0 {
		t.Errorf("half a percent is told: %+v", changes)
	}
}

func TestHistoryTrend(t *testing.T) {
	values := noisy(4, 30, 100)
	for i := range values {
		values[i] *= 1 + 0.01*float64(i)
	}
	changes, h := changesOf(t, seriesFiles("ns/op", 1, values...))
	if len(changes) != 1 || changes[0].Shape != TrendShape || changes[0].Since != 0 || changes[0].Last != 29 || !changes[0].Low.Known() ||
		math.Abs(float64(changes[0].Ratio)-1.29) > 0.05 {
		t.Fatalf("%+v", changes)
	}
	if len(h.Regressed(0.1)) != 1 {
		t.Error("a trend that has gone on until now is not told")
	}
}

func TestHistoryExact(t *testing.T) {
	f := func(what string, times int, values []float64, want string) {
		t.Helper()
		changes, h := changesOf(t, seriesFiles("B/op", times, values...))
		var got []string
		for _, c := range changes {
			got = append(got, fmt.Sprintf("%d-%d:%v-%v", c.Last, c.Since, c.Before, c.After))
			if !c.Exact || c.P != 0 {
				t.Errorf("%s: %+v", what, c)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %q, want %q", what, s, want)
		}
		if h.Series[0].Exact == (want == "noise") {
			t.Errorf("%s: exact is %v", what, h.Series[0].Exact)
		}
	}
	f("two runs of five rounds", 5, []float64{16, 32}, "0-1:16-32")
	f("two runs of one", 1, []float64{16, 32}, "")
	f("from nothing", 5, []float64{0, 0, 8}, "1-2:0-8")
	f("one run passed over", 1, []float64{1, 1, 1, 1, 1, 9, 1, 1, 1, 1, 1}, "")
	f("one run between levels", 1, []float64{1, 1, 1, 1, 1, 9, 2, 2, 2, 2, 2}, "4-6:1-2")
	f("there and back", 5, []float64{1, 2, 1}, "0-1:1-2 1-2:2-1")
	changes, h := changesOf(t, seriesFiles("B/op", 5, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2))
	if len(changes) != 0 || h.Series[0].Exact {
		t.Errorf("what goes to and fro all the time is taken for changes: %+v", changes)
	}
	h = HistoryOf(append(seriesFiles("B/op", 5, 16, 16), historyFile("z.txt", 20, "B/op", 32, 32, 34, 32, 32)), HistoryOptions{})
	if c := h.Series[0].Changes; !h.Series[0].Exact || len(c) != 0 { // four equal values are no level yet
		t.Errorf("%+v", h.Series[0])
	}
	h = HistoryOf(append(seriesFiles("B/op", 5, 16, 16), historyFile("z.txt", 20, "B/op", 32, 32, 34, 32, 32, 32)), HistoryOptions{})
	if c := h.Series[0].Changes; len(c) != 1 || !c[0].Exact || c[0].After != 32 {
		t.Errorf("%+v", h.Series[0])
	}
	h = HistoryOf(append(seriesFiles("B/op", 5, 16, 16), historyFile("z.txt", 20, "B/op", 16, 17, 16)), HistoryOptions{})
	if h.Series[0].Exact || h.Series[0].Needs != FewestRuns-3 {
		t.Errorf("rounds that differ are taken for exact: %+v", h.Series[0])
	}
}

// TestHistoryFalse: of histories of many benchmarks in which nothing changes few say that
// anything has, and what has changed is found among many.
func TestHistoryFalse(t *testing.T) {
	const trials, series, runs = 40, 20, 20
	wrong, found, beside := 0, 0, 0
	r := rand.New(rand.NewPCG(8, 8))
	for range trials {
		for _, step := range []float64{1, 1.1} {
			var files []HistoryFile
			for i := range runs {
				f := HistoryFile{Name: fmt.Sprint(i), Modified: written(i + 1)}
				for k := range series {
					level := 100.0
					if k == 0 && i >= runs/2 {
						level *= step
					}
					f.Figures = append(f.Figures, &benchmark.Figure{Name: fmt.Sprint("Benchmark", k), Unit: "ns/op", Values: []float64{level * (1 + 0.02*r.NormFloat64())}})
				}
				files = append(files, f)
			}
			h := HistoryOf(files, HistoryOptions{})
			for k, s := range h.Series {
				switch {
				case len(s.Changes) == 0:
				case step == 1:
					wrong++
				case k == 0:
					found++
				default:
					beside++
				}
			}
			if h.Judged != series {
				t.Fatalf("%d series were tested", h.Judged)
			}
		}
	}
	t.Logf("%d histories of %d series: %d false in those without a change; +10 %% found in %d, beside %d false", trials, series, wrong, found, beside)
	if wrong > 8 || found < trials*8/10 || beside > 12 { // 5 % of 40 are 2
		t.Errorf("%d wrong, %d found, %d false beside them", wrong, found, beside)
	}
}

func TestHistoryOrder(t *testing.T) {
	labels := func(files ...HistoryFile) string {
		h := HistoryOf(files, HistoryOptions{})
		var out []string
		for _, r := range h.Runs {
			out = append(out, r.Label())
		}
		return strings.Join(out, " ")
	}
	f := func(want string, files ...HistoryFile) {
		t.Helper()
		if got := labels(files...); got != want {
			t.Errorf("order %q, want %q", got, want)
		}
	}
	at := func(name string, day int, commit, when string) HistoryFile {
		f := historyFile(name, day, "ns/op", 1)
		f.Figures[0].Config = map[string]string{benchmark.CommitKey: commit, benchmark.CommitTimeKey: when}
		return f
	}
	f("b.txt a.txt", historyFile("a.txt", 2, "ns/op", 1), historyFile("b.txt", 1, "ns/op", 1))
	f("run2.txt run10.txt", historyFile("run10.txt", 1, "ns/op", 1), historyFile("run2.txt", 1, "ns/op", 1))
	f("x-2026-01-02.txt b_20260103T1200Z.txt", historyFile("b_20260103T1200Z.txt", 1, "ns/op", 1), historyFile("x-2026-01-02.txt", 9, "ns/op", 1))
	f("old new", at("a.txt", 1, "new", "2026-02-01T00:00:00Z"), at("b.txt", 9, "old", "2026-01-01T00:00:00+0200"))
	// A commit that was measured twice: by when, and the edited tree beside it.
	edited := at("20260301T100000Z-x.txt", 1, "same", "2026-02-01T00:00:00Z")
	edited.Figures[0].Config[benchmark.EditedKey] = "true"
	f("same, edited same", at("20260302T100000Z-x.txt", 1, "same", "2026-02-01T00:00:00Z"), edited)
	// Several commits in one file.
	two := at("all.txt", 1, "second", "2026-02-01T00:00:00Z")
	two.Figures = append(two.Figures, at("", 1, "first", "2026-01-01T00:00:00Z").Figures...)
	f("first second", two)

	for name, want := range map[string]string{
		"20261126T114530Z-3f2a1c4d5e6f.txt": "2026-11-26T11:45:30Z", "bench_2026-11-26.txt": "2026-11-26T00:00:00Z",
		"2026-11-26 10.20.txt": "2026-11-26T10:20:00Z", "1a20261126b.txt": "", "20261399.txt": "", "10002000.txt": "", "v1.2.txt": "", "0123456789012345.txt": "",
	} {
		got, ok := timeInName(name)
		if s := got.Format(time.RFC3339); ok != (want != "") || ok && s != want {
			t.Errorf("%s: %s, %v; want %s", name, s, ok, want)
		}
	}
}

// TestHistoryApart: what is measured on another kind of machine is another series.
func TestHistoryApart(t *testing.T) {
	var files []HistoryFile
	for i, v := range noisy(5, 10, 100, 150) {
		f := historyFile(fmt.Sprint(i), i+1, "ns/op", v)
		f.Figures[0].Config = map[string]string{"cpu": []string{"slow", "fast"}[i/10]}
		files = append(files, f)
	}
	h := HistoryOf(files, HistoryOptions{})
	if len(h.Series) != 2 || len(h.Series[0].Changes)+len(h.Series[1].Changes) != 0 {
		t.Errorf("%+v", h.Series)
	}
	if !slices.ContainsFunc(h.Notes, func(n string) bool { return strings.Contains(n, "2 kinds of machines") }) {
		t.Errorf("notes: %q", h.Notes)
	}
	// One value that is no number is left out, and told.
	h = HistoryOf([]HistoryFile{historyFile("a", 1, "ns/op", math.NaN(), 2), historyFile("b", 2, "ns/op", math.Inf(1))}, HistoryOptions{})
	if len(h.Series) != 1 || len(h.Series[0].Values) != 1 || !strings.Contains(strings.Join(h.Notes, " "), "2 values are left out") {
		t.Errorf("%+v %q", h.Series, h.Notes)
	}
}

// TestHistoryBounds: of more runs than are looked at the newest are.
func TestHistoryBounds(t *testing.T) {
	var files []HistoryFile
	for i := range maxHistoryRuns + 7 {
		f := historyFile(fmt.Sprintf("%04d.txt", i), 1, "B/op", 8)
		f.Modified = f.Modified.Add(time.Duration(i) * time.Hour)
		files = append(files, f)
	}
	h := HistoryOf(files, HistoryOptions{})
	if len(h.Runs) != maxHistoryRuns || h.Runs[0].File != "0007.txt" || !strings.Contains(strings.Join(h.Notes, " "), "The newest 500 of 507 runs") {
		t.Errorf("%d runs from %s: %q", len(h.Runs), h.Runs[0].File, h.Notes)
	}
}

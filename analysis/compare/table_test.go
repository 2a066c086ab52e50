package compare

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/gc"
	"loupe/format/loadlog"
	"loupe/recording"
	"loupe/value/timeline"
)

// loaded makes facts with one round for each rate of requests.
func loaded(title string, rps ...float64) *facts.Facts {
	f := &facts.Facts{Title: title, Manifest: &recording.Manifest{Title: title}}
	for i, v := range rps {
		start := timeline.Time(i) * timeline.Time(20*time.Second)
		f.Rounds = append(f.Rounds, facts.Round{
			Phase: recording.Phase{Name: "bare", Span: timeline.Span{Start: start, End: start.Add(10 * time.Second)}},
			Load:  &loadlog.Summary{Requests: 1000, Responses: 1000, RPS: v}, AllocRate: math.NaN(), Collections: math.NaN(), CPU: time.Duration(1e12 / v),
		})
	}
	return f
}

// later shifts a recording's start.
func later(f *facts.Facts, d time.Duration) *facts.Facts {
	f.Manifest.Start = f.Manifest.Start.Add(d)
	return f
}

func rowOf(t *testing.T, table *Table, id string) Row {
	t.Helper()
	row, ok := table.Row(id)
	if !ok {
		t.Fatalf("the table has no row %s", id)
	}
	return row
}

// TestVerdicts judges rows by rounds. With 5 rounds a side the exact test can
// come to p = 2/252 at best; complete separation is that.
func TestVerdicts(t *testing.T) {
	f := func(what, row string, old, new []float64, want Verdict) {
		t.Helper()
		c := rowOf(t, Compare(loaded("a", old...), loaded("b", new...)), row).Changes[0]
		if c.Verdict != want {
			t.Errorf("%s: %s is %q (%+v), want %q", what, row, c.Verdict, c, want)
		}
	}
	base := []float64{100, 101, 99, 102, 98}
	f("twice as fast", "requests_per_sec", base, []float64{200, 202, 198, 204, 196}, Improved)
	f("twice as fast", "cpu_per_request", base, []float64{200, 202, 198, 204, 196}, Improved)
	f("half as fast", "requests_per_sec", base, []float64{50, 51, 49, 52, 48}, Regressed)
	f("half as fast", "cpu_per_request", base, []float64{50, 51, 49, 52, 48}, Regressed)
	f("the same to 1%", "requests_per_sec", []float64{100, 100.1, 99.9, 100, 100}, []float64{100.1, 100.2, 99.9, 100, 100}, Same)
	f("clear but below 1%", "requests_per_sec", []float64{100, 100.01, 99.99, 100, 100}, []float64{100.5, 100.51, 100.49, 100.5, 100.5}, Same)
	f("noise", "requests_per_sec", []float64{80, 120, 100, 110, 90}, []float64{85, 125, 105, 95, 115}, Undecided)
	f("requests are neither good nor bad", "requests", base, base, Same)
	f("three rounds", "requests_per_sec", base[:3], []float64{200, 202, 198}, NoVerdict)
	f("three against five", "requests_per_sec", base[:3], []float64{200, 202, 198, 204, 196}, NoVerdict)
	f("four rounds", "requests_per_sec", base[:4], []float64{200, 202, 198, 204}, NoVerdict)
}

// TestInterval is complete separation of 5 against 5: p = 2/C(10,5), and the
// interval drops the two most extreme of the 25 ratios at each end, where
// 2·P(U ≤ 2) = 8/252.
func TestInterval(t *testing.T) {
	c := rowOf(t, Compare(loaded("a", 100, 100, 100, 100, 100), loaded("b", 110, 120, 130, 140, 150)), "requests_per_sec").Changes[0]
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}
	near("p", c.P, 2.0/252)
	near("ratio", float64(c.Ratio), 1.3)
	near("low", float64(c.Low), 1.1) // five ratios are 1.1: dropping two leaves it
	near("high", float64(c.High), 1.5)
	near("confidence", c.Confidence, 1-8.0/252)
	c = rowOf(t, Compare(loaded("a", 100, 100, 100), loaded("b", 110, 120, 130)), "requests_per_sec").Changes[0]
	if c.Low.Known() || c.High.Known() || math.Abs(float64(c.Ratio)-1.2) > 1e-9 {
		t.Errorf("three rounds give %+v, want a ratio without an interval", c)
	}
}

// collected makes facts whose rounds had these numbers of collections.
func collected(counts ...int64) *facts.Facts {
	f := &facts.Facts{Title: "x", Manifest: &recording.Manifest{}}
	for _, n := range counts {
		f.Rounds = append(f.Rounds, facts.Round{AllocRate: math.NaN(), Collections: float64(n), GC: &gc.Summary{Derived: gc.Derived{Collections: n}}})
	}
	return f
}

// TestZeros judges rows of which a ratio says nothing.
func TestZeros(t *testing.T) {
	f := func(old, new []int64, want Verdict) {
		t.Helper()
		c := rowOf(t, Compare(collected(old...), collected(new...)), "collections").Changes[0]
		if c.Verdict != want || c.Ratio.Known() {
			t.Errorf("%v against %v is %+v, want %q without a ratio", old, new, c, want)
		}
	}
	f([]int64{9, 8, 7, 9, 8}, []int64{0, 0, 0, 0, 0}, Improved)
	f([]int64{0, 0, 0, 0, 0}, []int64{9, 8, 7, 9, 8}, Regressed)
	f([]int64{0, 0, 0, 0, 0}, []int64{0, 0, 0, 0, 0}, Same)
	f([]int64{0, 0, 0, 0, 1}, []int64{9, 8, 7, 9, 8}, Regressed) // every round is more than any of the other side
	f([]int64{0, 0, 0, 0, 9}, []int64{9, 8, 7, 9, 8}, Undecided)
	f([]int64{9, 8, 7}, []int64{0, 0, 0}, NoVerdict)
	// A single zero makes no ratio of 308 digits.
	c := rowOf(t, Compare(collected(9, 8, 7, 9, 8), collected(0, 20, 21, 22, 23)), "collections").Changes[0]
	if c.Ratio != 21.0/8 || c.Low.Known() || c.Verdict != Undecided {
		t.Errorf("a round of zero: %+v", c)
	}
	c = rowOf(t, Compare(collected(0, 8, 7, 9, 8), collected(19, 20, 21, 22, 23)), "collections").Changes[0]
	if c.Ratio != 21.0/8 || c.Verdict != Regressed {
		t.Errorf("all are more: %+v", c)
	}
}

// TestHeadline: what withdraws the verdicts of the rows that decide.
func TestHeadline(t *testing.T) {
	fast, slow := []float64{100, 101, 99, 102, 98}, []float64{95, 96, 94, 97, 93}
	f := func(what string, want Verdict, note string, change func(a, b *facts.Facts)) {
		t.Helper()
		a, b := loaded("a", fast...), loaded("b", slow...)
		change(a, b)
		table := Compare(a, b)
		if c := rowOf(t, table, "requests_per_sec").Changes[0]; c.Verdict != want || table.Regressed() != (want == Regressed) {
			t.Errorf("%s: %+v, want %q", what, c, want)
		}
		if notes := strings.Join(table.Notes, "\n"); !strings.Contains(notes, note) {
			t.Errorf("%s: notes = %s, want %q", what, notes, note)
		}
	}
	long := func(a, b *facts.Facts) {
		for _, x := range []*facts.Facts{a, b} {
			for i := range x.Rounds {
				x.Rounds[i].Duration = 10 * time.Second
			}
		}
	}
	f("5% slower", Regressed, "noise: the middle half of one side's rounds spreads over Requests/sec 2.", long)
	f("in short rounds", Undecided, "a round took 100 ms", func(a, b *facts.Facts) {
		for i := range b.Rounds {
			b.Rounds[i].Duration = 100 * time.Millisecond
		}
	})
	f("of the same build", Undecided, "a and b are the same build", func(a, b *facts.Facts) {
		a.Manifest.Target.Build, b.Manifest.Target.Build = "x", "x"
	})
	f("with other settings", Regressed, "", func(a, b *facts.Facts) {
		a.Manifest.Target.Build, b.Manifest.Target.Build = "x", "x"
		b.Manifest.Target.Env = []string{"GOGC=50"}
	})
	f("failed in one round", Undecided, "b failed in 1 of 5 rounds (exit status 2): their times say nothing about its work", func(a, b *facts.Facts) {
		long(a, b)
		b.Manifest.Target.Runs = []recording.Run{{Exit: "exit status 2"}, {Exit: "exit status 0"}}
		for i := range b.Rounds[1:] {
			b.Rounds[i+1].Phase.Run = 1
		}
		if got := Failed(a, b); len(got) != 1 || got[0] != "b failed in 1 of 5 rounds: exit status 2" {
			t.Errorf("Failed = %q", got)
		}
	})
	f("stopped before the end", Regressed, "b had not finished after 10.0 s, and was stopped", func(a, b *facts.Facts) {
		long(a, b)
		b.Manifest.Target.Runs = []recording.Run{{Stopped: true}}
		b.Rounds = append(b.Rounds, facts.Round{Duration: 10 * time.Second, AllocRate: math.NaN(), Collections: math.NaN()})
	})
	// Of two rows that decide, 0.03 is no less than chance for the clearer one.
	table := &Table{Rows: []Row{{Key: true, Changes: []Change{{P: 0.03, Verdict: Regressed}}}, {Key: true, Changes: []Change{{P: 0.6, Verdict: Undecided}}}, {Changes: []Change{{P: 0.03, Verdict: Regressed}}}}}
	table.settle(0)
	if a, c := table.Rows[0].Changes[0].Verdict, table.Rows[2].Changes[0].Verdict; a != Undecided || c != Regressed {
		t.Errorf("the verdicts are %q, and %q of a row that does not decide", a, c)
	}
	table.Rows[0].Changes[0] = Change{P: 0.02, Verdict: Regressed}
	if table.settle(0); table.Rows[0].Changes[0].Verdict != Regressed {
		t.Error("0.02 of two rows is less than chance")
	}
}

// TestFailures: a service that answers nothing is no match for one that does,
// and requests that failed in one round of many are not forgotten.
func TestFailures(t *testing.T) {
	dead := loaded("dead", 0, 0, 0, 0, 0)
	for i := range dead.Rounds {
		dead.Rounds[i].Load.Responses = 0
		dead.Rounds[i].Load.Errors = map[string]int{"connection refused": 1000}
	}
	table := Compare(loaded("a", 100, 101, 99, 102, 100), dead)
	if c := rowOf(t, table, "requests_per_sec").Changes[0]; c.Verdict != Regressed || !table.Regressed() {
		t.Errorf("no answers at all: %+v", c)
	}
	if notes := strings.Join(table.Notes, "\n"); !strings.Contains(notes, "dead: 5,000 of 5,000 requests failed (connection refused)") {
		t.Errorf("notes = %s", notes)
	}
	once := loaded("once", 100, 101, 99, 102, 100)
	once.Rounds[2].Load.Responses -= 7
	once.Rounds[2].Load.Errors = map[string]int{"EOF": 7}
	row := rowOf(t, Compare(loaded("a", 100, 101, 99, 102, 100), once), "errors")
	if !slices.Equal(row.Cells[0].Rounds, []float64{0, 0, 0, 0, 0}) || !slices.Equal(row.Cells[1].Rounds, []float64{0, 0, 7, 0, 0}) {
		t.Errorf("errors = %+v, want those of every round", row.Cells)
	}
	if _, ok := Compare(loaded("a", 100), loaded("b", 100)).Row("errors"); ok {
		t.Error("there is a row of errors, and there were none")
	}
}

// TestBadStatus: an error page is served fast, which is no gain.
func TestBadStatus(t *testing.T) {
	broken := loaded("broken", 900, 901, 899, 902, 900)
	for i := range broken.Rounds {
		broken.Rounds[i].Load.Status = map[int]int{200: 100, 500: 900}
	}
	table := Compare(loaded("a", 100, 101, 99, 102, 100), broken)
	if notes := strings.Join(table.Notes, "\n"); !strings.Contains(notes, "broken: 4,500 of 5,000 answers had a status of 400 or above") {
		t.Errorf("notes = %s", notes)
	}
}

// TestOthersNote: who reads shares of the CPU time learns that they are not about the children.
func TestOthersNote(t *testing.T) {
	for want, r := range map[string]facts.Round{
		"": {CPU: 9 * time.Second, Family: time.Second},
		"x: the other processes of the run used 3.00 s of CPU time beside its 1.00 s; ": {CPU: time.Second, Family: 3 * time.Second},
		"x: 3.00 s or more of the 4.00 s of CPU time are those of":                      {CPU: 4 * time.Second, Waited: 3 * time.Second},
	} {
		notes := others(&facts.Facts{Title: "x", Rounds: []facts.Round{{CPU: time.Second}, r}})
		if got := strings.Join(notes, "\n"); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%+v: %q", r, got)
		}
	}
}

func TestNotes(t *testing.T) {
	base := []float64{100, 101, 99, 102, 100}
	f := func(what, want string, change func(a, b *facts.Facts)) {
		t.Helper()
		a, b := loaded("a", base...), later(loaded("b", base...), 10*time.Second)
		change(a, b)
		if notes := strings.Join(Compare(a, b).Notes, "\n"); !strings.Contains(notes, want) || want == "" && !strings.HasPrefix(notes, "noise: ") {
			t.Errorf("%s: notes = %q, want %q", what, notes, want)
		}
	}
	f("in turns on one machine", "", func(a, b *facts.Facts) {})
	f("another CPU", "a and b were recorded on different machines", func(a, b *facts.Facts) { b.Manifest.Host.CPU = "other" })
	f("another number of CPUs", "different machines", func(a, b *facts.Facts) { b.Manifest.Host.CPUs = 8 })
	f("another quota", "different machines", func(a, b *facts.Facts) { b.Manifest.Host.Quota = 1.5 })
	f("another toolchain", "a was built with go1.25.0, b with go1.26.0", func(a, b *facts.Facts) {
		a.Manifest.Target.Go, b.Manifest.Target.Go = "go1.25.0", "go1.26.0"
	})
	f("a toolchain that is not known", "", func(a, b *facts.Facts) { a.Manifest.Target.Go = "go1.25.0" })
	f("one after the other", "the rounds were not interleaved", func(a, b *facts.Facts) { later(b, time.Hour) })
	f("few rounds", "a set of 3 runs against another proves nothing: 5 rounds", func(a, b *facts.Facts) { b.Rounds = b.Rounds[:3] })
}

func TestInterleaved(t *testing.T) {
	f := func(what string, want bool, all ...*facts.Facts) {
		t.Helper()
		if got := Compare(all...).Interleaved; got != want {
			t.Errorf("%s: Interleaved = %v", what, got)
		}
	}
	two := []float64{100, 100}
	f("alone", false, loaded("a", two...))
	f("in turns", true, loaded("a", two...), later(loaded("b", two...), 10*time.Second))
	f("B first", true, later(loaded("a", two...), 10*time.Second), loaded("b", two...))
	f("three in turns", true, loaded("a", two...), later(loaded("b", two...), 7*time.Second), later(loaded("c", two...), 14*time.Second))
	f("B afterwards", false, loaded("a", two...), later(loaded("b", two...), time.Minute))
	f("B before", false, later(loaded("a", two...), time.Minute), loaded("b", two...))
	f("C afterwards", false, loaded("a", two...), later(loaded("b", two...), 7*time.Second), later(loaded("c", two...), time.Hour))
	f("one round each", false, loaded("a", 100), loaded("b", 100))
	f("no rounds", false, loaded("a"), loaded("b"))
}

func TestRegressed(t *testing.T) {
	base, half := []float64{100, 101, 99, 102, 98}, []float64{50, 51, 49, 52, 48}
	f := func(what string, want bool, all ...*facts.Facts) {
		t.Helper()
		if got := Compare(all...).Regressed(); got != want {
			t.Errorf("%s: Regressed = %v", what, got)
		}
	}
	f("slower", true, loaded("a", base...), loaded("b", half...))
	f("faster", false, loaded("a", half...), loaded("b", base...))
	f("one of several", true, loaded("a", base...), loaded("b", base...), loaded("c", half...))
	f("too few rounds", false, loaded("a", base[:3]...), loaded("b", half[:3]...))
	f("more collections alone", false, collected(5, 5, 5, 5, 5), collected(50, 50, 50, 50, 50))
}

// TestMissingSides is a recording with a load beside one without.
func TestMissingSides(t *testing.T) {
	table := Compare(loaded("a", 100, 101, 99, 102, 100), collected(1, 2, 3, 4), loaded("c"))
	row := rowOf(t, table, "requests_per_sec")
	for i, c := range row.Changes {
		if c.Ratio.Known() || c.Verdict != NoVerdict || row.Cells[i+1].Median.Known() {
			t.Errorf("change %d = %+v, want nothing", i, c)
		}
	}
	data, err := json.Marshal(table)
	if err != nil || !strings.Contains(string(data), `"median":null`) {
		t.Errorf("JSON = %s, %v", data, err)
	}
}

// TestSameProgram draws two recordings from one distribution, with outliers as
// on a shared machine, over and over: a verdict has to be rare. The exact test
// at 5 against 5 gives one in 8/252 = 3.2% of the cases.
func TestSameProgram(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(factor float64) []float64 {
		var v []float64
		for range 5 {
			x := factor * 1000 * math.Exp(0.05*r.NormFloat64())
			if r.IntN(10) == 0 {
				x *= 0.6
			}
			v = append(v, x)
		}
		return v
	}
	const pairs = 2000
	verdicts, found := 0, 0
	for range pairs {
		a := draw(1)
		if v := rowOf(t, Compare(loaded("a", a...), loaded("a", draw(1)...)), "requests_per_sec").Changes[0].Verdict; v == Improved || v == Regressed {
			verdicts++
		}
		if rowOf(t, Compare(loaded("a", a...), loaded("b", draw(2)...)), "requests_per_sec").Changes[0].Verdict == Improved {
			found++
		}
	}
	if share := float64(verdicts) / pairs; share > 0.045 {
		t.Errorf("%.1f%% of comparisons of a program with itself came to a verdict, want about 3.2%%", 100*share)
	}
	if share := float64(found) / pairs; share < 0.95 {
		t.Errorf("twice the rate was seen in only %.1f%% of comparisons", 100*share)
	}
}

// TestWorkDiffers compares loads of equal length: the faster program answers
// more requests, and its collections are no regression.
func TestWorkDiffers(t *testing.T) {
	collecting := func(title string, requests int, collections ...float64) *facts.Facts {
		f := loaded(title, make([]float64, len(collections))...)
		for i := range f.Rounds {
			r := &f.Rounds[i]
			r.Load.Requests, r.Load.Responses = requests, requests
			r.Load.RPS, r.Collections = float64(requests)/10, collections[i]
		}
		return f
	}
	f := func(what string, a, b *facts.Facts, want Verdict) {
		t.Helper()
		if got := rowOf(t, Compare(a, b), "collections").Changes[0].Verdict; got != want {
			t.Errorf("%s: collections are %q, want %q", what, got, want)
		}
	}
	some, many := []float64{50, 51, 49, 52, 48}, []float64{90, 91, 89, 92, 88}
	f("more for the same work", collecting("a", 1000, some...), collecting("b", 1000, many...), Regressed)
	f("more for more work", collecting("a", 1000, some...), collecting("b", 3000, many...), Changed)
	f("more for less work", collecting("a", 3000, some...), collecting("b", 1000, many...), Regressed)
	f("fewer for more work", collecting("a", 1000, many...), collecting("b", 3000, some...), Improved)
	f("fewer for less work", collecting("a", 3000, many...), collecting("b", 1000, some...), Changed)
}

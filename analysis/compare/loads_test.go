package compare_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"loupe/analysis/compare"
	"loupe/format/loadlog"
)

// loadRun is a run of 10 s with the given rate and times.
func loadRun(rps float64, p50, p99 time.Duration) *loadlog.Summary {
	n := int(rps * 10)
	return &loadlog.Summary{
		Requests: n, Responses: n, RPS: rps, Seconds: 10, Status: map[int]int{200: n},
		Latency: loadlog.Quantiles{P50: p50, P99: p99, Mean: p50}, Service: loadlog.Quantiles{P50: p50, P99: p99},
	}
}

func verdict(t *testing.T, table *compare.Table, id string) compare.Verdict {
	t.Helper()
	row, ok := table.Row(id)
	if !ok {
		t.Fatalf("there is no row %s", id)
	}
	return row.Changes[0].Verdict
}

// TestLoads: five runs in turns prove a change; one proves nothing.
func TestLoads(t *testing.T) {
	var a, b compare.LoadSide
	a.Title, b.Title = "old", "new"
	for i := range 5 {
		wobble := time.Duration(i) * time.Microsecond
		a.Runs = append(a.Runs, loadRun(1000+float64(i), time.Millisecond+wobble, 9*time.Millisecond+wobble))
		b.Runs = append(b.Runs, loadRun(800+float64(i), 2*time.Millisecond+wobble, 9*time.Millisecond-wobble))
	}
	closed := compare.Loads([]compare.LoadSide{a, b}, true)
	if v := verdict(t, closed, "requests_per_sec"); v != compare.Regressed || !closed.Regressed() {
		t.Errorf("a fifth fewer requests a second are %q", v)
	}
	if len(closed.Notes) != 1 || !strings.Contains(closed.Notes[0], "a change of Requests/sec by less than about 0.") {
		t.Errorf("notes: %q", closed.Notes)
	}
	a.Open, b.Open = true, true
	open := compare.Loads([]compare.LoadSide{a, b}, false)
	if v := verdict(t, open, "latency_p50"); v != compare.Regressed {
		t.Errorf("twice the median is %q", v)
	}
	if row, _ := open.Row("requests_per_sec"); row.Key {
		t.Error("the rate of an open loop is the service's merit")
	}
	if !strings.Contains(strings.Join(open.Notes, "\n"), "were not interleaved") {
		t.Errorf("notes: %q", open.Notes)
	}
	one := compare.Loads([]compare.LoadSide{{Title: "a", Runs: a.Runs[:1]}, {Title: "b", Runs: b.Runs[:1]}}, true)
	if v := verdict(t, one, "requests_per_sec"); v != compare.NoVerdict || one.Regressed() || !strings.Contains(one.Notes[0], "one run against another proves nothing") {
		t.Errorf("one run against another is %q: %q", v, one.Notes)
	}
	b.Runs[0].Generator.Limited, b.Runs[1].Responses, b.Runs[1].Errors = "busy", 1, map[string]int{"EOF": 7999}
	if notes := strings.Join(compare.Loads([]compare.LoadSide{a, b}, true).Notes, "\n"); !strings.Contains(notes, "new: generator-limited") || !strings.Contains(notes, "requests failed (EOF)") {
		t.Errorf("notes: %q", notes)
	}
}

// TestLoadsFalseAlarms compares identical services, whose runs differ as those
// of a shared machine do, with rates and times that go together: at most 5 of 100
// comparisons may come out as a change. What disturbs the machine may last longer
// than a run; memory is how much of it is left in the next one.
func TestLoadsFalseAlarms(t *testing.T) {
	const trials = 2000
	f := func(open bool, memory, noise float64) {
		t.Helper()
		rnd := rand.New(rand.NewPCG(7, 7))
		alarms := 0
		for range trials {
			sides := []compare.LoadSide{{Title: "a", Open: open}, {Title: "b", Open: open}}
			state := rnd.NormFloat64() * noise
			for range 5 {
				order := [2]int{0, 1}
				if rnd.IntN(2) == 1 {
					order = [2]int{1, 0}
				}
				for _, side := range order {
					state = memory*state + math.Sqrt(1-memory*memory)*rnd.NormFloat64()*noise
					speed := math.Exp(state)
					tail := speed * math.Exp(rnd.NormFloat64()*0.5)
					sides[side].Runs = append(sides[side].Runs, loadRun(1000/speed, time.Duration(1e6*speed), time.Duration(5e6*tail)))
				}
			}
			table := compare.Loads(sides, true)
			for _, row := range table.Rows {
				if v := row.Changes[0].Verdict; row.Key && (v == compare.Improved || v == compare.Regressed) {
					alarms++
					break
				}
			}
		}
		share := float64(alarms) / trials
		t.Logf("open %v, memory %v: %.1f of 100", open, memory, 100*share)
		if share > 0.05 {
			t.Errorf("open %v, memory %v: %.1f of 100 comparisons of a service with itself raise an alarm", open, memory, 100*share)
		}
	}
	for _, open := range []bool{false, true} {
		for _, memory := range []float64{0, 0.5, 0.9} {
			f(open, memory, 0.3)
		}
	}
}

// TestLoadsNeverAnswered: a service that lets requests time out is not faster than
// one that answers all of them, however fast the rest is.
func TestLoadsNeverAnswered(t *testing.T) {
	good, bad := compare.LoadSide{Title: "good", Open: true}, compare.LoadSide{Title: "bad", Open: true}
	for i := range 5 {
		base := time.Duration(i) * time.Microsecond
		var a, b []loadlog.Request
		for n := range 2000 {
			a = append(a, loadlog.Request{Service: 100*time.Millisecond + base, Status: 200})
			q := loadlog.Request{Service: time.Millisecond + base, Status: 200}
			if n%4 == 0 {
				q = loadlog.Request{Service: time.Second, Error: 1}
			}
			b = append(b, q)
		}
		h := loadlog.Header{Open: true, Elapsed: 2 * time.Second, Errors: []string{loadlog.TimedOut}}
		good.Runs, bad.Runs = append(good.Runs, loadlog.New(h, a).Summary()), append(bad.Runs, loadlog.New(h, b).Summary())
	}
	table := compare.Loads([]compare.LoadSide{good, bad}, true)
	for _, id := range []string{"latency_p99", "latency_max", "service_p99"} {
		row, _ := table.Row(id)
		if c := row.Changes[0]; c.Verdict != compare.Regressed || c.Ratio.Known() || !row.Cells[1].NeverCame() || row.Cells[1].Never != 5 {
			t.Errorf("%s: %+v %+v", id, row.Cells, c)
		}
	}
	if row, _ := table.Row("latency_mean"); row.Cells[1].Median.Known() || row.Changes[0].Verdict != compare.NoVerdict {
		t.Errorf("a mean without a quarter of the requests: %+v", row)
	}
	if v := verdict(t, table, "latency_p50"); v != compare.Undecided {
		t.Errorf("the median of the side that fails more is %q", v)
	}
	if !table.Regressed() {
		t.Error("a 99th percentile that never comes is no regression")
	}
	if notes := strings.Join(table.Notes, "\n"); !strings.Contains(notes, "bad: 2,500 of 10,000 requests failed (timeout): they count as slower than all answers") {
		t.Errorf("notes: %s", notes)
	}
	back := compare.Loads([]compare.LoadSide{bad, good}, true)
	if v := verdict(t, back, "latency_p99"); v != compare.Improved {
		t.Errorf("the other way round p99 is %q", v)
	}
}

// TestLoadsErrors: one run of five with failures is no zero, and counts of one
// thing are equal.
func TestLoadsErrors(t *testing.T) {
	a, b := compare.LoadSide{Title: "a"}, compare.LoadSide{Title: "b"}
	for range 5 {
		a.Runs, b.Runs = append(a.Runs, loadRun(800, 1e6, 2e6)), append(b.Runs, loadRun(800, 1e6, 2e6))
	}
	b.Runs[2].Responses -= 5
	b.Runs[2].Errors = map[string]int{"EOF": 5}
	table := compare.Loads([]compare.LoadSide{a, b}, true)
	row, ok := table.Row("errors")
	if !ok || row.Cells[1].Median != 5 || !strings.Contains(strings.Join(table.Notes, "\n"), "b: 5 of 40,000 requests failed") {
		t.Errorf("%+v, notes %q", row.Cells, table.Notes)
	}
}

// TestLoadsAgree: in random tables percentiles are in order, and no change
// contradicts the medians beside it.
func TestLoadsAgree(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	heap := func() time.Duration { // runs fall into two heaps
		at := 440e6
		if rnd.IntN(2) == 0 {
			at = 300e6 + 300e6*rnd.Float64()
		}
		return time.Duration(at * math.Exp(rnd.NormFloat64()*0.05))
	}
	contradicted := 0
	for range 2000 {
		sides := []compare.LoadSide{{Title: "a"}, {Title: "b"}}
		for i := range sides {
			for range 4 + rnd.IntN(3) {
				p50 := heap()
				run := loadRun(1000*math.Exp(rnd.NormFloat64()), p50, p50+heap())
				if rnd.IntN(2) == 0 { // some runs have enough requests for it
					run.Latency.P999 = run.Latency.P99 + heap()/10
				}
				sides[i].Runs = append(sides[i].Runs, run)
			}
		}
		table := compare.Loads(sides, true)
		last := [2]float64{}
		for _, row := range table.Rows {
			for i, c := range row.Cells {
				if strings.HasPrefix(row.ID, "latency_p") && c.Median.Known() {
					if float64(c.Median) < last[i] {
						t.Errorf("%s is %v, below the row before it (%v)", row.ID, c.Median, last[i])
					}
					last[i] = float64(c.Median)
				}
			}
			c := row.Changes[0]
			if !c.Ratio.Known() {
				continue
			}
			medians := float64(row.Cells[1].Median) / float64(row.Cells[0].Median)
			if (medians > 1+compare.ROPE && c.Ratio < 1 || medians < 1-compare.ROPE && c.Ratio > 1) || math.Abs(medians-1) <= compare.ROPE && math.Abs(float64(c.Ratio)-1) > 5*compare.ROPE && (medians-1)*(float64(c.Ratio)-1) <= 0 {
				contradicted++
				t.Errorf("%s goes from %v to %v by %v", row.ID, row.Cells[0].Median, row.Cells[1].Median, c.Ratio)
			}
		}
		if contradicted > 3 {
			break
		}
	}
}

package compare_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"loupe/compare"
	"loupe/loadlog"
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
	if !strings.Contains(strings.Join(open.Notes, "\n"), "did not take turns") {
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

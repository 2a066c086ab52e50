package loadlog

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// mixed is a run of a random mix of answered, failed, timed-out and unsent
// requests.
func mixed(rnd *rand.Rand) *Log {
	h := Header{Open: rnd.IntN(2) == 0, Errors: []string{TimedOut, "reset"}}
	shares := [2]float64{}
	if rnd.IntN(3) > 0 {
		shares = [2]float64{rnd.Float64() * rnd.Float64(), rnd.Float64() * rnd.Float64()}
	}
	var rows []Request
	for range rnd.IntN(3000) {
		r := Request{Service: 1 + time.Duration(rnd.ExpFloat64()*1e6), Status: 200}
		if h.Open {
			r.Late = time.Duration(rnd.IntN(1000))
		}
		switch x := rnd.Float64(); {
		case x < shares[0]:
			r.Status, r.Error, r.Service = 0, 1, time.Second
		case x < shares[0]+shares[1]:
			r.Status, r.Error = 0, 2
		}
		h.Elapsed = max(h.Elapsed, r.Latency())
		rows = append(rows, r)
	}
	if h.Open && rnd.IntN(2) == 0 {
		h.Unsent = int64(rnd.IntN(300))
	}
	return New(h, rows)
}

// TestNeverAnswered holds percentiles, counts and conditions of random mixes
// against sorted lists, in which what was never answered comes last.
func TestNeverAnswered(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		l := mixed(rnd)
		s := l.Summary()
		var all []time.Duration
		for r := range l.All() {
			d := r.Latency()
			if r.Error != 0 {
				d = Never
			}
			all = append(all, d)
		}
		for range l.Unsent {
			all = append(all, Never)
		}
		slices.Sort(all)
		never := 0
		for _, d := range all {
			if d == Never {
				never++
			}
		}
		if int64(len(all)) != s.Due() || int64(never) != s.Unanswered() || s.Latency.Unanswered != never {
			t.Errorf("%d of %d were never answered, the summary has %d of %d and %d", never, len(all), s.Unanswered(), s.Due(), s.Latency.Unanswered)
		}
		last := time.Duration(0)
		for _, p := range s.Latency.shares() {
			got := *p.to
			if len(all) == 0 || p.q > 0.5 && float64(len(all))*(1-p.q) < Enough-1e-6 {
				if got != 0 {
					t.Errorf("p%v of %d requests is told", p.q, len(all))
				}
				continue
			}
			at := 0
			for float64(at+1) < p.q*float64(len(all))-1e-9 {
				at++
			}
			if got != all[at] || got < last {
				t.Errorf("p%v of %d, %d of them never answered, is %v, want %v", p.q, len(all), never, got, all[at])
			}
			last = got
		}
		if len(all) > 0 && (s.Latency.Max != all[len(all)-1] || s.Latency.Min != all[0]) {
			t.Errorf("from %v to %v, want %v to %v", s.Latency.Min, s.Latency.Max, all[0], all[len(all)-1])
		}
		conditionsAgree(t, l, s)
		text, err := json.Marshal(s)
		if err != nil || strings.Contains(string(text), "9223372036854775807") {
			t.Errorf("JSON is %s, %v", text, err)
		}
	}
}

// conditionsAgree checks that a condition is met only by a percentile that is
// told and does meet it, and never while something slower may have come.
func conditionsAgree(t *testing.T, l *Log, s *Summary) {
	t.Helper()
	for text, got := range map[string]time.Duration{
		"p50<1ms": s.Latency.P50, "p90<2ms": s.Latency.P90, "p99<500ms": s.Latency.P99, "p99<3s": s.Latency.P99, "p99.99<1s": s.Latency.P9999,
		"max<2s": s.Latency.Max, "mean<1ms": s.Latency.Mean, "min<1ms": s.Latency.Min,
	} {
		list, err := ParseConditions(text)
		if err != nil {
			t.Fatal(err)
		}
		c := list[0]
		j := c.Judge(l, s)
		if want := s.Due() > 0 && got > 0 && c.holds(float64(got)); j.Met != want {
			t.Errorf("%s of %d requests, %d never answered: met is %v, and it is %v", text, s.Due(), s.Unanswered(), j.Met, got)
		}
		if j.Met && j.Doubt != "" {
			t.Errorf("%s is met with a doubt", j)
		}
	}
}

func TestNeverInJSON(t *testing.T) {
	q := Quantiles{Min: 1, Mean: Never, P50: 2, P99: Never, Max: Never, Unanswered: 3, AtLeast: 7, MeanAtLeast: 5, MeanAnswered: 2, MaxAnswered: 4}
	text, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"min": 1.0, "mean": nil, "p50": 2.0, "p99": nil, "max": nil, "unanswered": 3.0, "at_least": 7.0, "mean_at_least": 5.0, "mean_answered": 2.0, "max_answered": 4.0} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v (there: %v), want %v, in %s", name, v, ok, want, text)
		}
	}
	if _, ok := got["p99.9"]; ok {
		t.Errorf("a percentile that is not told stands in %s", text)
	}
}

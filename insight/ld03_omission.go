package insight

import (
	"fmt"
	"time"

	"loupe/analysis/facts"
	"loupe/format/loadlog"
	"loupe/value/stats"
	"loupe/value/timeline"
	"loupe/value/unit"
)

var ld03 = &Rule{
	ID: "LD03", Title: "Coordinated omission: a closed loop hides how long a stall was for users",
	About: "In a closed loop a connection sends its next request when the previous one is answered. While the service stalls nothing is sent, so a stall of a second " +
		"shows as one slow request per connection instead of one for every request that would have come. Percentiles then say little about what users would have seen (coordinated omission).",
	Asks: []facts.Question{facts.Requests},
	Params: []Param{
		{"longest", 10, "intervals", "research: the slowest request, relative to the mean time between two requests of a connection"},
		{"requests", 1000, "requests", "chosen: with fewer there is no meaningful 99th percentile"},
		{"more", 2, "times", "chosen: the estimated 99th percentile, relative to the measured one"},
		{"floor", 1e-3, "s", "research: by how much it is higher"},
	},
	Measurement: true,
	Check:       onLoads(checkOmission),
}

func checkOmission(r *Rule, in *Input, all []loadRound) []Finding {
	var worst, lost *loadRound // lost is one whose 99th percentile never came
	var estimate, interval time.Duration
	ratio, closed := 0.0, 0
	for i := range all {
		l := &all[i]
		if l.Log.Open || l.Log.Foreign != "" || float64(l.Load.Responses) < r.param("requests") {
			continue
		}
		if closed++; l.Load.Latency.P99 == loadlog.Never {
			lost = l
			continue
		}
		every, p99 := withoutOmission(l)
		if l.Load.Latency.P99 > 0 && float64(p99)/float64(l.Load.Latency.P99) > ratio {
			worst, estimate, interval, ratio = l, p99, every, float64(p99)/float64(l.Load.Latency.P99)
		}
	}
	switch {
	case all[0].Log.Foreign != "":
		return []Finding{r.answer(TooLittle, "the results of %s do not say whether requests had a schedule, nor on which connection each was sent: those of loupe load -rate do", all[0].Log.Foreign)}
	case all[0].Log.Open:
		return []Finding{r.answer(Fine, "requests had a schedule: those due while the service stalled were sent late, and their wait is counted")}
	case worst == nil && lost != nil:
		return []Finding{r.answer(TooLittle, "%s of %s requests were never answered (LD05): an estimate for a schedule would say nothing about users", unit.Count(lost.Load.Unanswered()), unit.Count(lost.Load.Due()))}
	case closed == 0 || worst == nil:
		return []Finding{r.short("%d answers came in the closed loop; %g are needed", all[0].Load.Responses, r.param("requests"))}
	}
	q := worst.Load.Latency
	q.Max = q.MaxAnswered
	if float64(q.Max) < r.param("longest")*float64(interval) || ratio < r.param("more") || (estimate-q.P99).Seconds() < r.param("floor") {
		return []Finding{r.answer(Fine, "the slowest of %s requests took %s, %s times the mean: on a schedule the 99th percentile would have been about %s instead of %s (an estimate)",
			unit.Count(int64(worst.Load.Responses)), unit.Duration(q.Max), unit.Number(float64(q.Max)/float64(max(1, interval))), unit.Duration(estimate), unit.Duration(q.P99))}
	}
	f := r.answer(Found, "99%% of the requests took less than %s, but the slowest took %s, in which time a connection usually sends %s others: on a schedule of the same rate the 99th percentile would have been at least about %s (an estimate)",
		unit.Duration(q.P99), unit.Duration(q.Max), unit.Number(float64(q.Max)/float64(max(1, interval))), unit.Duration(estimate))
	f.Severity, f.Score = Info, score(ratio, 3, 20)
	if ratio >= 5 {
		f.Severity = Warning
	}
	f.Impact = &Impact{float64(estimate), "ns, estimate of the 99th percentile on a schedule", float64(q.P99), float64(q.Max)}
	f.Evidence = []Evidence{worst.seen(fmt.Sprintf("closed loop: %d connections, each sending a request every %s on average", worst.Log.Concurrency, unit.Duration(interval)))}
	if begin, end, ok := slowest(worst); ok {
		f.Evidence = append(f.Evidence, worst.during("the slowest request: "+unit.Duration(end.Sub(begin)), begin, end))
	}
	f.Advice = fmt.Sprintf("Send at a fixed rate below the service's capacity, such as %s a second: requests due during a stall are then measured from when they were due.", unit.Number(0.7*worst.Load.RPS))
	f.Verify = "With a schedule the report shows response times and service times side by side, and this rule passes."
	f.Doubts = append(in.doubts(), "the estimate assumes that a connection sends at its mean pace; if some requests are slow because they ask for more, not because of a stall, it is too high")
	return []Finding{f}
}

// withoutOmission estimates what a schedule of the same rate would have seen: a
// request that took longer than the mean time between two of its connection
// stands for those that would have been due meanwhile, each later by one such
// time and so shorter (Tene 2013, HdrHistogram's correction for an expected
// interval).
//
// Note: loupe sums up and compares what was measured; this is for the sentence
// of the finding alone.
func withoutOmission(l *loadRound) (interval, p99 time.Duration) {
	interval = time.Duration(float64(l.Log.Elapsed) * float64(max(1, l.Log.Concurrency)) / float64(max(1, l.Log.Len())))
	var h stats.Histogram
	left := 10 * l.Log.Len() // of a log that is damaged or strange
	for q := range l.Log.Answered() {
		took := q.Latency()
		h.Add(int64(took))
		for took -= interval; interval > 0 && took >= interval && left > 0; took -= interval {
			h.Add(int64(took))
			left--
		}
	}
	p, ok := h.QuantileBefore(0.99, uint64(l.Load.Unanswered()))
	if !ok {
		p = h.Max()
	}
	return interval, time.Duration(p)
}

// slowest is when the slowest request was under way.
func slowest(l *loadRound) (begin, end timeline.Time, ok bool) {
	for q := range l.Log.Answered() {
		if !ok || q.Latency() > end.Sub(begin) {
			begin, end, ok = q.Begin, q.End(), true
		}
	}
	return begin, end, ok
}

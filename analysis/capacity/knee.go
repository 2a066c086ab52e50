// Package capacity finds how much load a service can take: in the log of a run whose load
// changed, and by trying rates.
package capacity

import (
	"slices"
	"time"

	"loupe/format/loadlog"
	"loupe/value/stats"
	"loupe/value/timeline"
)

// What makes a knee, where more load stops bringing more answers.
const (
	// KneeP99 is the 99th percentile at the higher load, as a multiple.
	KneeP99 = 2
	// KneeGain is the share by less than which the answers grew.
	KneeGain = 0.10
	// KneeMore is what the load must have grown by where it was not chosen step by step.
	KneeMore = 1.2
)

// KeptUp is what share of an open loop's requests a service answers that keeps up
// with it.
const KeptUp = 0.95

// stepBins and stepLength say into what a load whose rate changes is cut.
const (
	stepBins   = 60
	stepLength = time.Second
	sameLoad   = 1.1 // within this ratio two stretches are one step
)

// Step is a service under one load.
type Step struct {
	// Offered is the load: requests due a second, or connections that each
	// send as fast as they are answered.
	Offered float64
	// RPS is how many requests a second were answered.
	RPS float64
	// P99 is the 99th percentile of their response times.
	P99 time.Duration
	// Requests were answered.
	Requests int
	// Span is when, on the clock of whoever measured.
	Span timeline.Span
}

// Knee finds where more load stops bringing more answers (rule LD01): the step
// with the lowest load beyond which no other has a tenth more answers, and of
// which one with so many times its load has a 99th percentile twice as long.
// The steps are in ascending order of load; ok is false when there is no such
// step.
//
// Note: that some other step has more load, longer times and no more answers is
// not enough. A stall of a second in a load that rises slowly is no limit when
// the service answers twice as many a few seconds later.
func Knee(steps []Step, more float64) (last, beyond int, ok bool) {
	for i, a := range steps {
		better := func(b Step) bool { return b.RPS >= (1+KneeGain)*a.RPS }
		if slices.ContainsFunc(steps[i+1:], better) {
			continue
		}
		for j, b := range steps[i+1:] {
			if b.Offered > a.Offered && b.Offered >= more*a.Offered && float64(b.P99) >= KneeP99*float64(a.P99) {
				return i, i + 1 + j, true
			}
		}
	}
	return 0, 0, false
}

// Steps cuts a load run, of which s is the summary, into the loads that it put on
// the service, on the log's own time; those with fewer answers than are enough are
// left out.
func Steps(log *loadlog.Log, s *loadlog.Summary, enough int) []Step {
	whole := timeline.Span{End: timeline.Time(log.Elapsed)}
	if !log.Open {
		if s.Responses < enough {
			return nil
		}
		return []Step{{Offered: float64(log.Concurrency), RPS: s.RPS, P99: s.Latency.P99, Requests: s.Responses, Span: whole}}
	}
	length := max(stepLength, log.Elapsed/stepBins+1)
	type bin struct {
		due, ended int
		latency    stats.Histogram
		failed     int
	}
	bins := make([]bin, log.Elapsed/length) // the last one, which is cut off, is left out
	for q := range log.All() {
		if i := int(q.Begin / timeline.Time(length)); i >= 0 && i < len(bins) {
			bins[i].due++
			if q.Error == 0 {
				bins[i].latency.Add(int64(q.Latency()))
			} else {
				bins[i].failed++
			}
		}
		if i := int(q.End() / timeline.Time(length)); i >= 0 && i < len(bins) && q.Error == 0 {
			bins[i].ended++
		}
	}
	top := 0
	for i := range bins {
		if bins[i].due > bins[top].due {
			top = i
		}
	}
	for top+1 < len(bins) && float64(bins[top+1].due)*sameLoad >= float64(bins[top].due) {
		top++
	}
	var steps []Step
	for i := 0; i < len(bins) && i <= top; {
		from, due, ended, failed := i, 0, 0, 0
		var latency stats.Histogram
		for ; i <= top && same(bins[i].due, bins[from].due); i++ {
			due, ended, failed = due+bins[i].due, ended+bins[i].ended, failed+bins[i].failed
			latency.Merge(&bins[i].latency)
		}
		took := time.Duration(i-from) * length
		if latency.Count() >= uint64(enough) {
			steps = append(steps, Step{
				Offered: float64(due) / took.Seconds(), RPS: float64(ended) / took.Seconds(), Requests: int(latency.Count()), P99: before(&latency, 0.99, failed),
				Span: timeline.Span{Start: timeline.Time(length) * timeline.Time(from), End: timeline.Time(length) * timeline.Time(i)},
			})
		}
	}
	return steps
}

// before is a percentile of answers and of so many requests that had none.
func before(h *stats.Histogram, q float64, failed int) time.Duration {
	if v, ok := h.QuantileBefore(q, uint64(failed)); ok {
		return time.Duration(v)
	}
	return loadlog.Never
}

// same tells whether two counts are those of one load.
func same(a, b int) bool {
	return float64(max(a, b)) <= sameLoad*float64(min(a, b)) || a == b
}

package insight

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"loupe/loadlog"
	"loupe/recording"
	"loupe/stats"
	"loupe/timeline"
	"loupe/unit"
)

var ld01 = &Rule{
	ID: "LD01", Title: "Beyond a rate more load only brings longer times",
	About: "Up to some rate a service answers as many requests as come. From there on requests queue: it answers hardly more of them, and all take longer. " +
		"That rate is its capacity, and where it is, one has to know before others find it.",
	Needs: []recording.Kind{recording.Load},
	Params: []Param{
		{"p99", kneeP99, "times", "research: the 99th percentile at the higher load, as a multiple"},
		{"gain", kneeGain, "share", "research: by less than this the answers grew"},
		{"more", kneeMore, "times", "chosen: what the load must have grown by"},
		{"requests", 100, "requests", "chosen: of a step; below this there is no percentile"},
	},
	Check: onLoads(checkKnee),
}

// What makes a knee; and what share of an open loop's requests a service answers
// that keeps up with it.
const (
	keptUp   = 0.95
	kneeP99  = 2
	kneeGain = 0.10
	kneeMore = 1.2
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
// which one with at least a fifth more load has a 99th percentile twice as long.
// The steps are in ascending order of load; ok is false when there is no such
// step.
//
// Note: that some other step has more load, longer times and no more answers is
// not enough. A stall of a second in a load that rises slowly is no limit when
// the service answers twice as many a few seconds later.
func Knee(steps []Step) (last, beyond int, ok bool) {
	for i, a := range steps {
		more := func(b Step) bool { return b.RPS >= (1+kneeGain)*a.RPS }
		if slices.ContainsFunc(steps[i+1:], more) {
			continue
		}
		for j, b := range steps[i+1:] {
			if b.Offered >= kneeMore*a.Offered && float64(b.P99) >= kneeP99*float64(a.P99) {
				return i, i + 1 + j, true
			}
		}
	}
	return 0, 0, false
}

func checkKnee(r *Rule, in *Input, all []loadRound) []Finding {
	var steps []Step
	at := map[timeline.Span]*loadRound{}
	for i := range all {
		l := &all[i]
		parts := l.steps(int(r.param("requests")))
		for k := range parts {
			parts[k].Span.Start, parts[k].Span.End = parts[k].Span.Start+l.start, parts[k].Span.End+l.start
			at[parts[k].Span] = l
		}
		steps = append(steps, parts...)
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.Offered, b.Offered) })
	if len(steps) == 0 {
		return []Finding{r.short("no second of the load has %g answers", r.param("requests"))}
	}
	low, high := steps[0], steps[len(steps)-1]
	if high.Offered < r.param("more")*low.Offered {
		return []Finding{r.answer(NotApplicable, "all requests came at one load: raise it in stages, or look for the highest rate, to find where the service is full")}
	}
	last, beyond, ok := Knee(steps)
	if !ok {
		return []Finding{r.answer(Fine, "from a load of %s to %s the answers went from %s to %s a second, and the 99th percentile from %s to %s",
			unit.Number(low.Offered), unit.Number(high.Offered), unit.Number(low.RPS), unit.Number(high.RPS), tookText(low.P99), tookText(high.P99))}
	}
	a, b := steps[last], steps[beyond]
	if why := at[b.Span].Load.Generator.Limited; why != "" {
		return []Finding{r.answer(TooLittle, "beyond %s answers a second it gets slower, but %s (LD04): whose limit that is, is not known", unit.Number(a.RPS), why)}
	}
	if at[a.Span].log.Open { // what did keep up shows the times before
		for i := last; i >= 0; i-- {
			if steps[i].RPS >= keptUp*steps[i].Offered {
				a.P99, a.Span, a.Offered = steps[i].P99, steps[i].Span, steps[i].Offered
				break
			}
		}
	}
	f := r.answer(Found, "the service is full at about %s answers a second: with a load of %s it answered %s, and the 99th percentile went from %s to %s",
		unit.Number(a.RPS), unit.Number(b.Offered), unit.Number(b.RPS), tookText(a.P99), tookText(b.P99))
	f.Severity, f.Score = Info, score(float64(b.P99)/float64(a.P99), 4, 40)
	f.Impact = &Impact{a.RPS, "answers a second", min(a.RPS, b.RPS), max(a.RPS, b.RPS)}
	for _, s := range []Step{a, b} {
		e := at[s.Span].seen(fmt.Sprintf("at a load of %s 99%% were answered within %s", unit.Number(s.Offered), tookText(s.P99)))
		e.Span = span(s.Span)
		f.Evidence = append(f.Evidence, e)
	}
	f.Advice = fmt.Sprintf("Plan for less than %s a second for each instance, and refuse what is beyond it: a queue only makes all wait. What is used up there (CPU, a lock, a pool) the findings of a recording at that rate say.", unit.Number(a.RPS))
	f.Verify = "Raise the load in the same stages again: the 99th percentile should turn up later."
	f.Doubts = in.doubts()
	return []Finding{f}
}

// stepBins and stepLength say into what a load whose rate changes is cut.
const (
	stepBins   = 60
	stepLength = time.Second
	sameLoad   = 1.1 // within this ratio two stretches are one step
)

// steps are the loads of a round: one for a closed loop, and of an open one the
// stretches of equal rate up to the highest of them. What comes after still has
// its queue to work off.
func (l *loadRound) steps(enough int) []Step { return Steps(l.log, l.Load, enough) }

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

// tookText is a time in words that may never have come.
func tookText(d time.Duration) string {
	if d == loadlog.Never {
		return "never"
	}
	return unit.Duration(d)
}

// same tells whether two counts are those of one load.
func same(a, b int) bool {
	return float64(max(a, b)) <= sameLoad*float64(min(a, b)) || a == b
}

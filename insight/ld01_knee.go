package insight

import (
	"cmp"
	"fmt"
	"slices"

	"loupe/analysis/capacity"
	"loupe/analysis/facts"
	"loupe/value/timeline"
	"loupe/value/unit"
)

var ld01 = &Rule{
	ID: "LD01", Title: "Saturation: beyond this rate, more load only adds latency",
	About: "Up to some rate a service answers all the requests it receives. Beyond it, requests queue: hardly more are answered, and all take longer. That " +
		"rate is its capacity; it is better to know it before your users find it.",
	Asks: []facts.Question{facts.Requests},
	Params: []Param{
		{"p99", capacity.KneeP99, "times", "research: the 99th percentile at the higher load, as a multiple"},
		{"gain", capacity.KneeGain, "share", "research: the answers grew by less than this"},
		{"more", capacity.KneeMore, "times", "chosen: how much the load must have grown"},
		{"requests", 100, "requests", "chosen: per step; with fewer there is no percentile"},
	},
	Check: onLoads(checkKnee),
}

func checkKnee(r *Rule, in *Input, all []loadRound) []Finding {
	var steps []capacity.Step
	at := map[timeline.Span]*loadRound{}
	for i := range all {
		l := &all[i]
		parts := l.steps(int(r.param("requests")))
		for k := range parts {
			parts[k].Span.Start, parts[k].Span.End = parts[k].Span.Start+l.Start, parts[k].Span.End+l.Start
			at[parts[k].Span] = l
		}
		steps = append(steps, parts...)
	}
	slices.SortStableFunc(steps, func(a, b capacity.Step) int { return cmp.Compare(a.Offered, b.Offered) })
	if len(steps) == 0 {
		return []Finding{r.short("no second of the load has %g answers", r.param("requests"))}
	}
	low, high := steps[0], steps[len(steps)-1]
	if high.Offered < r.param("more")*low.Offered {
		return []Finding{r.answer(NotApplicable, "all requests came at a single load: raise it in stages, or search for the highest rate, to find where the service saturates")}
	}
	last, beyond, ok := capacity.Knee(steps, capacity.KneeMore)
	behind := false // the highest load is the first that is too much: what was answered of it is the limit
	if !ok {
		last, beyond, ok = overrun(r, at, steps)
		behind = ok
	}
	if !ok {
		return []Finding{r.answer(Fine, "from a load of %s to %s the answers went from %s to %s a second, and the 99th percentile from %s to %s",
			unit.Number(low.Offered), unit.Number(high.Offered), unit.Number(low.RPS), unit.Number(high.RPS), capacity.Time(low.P99), capacity.Time(high.P99))}
	}
	a, b := steps[last], steps[beyond]
	if why := at[b.Span].Load.Generator.Limited; why != "" {
		return []Finding{r.answer(TooLittle, "beyond %s answers a second it gets slower, but %s (LD04): it is not known whose limit that is", unit.Number(a.RPS), why)}
	}
	if at[a.Span].Log.Open { // what did keep up shows the times before
		for i := last; i >= 0; i-- {
			if steps[i].RPS >= capacity.KeptUp*steps[i].Offered {
				a.P99, a.Span, a.Offered = steps[i].P99, steps[i].Span, steps[i].Offered
				break
			}
		}
	}
	full := a.RPS
	if behind {
		full = b.RPS
	}
	f := r.answer(Found, "the service saturates at about %s answers a second: with a load of %s it answered %s, and the 99th percentile went from %s to %s",
		unit.Number(full), unit.Number(b.Offered), unit.Number(b.RPS), capacity.Time(a.P99), capacity.Time(b.P99))
	f.Severity, f.Score = Info, score(float64(b.P99)/float64(a.P99), 4, 40)
	f.Impact = &Impact{full, "answers a second", min(a.RPS, b.RPS), max(a.RPS, b.RPS)}
	for _, s := range []capacity.Step{a, b} {
		e := at[s.Span].seen(fmt.Sprintf("at a load of %s 99%% were answered within %s", unit.Number(s.Offered), capacity.Time(s.P99)))
		e.Span = span(s.Span)
		f.Evidence = append(f.Evidence, e)
	}
	f.Advice = fmt.Sprintf("Plan for less than %s a second per instance, and reject load beyond it: a queue only makes everyone wait. The findings of a recording at that rate show what is exhausted there (CPU, a lock, a pool).", unit.Number(full))
	f.Verify = "Raise the load in the same stages again: the 99th percentile should start to rise later."
	f.Doubts = in.doubts()
	if behind {
		f.Doubts = append(f.Doubts, "only one load was too much: a further stage would show whether a higher load brings more answers")
	}
	return []Finding{f}
}

// overrun finds two steps of open loops that follow each other, of which the service kept up
// with the first and fell behind with the second: the answers then grew, and still it is full.
func overrun(r *Rule, at map[timeline.Span]*loadRound, steps []capacity.Step) (last, beyond int, ok bool) {
	for i := range max(0, len(steps)-1) {
		a, b := steps[i], steps[i+1]
		open := at[a.Span].Log.Open && at[b.Span].Log.Open
		if open && a.RPS >= capacity.KeptUp*a.Offered && b.RPS < capacity.KeptUp*b.Offered &&
			b.Offered >= r.param("more")*a.Offered && float64(b.P99) >= r.param("p99")*float64(a.P99) {
			return i, i + 1, true
		}
	}
	return 0, 0, false
}

// steps are the loads of a round: one for a closed loop, and of an open one the
// stretches of equal rate up to the highest of them. What comes after still has
// its queue to work off.
func (l *loadRound) steps(enough int) []capacity.Step { return capacity.Steps(l.Log, l.Load, enough) }

package insight

import (
	"loupe/analysis/facts"
	"loupe/value/unit"
)

var gc02 = &Rule{
	ID: "GC02", Title: "Slow stop: stopping the world takes longer than the work it is for",
	About: "Stopping the world waits until every P has stopped, does its work, then restarts them. If the waiting is most of the pause, " +
		"some goroutine was slow to stop, or its thread had no CPU.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"share", 0.5, "share of the pauses' time", "research"},
		{"p99", 100e-6, "s", "as for GC01: a shorter pause does no harm"},
		{"pauses", 20, "pauses", "chosen: below this, a percentile means little"},
	},
	Part:  true,
	Check: onTrace(checkSlowStop),
}

func checkSlowStop(r *Rule, in *Input, t *traced) []Finding {
	whole, stopping := t.ForCollector()
	if whole.Count == 0 {
		return []Finding{r.answer(Fine, "no collection stopped the program during the trace")}
	}
	if whole.Count < int64(r.param("pauses")) {
		return []Finding{r.short("the trace has %d collector pauses; %g are needed", whole.Count, r.param("pauses"))}
	}
	share := float64(stopping.Sum) / float64(max(1, whole.Sum))
	p99 := whole.Quantile(0.99)
	if p99.Seconds() < r.param("p99") || share < r.param("share") {
		return []Finding{r.answer(Fine, "of %s pauses (99%% within %s) %s was spent on waiting for Ps to stop", unit.Count(whole.Count), unit.Duration(p99), unit.Percent(share))}
	}
	f := r.answer(Found, "%s of the time of %s pauses was spent on waiting for Ps to stop, %s of %s at the 99th percentile",
		unit.Percent(share), unit.Count(whole.Count), unit.Duration(stopping.Quantile(0.99)), unit.Duration(p99))
	f.Impact = exactly(share, "share of the pauses' time")
	f.Severity, f.Score = Info, score(stopping.Quantile(0.99).Seconds(), r.param("p99"), 10*r.param("p99"))
	f.Evidence = t.worstPauses()
	f.Advice = "Look for code that cannot be stopped: a loop in assembly or cgo, memory being paged in; and for more running threads than CPUs."
	f.Verify = "Record again under the same load: /sched/pauses/stopping/gc:seconds and this share should fall."
	f.Doubts = in.traceDoubts(t, "a trace shows when the last P stopped, not which goroutine was late")
	late(in, &f, t.Entry.Phase)
	return []Finding{f}
}

package insight

import (
	"fmt"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/value/unit"
)

var sc14 = &Rule{
	ID: "SC14", Title: "Long computations delay other goroutines",
	About: "A computing goroutine keeps its P for 10 ms before the runtime preempts it, and often for longer. Goroutines " +
		"that wait for a P meanwhile pay with their latency.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"run", sched.LongRun.Seconds(), "s", "the runtime's time slice (forcePreemptNS); research"},
		{"delay", 0.10, "share of the trace", "chosen: what others waited meanwhile"},
		{"part", 0.10, "share of all waits for a P", "chosen: less is not what makes them wait"},
	},
	Part:  true,
	Check: onTrace(checkHog),
}

func checkHog(r *Rule, in *Input, t *traced) []Finding {
	if len(t.Hogs) == 0 {
		return []Finding{r.answer(Fine, "no goroutine ran for 10 ms while others waited for a P")}
	}
	h := t.Hogs[0]
	mean := float64(h.Delay) / float64(max(1, h.Runs.Sum))
	text := fmt.Sprintf("%s ran %s for 10 ms or longer, up to %s, while %s others waited on average: they lost %s in total",
		t.name(h.Name), unit.Plural(h.Runs.Count, "time"), unit.Duration(h.Runs.Max), unit.Number(mean), unit.Duration(h.Delay))
	all := t.Parallel.Waited
	if t.Share(h.Delay) < r.param("delay") || float64(h.Delay) < r.param("part")*float64(all) {
		return []Finding{r.answer(Fine, "%s, of %s in all", text, unit.Duration(all))}
	}
	if in.public().computes() {
		return []Finding{r.answer(Fine, "%s%s", text, noLoss)}
	}
	f := r.answer(Found, "%s", text)
	f.Impact = exactly(float64(h.Delay), "ns waited by others meanwhile")
	f.Severity, f.Score = Warning, score(t.Share(h.Delay), r.param("delay"), 2)
	w := &h.Worst
	f.Evidence = []Evidence{t.seen(w.Stack, "goroutine %s ran for %s, %s after the trace began; meanwhile %s others waited on average",
		unit.Count(int64(w.G)), unit.Duration(w.Len()), t.since(w.Start), unit.Number(float64(h.WorstDelay)/float64(max(1, w.Len())))).during(t, w.Start, w.End).ofGoroutine(w.G)}
	f.Advice = "Split the computation into parts and yield the P in between (runtime.Gosched costs less than a microsecond); or limit how many compute at once, and measure the throughput at several limits: too low a limit reduces it."
	f.Verify = "Record again under the same load: waits for a P (SC07) should fall."
	f.Doubts = in.traceDoubts(t)
	late(in, &f, t.Entry.Phase)
	in.public().weigh(&f)
	return []Finding{f}
}

package insight

import (
	"fmt"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var sc07 = &Rule{
	ID: "SC07", Title: "Scheduler latency: goroutines wait long for a P",
	About: "The time from when a goroutine becomes runnable (started, woken up or preempted) until it runs. All of " +
		"it adds to the latency of whatever the goroutine works for.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"info", 1e-3, "s", "schedstat: 99th percentile"},
		{"warning", 10e-3, "s", "research: 99th percentile"},
		{"waits", 50, "waits", "chosen: below this, a percentile means little"},
		{"share", 0.05, "share of the time they wanted to run", "chosen: less is not worth a change"},
	},
	Part:  true,
	Check: onTrace(checkLatency),
}

func checkLatency(r *Rule, in *Input, t *traced) []Finding {
	waits := t.ForP()
	if waits.Count < int64(r.param("waits")) {
		return []Finding{r.short("goroutines of the program waited %d times for a P; %g are needed", waits.Count, r.param("waits"))}
	}
	p99 := waits.Quantile(0.99)
	share := float64(waits.Sum) / float64(max(1, waits.Sum+t.Running()))
	if p99.Seconds() < r.param("info") || share < r.param("share") {
		return []Finding{r.answer(Fine, "99%% of %s waits for a P took less than %s, %s of the time that the program's goroutines wanted to run", unit.Count(waits.Count), unit.Duration(p99), unit.Percent(share))}
	}
	text := fmt.Sprintf("1%% of %s waits for a P took longer than %s, half of them longer than %s; goroutines waited in %s of the time in which they wanted to run",
		unit.Count(waits.Count), unit.Duration(p99), unit.Duration(waits.Quantile(0.5)), unit.Percent(share))
	if in.public().computes() {
		return []Finding{r.answer(Fine, "%s%s", text, noLoss)}
	}
	f := r.answer(Found, "%s", text)
	f.Impact = exactly(float64(p99), "ns, 99th percentile of the waits for a P")
	f.Severity, f.Score = Info, score(p99.Seconds(), r.param("info"), r.param("warning"))
	if p99.Seconds() >= r.param("warning") {
		f.Severity = Warning
	}
	shown := map[stack.Frame]bool{}
	for i := range t.Latency.Worst {
		w := &t.Latency.Worst[i]
		if site := t.Site(w.Stack); t.Own(w.Name) && !shown[site] && len(shown) < 3 {
			shown[site] = true
			f.Evidence = append(f.Evidence, t.seen(w.Stack, "goroutine %s waited here for %s, %s after the trace began", unit.Count(int64(w.G)), unit.Duration(w.Len()), t.since(w.Start)).during(t, w.Start, w.End).ofGoroutine(w.G))
		}
	}
	f.Advice = "Let fewer goroutines compute at once (SC04, SC05), and split long computations into parts (SC14); or give the program more CPUs."
	f.Verify = "Record again under the same load: the 99th percentile should fall below 1 ms."
	f.Doubts = in.traceDoubts(t)
	late(in, &f, t.Entry.Phase)
	in.public().weigh(&f)
	return []Finding{f}
}

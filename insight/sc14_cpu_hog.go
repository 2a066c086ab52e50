package insight

import (
	"fmt"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
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
		{"runs", 0.50, "share of the running time of these goroutines", "chosen: in such long runs, if other programs use the CPUs too; less is what the kernel does to any thread"},
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
	if n := competing(in, t.Entry.Phase); n != nil && float64(h.Runs.Sum) < r.param("runs")*float64(t.running(h.Name)) {
		return []Finding{r.answer(TooLittle, "%s; but %s, and a thread that the kernel takes off its CPU looks like one that computes: record on a quiet machine", text, inUse(in, n))}
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

// competing is what is known of the machine in a phase, or in all rounds, where other programs
// kept its CPUs busy; else nil.
func competing(in *Input, phase string) *facts.Noise {
	for _, n := range []*facts.Noise{in.Facts.NoiseOf(phase), in.Facts.Noise()} {
		if n.Full() && n.Competing >= facts.NoisyCompeting {
			return n
		}
	}
	return nil
}

// running is how long all goroutines ran that began with a function.
func (t *traced) running(name exectrace.NameID) (sum time.Duration) {
	for _, g := range t.Groups {
		if g.Name == name {
			sum += g.Exec
		}
	}
	return sum
}

package insight

import (
	"fmt"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/unit"
)

var sc05 = &Rule{
	ID: "SC05", Title: "Too many or too few workers for the number of Ps",
	About: "For CPU-bound work, about as many goroutines as Ps is right. More of them spend as long waiting for a P as running, " +
		"and each takes longer; fewer leave Ps idle while others wait for them.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"many", 2, "wanting a P, for each P", "research"},
		{"each", 0.010, "s", "chosen: how long a worker runs in the trace; less is an item, not a worker"},
		{"run", 0.001, "s", "chosen: the mean run of a worker; shorter ones share a P without harm"},
		{"busy", 0.7, "share of the trace", "chosen: how long each of too few workers runs"},
		{"waited", 0.2, "share of the trace", "chosen: how long others wait to hand something to them"},
	},
	Check: onTrace(checkPoolSize),
}

func checkPoolSize(r *Rule, in *Input, t *traced) []Finding {
	if t.Parallel.Procs == 0 {
		return []Finding{r.answer(TooLittle, "the trace does not say how many Ps there are")}
	}
	procs := float64(t.Parallel.Procs)
	var top *sched.Group
	want := 0.0
	for _, g := range t.OwnGroups() {
		if w := t.Share(g.Exec + g.SchedWait); w > want && g.Exec.Seconds() >= r.param("each")*float64(g.Count) && g.Run.Mean().Seconds() >= r.param("run") {
			top, want = g, w
		}
	}
	if top != nil && want > r.param("many")*procs && !in.public().computes() {
		return []Finding{tooMany(r, in, t, top, want)}
	}
	if f, ok := tooFew(r, in, t); ok {
		return []Finding{f}
	}
	if top == nil {
		return []Finding{r.answer(Fine, "no kind of goroutine computes for long")}
	}
	text := fmt.Sprintf("%.2f goroutines of %s wanted to run at once, on average, on %g Ps; %.2f did", want, t.name(top.Name), procs, t.Share(top.Exec))
	if want > r.param("many")*procs {
		text += noLoss
	}
	return []Finding{r.answer(Fine, "%s", text)}
}

// tooMany says that more goroutines compute than can.
func tooMany(r *Rule, in *Input, t *traced, g *sched.Group, want float64) Finding {
	f := r.answer(Found, "%.1f goroutines of %s wanted to run at once, on average, on %d Ps: they ran for %s and waited %s for a P",
		want, t.name(g.Name), t.Parallel.Procs, unit.Duration(g.Exec), unit.Duration(g.SchedWait))
	f.Impact = exactly(want/float64(t.Parallel.Procs), "goroutines that want to run for each P")
	f.Severity, f.Score = Info, score(want/float64(t.Parallel.Procs), 2, 10)
	if in.public().serves() {
		f.Severity = Warning
	}
	f.Evidence = []Evidence{t.longestOf(g, "a wait for a P took up to %s, 99%% of them within %s; up to %s of them were alive", unit.Duration(g.Wait.Max), unit.Duration(g.Wait.Quantile(0.99)), unit.Count(g.Peak))}
	f.Advice = "Find the best limit by experiment: measure throughput and tail latency with a semaphore around the computation, at several sizes. No goroutine may wait for others while it holds a slot: waiting for the network, a lock or a file needs far more slots than there are Ps. More answers a second need less work each, or more CPUs."
	f.Verify = "Record again under the same load: waits for a P should fall, and the tail latency with them."
	f.Doubts = in.traceDoubts(t, "the load generator and other programs use CPUs too: a running goroutine may be waiting for the kernel")
	full(in, &f)
	return f
}

// longestOf is evidence at the longest run of a group, where one is known.
func (t *traced) longestOf(g *sched.Group, format string, args ...any) Evidence {
	for i := range t.Runs.Longest {
		if run := &t.Runs.Longest[i]; run.Name == g.Name {
			return t.seen(run.Stack, format, args...)
		}
	}
	return t.seen(0, t.name(g.Name)+": "+format, args...)
}

// tooFew says that senders wait for busy workers while a P is idle.
func tooFew(r *Rule, in *Input, t *traced) (Finding, bool) {
	procs := t.Parallel.Procs
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool { return b.Reason == exectrace.NameChanSend && len(b.Wakers) > 0 }) {
		worker := t.OwnGroup(t.Reader.Root(b.Wakers[0].Stack))
		if worker == nil || worker.Peak == 0 || worker.Peak >= int64(procs) || t.Share(b.Wait.Sum) < r.param("waited") ||
			t.Share(worker.Exec) < r.param("busy")*float64(worker.Peak) || t.Parallel.Mean() > float64(procs)-0.5 {
			continue
		}
		f := r.answer(Found, "%s waited %s to hand something to %s (%d for %d Ps), each busy for %s of the time; %.2f Ps ran on average",
			place(t.Site(b.Stack)), unit.Duration(b.Wait.Sum), t.name(worker.Name), worker.Peak, procs, unit.Percent(t.Share(worker.Exec)/float64(worker.Peak)), t.Parallel.Mean())
		f.Impact = exactly(float64(procs)-t.Parallel.Mean(), "Ps idle on average")
		f.Severity, f.Score = Warning, score(1-t.Parallel.Mean()/float64(procs), 0.3, 0.8)
		f.Evidence = []Evidence{
			t.seen(b.Stack, "%s waits, the longest %s", unit.Count(b.Wait.Count), unit.Duration(b.Wait.Max)),
			t.seen(b.Wakers[0].Stack, "the worker receives here, %s times", unit.Count(b.Wakers[0].Count)),
		}
		f.Advice = "Start more of these workers, and measure the throughput at several counts: they are busy while a P is idle. Workers that also wait, for the network or a file, should outnumber the Ps. The slowest stage of a pipeline needs the most workers."
		if worker.Peak == 1 {
			f.Severity = Info
			f.Advice = "One goroutine does all of this work, while a P is idle. If its items do not depend on each other, let several do it (guard what they share), or hand some of the work to the sender. The slowest stage of a pipeline needs the most workers."
			f.Doubts = append(f.Doubts, "one goroutine may be alone on purpose: then what only it uses needs no lock, and the order is kept")
		}
		f.Verify = "Record again: more Ps should run on average, and the wall time should fall."
		f.Doubts = append(f.Doubts, in.traceDoubts(t, "if hand-offs dominate (SC03), more workers only wait for each other")...)
		return f, true
	}
	return Finding{}, false
}

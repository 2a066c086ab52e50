package insight

import (
	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/value/unit"
)

var sc06 = &Rule{
	ID: "SC06", Title: "A P is idle while a runnable goroutine waits",
	About: "A runnable goroutine should be picked up by an idle P within about ten microseconds, the time it takes to wake a thread. If " +
		"it is not, the operating system has no CPU for the thread, or goroutines are locked to threads.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"stretch", sched.LongIdle.Seconds(), "s", "chosen: shorter waits are threads waking up"},
		{"info", 0.01, "share of the trace", "chosen: in such stretches"},
		{"warning", 0.05, "share of the trace", "research"},
	},
	Part:  true,
	Check: onTrace(checkIdleProcs),
}

func checkIdleProcs(r *Rule, in *Input, t *traced) []Finding {
	p := &t.Parallel
	if p.Procs == 0 {
		return []Finding{r.answer(TooLittle, "the trace does not say how many Ps there are")}
	}
	share := t.Share(p.IdleLong)
	if share < r.param("info") {
		return []Finding{r.answer(Fine, "a P was idle while a goroutine waited in %s of the time, in stretches of 100 µs or more in %s; the longest took %s",
			unit.Percent(t.Share(p.IdleWhileQueued)), unit.Percent(share), unit.Duration(p.LongestIdle))}
	}
	if len(t.Info.Problems) > 0 {
		// A P whose events are lost looks idle, and who ran on it as if he waited.
		return []Finding{r.answer(TooLittle, "in %s of the time a P seems to have been idle while a goroutine waited, but not all of %s could be read (%v), and lost data looks the same: record the trace again",
			unit.Percent(share), t.Entry.Path, t.Info.Problems[0])}
	}
	f := r.answer(Found, "in %s of the time a P was idle while a goroutine waited, for 100 µs or more at a stretch; the longest took %s",
		unit.Percent(share), unit.Duration(p.LongestIdle))
	f.Impact = exactly(share, "share of the time")
	f.Severity, f.Score = Info, score(share, r.param("warning"), 0.3)
	if share >= r.param("warning") {
		f.Severity = Warning
	}
	f.Evidence = []Evidence{t.seen(0, "the longest stretch, %s after the trace began", t.since(p.LongestIdleAt)).during(t, p.LongestIdleAt, p.LongestIdleAt.Add(p.LongestIdle))}
	f.Advice = "Look for runtime.LockOSThread and for GOMAXPROCS above the available CPUs (cgroup quota, other programs); if neither applies, the machine is too busy to measure on."
	f.Verify = "Record again: the share should be below 1%."
	f.Doubts = in.traceDoubts(t)
	if v := in.Session.Manifest().Host.Virtual; v != "" {
		f.Doubts = append(f.Doubts, "the machine is virtual ("+v+"): when its host has no CPU for it, threads wake up late")
	}
	late(in, &f, t.Entry.Phase)
	return []Finding{f}
}

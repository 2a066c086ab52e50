package insight

import (
	"time"

	"loupe/analysis/sched"
	"loupe/value/unit"
)

// checkLongPauseTraced goes by the trace, which has every pause to 64 ns, the
// wait for goroutines to stop included, and where it began.
func checkLongPauseTraced(r *Rule, in *Input, t *traced, whole *sched.Histogram) Finding {
	limit := time.Duration(r.param("pause") * 1e9)
	p99 := whole.Quantile(0.99)
	long := 1 - whole.Below(limit)
	if whole.Max <= limit {
		return r.answer(Fine, "none of %s pauses in the trace was longer than 100 µs (99%% within %s)", unit.Count(whole.Count), unit.Duration(p99))
	}
	f := r.answer(Found, "%s of %s pauses in the trace were longer than 100 µs; 99%% were within %s, the longest took %s",
		unit.Percent(long), unit.Count(whole.Count), unit.Duration(p99), unit.Duration(whole.Max))
	f.Impact = exactly(long, "share of pauses over 100 µs")
	f.Severity, f.Score = Info, score(float64(p99), float64(limit), 5*float64(limit))
	if p99.Seconds() > r.param("p99") {
		f.Severity = Warning
	}
	f.Evidence = t.worstPauses()
	adviseOnPauses(in, &f, t.Entry.Phase, in.traceDoubts(t))
	return f
}

// worstPauses are the longest stops for the collector.
func (t *traced) worstPauses() (out []Evidence) {
	for _, p := range t.GC.Worst {
		if len(out) < 3 && t.OfCollector(p.Kind) {
			out = append(out, t.seen(p.Stack, "%s took %s, of which %s until the last P had stopped, %s after the trace began",
				t.StopName(p.Kind), unit.Duration(p.Span.Len()), unit.Duration(p.Stopping), t.since(p.Span.Start)).during(t, p.Span.Start, p.Span.End).ofCollector())
		}
	}
	return out
}

// adviseOnPauses completes a finding of long pauses.
func adviseOnPauses(in *Input, f *Finding, phase string, doubts []string) {
	f.Advice = "Pauses before marking wait for goroutines to stop: look for tight loops, long system calls and cgo; pauses after it grow with the number of goroutines."
	f.Verify = "Record again under the same load: 99% of pauses should stay below 100 µs."
	f.Doubts = doubts
	in.public().weigh(f)
	late(in, f, phase)
	if len(f.Doubts) > 0 {
		f.Advice += " Or nothing was running: see the doubts."
	}
}

package insight

import (
	"time"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

var sc04 = &Rule{
	ID: "SC04", Title: "Unbounded goroutine creation",
	About: "More goroutines do not compute faster: beyond the number of Ps they only wait in run queues, hold their stacks, and delay " +
		"everything else. Hundreds today may be a million tomorrow.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"alive", 100, "goroutines for each P", "research: alive at once, from one go statement"},
		{"queue", 5, "waiting for each P", "schedstat: a burst of runnable goroutines"},
		{"time", 0.05, "share of the trace", "research: the queue's 95th percentile"},
		{"warn", 1000, "goroutines of a service", "the healthy programs: a scrape of node_exporter starts 45, and four scrapes 180; of others ten times as many"},
	},
	Check: onTrace(checkFanOut),
}

// queued is the share of the trace in which at least n goroutines waited for
// a P, and how many waited most of that time.
func (t *traced) queued(n int) (share float64) {
	sum := time.Duration(0)
	for k, d := range t.Parallel.Queued {
		if k >= n {
			sum += d
		}
	}
	return t.Share(sum)
}

// lasting tells that most of the goroutines of a go statement have not ended: they wait for
// ever (SC10), or are workers and connections. A bound would let none start any more.
func (l *launch) lasting() bool { return 2*l.each.Count < l.created }

func checkFanOut(r *Rule, in *Input, t *traced) []Finding {
	procs := max(1, t.Parallel.Procs)
	limit := int(r.param("queue")) * procs
	share := t.queued(limit)
	var most *launch
	for _, l := range t.launches() {
		if in.Session.Scope().IsOutsideStandard(l.site) && !l.lasting() && (most == nil || l.peak > most.peak) { // nobody can change the library
			most = l
		}
	}
	if most == nil {
		return []Finding{r.answer(Fine, "no goroutine was started and ended during the trace")}
	}
	if float64(most.peak) < r.param("alive")*float64(procs) || share < r.param("time") {
		return []Finding{r.answer(Fine, "at most %s from one go statement (%s) were alive at once; %d or more waited for one of %d Ps in %s of the time",
			unit.Plural(most.peak, "goroutine"), place(most.site), limit, procs, unit.Percent(share))}
	}
	f := r.answer(Found, "%s goroutines that were started at %s were alive at once, on %d Ps; in %s of the time %d or more waited for a P",
		unit.Count(most.peak), place(most.site), procs, unit.Percent(share), limit)
	f.Impact = exactly(float64(most.peak), "goroutines alive at once")
	f.Severity, f.Score = Info, score(float64(most.peak)/float64(procs), 100, 5000)
	if warn := int64(r.param("warn")); most.peak >= 10*warn || in.public().serves() && most.peak >= warn {
		f.Severity = Warning
	}
	f.Evidence = []Evidence{t.seen(most.stack, "%s goroutines were started here, and ran for a median of %s each", unit.Count(most.created), unit.Duration(most.each.Quantile(0.5)))}
	f.Advice = "Limit them with a semaphore (a channel of capacity n) before the go statement, and measure the throughput at several n: pure computation gains nothing from more goroutines than Ps, waiting for others needs many more."
	f.Verify = "Record again: the number of goroutines should follow the limit, and the wall time should stay the same or fall."
	f.Doubts = in.traceDoubts(t, "if the number is known and small, a few hundred do little harm")
	return []Finding{f}
}

package insight

import (
	"loupe/analysis/facts"
	"loupe/value/unit"
)

var gc15 = &Rule{
	ID: "GC15", Title: "Finalizers and cleanups fall behind",
	About: "One goroutine runs all finalizers, and a few run the cleanups. If they are slower than objects die, queued objects stay in memory, and what they hold stays open.",
	Asks:  []facts.Question{facts.Counters},
	Params: []Param{
		{"backlog", 1000, "waiting", "chosen: fewer are done in a moment"},
		{"windows", 3, "parts of the time", "research, GC15: in each of which it rises"},
	},
	Part:  true,
	Check: checkBacklog,
}

// queues are the metrics of both kinds, by their names in a sentence.
var queues = []struct{ what, queued, executed string }{
	{"finalizers", "/gc/finalizers/queued:finalizers", "/gc/finalizers/executed:finalizers"},
	{"cleanups", "/gc/cleanups/queued:cleanups", "/gc/cleanups/executed:cleanups"},
}

func checkBacklog(r *Rule, in *Input) []Finding {
	all, none := r.readings(in, queues[0].queued)
	if none != nil {
		return none
	}
	most, windows, enough := 0.0, int(r.param("windows")), false
	for _, one := range all {
		for _, q := range queues {
			queued, executed := one.Values(q.queued), one.Values(q.executed)
			n := min(len(queued), len(executed))
			if n <= windows {
				continue
			}
			enough = true
			waiting := make([]float64, n)
			for i := range n {
				waiting[i] = queued[i] - executed[i]
				most = max(most, waiting[i])
			}
			rises := true
			for k := range windows {
				rises = rises && waiting[(k+1)*(n-1)/windows] > waiting[k*(n-1)/windows]
			}
			last := waiting[n-1]
			if !rises || last < r.param("backlog") {
				continue
			}
			f := r.answer(Found, "%s %s are queued, and the queue grows from reading to reading: %s were queued and %s ran in %s", unit.Count(int64(last)), q.what,
				unit.Count(int64(queued[n-1]-queued[0])), unit.Count(int64(executed[n-1]-executed[0])), unit.Duration(one.Length))
			f.Impact = exactly(last, q.what+" behind")
			f.Severity, f.Score = Warning, score(last, r.param("backlog"), 100*r.param("backlog"))
			f.Evidence = []Evidence{readFrom(one, "%s were queued at the start, %s at the end", unit.Count(int64(waiting[0])), unit.Count(int64(last)))}
			f.Advice = "Release resources explicitly when no longer needed (Close, defer), and use finalizers only as a safety net. A finalizer that must wait for something should start a goroutine."
			f.Verify = "Record again: the queued and executed counts should keep pace."
			return []Finding{f}
		}
	}
	if !enough {
		return []Finding{r.short("%s has %g or fewer readings of runtime/metrics; more are needed", in.where(), r.param("windows"))}
	}
	return []Finding{r.answer(Fine, "at most %s finalizers or cleanups were queued", unit.Count(int64(most)))}
}

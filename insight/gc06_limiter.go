package insight

import (
	"loupe/analysis/facts"
	"loupe/value/unit"
)

var gc06 = &Rule{
	ID: "GC06", Title: "GC CPU limiter: the collector reached its CPU limit",
	About: "The runtime lets the collector have half of the CPU time and no more. Where it would need more, as under a limit of memory that is too small, " +
		"it stops making goroutines help and lets the heap grow instead: the program is as slow as it gets, and uses more memory than it was told to.",
	Asks: []facts.Question{facts.Counters},
	Params: []Param{
		{"share", 0.10, "share of the busy time", "research, GC07: a limiter that was on for a moment alone costs nothing"},
	},
	Part:  true,
	Check: checkLimiter,
}

func checkLimiter(r *Rule, in *Input) []Finding {
	const name = "/gc/limiter/last-enabled:gc-cycle"
	all, none := r.readings(in, name)
	if none != nil {
		return none
	}
	for _, one := range all {
		v := one.Values(name)
		if len(v) < 2 || v[len(v)-1] <= v[0] {
			continue
		}
		last := v[len(v)-1]
		share, source, _ := mostCollecting(in)
		if !(share >= r.param("share")) {
			return []Finding{r.answer(Fine, "the limiter was on at collection %s, and collecting took %s", unit.Count(int64(last)), unit.Percent(share))}
		}
		f := r.answer(Found, "the collector's CPU limiter was on, last at collection %s of %s; collecting took %s (%s)",
			unit.Count(int64(last)), unit.Count(int64(max(last, one.Last("/gc/cycles/total:gc-cycles")))), unit.Percent(share), source)
		f.Impact = exactly(share, "share of the busy time")
		f.Severity, f.Score = Critical, score(share, 0.10, 0.40)
		f.Evidence = []Evidence{readFrom(one, "%s went from %.0f to %.0f", name, v[0], last)}
		if limit := limitIn(one); limit > 0 {
			f.Advice = "The memory limit of " + mib(limit) + " is too small for what the program keeps: raise GOMEMLIMIT, or keep less (GC16 says what is kept)."
		} else {
			f.Advice = "Without a limit of memory the collector cannot keep up with the rate of allocation: allocate less, keep fewer pointers (GC13), or raise GOGC where the memory is there."
		}
		f.Verify = "Record again under the same load: " + name + " should stay as it is."
		f.Doubts = in.doubts()
		return []Finding{f}
	}
	return []Finding{r.answer(Fine, "the collector's CPU limiter was never on in %s", in.where())}
}

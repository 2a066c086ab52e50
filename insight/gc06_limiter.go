package insight

import (
	"loupe/analysis/facts"
	"loupe/value/unit"
)

var gc06 = &Rule{
	ID: "GC06", Title: "GC CPU limiter: the collector reached its CPU limit",
	About: "The runtime limits the collector to half of the CPU time. If it would need more, as under a memory limit that is too small, it stops mark " +
		"assists and lets the heap grow instead: the program is at its slowest, and uses more memory than it was allowed.",
	Asks: []facts.Question{facts.Counters},
	Params: []Param{
		{"share", 0.10, "share of the busy time", "research, GC07: a limiter that was on only for a moment costs nothing"},
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
			return []Finding{r.answer(Fine, "the limiter was on at collection %s, and garbage collection took %s", unit.Count(int64(last)), unit.Percent(share))}
		}
		f := r.answer(Found, "the GC CPU limiter was on, last at collection %s of %s; garbage collection took %s (%s)",
			unit.Count(int64(last)), unit.Count(int64(max(last, one.Last("/gc/cycles/total:gc-cycles")))), unit.Percent(share), source)
		f.Impact = exactly(share, "share of the busy time")
		f.Severity, f.Score = Critical, score(share, 0.10, 0.40)
		f.Evidence = []Evidence{readFrom(one, "%s went from %.0f to %.0f", name, v[0], last)}
		if limit := limitIn(one); limit > 0 {
			f.Advice = "The memory limit of " + mib(limit) + " is too small for the live heap: raise GOMEMLIMIT, or keep less (GC16 says what is kept)."
		} else {
			f.Severity = Warning // it lets the heap grow, which nothing forbids
			f.Advice = "Even without a memory limit the collector cannot keep up with the allocation rate. " + lessAllocated(in) + " Keeping fewer pointers (GC13) and a higher GOGC, if memory allows, make it work less as well."
		}
		f.Verify = "Record again under the same load: " + name + " should stay as it is."
		f.Doubts = in.doubts()
		if n := in.Facts.Noise(); limitIn(one) == 0 && n.Full() {
			f.Severity = Info
			f.Doubts = append(f.Doubts, inUse(in, n)+": the limiter counts the time of Ps, also while the kernel runs something else on their CPUs")
		}
		return []Finding{f}
	}
	return []Finding{r.answer(Fine, "the GC CPU limiter was never on in %s", in.where())}
}

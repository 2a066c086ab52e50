package insight

import (
	"fmt"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

var gc14 = &Rule{
	ID: "GC14", Title: "GOMEMLIMIT is not set although the container has a memory limit",
	About: "When a cgroup's memory limit is reached, the program is killed. The runtime does not look at that limit: without GOMEMLIMIT the heap grows to its goal, whether there is room or not.",
	Asks:  []facts.Question{facts.Counters, facts.Host},
	Params: []Param{
		{"goal", 0.70, "share of the container's limit", "research, GC14"},
		{"limit", 0.90, "share of the container's limit", "the Go garbage collection guide: 5 to 10% for what Go does not see"},
	},
	Part:  true,
	Check: checkNoLimit,
}

func checkNoLimit(r *Rule, in *Input) []Finding {
	all, none := r.readings(in, "/gc/heap/goal:bytes", "/gc/gomemlimit:bytes", "/gc/heap/live:bytes")
	if none != nil {
		return none
	}
	have := float64(facts.MemoryLimit(in.Facts))
	if have == 0 {
		return []Finding{r.answer(Fine, "no cgroup limits the program's memory")}
	}
	goal, live := 0.0, 0.0
	var at *facts.Readings
	for _, one := range all {
		if limit := limitIn(one); limit > 0 {
			return []Finding{r.answer(Fine, "GOMEMLIMIT is %s in a container of %s", mib(limit), mib(have))}
		}
		lives := one.Values("/gc/heap/live:bytes")
		for i, g := range one.Values("/gc/heap/goal:bytes") {
			if g > goal && g < 1<<62 {
				at, goal, live = one, g, lives[min(i, len(lives)-1)]
			}
		}
	}
	if at == nil || goal < r.param("goal")*have {
		return []Finding{r.answer(Fine, "the heap goal was at most %s; the container has %s", mib(goal), mib(have))}
	}
	f := r.answer(Found, "the heap may grow to %s before the next collection, the container has %s, and GOMEMLIMIT is not set", mib(goal), mib(have))
	f.Impact = exactly(goal/have, "share of the container's limit")
	f.Severity, f.Score = Warning, score(goal/have, r.param("goal"), 1.2)
	f.Evidence = []Evidence{readFrom(at, "the heap goal was %s with %s live", mib(goal), mib(live))}
	limit := int64(r.param("limit")*have) >> 20 << 20
	if 1.3*live > float64(limit) {
		f.Advice = "Give the container more memory, or keep less (GC16): a GOMEMLIMIT that fits would be so close to the live heap that the collector would run all the time (GC07)."
	} else {
		f.Advice = fmt.Sprintf("Set GOMEMLIMIT=%dMiB, %s of the container's memory: the runtime then collects earlier instead of being killed.", limit>>20, unit.Percent(r.param("limit")))
	}
	f.Verify = "Record again: the resident memory should stay below the container's limit, and the collector's share (GC03) should not rise much."
	f.Doubts = []string{"the runtime does not count C memory and mapped files: leave room for them"}
	return []Finding{f}
}

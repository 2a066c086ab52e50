package insight

import (
	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/unit"
)

var gc11 = &Rule{
	ID: "GC11", Title: "Stacks of goroutines take much of the memory",
	About: "Each goroutine has a stack of 2 KiB and more, which grows to what its deepest call needs and shrinks only when the collector finds it mostly empty. " +
		"The collector scans all of them.",
	Asks: []facts.Question{facts.Counters},
	Params: []Param{
		{"share", 0.20, "share of the runtime's memory", "research, GC11"},
		{"least", 16, "MB", "chosen: less is no reason to look"},
	},
	Part:  true,
	Check: checkStacks,
}

func checkStacks(r *Rule, in *Input) []Finding {
	const name = "/memory/classes/heap/stacks:bytes"
	all, none := r.readings(in, name, "/memory/classes/total:bytes", "/memory/classes/heap/released:bytes")
	if none != nil {
		return none
	}
	var worst *facts.Readings
	most, of, goroutines := 0.0, 1.0, 0.0
	for _, one := range all {
		inUse, count := one.InUse(), one.Values("/sched/goroutines:goroutines")
		for i, b := range one.Values(name) {
			if b > most && i < len(inUse) {
				worst, most, of = one, b, inUse[i]
				if i < len(count) {
					goroutines = count[i]
				}
			}
		}
	}
	share := most / max(1, of)
	if worst == nil || share < r.param("share") || most < r.param("least")*1e6 {
		return []Finding{r.answer(Fine, "stacks took at most %s, %s of the runtime's memory then", mib(most), unit.Percent(share))}
	}
	f := r.answer(Found, "stacks took %s, %s of the runtime's memory, with %s goroutines: %s each", mib(most), unit.Percent(share), unit.Count(int64(goroutines)), mib(most/max(1, goroutines)))
	f.Impact = exactly(share, "share of the runtime's memory")
	f.Severity, f.Score = Info, score(most, 64<<20, 1<<30)
	if most >= 256<<20 {
		f.Severity = Warning
	}
	f.Evidence = []Evidence{readFrom(worst, "%s of stacks of %s in use", mib(most), mib(of))}
	if looks, _ := in.Facts.WaitsOf(recording.Goroutine); len(looks) > 0 {
		f.Evidence = append(f.Evidence, mostGoroutines(in, looks[0], goroutines)...)
	}
	f.Advice = "Have fewer goroutines at once (SC04, SC10), or make their deepest call need less: large arrays as local variables and deep recursion grow a stack, which is doubled each time."
	f.Verify = "Record again: /memory/classes/heap/stacks:bytes should fall."
	return []Finding{f}
}

// mostGoroutines shows where most goroutines of a look are, if it was while there were so
// many.
func mostGoroutines(in *Input, w *facts.AllWaits, many float64) []Evidence {
	var top *facts.Wait
	all := int64(0)
	for i := range w.All {
		x := &w.All[i]
		if all += x.Count; top == nil || x.Count > top.Count {
			top = x
		}
	}
	if top == nil || 2*top.Count < all || 2*float64(all) < many {
		return nil
	}
	return []Evidence{in.fileAt(w.Entry, w.Site(top), top.Frames, "%s of %s goroutines are here, %d calls deep", unit.Count(top.Count), unit.Count(all), len(top.Frames))}
}

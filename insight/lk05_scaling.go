package insight

import (
	"cmp"
	"fmt"
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stats"
	"loupe/value/unit"
)

var lk05 = &Rule{
	ID: "LK05", Title: "A benchmark scales poorly with more Ps",
	About: "With -cpu 1,2,4 go test runs a benchmark with more and more Ps. If an operation takes longer with more Ps, or four do hardly more than one, they wait for each other: for a lock, for " +
		"a cache line that all write to, or for the collector.",
	Asks: []facts.Question{facts.Benchmarks},
	Params: []Param{
		{"slower", 1.25, "times", "chosen: more than cores differ from each other"},
		{"parallel", 1.3, "times", "chosen: a benchmark that is this much faster with more Ps uses them"},
		{"efficiency", 0.5, "of the Ps", "research, LK05"},
		{"ps", 4, "Ps", "chosen: two may be hyperthreads of one core"},
		{"runs", 4, "runs of each", "chosen: all runs must be separate"},
	},
	Check: checkScaling,
}

func checkScaling(r *Rule, in *Input) []Finding {
	all, none := r.benchmarks(in)
	if none != nil {
		return none
	}
	by := map[string][]*facts.Benchmark{}
	var names []string
	cpus := in.Session.Manifest().Host.CPUs
	for _, b := range all {
		if cpus > 0 && b.Procs > cpus {
			continue // more Ps than CPUs do no more
		}
		if by[b.Name] == nil {
			names = append(names, b.Name)
		}
		by[b.Name] = append(by[b.Name], b)
	}
	var found []Finding
	judged, few := 0, false
	for _, name := range names {
		rows := by[name]
		slices.SortFunc(rows, func(a, b *facts.Benchmark) int { return cmp.Compare(a.Procs, b.Procs) })
		if len(rows) < 2 {
			continue
		}
		if slices.ContainsFunc(rows, func(b *facts.Benchmark) bool { return len(b.Seconds) < int(r.param("runs")) }) {
			few = true
			continue
		}
		judged++
		if f, ok := scaling(r, rows, cpus); ok {
			found = append(found, f)
		}
	}
	switch {
	case len(found) > 0:
		slices.SortStableFunc(found, func(a, b Finding) int { return b.Score - a.Score })
		return found[:min(3, len(found))]
	case judged > 0:
		return []Finding{r.answer(Fine, "none of %s that ran with several numbers of Ps takes longer with more of them", unit.Plural(int64(judged), "benchmark"))}
	case few:
		return []Finding{r.short("no benchmark has %g runs for each number of Ps: go test -bench . -cpu 1,2,4 -count 6", r.param("runs"))}
	}
	return []Finding{r.answer(NotApplicable, "no benchmark ran with several numbers of Ps (go test -bench . -cpu 1,2,4 -count 6)")}
}

// scaling judges the rows of one benchmark, the fewest Ps first.
func scaling(r *Rule, rows []*facts.Benchmark, cpus int) (f Finding, ok bool) {
	one, most := rows[0], rows[len(rows)-1]
	took := func(b *facts.Benchmark) float64 { return stats.Median(b.Seconds) }
	times := took(most) / took(one)
	more := float64(most.Procs) / float64(one.Procs)
	best := slices.MinFunc(rows, func(a, b *facts.Benchmark) int { return cmp.Compare(took(a), took(b)) })
	speedUp := took(one) / took(best)
	efficiency := took(one) / took(most) / more
	switch {
	case times >= r.param("slower") && slices.Min(most.Seconds) > slices.Max(one.Seconds):
		f = r.answer(Found, "%s takes %s with %s and %s with %d: %s times as long", one.Name, each(took(one)), unit.Plural(int64(one.Procs), "P"), each(took(most)), most.Procs, unit.Number(times))
	case speedUp >= r.param("parallel") && slices.Max(best.Seconds) < slices.Min(one.Seconds) && float64(most.Procs) >= r.param("ps") && efficiency < r.param("efficiency"):
		f = r.answer(Found, "%s is %s times as fast with %d Ps as with %d, %s of the possible speed-up", one.Name, unit.Number(took(one)/took(most)), most.Procs, one.Procs, unit.Percent(efficiency))
	default:
		return f, false
	}
	f.Severity, f.Score = Info, score(1-efficiency, 0.5, 0.9)
	f.Impact = exactly(efficiency, "of the speed possible with this many Ps")
	for _, b := range rows {
		f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%s: %s with %s", b.Name, each(took(b)), unit.Plural(int64(b.Procs), "P")), Path: b.Path})
	}
	f.Advice = "Record the benchmark with the most Ps (loupe run -test PACKAGE -phases cpu,mutex,trace -bench NAME): LK01 names a lock that all wait for. If there is none, look for a variable or adjacent fields that all write to (false sharing: use a counter per P, or padding), and for allocation (AL01)."
	f.Verify = "go test -bench NAME -cpu 1,2,4 -count 6: the time should not rise with the Ps."
	f.Doubts = []string{"two hyperthreads of a core do less than two cores, and a virtual machine may have fewer cores than it shows"}
	if cpus == 0 {
		f.Doubts = append(f.Doubts, fmt.Sprintf("the output does not say how many CPUs the machine has: with fewer than %d this is to be expected", most.Procs))
	}
	return f, true
}

// each is the time of one operation.
func each(seconds float64) string { return unit.Nanoseconds(seconds*1e9) + "/op" }

package insight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stats"
	"loupe/value/unit"
)

var bm01 = &Rule{
	ID: "BM01", Title: "The compiler optimised the benchmark away",
	About: "A call whose result is unused may be eliminated once it is inlined: the loop then only counts, which takes a fraction of a nanosecond per iteration.",
	Asks:  []facts.Question{facts.Benchmarks},
	Params: []Param{
		{"least", 1e-9, "s", "research, BM01: a few clock cycles, the least that any call takes; for a parallel benchmark times the number of Ps"},
	},
	Measurement: true,
	Check:       checkOptimisedAway,
}

func checkOptimisedAway(r *Rule, in *Input) []Finding {
	all, none := r.benchmarks(in)
	if none != nil {
		return none
	}
	f := r.answer(Found, "")
	var names []string
	fastest := time.Duration(1<<63 - 1)
	for _, b := range all {
		took := slices.Min(b.Seconds) // a busy machine makes an empty loop slower, not faster
		fastest = min(fastest, time.Duration(took*1e9))
		if took >= r.param("least") || took <= 0 || parallel(b, all) {
			continue
		}
		names = appendNew(names, b.Name)
		if len(f.Evidence) < evidenceLines {
			f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%s with %s/op", b.Name, unit.Nanoseconds(took*1e9)), Path: b.Path})
		}
	}
	if len(names) == 0 {
		return []Finding{r.answer(Fine, "the fastest of %s takes %s or more per operation", unit.Plural(int64(len(all)), "benchmark"), unit.Duration(max(1, fastest)))}
	}
	f.Summary = f.Evidence[0].Text + ", which is less than any call takes"
	if len(names) > 1 {
		f.Summary = fmt.Sprintf("%s take less per operation than any call does, such as %s", unit.Plural(int64(len(names)), "benchmark"), f.Evidence[0].Text)
	}
	f.Severity, f.Score = Warning, 60
	f.Impact = exactly(float64(len(names)), "benchmarks that measure nothing")
	f.Advice = "Write the loop as for b.Loop() (Go 1.24): it keeps arguments and results alive. With older versions, assign the result to a package variable after the loop."
	f.Verify = "go test -bench NAME: the time should rise to what the work takes."
	f.Doubts = []string{"if one operation is a fraction of a batch (b.N divided by a batch size), a fraction of a nanosecond may be real"}
	return []Finding{f}
}

// parallel tells of a benchmark that several Ps may do operations of at a time: then the
// time of one is that of all Ps, divided by their number. Its name says so, or that it is
// faster with more Ps.
func parallel(b *facts.Benchmark, all []*facts.Benchmark) bool {
	if name := strings.ToLower(b.Name); strings.Contains(name, "parallel") || strings.Contains(name, "concurrent") {
		return true
	}
	for _, o := range all {
		if o.Name == b.Name && o.Procs < b.Procs && stats.Median(o.Seconds) > 1.3*stats.Median(b.Seconds) {
			return true
		}
	}
	return false
}

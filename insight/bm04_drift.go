package insight

import (
	"fmt"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stats"
	"loupe/value/unit"
)

var bm04 = &Rule{
	ID: "BM04", Title: "Benchmark drift: runs became slower or faster over time",
	About: "With -count the runs of a benchmark follow each other. If later runs take longer, the machine has become slower (its clock, its neighbours), or the benchmark accumulates data: a difference " +
		"from another file may then be due to the time of day.",
	Asks: []facts.Question{facts.Benchmarks},
	Params: []Param{
		{"runs", 8, "runs", "chosen: fewer show no trend"},
		{"chance", 0.01, "probability", "research, BM04; Mann–Kendall test, which is rank-based like Spearman's"},
		{"change", 0.05, "share of the median", "chosen: from the first run to the last, by the Theil–Sen slope"},
	},
	Measurement: true,
	Check:       checkDrift,
}

func checkDrift(r *Rule, in *Input) []Finding {
	all, none := r.benchmarks(in)
	if none != nil {
		return none
	}
	f := r.answer(Found, "")
	var parts []string
	judged, slower, most := 0, 0, 0.0
	for _, b := range all {
		n := len(b.Seconds)
		if n < int(r.param("runs")) {
			continue
		}
		judged++
		order := make([]float64, n)
		for i := range order {
			order[i] = float64(i)
		}
		_, p := stats.MannKendall(b.Seconds)
		slope := stats.TheilSen(order, b.Seconds, compare.Confidence)
		change := slope.Estimate * float64(n-1) / stats.Median(b.Seconds)
		if p >= r.param("chance") || max(change, -change) < r.param("change") {
			continue
		}
		if change > 0 {
			slower++
		}
		most = max(most, change, -change)
		text := fmt.Sprintf("%s changed by %s from the first of %d runs to the last (p = %s)", b.Name, unit.Change(1+change), n, unit.Number(p))
		parts = append(parts, text)
		f.Evidence = append(f.Evidence, Evidence{Text: text, Path: b.Path})
	}
	switch {
	case judged == 0:
		return []Finding{r.short("no benchmark has %g runs: go test -bench . -count 10", r.param("runs"))}
	case len(parts) == 0:
		return []Finding{r.answer(Fine, "none of %s has a trend from run to run", unit.Plural(int64(judged), "benchmark"))}
	}
	f.Summary = strings.Join(parts[:min(3, len(parts))], "; ") + more(len(parts)-3)
	if slower >= 3 && slower == len(parts) && 2*slower > judged {
		f.Summary = fmt.Sprintf("%d of %d benchmarks became slower from run to run, which points at the machine: %s", slower, judged, parts[0])
	}
	f.Evidence = f.Evidence[:min(evidenceLines, len(f.Evidence))]
	f.Severity, f.Score = Info, score(most, 0.1, 0.5)
	f.Impact = exactly(most, "share of the median, from the first run to the last")
	f.Advice = "Interleave two versions (old, new, old, new) instead of running one after the other. If only one benchmark becomes slower, look for what it keeps from run to run: a map, a slice or a file that grows."
	f.Verify = "Run it again on a quiet machine: drift that remains is the benchmark's own."
	return []Finding{f}
}

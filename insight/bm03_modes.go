package insight

import (
	"fmt"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stats"
	"loupe/value/unit"
)

var bm03 = &Rule{
	ID: "BM03", Title: "A benchmark is bimodal, or ran hardly any garbage collections",
	About: "If the runs of a benchmark fall into two groups with nothing in between, or one run has one collection and the next has two, their median describes " +
		"neither: some runs had one more collection, a different memory layout, or a different processor.",
	Asks: []facts.Question{facts.Benchmarks},
	Params: []Param{
		{"runs", 8, "runs", "chosen: fewer show no modes"},
		{"apart", 0.05, "share of the faster mode", "chosen: less does not matter to most comparisons"},
		{"collections", 10, "collections in a run", "research, BM03 (go#52466): below ten, one more or less is a tenth of them"},
	},
	Measurement: true,
	Check:       checkModes,
}

func checkModes(r *Rule, in *Input) []Finding {
	all, none := r.benchmarks(in)
	if none != nil {
		return none
	}
	f := r.answer(Found, "")
	var parts []string
	most, judged := 0.0, 0
	for _, b := range all {
		text := ""
		collected := stats.Median(b.Collections)
		if len(b.Seconds) >= int(r.param("runs")) || collected > 0 {
			judged++
		}
		if len(b.Seconds) >= int(r.param("runs")) {
			low, high, ok := stats.TwoModes(b.Seconds)
			if apart := stats.Median(high)/stats.Median(low) - 1; ok && apart >= r.param("apart") {
				most = max(most, apart)
				text = fmt.Sprintf("%s has two modes: %d runs at %s and %d at %s", b.Name, len(low), eachMedian(low), len(high), eachMedian(high))
			}
		}
		if text == "" && collected > 0 && collected < r.param("collections") {
			text = fmt.Sprintf("%s has %s in a run", b.Name, unit.Plural(int64(collected), "collection"))
		}
		if text != "" {
			parts = append(parts, text)
			f.Evidence = append(f.Evidence, Evidence{Text: text, Path: b.Path})
		}
	}
	switch {
	case len(parts) > 0:
	case judged == 0:
		return []Finding{r.short("no benchmark has %g runs: go test -bench . -count 10", r.param("runs"))}
	default:
		return []Finding{r.answer(Fine, "the runs of each of %s form one group", unit.Plural(int64(judged), "benchmark"))}
	}
	f.Summary = strings.Join(parts[:min(3, len(parts))], "; ") + more(len(parts)-3)
	f.Evidence = f.Evidence[:min(evidenceLines, len(f.Evidence))]
	f.Severity, f.Score = Info, max(25, score(most, 0.1, 0.5))
	f.Advice = "Make each run longer (-benchtime 2s or more), so that it has tens of collections, and interleave what is compared (old, new, old, new): a median between two modes moves with the share of each."
	f.Verify = "go test -bench NAME -benchtime 2s -count 10: this rule is then fine."
	return []Finding{f}
}

// more counts what a list leaves out.
func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("; and %d more", n)
}

// eachMedian is the median of times in seconds.
func eachMedian(seconds []float64) string {
	return unit.Nanoseconds(stats.Median(seconds)*1e9) + "/op"
}

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"loupe/value/stats"
)

// The budgets that are checked.
const (
	maxNsPerEvent  = 35.0 // of our reader and summarizer, on one core
	maxBeyond      = 0.3  // of the file
	maxSummary     = 1.0  // seconds of CPU for the page of a trace of summarySize
	summarySize    = 105e6
	confidence     = 0.95
	nothingToPrint = "–"
)

// printTables prints all that was measured as Markdown.
func printTables(w io.Writer, results []*result) {
	for _, s := range results[0].samples {
		alike := make([]float64, len(s))
		fmt.Fprintf(w, "%d rounds; intervals at %.0f %%.\n\n", len(s), 100*stats.Compare(stats.Side{Values: alike}, stats.Side{Values: alike}, confidence).Confidence)
		break
	}
	printTimes(w, results)
	printMemory(w, results)
	printCommands(w, results)
	printBudgets(w, results)
}

// printTimes is the table of CPU time an event.
func printTimes(w io.Writer, results []*result) {
	fmt.Fprint(w, "CPU time an event in ns, median (least–most):\n\n",
		"| trace | MB | million events | official reader | loupe reader | times less | official summarizer | loupe summarizer | times less |\n",
		"|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range results {
		fmt.Fprintf(w, "| %s | %.1f | %.2f | %s | %s | %s | %s | %s | %s |\n", r.name, float64(r.bytes)/1e6, float64(r.events)/1e6,
			spread(r.nsPerEvent(oracleRead), "%.0f"), spread(r.nsPerEvent(ourRead), "%.0f"), ratio(r.cpu(ourRead), r.cpu(oracleRead)),
			spread(r.nsPerEvent(oracleSum), "%.0f"), spread(r.nsPerEvent(ourSum), "%.0f"), ratio(r.cpu(ourSum), r.cpu(oracleSum)))
	}
}

// printMemory is the table of memory.
func printMemory(w io.Writer, results []*result) {
	fmt.Fprint(w, "\nPeak memory in MB; loupe maps the file, which the third column leaves out:\n\n",
		"| trace | official summarizer | loupe summarizer | beyond the file | of the file |\n",
		"|---|--:|--:|--:|--:|\n")
	for _, r := range results {
		beyond := r.each(ourSum, func(s sample) float64 { return float64(s.beyond) / 1e6 })
		share := nothingToPrint
		if len(beyond) > 0 {
			share = fmt.Sprintf("%.2f", stats.Median(beyond)*1e6/float64(r.bytes))
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", r.name,
			spread(r.rss(oracleSum), "%.0f"), spread(r.rss(ourSum), "%.0f"), spread(beyond, "%.1f"), share)
	}
}

// printCommands is the table of what a user waits for.
func printCommands(w io.Writer, results []*result) {
	fmt.Fprint(w, "\nThe first page: CPU seconds and peak MB.\n\n",
		"| trace | go tool trace | its memory | loupe trace summary | its memory | times less CPU | times less memory | a second time |\n",
		"|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range results {
		cpu, memory := spread(r.cpu(viewerWay), "%.1f"), spread(r.rss(viewerWay), "%.0f")
		less, lessMemory := ratio(r.cpu(summaryFirst), r.cpu(viewerWay)), ratio(r.rss(summaryFirst), r.rss(viewerWay))
		if why := r.failed(viewerWay); why != "" {
			cpu += " until " + why
			less, lessMemory = nothingToPrint, nothingToPrint
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", r.name, cpu, memory,
			spread(r.cpu(summaryFirst), "%.2f"), spread(r.rss(summaryFirst), "%.0f"), less, lessMemory, spread(r.cpu(summaryAgain), "%.2f"))
	}
}

// printBudgets says which budgets are met. The least of all rounds counts: what
// else ran on the machine can only add to it.
func printBudgets(w io.Writer, results []*result) {
	fmt.Fprintln(w, "\nBudgets, by the least of all rounds:")
	fmt.Fprintln(w)
	check := func(what, name, format string, values []float64, limit float64) {
		if len(values) == 0 {
			return
		}
		verdict, least := "met", slices.Min(values)
		if least > limit {
			verdict = "**missed**"
		}
		fmt.Fprintf(w, "- %s, %s: "+format+" of "+format+", %s\n", name, what, least, limit, verdict)
	}
	for _, r := range results {
		check("ns an event of reader and summarizer", r.name, "%.1f", r.nsPerEvent(ourSum), maxNsPerEvent)
		check("memory beyond the file, as a share of it", r.name, "%.2f",
			r.each(ourSum, func(s sample) float64 { return float64(s.beyond) / float64(r.bytes) }), maxBeyond)
		if float64(r.bytes) > 0.9*summarySize {
			check("CPU seconds of loupe trace summary for each 105 MB", r.name, "%.2f",
				r.each(summaryFirst, func(s sample) float64 { return s.cpu * summarySize / float64(r.bytes) }), maxSummary)
		}
	}
}

// each returns one figure of every run of a way.
func (r *result) each(way string, of func(sample) float64) (values []float64) {
	for _, s := range r.samples[way] {
		values = append(values, of(s))
	}
	return values
}

func (r *result) cpu(way string) []float64 {
	return r.each(way, func(s sample) float64 { return s.cpu })
}

func (r *result) rss(way string) []float64 {
	return r.each(way, func(s sample) float64 { return float64(s.rss) / 1e6 })
}

func (r *result) nsPerEvent(way string) []float64 {
	return r.each(way, func(s sample) float64 { return s.cpu * 1e9 / float64(r.events) })
}

// failed returns why runs of a way did not come to their end.
func (r *result) failed(way string) string {
	for _, s := range r.samples[way] {
		if s.failed != "" {
			return s.failed
		}
	}
	return ""
}

// spread prints the median with the least and the most.
func spread(values []float64, format string) string {
	if len(values) == 0 {
		return nothingToPrint
	}
	median := fmt.Sprintf(format, stats.Median(values))
	least, most := fmt.Sprintf(format, slices.Min(values)), fmt.Sprintf(format, slices.Max(values))
	if least == most {
		return median
	}
	return fmt.Sprintf("%s (%s–%s)", median, least, most)
}

// ratio prints how much more than ours the other way takes, with an interval.
func ratio(ours, others []float64) string {
	if len(ours) == 0 || len(others) == 0 {
		return nothingToPrint
	}
	r := stats.Compare(stats.Side{Values: ours}, stats.Side{Values: others}, confidence)
	one := func(x float64) string { return strings.TrimSuffix(fmt.Sprintf("%.3g", x), ".0") }
	return fmt.Sprintf("%s× [%s, %s]", one(r.Estimate), one(r.Low), one(r.High))
}

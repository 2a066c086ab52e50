package main

import (
	"fmt"
	"io"
	"slices"

	"loupe/value/unit"
)

// spread is the middle of several figures, and how far they go.
type spread struct{ least, median, most float64 }

func spreadOf(list []sample, value func(sample) float64) (s spread) {
	if len(list) == 0 {
		return s
	}
	var all []float64
	for _, x := range list {
		all = append(all, value(x))
	}
	slices.Sort(all)
	n := len(all)
	return spread{all[0], (all[(n-1)/2] + all[n/2]) / 2, all[n-1]}
}

func (s spread) format(verb string) string {
	if s == (spread{}) {
		return "–"
	}
	return fmt.Sprintf(verb+" ("+verb+"–"+verb+")", s.median, s.least, s.most)
}

func times(tool, ours spread) string {
	if tool.median == 0 || ours.median == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f×", tool.median/ours.median)
}

// printTable prints what was measured, a row for each task.
func printTable(w io.Writer, results []result) error {
	fmt.Fprintln(w, "| profile and command | packed | pprof s | loupe s | times less | pprof MB | loupe MB | times less | output |")
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, r := range results {
		cpu, memory := func(s sample) float64 { return s.cpu }, func(s sample) float64 { return float64(s.rss) / 1e6 }
		a, b := spreadOf(r.tool, cpu), spreadOf(r.loupe, cpu)
		c, d := spreadOf(r.tool, memory), spreadOf(r.loupe, memory)
		_, err := fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.task.name, unit.Bytes(r.size),
			a.format("%.2f"), b.format("%.3f"), times(a, b), c.format("%.0f"), d.format("%.0f"), times(c, d), unit.Bytes(r.output))
		if err != nil {
			return err
		}
	}
	return nil
}

package insight

import (
	"strings"

	"loupe/analysis/facts"
)

var cp19 = &Rule{
	ID: "CP19", Title: "Sorting uses much of the CPU",
	About: "The CPU time of package sort and of the sort functions of package slices, including the program's own " +
		"comparisons. Code that sorts again after each change does n log n comparisons where a few would do.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU time", "chosen; the lower bound of the interval counts"},
		{"warn", 0.25, "share of CPU time", "chosen"},
		{"samples", 30, "samples", "chosen: for a large share the interval is narrow enough with fewer samples than elsewhere"},
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "sort", skip: []string{"startup"}, below: true, direct: true, through: []string{"sort", "slices"}, byUser: "sort",
		what: "went into sorting", tell: func(h *hit, f *Finding) {
			f.Advice = "Sort once, after the last change or on first use, where nothing needs the order before that; insert a single element at the position found by binary search (slices.BinarySearchFunc, slices.Insert); if only " +
				"the first few are needed, use a heap; and compute sort keys once per element, not in each comparison."
			if sortsStably(h.lines[0].Callee) {
				f.Advice = strings.Replace(f.Advice, "at the position found by binary search (slices.BinarySearchFunc, slices.Insert)", "behind all that compare equal to it, as the sort is stable ("+behindEqual+")", 1)
			}
			if tellSortKeys(h, f) || tellSortAppended(h, f) || tellSortOnce(h, f) || tellSortKeysChange(h, f) || tellSortInOrder(h, f) {
				return
			}
			if v, frames, at := stackOf(h, h.lines[0]); at >= 0 {
				if x, ok := keyedOn(h.in, v, frames, at); ok {
					f.Advice = x.text(h.in) + " Or " + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
				}
			}
			f.Doubts = append(f.Doubts, "data that arrives unsorted, is sorted once and queried often is worth sorting")
		}}),
}

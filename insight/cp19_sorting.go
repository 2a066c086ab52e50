package insight

import (
	"loupe/analysis/facts"
)

var cp19 = &Rule{
	ID: "CP19", Title: "Sorting uses much of the CPU",
	About: "The CPU time of package sort and of the sorts of package slices, comparisons of the program's own with it. " +
		"Who sorts again after each change does n log n comparisons where a few would do.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU time", "chosen; the lower bound of the interval counts"},
		{"warn", 0.25, "share of CPU time", "chosen"},
		{"samples", 30, "samples", "chosen: the interval of a large share is narrow enough with fewer than elsewhere"},
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "sort", skip: []string{"startup"}, below: true,
		what: "went into sorting", tell: func(h *hit, f *Finding) {
			f.Advice = "Sort once, after the last change, or when somebody first asks; insert one more at the place that a binary search finds (slices.BinarySearchFunc, slices.Insert); " +
				"for the first few alone keep a heap of them; and compute what is compared once for each and not in each comparison."
			f.Doubts = append(f.Doubts, "what comes in any order, is sorted once and asked often is sorted with reason")
		}}),
}

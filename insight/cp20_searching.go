package insight

import (
	"loupe/analysis/facts"
)

var cp20 = &Rule{
	ID: "CP20", Title: "Searching from begin to end takes much of the CPU",
	About: "The CPU time of what looks at one element, byte or file after the other until it finds something: Index and Contains of packages slices, strings and bytes, with the " +
		"program's own comparisons. One search is cheap; one for each item makes the time grow with the product of both.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU time", "chosen; the lower bound of the interval counts"},
		{"warn", 0.25, "share of CPU time", "chosen"},
		{"samples", 30, "samples", "chosen: as for CP19"},
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "search", skip: []string{"startup"}, below: true, direct: true, through: []string{"slices", "strings", "bytes"},
		what: "went into searching from begin to end", tell: func(h *hit, f *Finding) {
			f.Advice = "Look it up in place of searching: a map by what is compared, or a sorted slice and slices.BinarySearch; build it once, before the loop. Of many terms in one text look for all at once " +
				"(strings.NewReplacer, one regular expression, an index of words)."
			f.Doubts = append(f.Doubts, "some ten elements are searched faster than a map is asked")
		}}),
}

package bench

import (
	"slices"

	"loupe/analysis/compare"
	"loupe/capture/bench"
	"loupe/value/stats"
)

// Measured is a case with its last side held against the first, for those who measure with
// this package's words and judge by their own limits.
func Measured(c *bench.Case, looks stats.Looks) compare.Measured {
	return (&measurement{looks: looks}).measured(c, len(c.Sides)-1)
}

// Notes say what is to be said beside the figures of cases: which benchmarks one side alone
// has, and what others did on the machine meanwhile. Titles are what the sides are called.
func Notes(cases []*bench.Case, lost []bench.Lost, titles [2]string) []string {
	m := &measurement{titles: titles[:], cases: cases}
	m.lost(lost)
	if slices.ContainsFunc(cases, func(c *bench.Case) bool { return c.Rounds() > 0 }) {
		m.noise()
	}
	return m.notes
}

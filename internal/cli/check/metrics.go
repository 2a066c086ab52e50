package check

import (
	"fmt"
	"maps"
	"slices"

	"loupe/capture/bench"
)

// metrics tells what groups hold to limits and no benchmark reports, for a misspelt metric would
// pass for ever; and the notes on those that the base does not have.
func metrics(groups []*group) (missing map[string]*group, notes []string) {
	missing = map[string]*group{}
	told := map[string]bool{}
	for _, g := range groups {
		for _, unit := range slices.Sorted(maps.Keys(g.of.allow.metrics)) {
			if told[unit] {
				continue
			}
			told[unit] = true
			switch measured, mine, base := reporting(groups, unit); {
			case !measured: // why is told already
			case !mine:
				missing[unit] = g
			case !base:
				notes = append(notes, fmt.Sprintf("The base does not report %s: there is nothing to compare it with.", unit))
			}
		}
	}
	return missing, notes
}

// reporting tells whether anything was measured of what holds a metric to a limit, and whether the
// working tree and the base report it. Of a baseline nobody asks: what it lacks is told.
func reporting(groups []*group, unit string) (measured, mine, base bool) {
	for _, g := range groups {
		if _, held := g.of.allow.metrics[unit]; !held {
			continue
		}
		for _, c := range g.cases {
			last := len(c.Sides) - 1
			measured = measured || c.Rounds() > 0
			mine = mine || reports(&c.Sides[last], unit)
			base = base || last == 0 || reports(&c.Sides[0], unit)
		}
	}
	return measured, mine, base
}

func reports(s *bench.Side, unit string) bool {
	return slices.ContainsFunc(s.Results, func(r bench.Result) bool { _, ok := r.Value(unit); return ok })
}

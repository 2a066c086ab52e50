package insight

import (
	"slices"

	"loupe/analysis/facts"
)

// handedDial is [waitsForDial] of waits for goroutines that make the connections: those who wait do so at another line than the calls, for a
// WaitGroup or a channel.
func handedDial(c *causal, i, j int) bool {
	wait := &c.all[i]
	if c.all[j].Rule != ld06.ID || !slices.ContainsFunc(wait.waits, func(row *facts.UnitRow) bool { return row.Cause.Site.Frame.Line > 0 }) {
		return false
	}
	x, rows := *c, slices.Clone(wait.waits)
	for k, row := range rows {
		if row.Cause.Site.Frame.Line > 0 {
			there := *row
			there.Kind, there.Site = row.Cause.Kind, row.Cause.Site
			rows[k] = &there
		}
	}
	x.all = slices.Clone(c.all)
	x.all[i].waits = rows
	return waitsForDial(&x, i, j)
}

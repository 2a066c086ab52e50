package insight

import (
	"slices"
	"time"
)

// slotForDial tells of a wait for a slot of a pool, and of connections that are made anew, that who has got the slot makes
// one, in the function that waits for it: then the queue is there because connections are slow to make, and a larger pool
// makes more of them at once.
func slotForDial(slot, dial *Finding) bool {
	if slot.Rule != wt04.ID || len(slot.Evidence) == 0 || !dial.Severity.AtLeast(Warning) || !dial.Severity.AtLeast(slot.Severity) {
		return false
	}
	at := slot.Evidence[0]
	if at.Function == "" {
		return false
	}
	return slices.ContainsFunc(dial.Evidence, func(e Evidence) bool {
		i := slices.IndexFunc(e.Stack, func(f Frame) bool { return f.Function == at.Function && f.File == at.File })
		return i >= 0 && e.Stack[i].Line > at.Line
	})
}

// waitsForDial tells of a finding about waits for a peer, and of connections that are made anew, that these waits are at a line
// that the other names, and that much of them, or of the CPU time, goes into making the connections: then the calls are that
// slow because of it, and to make fewer of them, or several at once, changes less.
func waitsForDial(c *causal, i, j int) bool {
	wait, dial := &c.all[i], &c.all[j]
	if wait.Rule != "WT01" && wait.Rule != "WT02" || len(wait.waits) == 0 || !dial.Severity.AtLeast(Warning) || !dial.Severity.AtLeast(wait.Severity) {
		return false
	}
	here, dials, all := time.Duration(0), time.Duration(0), time.Duration(0)
	for _, row := range wait.waits {
		all += row.Time
		if shows(dial, evidenceLine(Evidence{File: row.Site.Frame.File, Line: row.Site.Frame.Line})) {
			here += row.Time
		}
		if opens := []string{"dial", "dns", "tls"}; slices.Contains(opens, row.Kind.Key()) || slices.Contains(opens, row.Cause.Kind.Key()) {
			dials += row.Time
		}
	}
	if float64(here) < halfOfAll*float64(all) || here == 0 {
		return false
	}
	if g, ok := c.cpuGain(j); ok && g.Estimate >= muchOfAll {
		return true
	}
	return float64(dials) >= muchOfAll*float64(all)
}

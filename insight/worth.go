package insight

import (
	"fmt"

	"loupe/value/unit"
)

// leastGain is the part of the CPU time below which nobody notices that it is gone; of a
// line that allocates much for a reason without a name of its own (AL02) it is more.
// Chosen: a loaded machine changes its mind by as much from one run to the next.
const (
	leastGain   = 0.05
	leastOfMuch = 0.10
)

// byWorth makes remarks of warnings about work that costs little, by the CPU profile.
// Shares of what is allocated say nothing of that: nine tenths of next to nothing is next
// to nothing.
func byWorth(in *Input, all []Finding) {
	c := newCausal(in, all)
	for _, i := range c.found {
		f := &all[i]
		least := leastGain
		if f.Rule == "AL02" {
			least = leastOfMuch
		}
		if g, ok := c.cpuGain(i); ok && f.saves && f.Severity.AtLeast(Warning) && g.Estimate < least {
			f.Severity = Info
			f.Doubts = append(f.Doubts, fmt.Sprintf("all of it takes %s of the CPU time, the collector's part with it: little is to be gained", unit.Percent(g.Estimate)))
		}
	}
}

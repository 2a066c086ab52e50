package insight

import (
	"fmt"

	"loupe/value/unit"
)

// leastGain is the part of the CPU time below which nobody notices that it is gone.
// Chosen: a loaded machine changes its mind by as much from one run to the next.
const leastGain = 0.05

// byWorth makes remarks of warnings about work that costs little, where a CPU profile says
// so with certainty. Shares of what is allocated say nothing of that: nine tenths of
// next to nothing is next to nothing.
func byWorth(in *Input, all []Finding) {
	c := newCausal(in, all)
	for _, i := range c.found {
		f := &all[i]
		if g, ok := c.cpuGain(i); ok && f.saves && f.Severity.AtLeast(Warning) && g.High < leastGain {
			f.Severity = Info
			f.Doubts = append(f.Doubts, fmt.Sprintf("all of it takes %s of the CPU time, the collector's part with it, and certainly less than %s", unit.Percent(g.Estimate), unit.Percent(leastGain)))
		}
	}
}

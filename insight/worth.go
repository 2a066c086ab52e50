package insight

import (
	"fmt"
	"math"

	"loupe/value/stats"
	"loupe/value/unit"
)

// leastGain is the part of the CPU time below which nobody notices that it is gone; of a
// line that allocates much for a reason without a name of its own (AL02) it is more. Within
// openGain above it is little unless so few samples tell that it may be much.
// Chosen: a loaded machine changes its mind by as much from one run to the next, and bugs that
// people report cost a quarter and more.
const (
	leastGain   = 0.05
	leastOfMuch = 0.10
	openGain    = 0.05
)

// little tells of what a cause takes that it is below a share, or not known to be well beyond it.
func little(g stats.Interval, least float64) bool {
	return g.Estimate < least || g.Estimate < least+openGain && g.High < 2*(least+openGain)
}

// byWorth makes remarks of warnings about work that costs little, by the CPU profile.
// Shares of what is allocated say nothing of that: nine tenths of next to nothing is next
// to nothing.
func byWorth(in *Input, all []Finding) {
	c := newCausal(in, all)
	for _, i := range c.found {
		f := &all[i]
		if !f.saves || !f.Severity.AtLeast(Warning) {
			continue
		}
		much := f.Rule == "AL02"
		least := leastGain
		if much {
			least = leastOfMuch
		}
		g, ok := c.cpuGain(i)
		switch collecting := collectors(in); {
		case ok && little(g, least):
			f.Severity = Info
			f.Doubts = append(f.Doubts, fmt.Sprintf("all of it takes %s of the CPU time, including the collector's part: there is little to gain", unit.Percent(g.Estimate)))
		case !ok && much && collecting < leastCollecting:
			f.Severity = Info
			f.Doubts = append(f.Doubts, fmt.Sprintf("the collector takes %s of the busy time, and there are too few CPU samples to show what allocation costs besides: there may be little to gain", unit.Percent(collecting)))
		}
	}
}

// leastCollecting is the share of the busy time below which the collector is no reason to
// allocate less. Chosen: rule GC03 speaks of more.
const leastCollecting = 0.02

// collectors is the collector's share of the busy time, in the bare phase in which it took most;
// NaN where nothing tells.
func collectors(in *Input) float64 {
	most := math.NaN()
	for i := range in.Facts.Rounds {
		if share, _ := gcShare(in, &in.Facts.Rounds[i]); !(share <= most) && !math.IsNaN(share) {
			most = share
		}
	}
	return most
}

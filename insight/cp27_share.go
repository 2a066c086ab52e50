package insight

import (
	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/unit"
)

// tellGrowingShare says how much of the time a function takes. In the run that counts, calls that are counted are slower than others are: of a
// function that mostly computes, the CPU profile of the program knows it better.
func tellGrowingShare(in *Input, x repetition.Growing, c *countedCall, f *Finding) {
	of := stack.Short(x.Unit.Name)
	counted := unit.Percent(x.Share) + " of the time of " + of + " in the run that counts calls"
	share, known := c.cpuShare()
	if !known || waitsMost(in, c, stack.Frame{Func: x.Func.Name, File: x.Func.File, Line: x.Func.Line}) {
		f.Summary += counted
		f.Impact = exactly(x.Share, "share of the time of "+of+" in the run that counts calls")
		return
	}
	f.Summary += unit.Percent(share.Estimate) + " of the CPU time, and " + counted
	f.Impact = &Impact{share.Estimate, cpuSamples, share.Low, share.High}
}

package compare

import (
	"math"

	"loupe/analysis/gc"
	"loupe/value/stats"
)

// Floor is what two builds of one and the same base differ by: the second was measured in the
// same blocks as what is compared. The machine, and where the linker has put things, make
// differences as large; a change that is no larger has no verdict.
//
// Note: it is one other build, so that it shows what there may be, and is no bound on what
// any build may do (docs/statistics.md has figures).
type Floor struct {
	// Ratio is the second build over the first with its interval; unknown where there are
	// zeros.
	Ratio gc.Figure `json:"ratio"`
	Low   gc.Figure `json:"low"`
	High  gc.Figure `json:"high"`
	// difference is that of the medians.
	difference float64
}

// leastFloor is what a change has to be beyond where the floor was measured and is lower: one
// other build may have been lucky.
const leastFloor = ROPE / 2

// floorOf measures the floor; nil where there is no second build.
func floorOf(before, again stats.Side, confidence float64) *Floor {
	if len(again.Values) < EnoughRounds {
		return nil
	}
	f := &Floor{Ratio: gc.Unknown(), Low: gc.Unknown(), High: gc.Unknown()}
	f.difference = math.Abs(stats.Median(again.Values) - stats.Median(before.Values))
	if r := stats.Compare(before, again, confidence); r.Low > 0 && !math.IsInf(r.High, 0) {
		f.Ratio, f.Low, f.High = gc.Figure(r.Estimate), gc.Figure(r.Low), gc.Figure(r.High)
	}
	return f
}

// bounds are what the estimate of a change has to lie outside of: what is as far from no
// change as the farther end of the interval. Without a floor they are those of [ROPE].
func (f *Floor) bounds() (low, high float64) {
	if f == nil || !f.Low.Known() {
		return 1 - ROPE, 1 + ROPE
	}
	high = max(1+leastFloor, float64(f.High), 1/float64(f.Low))
	return 1 / high, high
}

// holds tells of a comparison that is not decided that this is because of the floor alone: it is
// beyond chance, and both builds of the base may differ by as much.
func (f *Floor) holds(r stats.Comparison) bool {
	if f == nil || !f.Low.Known() || !r.DecideBeyond(ROPE, 1, 1).Different() {
		return false
	}
	far := max(float64(f.High), 1/float64(f.Low))
	return r.Estimate <= far && r.Estimate >= 1/far
}

// differsBy tells whether both builds differ by as much, in the unit of the figure.
func (f *Floor) differsBy(difference float64) bool {
	return f != nil && math.Abs(difference) <= f.difference
}

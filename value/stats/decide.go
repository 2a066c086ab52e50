package stats

import "math"

// Decision is what a comparison comes to.
type Decision int

// The decisions.
const (
	TooFew    Decision = iota // rounds for any
	Undecided                 // more rounds may tell
	Same                      // the whole interval lies within what counts as none
	Larger                    // b is
	Smaller                   // b is
)

// Different tells whether a decision is that there is a difference.
func (d Decision) Different() bool { return d == Larger || d == Smaller }

// Decide says what a comparison comes to, where a change by a share within ±rope counts
// as none: 0.01. A difference is there when p is below the error that was asked for, no
// part of the interval lies on the other side of no change, and the estimate is beyond
// the rope. Same is when the whole interval lies within the rope.
func (c Comparison) Decide(rope float64) Decision { return c.DecideBeyond(rope, 1-rope, 1+rope) }

// DecideBeyond is Decide where the estimate of a difference has to lie outside of low and
// high: of what was measured between sides that are known to be equal.
func (c Comparison) DecideBeyond(rope, low, high float64) Decision {
	known := !math.IsNaN(c.Estimate)
	switch {
	case c.N < Enough:
		return TooFew
	case known && c.Low > 1-rope && c.High < 1+rope:
		return Same
	case c.P >= c.Alpha:
		return Undecided
	case known && c.Low >= 1 && c.Estimate > high, !known && c.Sign > 0:
		return Larger
	case known && c.High <= 1 && c.Estimate < low, !known && c.Sign < 0:
		return Smaller
	}
	return Undecided
}

// likely is how much longer than its half width the interval has to be for a difference
// of this size to be found in 80 of 100 comparisons, squared: ((1.96+0.84)/1.96)².
const likely = 2.04

// Needs is about how many more blocks a comparison that is not decided needs, if what has
// been estimated is the truth: intervals narrow with the root of the number. It is 0 when
// the comparison is decided, and -1 when that cannot be told: there is no interval, or
// the estimate lies where no number will do.
func (c Comparison) Needs(rope float64) int {
	switch d := c.Decide(rope); {
	case d != Undecided && d != TooFew:
		return 0
	case d == TooFew:
		return Enough - c.N
	case math.IsNaN(c.Estimate) || !(c.Low > 0) || math.IsInf(c.High, 0):
		return -1
	}
	half := math.Log(c.High/c.Low) / 2
	shift := math.Abs(math.Log(c.Estimate))
	room := shift // of a difference: the interval must not reach zero
	if limit := math.Log1p(rope); shift <= limit {
		room = limit - shift
	}
	n := math.Ceil(float64(c.N) * (half / room) * (half / room) * likely)
	if most := 1e6; !(n < most) {
		return -1
	}
	return max(1, int(n)-c.N)
}

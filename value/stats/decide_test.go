package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestNeeds: of comparisons with as many blocks as were said to be needed, about 80 in a
// hundred are decided, if what was estimated is the truth.
func TestNeeds(t *testing.T) {
	// Ten blocks of independent rounds with a spread of 3 % have this interval on average.
	half := 1.96 * 0.03 * math.Sqrt(2./10)
	ten := Comparison{Interval: Interval{1.03, 1.03 * math.Exp(-half), 1.03 * math.Exp(half), 0.95}, P: 0.06, Alpha: 0.05, N: 10, Sign: 1}
	ten.Low = min(ten.Low, 1)
	more := ten.Needs(0.01)
	if more < 5 || more > 10 {
		t.Fatalf("+3 %% [%+.3f, %+.3f] of ten blocks needs %d more", ten.Low, ten.High, more)
	}
	r := rand.New(rand.NewPCG(9, 9))
	decided := 0
	const trials = 400
	for range trials {
		series, sides := noises[1].make(r, 2*(10+more)), layouts["drawn"](r, 10+more)
		if compareFirst(series, sides, 10+more, 0.03, 0.95).Decide(0.01) == Larger {
			decided++
		}
	}
	if share := float64(decided) / trials; share < 0.7 || share > 0.9 {
		t.Errorf("with %d more blocks %.2f of comparisons are decided", more, share)
	}
	if same := (Comparison{Interval: Interval{1, 0.999, 1.001, 0.95}, P: 1, Alpha: 0.05, N: 10}); same.Needs(0.01) != 0 || same.Decide(0.01) != Same {
		t.Error("what is the same needs more blocks")
	}
	if edge := (Comparison{Interval: Interval{1.0099, 0.98, 1.04, 0.95}, P: 0.5, Alpha: 0.05, N: 10}); edge.Needs(0.01) != -1 {
		t.Errorf("an estimate at the edge of what counts needs %d more blocks, want nobody to know", edge.Needs(0.01))
	}
	if (Comparison{N: 3}).Needs(0.01) != 2 {
		t.Error("three blocks need two more for a decision")
	}
}

// TestZeroRatio: a zero on one side makes no ratio of hundreds of digits, and is judged.
func TestZeroRatio(t *testing.T) {
	c := Compare(Side{Values: []float64{5, 6, 5, 7, 6}}, Side{Values: []float64{0, 1, 0, 0, 2}}, 0.95)
	if !math.IsNaN(c.Estimate) || !math.IsNaN(c.High) || c.Decide(0.01) != Smaller {
		t.Errorf("%+v", c)
	}
	if c = Compare(Side{Values: []float64{0, 0, 0, 0, 0}}, Side{Values: []float64{0, 0, 0, 0, 0}}, 0.95); c.Decide(0.01) != Same {
		t.Errorf("zeros on both sides: %+v", c)
	}
	never := math.Inf(1)
	if c = Compare(Side{Values: []float64{5, 6, 5, 7, 6}}, Side{Values: []float64{never, never, 9, 9, never}}, 0.95); c.Decide(0.01) != Larger {
		t.Errorf("times that never came: %+v", c)
	}
	// In blocks, as well.
	blocks := []int{0, 1, 2, 3, 4, 5, 6, 7}
	c = Compare(Side{[]float64{5, 6, 5, 7, 6, 8, 5, 6}, blocks}, Side{[]float64{0, 1, 0, 0, 2, 0, 0, 1}, blocks}, 0.95)
	if c.Method != ByBlocks || c.Decide(0.01) != Smaller || !math.IsNaN(c.Low) {
		t.Errorf("zeros in blocks: %+v", c)
	}
}

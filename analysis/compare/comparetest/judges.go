package comparetest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"

	"loupe/analysis/compare"
	own "loupe/value/stats"
)

// Judge is a way to compare two sides.
type Judge struct {
	Name string
	// InTurns tells that the sides take turns in blocks of random order; else all rounds of
	// the first come before all of the second.
	InTurns bool
	// Differ tells whether the sides are called different. The rounds at one index are of one
	// block where they take turns.
	Differ func(a, b []float64) bool
}

// level is the error that all of them are asked for.
const level = 0.05

// Judges are ours and those of others: benchstat's library, with the rounds as people usually
// take them and in turns; what hyperfine prints, means with their standard deviations, which are
// called different where these do not overlap, and the t-test of Welch that it has a script for;
// and the paired t-test.
var Judges = []Judge{
	{"loupe", true, ours},
	{"benchstat, A…AB…B", false, benchstat},
	{"benchstat, in turns", true, benchstat},
	{"hyperfine, mean ± σ", false, apart},
	{"hyperfine, Welch's t", false, welch},
	{"paired t, in turns", true, paired},
}

func ours(a, b []float64) bool {
	blocks := make([]int, len(a))
	for i := range blocks {
		blocks[i] = i
	}
	c := compare.Judge(own.Side{Values: a, Blocks: blocks}, own.Side{Values: b, Blocks: blocks}, compare.Lower)
	return c.Verdict == compare.Improved || c.Verdict == compare.Regressed
}

func benchstat(a, b []float64) bool {
	t := benchmath.DefaultThresholds
	c := benchmath.AssumeNothing.Compare(benchmath.NewSample(a, &t), benchmath.NewSample(b, &t))
	return c.P <= c.Alpha
}

func apart(a, b []float64) bool {
	x, y := stats.Sample{Xs: a}, stats.Sample{Xs: b}
	return math.Abs(x.Mean()-y.Mean()) > x.StdDev()+y.StdDev()
}

func welch(a, b []float64) bool {
	r, err := stats.TwoSampleWelchTTest(stats.Sample{Xs: a}, stats.Sample{Xs: b}, stats.LocationDiffers)
	return err == nil && below(r.P)
}

func paired(a, b []float64) bool {
	r, err := stats.PairedTTest(a, b, 0, stats.LocationDiffers)
	return err == nil && below(r.P)
}

// below tells whether p is below the level; it is not a number where t is so large that p is zero.
func below(p float64) bool { return !(p >= level) }

// Equal takes a comparison of equal sides out of a series, with n rounds of each, from a round on:
// the first side of the series is told to be both. Where sides take turns the order is drawn. What
// is b is larger by an effect, which scales what was measured.
func (s *Series) Equal(at, n int, inTurns bool, effect float64, random *rand.Rand) (a, b []float64) {
	row := s.Rounds[0][at : at+2*n]
	for i := range n {
		x, y := row[i], row[n+i]
		if inTurns {
			x, y = row[2*i], row[2*i+1]
			if random.IntN(2) == 1 {
				x, y = y, x
			}
		}
		a, b = append(a, x), append(b, y*(1+effect))
	}
	return a, b
}

// Planted takes a comparison of the first side with one that did more work out of a series, with n
// blocks from one on. All of one side before all of the other takes twice as many.
func (s *Series) Planted(at, n int, inTurns bool, side int) (a, b []float64) {
	if inTurns {
		return slices.Clone(s.Rounds[0][at : at+n]), slices.Clone(s.Rounds[side][at : at+n]) // judges sort them
	}
	return slices.Clone(s.Rounds[0][at : at+n]), slices.Clone(s.Rounds[side][at+n : at+2*n])
}

package stats

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Side is what was measured of one side of a comparison: a value for each round.
type Side struct {
	// Values are of any unit. Infinity stands for a time that never came: it is longer
	// than all others. NaN is no value.
	Values []float64
	// Blocks tells for each value which block its round belongs to. Rounds of both sides
	// in one block followed each other, in an order drawn at random ([Order]). It is nil
	// where the rounds were not measured so: all of one side before all of the other, or
	// in a fixed order.
	Blocks []int
}

// Method is how two sides are compared.
type Method string

// The methods. [Compare] says when each is taken.
const (
	// ByRanks holds every round against every round of the other side: the test is
	// that of Mann and Whitney (1947), the estimate that of Hodges and Lehmann (1963).
	// It takes all rounds for independent.
	ByRanks Method = "ranks"
	// ByBlocks takes the same ranks and the same estimate, and finds out what chance
	// does by exchanging the sides within blocks.
	ByBlocks Method = "ranks in blocks"
	// ByPairs holds the two rounds of each block against each other: the signed-rank
	// test of Wilcoxon (1945) of the logarithms of their ratios, with its estimate.
	ByPairs Method = "pairs"
)

// Comparison is how much larger one side is than the other.
type Comparison struct {
	// Interval is of the ratio. It is NaN where values are zero, negative or infinite:
	// then only which side is larger can be told.
	Interval
	// P is the two-sided probability of as large a difference between equal sides.
	P float64 `json:"p"`
	// Alpha is the probability of a false alarm that was asked for: 0.05.
	Alpha float64 `json:"alpha"`
	// N is the number of values of the smaller side, or that of blocks which have both
	// sides where the method uses those.
	N      int    `json:"n"`
	Method Method `json:"method"`
	// Correlation is Kendall's tau of the two sides over the blocks, NaN without
	// blocks: how much of the noise the two rounds of a block have in common.
	Correlation float64 `json:"-"`
	// Sign is 1 where b is larger, -1 where a is, 0 where neither is.
	Sign int `json:"-"`
}

const (
	// Enough is the number of rounds a side from which on anything is decided: with
	// four the exact rank test reaches p = 0.029, which is too much where two figures
	// decide.
	Enough = 5
	// enoughBlocks is the number of blocks from which on their random order alone is
	// what p rests on. With seven it reaches 2/128; with five, 2/32 decides nothing.
	enoughBlocks = 7
	// shared is the p below which the two sides of blocks are taken to share their
	// noise.
	shared = 0.1
)

// Compare says how much larger b is than a, round by round. The unit is the round: values
// within a round depend on each other, and tests over them call identical programs
// different most of the time.
//
// The method follows from a rule that does not know which side is ahead:
//
//   - Without blocks, or with fewer than seven that have both sides: [ByRanks]. What
//     blocks there are have to point the same way, all of them.
//   - With blocks whose sides move together, Kendall's tau over the blocks being positive
//     with a p below 0.1: [ByPairs]. A drift, neighbours on the machine and a clock that
//     changes all do that. What they do to both sides falls out.
//   - With other blocks: [ByBlocks], which is the better of the two where rounds are
//     independent with outliers or two modes.
//
// The two methods of blocks are exact whatever the noise is like, since both compare what
// was observed with what the draw of the order could have made of the same rounds, and so
// is p after the choice, which exchanging sides does not change. The interval is chosen in
// the same way after the sides have been moved together, and holds no change when p is not
// below the error asked for (docs/statistics.md has the figures).
//
// The interval has the asked confidence where there are enough rounds and says its true
// one where there are not. Without a value on one side all figures are NaN and P is 1.
func Compare(a, b Side, confidence float64) Comparison {
	a, b = a.known(), b.known()
	nan := math.NaN()
	out := Comparison{
		Interval: Interval{nan, nan, nan, 0}, P: 1, Alpha: 1 - confidence, N: min(len(a.Values), len(b.Values)),
		Method: ByRanks, Correlation: nan,
	}
	if out.N == 0 {
		return out
	}
	if all := slices.Concat(a.Values, b.Values); slices.Min(all) == slices.Max(all) {
		_, got := criticalRank(uDistribution(len(a.Values), len(b.Values)), len(a.Values), len(b.Values), confidence)
		out.Interval = Interval{1, 1, 1, got} // also of zeros
		return out
	}
	x, y, ratios := scores(a.Values, b.Values)
	first, second := blocksOf(Side{x, a.Blocks}, Side{y, b.Blocks})
	if len(first) < enoughBlocks {
		out.ranks(x, y, ratios)
		out.agree(first, second, ratios)
	} else {
		out.N = len(first)
		out.inBlocks(first, second, ratios)
	}
	if ratios {
		out.Estimate, out.Low, out.High = math.Exp(out.Estimate), math.Exp(out.Low), math.Exp(out.High)
	} else {
		out.Interval = Interval{nan, nan, nan, 0}
	}
	return out
}

// known is a side without values that are none.
func (s Side) known() Side {
	if !slices.ContainsFunc(s.Values, math.IsNaN) {
		return s
	}
	var out Side
	for i, v := range s.Values {
		if math.IsNaN(v) {
			continue
		}
		out.Values = append(out.Values, v)
		if s.Blocks != nil {
			out.Blocks = append(out.Blocks, s.Blocks[i])
		}
	}
	return out
}

// scores are what the methods compute with: logarithms, or the values themselves where
// one of them has none, of which only the order is then used.
func scores(a, b []float64) (x, y []float64, ratios bool) {
	for _, v := range slices.Concat(a, b) {
		if v <= 0 || math.IsInf(v, 0) {
			return a, b, false
		}
	}
	return logs(a), logs(b), true
}

// blocksOf are the values of the blocks that have both sides, in the order of the
// blocks; of several of one side the median.
func blocksOf(a, b Side) (first, second []float64) {
	if len(a.Blocks) != len(a.Values) || len(b.Blocks) != len(b.Values) {
		return nil, nil
	}
	in := map[int][2][]float64{}
	for side, s := range []Side{a, b} {
		for i, block := range s.Blocks {
			both := in[block]
			both[side] = append(both[side], s.Values[i])
			in[block] = both
		}
	}
	var numbers []int
	for block, both := range in {
		if len(both[0]) > 0 && len(both[1]) > 0 {
			numbers = append(numbers, block)
		}
	}
	slices.Sort(numbers)
	for _, block := range numbers {
		first, second = append(first, Median(in[block][0])), append(second, Median(in[block][1]))
	}
	return first, second
}

// inBlocks compares blocks by one of the two methods for them: p by what is right for
// equal sides, the interval by what is right for the difference that there is.
func (c *Comparison) inBlocks(x, y []float64, ratios bool) {
	method := func(shift float64) Method {
		tau, p := common(x, y, shift)
		c.Correlation = tau
		if ratios && tau > 0 && p/2 < shared {
			return ByPairs
		}
		return ByBlocks
	}
	d := make([]float64, len(x))
	for i := range x {
		d[i] = y[i] - x[i]
	}
	if c.Method = method(0); c.Method == ByPairs {
		c.P, c.Sign = signedRank(d)
	} else {
		c.P, c.Sign = flippedRanks(x, y, 0)
	}
	if !ratios {
		return
	}
	if c.Method = method(Median(d)); c.Method == ByPairs {
		c.pairs(d)
	} else {
		c.blocks(x, y)
	}
	if c.P >= c.Alpha { // the two have not found the same: no difference is possible
		c.Low, c.High = min(c.Low, 0), max(c.High, 0)
	}
}

// common is how much of the noise the sides of blocks have in common, b being larger by a
// shift: Kendall's tau of them over the blocks, and its two-sided p. What chooses the test
// must not know what the test will find. So tau is the mean of that of the sides and that
// of the sides exchanged: it compares how far the means of two blocks lie apart with how
// far the sides of each do, whichever of them is larger. Exchanging the sides of a block
// does not change it.
func common(x, y []float64, shift float64) (tau, p float64) {
	n, s := len(x), 0.0
	for i := range x {
		for j := range i {
			a, b := cmp.Compare(x[i], x[j]), cmp.Compare(y[i], y[j])
			c, d := cmp.Compare(x[i], y[j]-shift), cmp.Compare(y[i]-shift, x[j])
			s += float64(a*b+c*d) / 2
		}
	}
	pairs := float64(n*(n-1)) / 2
	z := (math.Abs(s) - 1) / math.Sqrt(pairs*float64(2*n+5)/9)
	return s / pairs, min(1, 2*normalTail(max(0, z)))
}

// pairs estimates the difference from those of the blocks.
func (c *Comparison) pairs(d []float64) {
	var walsh []float64 // the means of all pairs (Walsh 1949)
	for i := range d {
		for _, other := range d[i:] {
			walsh = append(walsh, (d[i]+other)/2)
		}
	}
	sort.Float64s(walsh)
	k, got := walshRank(len(d), 1-c.Alpha)
	c.Interval = Interval{Quantile(walsh, 0.5), walsh[k], walsh[len(walsh)-1-k], got}
}

// signedRank is the test of Wilcoxon, with the zeros ranked and then left out (Pratt
// 1959), and with the very distribution of the ranks that there are.
func signedRank(d []float64) (p float64, sign int) {
	size := make([]float64, len(d))
	for i, v := range d {
		size[i] = math.Abs(v)
	}
	weights, sum := ranksTwice(size), 0
	for i, v := range d {
		switch {
		case v > 0:
			sum += weights[i]
		case v < 0:
			sum -= weights[i]
		default:
			weights[i] = 0
		}
	}
	return flipP(weights, sum), signOf(sum)
}

// walshRank is how many of the sorted Walsh averages to drop at each end for an interval
// of at least the asked confidence, and the confidence reached.
func walshRank(n int, confidence float64) (k int, got float64) {
	weights := make([]int, n)
	total := 0
	for i := range weights {
		weights[i] = i + 1
		total += i + 1
	}
	// The interval from the k-th smallest to the k-th largest average (from zero) misses
	// with the probability of a rank sum of at most k.
	outside := func(k int) float64 { return flipP(weights, max(0, total-2*k)) }
	k = sort.Search(total/2, func(k int) bool { return outside(k) > 1-confidence+1e-12 })
	k = max(0, k-1)
	return k, 1 - outside(k)
}

// shifts are the differences of all values of one side to all of the other, sorted.
func shifts(x, y []float64) []float64 {
	all := make([]float64, 0, len(x)*len(y))
	for _, v := range x {
		for _, w := range y {
			all = append(all, w-v)
		}
	}
	sort.Float64s(all)
	return all
}

// blocks estimates the difference from those of all values of one side to all of the
// other: the interval holds those that exchanging the sides of some blocks does not refute.
func (c *Comparison) blocks(x, y []float64) {
	all := shifts(x, y)
	within := func(i int) bool { // the stretch before the i-th shift
		theta := all[i] - 1
		if i > 0 {
			theta = all[i-1] + (all[i]-all[i-1])/2
		}
		p, _ := flippedRanks(x, y, theta)
		return p > c.Alpha
	}
	middle := len(all) / 2
	low := sort.Search(middle, within)
	mirrored := func(i int) bool {
		at := len(all) - 1 - i
		theta := all[at] + 1
		if at+1 < len(all) {
			theta = all[at] + (all[at+1]-all[at])/2
		}
		p, _ := flippedRanks(x, y, theta)
		return p > c.Alpha
	}
	high := sort.Search(middle, mirrored)
	c.Interval = Interval{Quantile(all, 0.5), all[max(0, low-1)], all[len(all)-1-max(0, high-1)], min(1-c.Alpha, 1-math.Ldexp(2, -len(x)))}
}

// flippedRanks tests that y is x plus a shift, by the ranks of all values together. The
// distribution is that of exchanging the two values of blocks.
func flippedRanks(x, y []float64, shift float64) (p float64, sign int) {
	all := slices.Clone(x)
	for _, v := range y {
		all = append(all, v-shift)
	}
	ranks, sum := ranksTwice(all), 0
	weights := make([]int, len(x))
	for i := range x {
		d := ranks[len(x)+i] - ranks[i]
		sum += d
		weights[i] = max(d, -d)
	}
	return flipP(weights, sum), signOf(sum)
}

// ranks compares all values of one side with all of the other, all being independent.
func (c *Comparison) ranks(x, y []float64, ratios bool) {
	n, m := len(x), len(y)
	ranks := ranksTwice(slices.Concat(x, y))
	sum := 0
	for _, r := range ranks[n:] {
		sum += r
	}
	u := float64(sum)/2 - float64(m*(m+1))/2 // pairs in which y is larger, ties by half
	dist := uDistribution(n, m)
	c.P = uPValue(dist, u, n, m, slices.Concat(x, y))
	c.Sign = signOf(int(2*u) - n*m)
	if !ratios {
		return
	}
	all := shifts(x, y)
	k, got := criticalRank(dist, n, m, 1-c.Alpha)
	c.Interval = Interval{Quantile(all, 0.5), all[k], all[len(all)-1-k], got}
}

// agree holds what the ranks say to the few blocks that there are: those in which the
// sides compare the other way speak against it. Noise that comes every other round would
// else decide one comparison in ten of five blocks; all five point one way by chance in one
// of sixteen.
func (c *Comparison) agree(first, second []float64, ratios bool) {
	if len(first) < 2 {
		return
	}
	least, most := math.Inf(1), math.Inf(-1)
	for i := range first {
		least, most = min(least, second[i]-first[i]), max(most, second[i]-first[i])
	}
	if least <= 0 && most >= 0 {
		p, _ := flippedRanks(first, second, 0)
		c.P = max(c.P, p)
	}
	if ratios {
		c.Low, c.High = min(c.Low, least), max(c.High, most)
	}
}

func signOf(v int) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

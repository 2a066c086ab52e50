package stats

import "slices"

// How far apart two modes must be, see [TwoModes].
const (
	modeShare = 0.2  // of the values in each, and three of them
	modeRest  = 0.1  // of the sum of squares that the two leave
	modeGap   = 4    // times the range within the wider of the two
	modeApart = 0.02 // of the lower mode's median
)

// TwoModes parts values into two groups where they lie in two places with nothing in
// between; ok is false where they do not, or are fewer than eight. The parting is the one
// that leaves the least sum of squares (Fisher 1958, two classes), and it counts where the
// gap is several times as wide as either group.
//
// Of normal values the best parting leaves a third of the sum of squares, of uniform ones
// a quarter. By simulation (20,000 sets each of 8, 10, 20 and 40 values) it finds two modes
// in less than 0.2% of normal, uniform, exponential and log-normal sets.
func TwoModes(values []float64) (low, high []float64, ok bool) {
	x := slices.Sorted(slices.Values(values))
	n := len(x)
	least := max(3, int(modeShare*float64(n)+0.999))
	if n < 8 {
		return nil, nil, false
	}
	best, at := -1.0, 0
	for i := 1; i < n; i++ {
		if rest := squares(x[:i]) + squares(x[i:]); best < 0 || rest < best {
			best, at = rest, i
		}
	}
	if at < least || n-at < least || best > modeRest*squares(x) {
		return nil, nil, false
	}
	low, high = x[:at], x[at:]
	gap := high[0] - low[len(low)-1]
	within := max(low[len(low)-1]-low[0], high[len(high)-1]-high[0])
	if gap < modeGap*within || gap <= modeApart*Median(low) {
		return nil, nil, false
	}
	return low, high, true
}

// squares is the sum of the squares of the distances to the mean.
func squares(x []float64) (sum float64) {
	mean := Mean(x)
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return sum
}

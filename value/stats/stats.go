// Package stats holds the few statistics that loupe's verdicts rest on:
// quantiles, intervals, a rank test between two sets of runs, trends, and a
// latency histogram.
//
// It is opinionated: every figure that could be doubted comes with its
// interval, and the methods are rank-based, because run times on shared
// machines are neither normal nor free of outliers (see docs/statistics.md).
// It does not plot and does not decide what matters to a user.
package stats

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Interval is an estimate with a confidence interval.
type Interval struct {
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	// Confidence is the probability with which the method covers the true
	// value: 0.95, or less where the sample is too small to reach it.
	Confidence float64 `json:"confidence"`
}

// Contains tells whether x lies in the closed interval.
func (i Interval) Contains(x float64) bool { return i.Low <= x && x <= i.High }

// Quantile returns the q-quantile (0 <= q <= 1) of ascending values by linear
// interpolation (type 7 of Hyndman and Fan, the default of R and NumPy).
// It is NaN when there are no values.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := min(max(q, 0), 1) * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) || sorted[i] == sorted[i+1] { // which may be infinite
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// Median returns the middle of values in any order; NaN when there are none.
func Median(values []float64) float64 {
	return Quantile(slices.Sorted(slices.Values(values)), 0.5)
}

// Mean returns the arithmetic mean; NaN when there are no values.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Wilson returns the interval of a share of k hits among n trials
// (Wilson 1927), which stays inside 0..1 and is honest for small n.
// Without trials it is the whole range.
func Wilson(k, n, confidence float64) Interval {
	if n <= 0 {
		return Interval{Estimate: math.NaN(), Low: 0, High: 1, Confidence: confidence}
	}
	z := normalQuantile(0.5 + confidence/2)
	p := k / n
	mid := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	// The share lies within, also where rounding would leave it out: of n of n.
	return Interval{Estimate: p, Low: min(p, max(0, mid-half)), High: max(p, min(1, mid+half)), Confidence: confidence}
}

// normalQuantile is the inverse of the standard normal distribution function.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// normalTail is the probability of a standard normal value above z.
func normalTail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// MannKendall tests y, in order of time, for a monotone trend. Tau lies
// between -1 (always falling) and 1 (always rising); p is two-sided, from the
// normal approximation with the correction for ties (Kendall 1975, Gilbert
// 1987), which is fair from about ten values on. With fewer than three values
// p is 1.
func MannKendall(y []float64) (tau, p float64) {
	time := make([]float64, len(y))
	for i := range time {
		time[i] = float64(i)
	}
	return kendall(time, y)
}

// kendall is Kendall's tau of two series of one length, and its two-sided p.
func kendall(x, y []float64) (tau, p float64) {
	n := len(y)
	if n < 3 {
		return 0, 1
	}
	s := 0
	for i := range y {
		for j := i + 1; j < n; j++ {
			s += cmp.Compare(x[j], x[i]) * cmp.Compare(y[j], y[i])
		}
	}
	fn := float64(n)
	tiesX, tiesY := tiesOf(x), tiesOf(y)
	variance := (fn*(fn-1)*(2*fn+5) - tiesX.trend - tiesY.trend) / 18
	variance += tiesX.pairs * tiesY.pairs / (2 * fn * (fn - 1))
	variance += tiesX.triples * tiesY.triples / (9 * fn * (fn - 1) * (fn - 2))
	tau = float64(s) / (fn * (fn - 1) / 2)
	if variance <= 1e-9 || s == 0 {
		return tau, 1
	}
	z := (math.Abs(float64(s)) - 1) / math.Sqrt(variance)
	return tau, min(1, 2*normalTail(z))
}

// ties are sums over the groups of t equal values, as the variances of rank statistics
// use them.
type ties struct {
	pairs, triples float64 // of t(t-1) and t(t-1)(t-2)
	cubes, trend   float64 // of t³-t and t(t-1)(2t+5)
}

func tiesOf(values []float64) (sums ties) {
	sorted := slices.Sorted(slices.Values(values))
	for i := 0; i < len(sorted); {
		j := i + 1
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		t := float64(j - i)
		sums.pairs += t * (t - 1)
		sums.triples += t * (t - 1) * (t - 2)
		sums.cubes += t * (t*t - 1)
		sums.trend += t * (t - 1) * (2*t + 5)
		i = j
	}
	return sums
}

// trendPoints bounds the work of TheilSen, which looks at every pair: longer
// series are thinned evenly, which keeps the slope and widens its interval.
const trendPoints = 1500

// TheilSen returns the median slope over all pairs of points and its
// interval by Kendall's rank statistic (Sen 1968): a line that a few outliers
// cannot bend. The slope is in units of y per unit of x. It is NaN when there
// are fewer than two distinct x.
func TheilSen(x, y []float64, confidence float64) Interval {
	x, y = thin(x, trendPoints), thin(y, trendPoints)
	var slopes []float64
	for i := range x {
		for j := i + 1; j < len(x); j++ {
			if dx := x[j] - x[i]; dx != 0 {
				slopes = append(slopes, (y[j]-y[i])/dx)
			}
		}
	}
	if len(slopes) == 0 {
		nan := math.NaN()
		return Interval{nan, nan, nan, confidence}
	}
	sort.Float64s(slopes)
	n := float64(len(x))
	c := normalQuantile(0.5+confidence/2) * math.Sqrt(n*(n-1)*(2*n+5)/18)
	m := float64(len(slopes))
	lo := int(math.Floor((m - c) / 2))
	hi := int(math.Ceil((m + c) / 2))
	return Interval{
		Estimate:   Quantile(slopes, 0.5),
		Low:        slopes[max(lo, 0)],
		High:       slopes[min(hi, len(slopes)-1)],
		Confidence: confidence,
	}
}

func thin(v []float64, most int) []float64 {
	if len(v) <= most {
		return v
	}
	out := make([]float64, most)
	for i := range out {
		out[i] = v[i*(len(v)-1)/(most-1)]
	}
	return out
}

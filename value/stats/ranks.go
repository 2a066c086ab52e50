package stats

import (
	"math"
	"sort"
)

// Ratio is how much larger b is than a, judged run by run.
type Ratio struct {
	// Interval holds the Hodges–Lehmann estimate of b/a: the median of the
	// ratios of every run of b to every run of a, with the interval that
	// inverts the exact Mann–Whitney test.
	Interval
	// P is the two-sided exact p-value of the Mann–Whitney U test that
	// both sets come from one distribution.
	P float64 `json:"p"`
	// N is the number of runs on the smaller side.
	N int `json:"n"`
}

// exactRuns is the largest number of runs on a side for which the rank
// distribution is counted exactly; beyond it the normal approximation is
// better than one part in a thousand.
const exactRuns = 40

// CompareRuns compares two sets of runs, one positive value per run
// (requests per second, bytes, a percentile). The unit is the run: values
// within a run depend on each other, and tests over single requests call
// identical programs different most of the time.
//
// The interval has the asked confidence when there are enough runs and says
// its true confidence when there are not: with 3 runs a side no interval
// reaches more than 90 %. With no runs on one side every figure is NaN and P
// is 1. Values that are not positive count as the smallest positive value
// that keeps the order.
func CompareRuns(a, b []float64, confidence float64) Ratio {
	n, m := len(a), len(b)
	if n == 0 || m == 0 {
		nan := math.NaN()
		return Ratio{Interval: Interval{nan, nan, nan, 0}, P: 1}
	}
	la, lb := logs(a), logs(b)
	var shifts []float64
	u := 0.0
	ties := false
	for _, x := range la {
		for _, y := range lb {
			shifts = append(shifts, y-x)
			switch {
			case y > x:
				u++
			case y == x:
				u += 0.5
				ties = true
			}
		}
	}
	sort.Float64s(shifts)
	dist := uDistribution(n, m)
	r := Ratio{N: min(n, m), P: uPValue(dist, u, n, m, ties)}
	k, got := criticalRank(dist, n, m, confidence)
	r.Interval = Interval{
		Estimate:   math.Exp(Quantile(shifts, 0.5)),
		Low:        math.Exp(shifts[k]),
		High:       math.Exp(shifts[len(shifts)-1-k]),
		Confidence: got,
	}
	return r
}

func logs(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Log(max(x, math.SmallestNonzeroFloat64))
	}
	return out
}

// uDistribution returns the cumulative distribution of the Mann–Whitney U
// statistic for n and m runs without ties, or nil beyond exactRuns.
func uDistribution(n, m int) []float64 {
	if n > exactRuns || m > exactRuns {
		return nil
	}
	// counts[j][u]: ways to choose j of the first i ranks with statistic u
	// (the recurrence of Mann and Whitney 1947), as shares to keep clear
	// of overflow.
	counts := make([][]float64, n+1)
	for j := range counts {
		counts[j] = make([]float64, n*m+1)
	}
	counts[0][0] = 1
	for i := 1; i <= n+m; i++ {
		for j := min(i, n); j >= 1; j-- {
			// The i-th rank belongs to a: i-j runs of b lie below it.
			if below := i - j; below <= m {
				for u := n * m; u >= below; u-- {
					counts[j][u] += counts[j-1][u-below]
				}
			}
		}
	}
	total := 0.0
	for _, c := range counts[n] {
		total += c
	}
	cum := make([]float64, n*m+1)
	sum := 0.0
	for u, c := range counts[n] {
		sum += c
		cum[u] = sum / total
	}
	return cum
}

func uPValue(dist []float64, u float64, n, m int, ties bool) float64 {
	low := min(u, float64(n*m)-u)
	if dist == nil || ties && n+m > 20 {
		sd := math.Sqrt(float64(n*m) * float64(n+m+1) / 12)
		z := (float64(n*m)/2 - low - 0.5) / sd
		return min(1, 2*normalTail(max(z, 0)))
	}
	// A tie counts half a step; rounding towards the middle keeps the
	// test on the safe side.
	return min(1, 2*dist[min(int(math.Ceil(low)), n*m)])
}

// criticalRank returns how many of the sorted shifts to drop at each end for
// an interval of at least the asked confidence, and the confidence reached.
func criticalRank(dist []float64, n, m int, confidence float64) (k int, got float64) {
	alpha := 1 - confidence
	if dist == nil {
		sd := math.Sqrt(float64(n*m) * float64(n+m+1) / 12)
		k = int(math.Floor(float64(n*m)/2 - normalQuantile(1-alpha/2)*sd))
		return max(k-1, 0), confidence
	}
	// The interval from the k-th smallest to the k-th largest shift (from
	// zero) misses with probability 2·P(U <= k).
	for k = 0; k+1 <= n*m/2 && 2*dist[k+1] <= alpha+1e-12; k++ {
	}
	return k, 1 - 2*dist[k]
}

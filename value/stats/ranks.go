package stats

import (
	"math"
)

// exactRuns is the largest number of runs on a side for which the rank
// distribution is counted exactly; beyond it the normal approximation is
// better than one part in a thousand.
const exactRuns = 40

func logs(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Log(x)
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

// uPValue is the two-sided p of a U of n and m runs, whose values are given to see which
// of them are equal.
func uPValue(dist []float64, u float64, n, m int, values []float64) float64 {
	low := min(u, float64(n*m)-u)
	tied := tiesOf(values).cubes
	if dist == nil || tied > 0 && n+m > 20 {
		all := float64(n + m)
		// The variance with the correction for ties (Lehmann 1975).
		variance := float64(n*m) / 12 * (all + 1 - tied/(all*(all-1)))
		if variance <= 0 {
			return 1
		}
		z := (float64(n*m)/2 - low - 0.5) / math.Sqrt(variance)
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

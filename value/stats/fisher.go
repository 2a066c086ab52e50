package stats

import "math"

// Fisher returns the probability of at least k marked ones among drawn, taken
// without putting back out of all, of which marked are (Fisher's exact test,
// one-sided; Fisher 1922). It takes the draws to be independent of each other.
func Fisher(k, drawn, marked, all int) float64 {
	if k <= max(0, drawn+marked-all) {
		return 1
	}
	whole := logChoose(all, drawn)
	sum := 0.0
	for i := min(drawn, marked); i >= k; i-- {
		sum += math.Exp(logChoose(marked, i) + logChoose(all-marked, drawn-i) - whole)
	}
	return min(1, sum)
}

// logChoose is the logarithm of the number of ways to take k of n.
func logChoose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

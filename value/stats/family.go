package stats

import (
	"cmp"
	"slices"
)

// ascending are the indexes of p from the smallest.
func ascending(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	return order
}

// Holm turns the p of figures that decide together into what each is worth when all of
// them count (Holm 1979): calling everything below 0.05 a difference is wrong anywhere in
// 5 % of comparisons of equal sides. The results are in the order of p.
func Holm(p []float64) []float64 {
	out, most := make([]float64, len(p)), 0.0
	for rank, i := range ascending(p) {
		most = max(most, min(1, p[i]*float64(len(p)-rank)))
		out[i] = most
	}
	return out
}

// FalseDiscovery turns the p of some among several looks into the share of
// false alarms that there would be if everything up to it were called a
// difference (Benjamini and Hochberg 1995). There may have been more looks than
// are listed, all of which found less; 0 are as many as are listed.
func FalseDiscovery(p []float64, looks int) []float64 {
	out, least := make([]float64, len(p)), 1.0
	order := ascending(p)
	for rank := len(order); rank > 0; rank-- {
		i := order[rank-1]
		least = min(least, p[i]*float64(max(looks, len(p)))/float64(rank))
		out[i] = least
	}
	return out
}

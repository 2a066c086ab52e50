package stats

import (
	"math"
	"slices"
)

// flipWork bounds the work of the exact distribution of a sum with random signs; beyond
// it the normal approximation is better than one part in a hundred of p.
const flipWork = 4 << 20

// flipP is the two-sided probability that a sum of weights, each with a random sign, is
// as far from zero as the one observed: that of a comparison in blocks whose order was
// drawn at random. The weights are not negative; those that are zero, of ties, say
// nothing either way.
func flipP(weights []int, observed int) float64 {
	total, squares := 0, 0.0
	for _, w := range weights {
		total += w
		squares += float64(w) * float64(w)
	}
	observed = max(observed, -observed)
	switch {
	case observed == 0:
		return 1
	case total*len(weights) > flipWork:
		// Sums lie two smallest weights apart: half of that is the correction.
		return min(1, 2*normalTail((float64(observed)-1)/math.Sqrt(squares)))
	}
	// at[s] is the probability that the weights with a plus add up to s: the sum is
	// then 2s - total.
	at := make([]float64, total+1)
	at[0] = 1
	reached := 0
	for _, w := range weights {
		if w == 0 {
			continue
		}
		reached += w
		for s := reached; s >= w; s-- {
			at[s] = (at[s] + at[s-w]) / 2
		}
		for s := range w {
			at[s] /= 2
		}
	}
	p := 0.0
	for s, share := range at {
		if 2*s-total >= observed {
			p += share
		}
	}
	return min(1, 2*p)
}

// ranksTwice are the ranks of values from the smallest, doubled, so that the mean rank of
// those that are equal is a whole number.
func ranksTwice(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case values[i] < values[j]:
			return -1
		case values[i] > values[j]:
			return 1
		}
		return 0
	})
	ranks := make([]int, len(values))
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for _, at := range order[i:j] {
			ranks[at] = i + 1 + j
		}
		i = j
	}
	return ranks
}

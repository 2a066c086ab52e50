package stats

import (
	"math"
	"slices"
	"sort"
)

// Looks are the points at which a comparison that still goes on is looked at, so that it
// may stop as soon as it is decided. Who looks whenever a new round is there and stops at
// the first p below 0.05 is wrong in a quarter or half of comparisons of equal programs. Here
// every look has the same, smaller share of the error (Pocock 1977), such that all of them
// together keep to what one look would have had. Intervals at that level hold the truth
// at all looks at once (Jennison and Turnbull 1989).
type Looks struct {
	// At are the numbers of blocks at which there is a look, ascending.
	At []int
	// Error is the probability of a false alarm at any of them: 0.05.
	Error float64
}

// UsualLooks are those of the comparisons that take rounds until they are decided.
func UsualLooks() Looks { return Looks{At: []int{10, 20, 40, 80, 160}, Error: 0.05} }

// Confidence is what [Compare] is to be asked for at each look.
func (l Looks) Confidence() float64 {
	low, high := 0.0, 10.0
	for range 36 {
		if z := (low + high) / 2; l.crossing(z) > l.Error {
			low = z
		} else {
			high = z
		}
	}
	return 1 - 2*normalTail(high)
}

// Overall is what the p of one look is worth when all looks count: the probability that
// equal sides reach it at any of them. It is what a family of rows is judged by.
func (l Looks) Overall(p float64) float64 {
	switch {
	case math.IsNaN(p) || p >= 1 || len(l.At) == 0:
		return 1
	case p < smallP:
		return float64(len(l.At)) * p
	}
	return min(1, l.crossing(-normalQuantile(p/2)))
}

// smallP is where the integration has no digits left, and the sum over the looks is the truth
// to as many.
const smallP = 1e-8

// Due tells whether a look is due after so many blocks, and Last whether no more come.
func (l Looks) Due(blocks int) (due, last bool) {
	return slices.Contains(l.At, blocks), len(l.At) == 0 || blocks >= l.At[len(l.At)-1]
}

// Next is how many blocks there are at the next look after so many; 0 after the last.
func (l Looks) Next(blocks int) int {
	i := sort.SearchInts(l.At, blocks+1)
	if i == len(l.At) {
		return 0
	}
	return l.At[i]
}

// crossingSteps is the number of steps of the integration in [Looks.crossing], even: the
// result is right to five digits.
const crossingSteps = 100

// crossing is the probability that a standardised sum of independent terms lies beyond
// ±z at one of the looks (Armitage, McPherson and Rowe 1969): the density of those that
// have not crossed is carried from look to look.
func (l Looks) crossing(z float64) float64 {
	if len(l.At) == 0 || z <= 0 {
		return 1
	}
	step := 2 * z / crossingSteps
	at, weight := make([]float64, crossingSteps+1), make([]float64, crossingSteps+1)
	density := make([]float64, crossingSteps+1)
	for i := range at {
		at[i] = -z + float64(i)*step
		weight[i] = step / 3 * float64(2+2*(i%2)) // Simpson's rule
		density[i] = normalDensity(at[i])
	}
	weight[0], weight[crossingSteps] = step/3, step/3
	for k := 1; k < len(l.At); k++ {
		kept := math.Sqrt(float64(l.At[k-1]) / float64(l.At[k]))
		sd := math.Sqrt(1 - kept*kept)
		next := make([]float64, len(density))
		for j, to := range at {
			for i, from := range at {
				next[j] += weight[i] * density[i] * normalDensity((to-kept*from)/sd) / sd
			}
		}
		density = next
	}
	inside := 0.0
	for i, d := range density {
		inside += weight[i] * d
	}
	return max(0, 1-inside)
}

func normalDensity(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }

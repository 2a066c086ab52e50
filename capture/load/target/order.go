package target

import "slices"

// Order says which of several targets each request of a run is for: each gets
// its part of the requests in the order in which the targets stand, evenly
// spread, and not at random. It is read-only.
type Order struct{ cycle []uint16 }

// MaxTargets is how many targets a run can tell apart.
const MaxTargets = 1<<16 - 1

// maxCycle bounds how many requests it takes until the order begins again.
const maxCycle = 1 << 20

// NewOrder makes the order of targets with the given weights; a weight below 1
// counts as 1.
func NewOrder(weights []int) Order {
	w := make([]int64, len(weights))
	var sum, divisor int64
	for i, x := range weights {
		w[i] = max(int64(x), 1)
		sum += w[i]
		divisor = gcd(divisor, w[i])
	}
	if divisor > 1 {
		sum /= divisor
		for i := range w {
			w[i] /= divisor
		}
	}
	if sum > maxCycle { // weights like 1:1000003 lose their last digits
		total := sum
		sum = 0
		for i := range w {
			w[i] = max(int64(float64(w[i])/float64(total)*maxCycle), 1)
			sum += w[i]
		}
	}
	if !slices.ContainsFunc(w, func(x int64) bool { return x > 1 }) {
		o := Order{cycle: make([]uint16, len(w))}
		for i := range w {
			o.cycle[i] = uint16(i)
		}
		return o
	}
	return Order{cycle: spread(w, sum)}
}

// spread gives each of sum places to a target so that each target's places lie
// as evenly as they can: place k of n wants to be at (k+1/2)/n, and places are
// taken in that order.
func spread(w []int64, sum int64) []uint16 {
	type place struct {
		at float64
		of uint16
	}
	places := make([]place, 0, sum)
	for i, n := range w {
		for k := range n {
			places = append(places, place{(float64(k) + 0.5) / float64(n), uint16(i)})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return int(a.of) - int(b.of)
	})
	out := make([]uint16, len(places))
	for i, p := range places {
		out[i] = p.of
	}
	return out
}

// At returns which target the request with the given number is for.
func (o Order) At(seq int64) int {
	if len(o.cycle) == 0 {
		return 0
	}
	return int(o.cycle[uint64(seq)%uint64(len(o.cycle))])
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

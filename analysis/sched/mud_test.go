package sched

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestUtilDist holds quantiles, of which the distribution looks at one bucket
// only, against those of all that was added, in order.
func TestUtilDist(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	at := func() float64 {
		switch rnd.IntN(8) {
		case 0:
			return float64(rnd.IntN(distBuckets+1)) / distBuckets // an edge of a bucket
		case 1:
			return float64(rnd.IntN(2))
		}
		return rnd.Float64()
	}
	for range 300 {
		total := 0.0
		var all []stretch
		for range rnd.IntN(200) {
			s := stretch{at(), at(), float64(rnd.IntN(1000))}
			if rnd.IntN(3) == 0 {
				s.high = s.low
			}
			all = append(all, s)
			total += s.mass
		}
		most := rnd.Float64() * 1.2
		d := getUtilDist(total * most)
		for _, s := range all {
			d.add(s.low, s.high, s.mass)
		}
		for _, part := range []float64{0, 0.1, 0.5, 0.9, 1} {
			mass := total * most * part
			got, want := d.quantile(mass), quantileOfAll(all, mass)
			if math.Abs(got-want) > 1e-9 && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("quantile(%v of %v) = %v, want %v, of %v", mass, total, got, want, all)
			}
		}
	}
}

// quantileOfAll walks over all edges from the lowest.
func quantileOfAll(all []stretch, mass float64) float64 {
	var edges []distEdge
	for _, s := range all {
		low, high := min(s.low, s.high), max(s.low, s.high)
		switch {
		case s.mass == 0:
		case low == high:
			edges = append(edges, distEdge{low, 0, s.mass})
		default:
			density := s.mass / (high - low)
			edges = append(edges, distEdge{low, density, 0}, distEdge{high, -density, 0})
		}
	}
	slices.SortFunc(edges, func(a, b distEdge) int { return cmp.Compare(a.at, b.at) })
	sum, density, before := 0.0, 0.0, math.NaN()
	for _, e := range edges {
		to := sum
		if density > 1e-6 {
			to += (e.at - before) * density
		}
		switch {
		case to >= mass && density > 1e-6:
			return before + (mass-sum)/density
		case to+e.point >= mass:
			return e.at
		}
		sum, before, density = to+e.point, e.at, density+e.delta
	}
	return before
}

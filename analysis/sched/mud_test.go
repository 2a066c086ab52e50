package sched

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"loupe/value/timeline"
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

// TestFineBands: how many bands there are changes no answer.
func TestFineBands(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	steps := []UtilStep{{Time: 1000, Util: 1}}
	for i := range 40_000 {
		gap := 1 + rnd.IntN(100)
		if rnd.IntN(50) == 0 {
			gap *= 200
		}
		util := float64(1+rnd.IntN(4)) / 4
		if i%10 == 0 {
			util = 0
		}
		steps = append(steps, UtilStep{Time: steps[len(steps)-1].Time + timeline.Time(gap), Util: util})
	}
	steps[len(steps)-1].Util = 0
	c := NewMMUCurve([][]UtilStep{steps})
	if few, many := len(c.series[0].bands), len(c.fine[0].bands); many < 2*few {
		t.Fatalf("%d and %d bands", few, many)
	}
	coarse := &MMUCurve{series: c.series, fine: c.series}
	quantiles := []float64{0, 0.001, 0.01, 0.05, 0.5}
	for window := time.Duration(1); window < 10*time.Millisecond; window *= 7 {
		least, mud := c.MinAndMUD(window, quantiles)
		wantLeast, want := coarse.MinAndMUD(window, quantiles)
		if math.Abs(least-wantLeast) > 1e-9 {
			t.Errorf("the minimum of %v is %v, want %v", window, least, wantLeast)
		}
		for i := range want {
			if math.Abs(mud[i]-want[i]) > 1e-9 {
				t.Errorf("the quantile %v of %v is %v, want %v", quantiles[i], window, mud[i], want[i])
			}
		}
	}
}

// TestAlikeWindows: where most windows have about the same utilisation, few of them need a
// look for a low quantile, which is what a look at all of them finds.
func TestAlikeWindows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 9))
	steps := []UtilStep{{Time: 5000, Util: 1}}
	for i := range 40_000 {
		gap, util := timeline.Time(1+rnd.IntN(2000)), float64(2+rnd.IntN(3))/4
		if i%12 == 0 {
			gap, util = 40, 0 // the world stops
		}
		steps = append(steps, UtilStep{Time: steps[len(steps)-1].Time + gap, Util: util})
	}
	steps[len(steps)-1].Util = 0
	c := NewMMUCurve([][]UtilStep{steps})
	for _, window := range []time.Duration{time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond} {
		room := float64(c.fine[0].length() - window)
		ask := func(mass float64) (quantile float64, seen int) {
			acc := mmuSearch{min: 1, bound: 1, dist: getUtilDist(mass * room)}
			defer putUtilDist(acc.dist)
			search(c.fine, window, &acc)
			return acc.dist.quantile(0.01 * room), len(acc.dist.stretches)
		}
		got, few := ask(0.01)
		want, many := ask(0.9999)
		if math.Abs(got-want) > 1e-9 || few*20 > many {
			t.Errorf("of %v the quantile is %v after %d stretches, want %v, which all %d have", window, got, few, want, many)
		}
	}
}

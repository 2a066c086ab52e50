package sched

import (
	"cmp"
	"math"
	"slices"
)

// utilDist is the distribution of the utilisation over windows: how much time
// was spent at which utilisation. It is a sum of rectangles, one for each
// stretch in which the utilisation goes steadily from one value to another,
// and of masses at one point for those in which it stays, as internal/trace's
// mud is.
//
// A coarse histogram beside it knows at any time in which bucket the mass of
// interest is reached, so that the search need not sort after each window.
type utilDist struct {
	edges  []distEdge
	sorted bool

	mass   float64 // ns: the mass of interest, counted from the lowest utilisation
	bucket int     // where it is reached; distBuckets if it is not yet
	below  float64 // mass in the buckets below that one
	hist   [distBuckets]float64
}

const distBuckets = 1024

// distEdge is where the density changes.
type distEdge struct {
	at    float64
	delta float64 // the density changes by this
	point float64 // and there is this mass at the point itself
}

func newUtilDist(mass float64) *utilDist {
	d := &utilDist{mass: mass}
	d.locate()
	return d
}

// add spreads a mass evenly between two utilisations.
func (d *utilDist) add(l, r, mass float64) {
	if mass == 0 {
		return
	}
	l, r = min(l, r), max(l, r)
	if l == r {
		d.edges = append(d.edges, distEdge{l, 0, mass})
	} else {
		density := mass / (r - l)
		d.edges = append(d.edges, distEdge{l, density, 0}, distEdge{r, -density, 0})
	}
	d.count(l, r, mass)
	edge := float64(d.bucket) / distBuckets
	if l >= edge {
		return
	}
	if r < edge {
		d.below += mass
	} else {
		d.below += mass * (edge - l) / (r - l)
	}
	if d.below >= d.mass {
		d.locate()
	}
}

// count adds to the histogram.
func (d *utilDist) count(l, r, mass float64) {
	first, in := bucketOf(l)
	if l == r {
		d.hist[first] += mass
		return
	}
	last, out := bucketOf(r)
	if first == last {
		d.hist[first] += mass
		return
	}
	each := mass / (r - l) / distBuckets
	d.hist[first] += float64(each * (1 - in))
	d.hist[last] += float64(each * out)
	for i := first + 1; i < last; i++ {
		d.hist[i] += each
	}
}

// bucketOf returns the bucket of a utilisation and how far into it that is.
func bucketOf(util float64) (bucket int, in float64) {
	whole, in := math.Modf(util * distBuckets)
	if int(whole) >= distBuckets {
		return distBuckets - 1, 1
	}
	return int(whole), in
}

// locate finds the bucket in which the mass of interest is reached.
func (d *utilDist) locate() {
	sum := 0.0
	for i, n := range d.hist {
		if sum+n > d.mass {
			d.bucket, d.below = i, sum
			return
		}
		sum += n
	}
	d.bucket, d.below = distBuckets, sum
}

// bound returns a utilisation at which the mass of interest is reached for
// certain; 1 while it is not reached at all.
func (d *utilDist) bound() float64 {
	if d.bucket == distBuckets {
		return 1
	}
	return float64(d.bucket+1) / distBuckets
}

// quantile returns the utilisation at which a mass is reached: NaN if there is
// none at all, the highest utilisation if there is less.
func (d *utilDist) quantile(mass float64) float64 {
	if len(d.edges) == 0 {
		return math.NaN()
	}
	if !d.sorted {
		slices.SortFunc(d.edges, func(a, b distEdge) int { return cmp.Compare(a.at, b.at) })
		d.sorted = true
	}
	sum, density, before := 0.0, 0.0, 0.0
	for _, e := range d.edges {
		to := sum + float64((e.at-before)*density)
		switch {
		case to >= mass && density != 0:
			return (mass-sum)/density + before
		case to >= mass, to+e.point >= mass:
			return e.at
		}
		sum, before = to+e.point, e.at
		density += e.delta
	}
	return before
}

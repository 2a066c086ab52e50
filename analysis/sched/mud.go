package sched

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// utilDist is the distribution of the utilisation over windows: how much time
// was spent at which utilisation. It is a sum of rectangles, one for each
// stretch in which the utilisation goes steadily from one value to another,
// and of masses at one point for those in which it stays, as internal/trace's
// mud is.
//
// A coarse histogram knows at any time in which bucket the mass of interest is
// reached. That bucket only moves down, so that nothing above it is counted or
// kept, and a quantile looks closely at the stretches of one bucket alone.
type utilDist struct {
	stretches []stretch
	highest   float64 // the highest utilisation of any stretch; NaN before the first

	mass   float64 // ns: the highest mass of interest, counted from the lowest utilisation
	bucket int     // where it is reached; distBuckets if it is not yet
	below  float64 // mass in the buckets below that one
	hist   [distBuckets]float64
	rises  [distBuckets]float64 // the mass that each bucket from here on has besides, or less: for stretches that fill some

	// sharp is where the mass of interest is reached for certain: as the lengths of stretches
	// tell (see [levelOf]), or as the last close look did, which is taken again when there are a quarter more stretches: most of the mass may lie in one bucket.
	sharp float64
	next  int // with so many

	edges []distEdge // reused: see [utilDist.edgesIn]
}

const distBuckets = 1024

// stretch has a mass, in ns, that is spread evenly between two utilisations, or
// lies at one.
type stretch struct {
	low, high float64
	mass      float64
}

// distEdge is where the density changes.
type distEdge struct {
	at    float64
	delta float64 // the density changes by this
	point float64 // and there is this mass at the point itself
}

// utilDists are those that nobody uses: a curve asks for dozens of distributions, one
// after the other, and a fifth of the time went into growing their lists.
var utilDists = sync.Pool{New: func() any { return &utilDist{} }}

// getUtilDist returns an empty distribution, which is given back to putUtilDist.
func getUtilDist(mass float64) *utilDist {
	d := utilDists.Get().(*utilDist)
	*d = utilDist{mass: mass, highest: math.NaN(), sharp: math.Inf(1), stretches: d.stretches[:0], edges: d.edges[:0]}
	d.locate()
	return d
}

func putUtilDist(d *utilDist) { utilDists.Put(d) }

// add spreads a mass evenly between two utilisations.
func (d *utilDist) add(l, r, mass float64) {
	if mass == 0 {
		return
	}
	l, r = min(l, r), max(l, r)
	if !(r <= d.highest) {
		d.highest = r
	}
	first, in := bucketOf(l)
	if first > d.bucket || l > d.sharp {
		return
	}
	d.stretches = append(d.stretches, stretch{l, r, mass})
	d.count(first, in, stretch{l, r, mass})
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

// count adds a stretch, which begins in a bucket, so far into it, to the histogram.
func (d *utilDist) count(first int, in float64, s stretch) {
	if s.low == s.high {
		d.hist[first] += s.mass
		return
	}
	last, out := bucketOf(s.high)
	if first == last {
		d.hist[first] += s.mass
		return
	}
	each := s.mass / (s.high - s.low) / distBuckets
	d.hist[first] += float64(each * (1 - in))
	d.hist[last] += float64(each * out)
	if first+1 < last {
		d.rises[first+1] += each
		d.rises[last] -= each
	}
}

// bucketOf returns the bucket of a utilisation and how far into it that is.
func bucketOf(util float64) (bucket int, in float64) {
	x := util * distBuckets
	if bucket = int(x); bucket >= distBuckets {
		return distBuckets - 1, 1
	}
	return bucket, x - float64(bucket)
}

// locate finds the bucket in which the mass of interest is reached.
func (d *utilDist) locate() { d.bucket, d.below = d.reached(d.mass) }

// reached returns the bucket in which a mass is reached, distBuckets if none is,
// and the mass in those below it.
func (d *utilDist) reached(mass float64) (bucket int, below float64) {
	level := 0.0
	for i, n := range &d.hist {
		level += d.rises[i]
		n += level
		if below+n > mass+rounded {
			return i, below
		}
		below += n
	}
	return distBuckets, below
}

// rounded is a mass, in ns, that rounding may leave in a bucket that has none: the sum of
// what rises and falls. A stretch of a nanosecond has more in each bucket.
const rounded = 1e-4

// bound returns a utilisation at which the mass of interest is reached for
// certain; 1 while nothing is known.
func (d *utilDist) bound() float64 {
	if d.bucket == distBuckets {
		return min(1, d.sharp)
	}
	if n := len(d.stretches); n >= d.next {
		d.next = n + n/4 + 64
		d.sharp = min(d.sharp, d.quantile(d.mass)) // NaN is not possible: there is more mass
	}
	return min(d.sharp, float64(d.bucket+1)/distBuckets)
}

// quantile returns the utilisation at which a mass, that of interest at most, is
// reached: NaN if there is none at all, the highest utilisation if there is less.
func (d *utilDist) quantile(mass float64) float64 {
	bucket, sum := d.reached(mass)
	if bucket == distBuckets {
		return d.highest
	}
	edges, density, before := d.edgesIn(bucket), 0.0, 0.0
	for _, e := range edges {
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

// edgesIn returns what the stretches have in a bucket, in order.
func (d *utilDist) edgesIn(bucket int) []distEdge {
	from, to := float64(bucket)/distBuckets, float64(bucket+1)/distBuckets
	if bucket == distBuckets-1 {
		to = math.Inf(1) // what lies at 1 belongs to the last one
	}
	edges := d.edges[:0]
	for _, s := range d.stretches {
		switch {
		case s.high < from || s.low >= to:
		case s.low == s.high:
			edges = append(edges, distEdge{s.low, 0, s.mass})
		case s.high > from:
			density := s.mass / (s.high - s.low)
			edges = append(edges, distEdge{max(s.low, from), density, 0}, distEdge{min(s.high, to), -density, 0})
		}
	}
	slices.SortFunc(edges, func(a, b distEdge) int { return cmp.Compare(a.at, b.at) })
	d.edges = edges
	return edges
}

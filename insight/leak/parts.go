package leak

import (
	"fmt"
	"math"
	"slices"

	"loupe/analysis/facts"
	"loupe/insight"
	"loupe/value/unit"
)

// sampling is what the sampling of the heap does to a rise.
type sampling struct {
	// noise is the standard deviation of the difference of the last value and the first.
	noise float64
	// rise is per unit of time, with an interval of 95 %.
	rise [3]float64
}

// normal95 and normal99 are the points of the normal distribution for two-sided intervals.
const (
	normal95 = 1.96
	normal99 = 2.576
)

// sampledRise estimates the rise of something that is sampled object by object. What is sampled
// stays so for as long as it lives: the values are a random walk, whose increments are
// independent, and not points around a line. The rise is then what came in all over the time,
// as exact as the number of objects that were seen to come and to go; grain is how many
// bytes of variance each byte of them brings. allocated bounds what came, where it is known.
// Where the increments are more uneven than that, it is as exact as they are.
func sampledRise(times, values, allocated []float64, grain float64) (s sampling) {
	n := len(values)
	if n < 2 || times[n-1] <= times[0] {
		return s
	}
	length, rise := times[n-1]-times[0], values[n-1]-values[0]
	came := values[n-1]
	if len(allocated) == n {
		came = min(came, max(allocated[n-1]-allocated[0], rise))
	}
	came = max(came, rise, 0)
	gone := max(came-rise, 0)
	variance := grain * (came + gone)
	s.noise = math.Sqrt(variance)
	// A count of few has a skewed interval, whose middle lies higher (Wilson's for a Poisson count).
	centre := rise
	if came+gone > 0 {
		centre += grain * normal95 * normal95 / 2 * (came - gone) / (came + gone)
	}
	half := normal95 * math.Sqrt(variance+math.Pow(grain*normal95, 2)/4)
	uneven := 0.0
	for i := 1; i < n; i++ {
		d := values[i] - values[i-1] - rise/length*(times[i]-times[i-1])
		uneven += d * d
	}
	if n > 2 {
		uneven *= float64(n-1) / float64(n-2)
	}
	if by := student95(n-2) * math.Sqrt(uneven); by > half {
		centre, half = rise, by
	}
	s.rise = [3]float64{(centre - half) / length, rise / length, (centre + half) / length}
	return s
}

// student95 is the point of Student's distribution for an interval of 95 %, by Hill's first
// terms, which are right to two per cent from three degrees on.
func student95(freedom int) float64 {
	if freedom < 1 {
		return 12.7
	}
	z, f := normal95, float64(freedom)
	return z + (z*z*z+z)/(4*f) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*f*f)
}

// grainOf is that of all sites together, by what they have in use at last.
func grainOf(g *facts.Growth) float64 {
	grains, bytes := 0.0, 0.0
	for _, s := range g.Sites {
		v := max(0, s.Values[len(s.Values)-1])
		grains, bytes = grains+v*s.Grain, bytes+v
	}
	if bytes == 0 {
		return 0
	}
	return grains / bytes
}

// sampled gives a quantity of a heap profile what its sampling does to it.
func (q *Quantity) sampled(allocated []float64, grain float64) {
	if grain > 0 {
		q.Sampling = sampledRise(q.Times, q.Values, allocated, grain)
	}
}

// hiddenSites are the lines that grow by themselves although all of them together do not.
func (d *decider) hiddenSites(l *Looked) (all []growingSite, lonely bool) {
	g := l.growth
	if g == nil || !l.Shape.judged() || l.Shape == Grows {
		return nil, false
	}
	least := float64(leastGoroutines)
	if l.What == Heap {
		least = leastSampled
	}
	for _, s := range g.Sites {
		j := judge(siteQuantity(g, s, least), 0)
		// One of many lines rises by chance: each is asked for as much more.
		if j.Shape != Grows || j.P*float64(len(g.Sites)) >= chance*5 {
			continue
		}
		all = append(all, growingSite{s, [3]float64{j.Slope.Low, j.Slope.Estimate, j.Slope.High}, l.Per, g.Last})
	}
	slices.SortStableFunc(all, compareSites)
	if len(all) == 0 {
		return nil, false
	}
	rest := slices.Clone(g.Totals)
	for _, s := range all {
		for i, v := range s.Values {
			rest[i] -= v
		}
	}
	// What falls steadily beside it may be where the same things were before.
	falls := slices.Clone(rest)
	for i := range falls {
		falls[i] = -falls[i]
	}
	j := judge(Quantity{Times: g.Times, Values: falls, Untimed: g.Untimed, Least: (l.To - l.From) / 2}, 0)
	return all, !(j.P < 0.05 && j.To > j.From)
}

// siteQuantity is one line of a growth.
func siteQuantity(g *facts.Growth, s *facts.GrowingSite, least float64) Quantity {
	q := Quantity{Times: g.Times, Values: s.Values, Untimed: g.Untimed, Least: least}
	q.sampled(s.Allocated, s.Grain)
	return q
}

// hidden says of a quantity that does not grow as a whole which lines of it do.
func (d *decider) hidden(l *Looked) (grows bool, open string) {
	sites, alone := d.hiddenSites(l)
	if len(sites) == 0 {
		return false, ""
	}
	first := sites[0]
	if l.What == Goroutines && (len(first.Frames) == 0 || insight.WaitsOutside(first.Frames)) {
		return false, fmt.Sprintf("of the goroutines those at %s become more, but all together do not: %s, and more clients look the same", placeOf(first.At), moreText(l.What, first.rate[1], l.Per))
	}
	if !alone || !first.User {
		return false, fmt.Sprintf("what comes from %s grows (%s), but something else shrinks by as much, so that the whole does not: it may have moved, or leak", placeOf(first.At), moreText(l.What, first.rate[1], l.Per))
	}
	causes, doubt := d.causesOf(l, sites)
	if doubt != "" || len(causes) == 0 {
		return false, doubt
	}
	for _, c := range causes {
		c.Doubts = append(c.Doubts, fmt.Sprintf("the %s as a whole %s (%s): this is one line's own course", l.What, verb(l.What, l.Shape), unit.Plural(int64(l.Points), "look")))
	}
	d.addCauses(causes)
	if slices.ContainsFunc(causes, func(c *Cause) bool { return !c.Bounded }) {
		return true, ""
	}
	return false, fmt.Sprintf("what comes from %s grows: %s", placeOf(first.At), boundText(l.What, causes[0]))
}

// verb puts a shape into a sentence.
func verb(what Matter, s Shape) string {
	be, s3 := "is", "s"
	if what == Goroutines || what == Files {
		be, s3 = "are", ""
	}
	switch s {
	case Steady:
		return be + " steady"
	case Returned:
		return "rose and came back"
	case Falls:
		return "fall" + s3
	case Stepped:
		return "rise" + s3 + " in steps"
	case Late:
		return "show" + s3 + " no even course"
	case Slowing:
		return "rise" + s3 + " more slowly than before"
	case WithLoad:
		return "follow" + s3 + " the load"
	case WithHeap:
		return "move" + s3 + " with the heap"
	case Slight:
		return "rise" + s3 + " slightly"
	}
	return string(s)
}

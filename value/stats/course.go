package stats

import (
	"math"
	"slices"
)

// Shape is how a series got from one level to another.
type Shape int

// The shapes.
const (
	// Step is a change at once, between two neighbouring values.
	Step Shape = iota
	// Gradual is a trend: a straight line fits at least as well as levels do.
	Gradual
	// StepOrGradual may be either.
	StepOrGradual
)

// Move is a change of level within a series.
type Move struct {
	// ChangePoint is where a step came. Of a trend At is where a single step would
	// fit best, From its first value and To its last.
	ChangePoint
	Shape Shape
	// Before and After are the stretches that it lies between: that of the values before
	// the change, up to the change before it, and that of the values from it on. Of a trend
	// they are the ends.
	Before, After [2]int
	// Wanders tells that neighbouring values are so alike that a series which wanders about
	// by itself looks like this: p is that of independent values, and these are not.
	Wanders bool
}

// Course is what became of a series of values in order of time.
type Course struct {
	Moves []Move
	// P is that of a series of one level, see [ChangeSearch.Steady].
	P float64
	// Alike is the correlation of neighbouring values, apart from the moves.
	Alike float64
}

// clearly is by how much a step has to fit better than a line, as the logarithm of the
// likelihoods, for a change to be called one.
const clearly = 3.0

// alikeFrom is how many standard errors the correlation of neighbours lies above none from
// which on a change has to be clear of it as well.
const alikeFrom, farAlikeFrom = 1.28, 2.0

// Course finds the changes of a series, each with an error of alpha (see
// [ChangeSearch.ChangePoints]), and says of each whether it came at once or by and by, and
// whether the values, which depend on each other, may have wandered there.
func (s *ChangeSearch) Course(values []float64, alpha float64) Course {
	c := Course{P: s.Steady(values)}
	if c.P >= alpha {
		return c
	}
	points := s.ChangePoints(values, alpha)
	if x, _, ok := scores(values, nil); ok {
		values = x
	}
	c.Moves = movesOf(values, points)
	whitened := c.whiten(values)
	if whitened == nil {
		return c
	}
	again := s.ChangePoints(whitened, alpha)
	for i := range c.Moves {
		m := &c.Moves[i]
		m.Wanders = !slices.ContainsFunc(again, func(p ChangePoint) bool { return m.From-2 <= p.At && p.At <= m.To+1 })
	}
	return c
}

// movesOf says of change points which of them are one trend.
func movesOf(values []float64, points []ChangePoint) (moves []Move) {
	bound := func(i int) int { // the i-th border of the stretches
		switch {
		case i < 0:
			return 0
		case i >= len(points):
			return len(values)
		}
		return points[i].At
	}
	level := func(i int) float64 { return Median(values[bound(i-1):bound(i)]) } // in front of the i-th point
	for i := 0; i < len(points); {
		// The longest row of steps the same way that a line does as well as.
		last := i
		for last+1 < len(points) && (level(last+1) > level(last)) == (level(last+2) > level(last+1)) {
			last++
		}
		for ; last > i; last-- {
			if steps := points[i : last+1]; better(values, bound(i-1), bound(last+1), steps) < 0 {
				break
			}
		}
		from, to := bound(i-1), bound(last+1)
		m := Move{ChangePoint: points[i], Before: [2]int{from, bound(i)}, After: [2]int{bound(last), to}}
		for _, p := range points[i : last+1] {
			if p.P < m.P {
				m.At, m.P = p.At, p.P
			}
		}
		switch fits := better(values, from, to, points[i:last+1]); {
		case fits < 0:
			m.Shape, m.From, m.To = Gradual, from, to-1
		case fits < clearly:
			m.Shape = StepOrGradual
		}
		moves = append(moves, m)
		i = last + 1
	}
	return moves
}

// better is by how much levels between some steps fit a stretch better than a straight line,
// as the difference of the logarithms of the likelihoods, less what each of their parameters
// costs (Schwarz 1978). Distances count as they are, and not squared, so that outliers
// decide nothing.
func better(values []float64, from, to int, steps []ChangePoint) float64 {
	part := values[from:to]
	n := float64(len(part))
	levels, line := 0.0, 0.0
	for i := 0; i <= len(steps); i++ {
		a, b := from, to
		if i > 0 {
			a = steps[i-1].At
		}
		if i < len(steps) {
			b = steps[i].At
		}
		levels += distances(values[a:b], 0)
	}
	x := make([]float64, len(part))
	for i := range x {
		x[i] = float64(i)
	}
	line = distances(part, TheilSen(x, part, 0.95).Estimate)
	tiny := 1e-12 * n
	parameters := float64(2*len(steps)+1) - 2
	return n*math.Log((line+tiny)/(levels+tiny)) - parameters/2*math.Log(n)
}

// distances is the sum of those of values from a line of a slope.
func distances(values []float64, slope float64) (sum float64) {
	left := slices.Clone(values)
	for i := range left {
		left[i] -= slope * float64(i)
	}
	middle := Median(left)
	for _, v := range left {
		sum += math.Abs(v - middle)
	}
	return sum
}

// whiten finds out how alike neighbours are, and takes from each value what the one before
// tells of it (Cochrane and Orcutt 1949): what is left is independent. It is nil where
// neighbours are no more alike than by chance.
func (c *Course) whiten(values []float64) []float64 {
	left := slices.Clone(values)
	stretches := 0
	flatten := func(from, to int, slope float64) {
		if to <= from {
			return
		}
		stretches++
		for i := from; i < to; i++ {
			left[i] -= slope * float64(i)
		}
		middle := Median(left[from:to])
		for i := from; i < to; i++ {
			left[i] -= middle
		}
	}
	done := 0
	for _, m := range c.Moves {
		if m.Shape != Gradual {
			flatten(done, m.At, 0)
			done = m.At
			continue
		}
		part := values[m.Before[0]:m.After[1]]
		x := make([]float64, len(part))
		for i := range x {
			x[i] = float64(i)
		}
		flatten(done, m.Before[0], 0)
		flatten(max(done, m.Before[0]), m.After[1], TheilSen(x, part, 0.95).Estimate)
		done = m.After[1]
	}
	flatten(done, len(values), 0)
	scores := normalScores(left)
	both, all := 0.0, 0.0
	for i, x := range scores {
		all += x * x
		if i > 0 {
			both += x * scores[i-1]
		}
	}
	if all == 0 {
		return nil
	}
	n := float64(len(values))
	tau := both / all
	// Each level that was taken off has made them less alike.
	near, far := tau+(1+3*max(0, tau))*float64(stretches)/n, c.distant(left)
	c.Alike = min(0.95, max(near, far))
	if near*math.Sqrt(n) < alikeFrom && far*math.Sqrt(n) < farAlikeFrom {
		return nil
	}
	out := make([]float64, len(values)-1)
	for i := range out {
		out[i] = values[i+1] - c.Alike*values[i]
	}
	return out
}

// distant is how alike neighbours are by how much farther apart the next but one is: in a
// series in which each value keeps a part of the one before, that part. Levels and slopes are
// taken off, and what lies across a change does not count. It errs more than the correlation of what is left when all levels
// are taken off, but not to one side: those levels take what is alike away with them.
func (c *Course) distant(left []float64) float64 {
	across := func(i, lag int) bool {
		return slices.ContainsFunc(c.Moves, func(m Move) bool {
			if m.Shape != Gradual {
				return i-lag < m.At && m.At <= i
			}
			return i-lag < m.From && m.From <= i || i-lag <= m.To && m.To < i
		})
	}
	apart := func(lag int) float64 {
		var d []float64
		for i := lag; i < len(left); i++ {
			if !across(i, lag) {
				d = append(d, math.Abs(left[i]-left[i-lag]))
			}
		}
		return Mean(d)
	}
	one, two := apart(1), apart(2)
	if !(one > 0) {
		return 0
	}
	return (two/one)*(two/one) - 1
}

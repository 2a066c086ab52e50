package compare

import (
	"fmt"
	"math"
	"time"

	"loupe/format/profile"
	"loupe/value/stack"
)

// cell is the weight of something in one profile.
type cell struct {
	value float64 // as in the profile
	count float64 // observations behind it
	// square is the variance of the value where the observations are
	// independent: the sum of the squares of what each was worth.
	square float64
}

func (c *cell) add(d cell) {
	c.value += d.value
	c.count += d.count
	c.square += d.square
}

func (c *cell) sub(d cell) {
	c.value -= d.value
	c.count -= d.count
	c.square -= d.square
}

// run is one profile, summed up.
type run struct {
	stacks []cell     // by stack.ID
	live   []stack.ID // the stacks with a weight
	total  cell
	factor float64 // what the values are multiplied by
}

// weights are the profiles of both sides, summed up, and what each is divided by: the
// estimates that are compared.
type weights struct {
	list  []*profile.Profile // the first sides of them are A's
	sides int
	index int

	runs     []run // by profile
	sampling profile.Sampling
	shares   bool // the values are parts of a whole that is itself an estimate
}

// weigh sums the profiles up by stack.
func (w *weights) weigh() {
	w.runs = make([]run, len(w.list))
	w.sampling = profile.Exact
	for i, p := range w.list {
		counts, how := p.Observations(w.index)
		r := &w.runs[i]
		r.stacks, r.factor = make([]cell, p.Stacks.Len()), 1
		for row, id := range p.StackIDs {
			v := p.Values[w.index][row]
			if v == 0 {
				continue
			}
			if v < 0 {
				how = profile.Unknown // a difference already: what was taken away is not told
			}
			x := weightOf(v, counts[row])
			if s := &r.stacks[id]; s.value == 0 && s.count == 0 {
				r.live = append(r.live, id)
			}
			r.stacks[id].add(x)
			x.value = math.Abs(x.value)
			r.total.add(x)
		}
		w.sampling = weaker(w.sampling, how)
	}
}

func weightOf(v, count int64) cell {
	x := cell{value: float64(v), count: float64(max(count, -count))}
	if x.count > 0 {
		x.square = x.value * x.value / x.count
	}
	return x
}

// weaker returns what can be said of two profiles together.
func weaker(a, b profile.Sampling) profile.Sampling {
	switch {
	case a == profile.Unknown || b == profile.Unknown:
		return profile.Unknown
	case a == profile.Sampled || b == profile.Sampled:
		return profile.Sampled
	}
	return profile.Exact
}

func (w *weights) doubt() Doubt {
	switch {
	case w.sides > 1 && len(w.list)-w.sides > 1:
		return FromRuns
	case w.sampling == profile.Sampled:
		return FromSamples
	}
	return Unfounded
}

func (w *weights) side(from, to int) ProfileSide {
	s := ProfileSide{Profiles: to - from}
	var duration time.Duration
	timed := true
	for i := from; i < to; i++ {
		s.Total += w.runs[i].total.value / float64(s.Profiles)
		s.Samples += w.runs[i].total.count
		duration += w.list[i].Duration
		timed = timed && w.list[i].Duration > 0
	}
	if timed {
		s.Duration = duration / time.Duration(s.Profiles)
	}
	if w.sampling == profile.Unknown {
		s.Samples = math.NaN()
	}
	return s
}

// alike tells whether a mean observation has the same value in all profiles, so
// that values per observation are shares but for a constant.
func (w *weights) alike() bool {
	mean := func(r *run) float64 { return r.total.value / r.total.count }
	for i := range w.runs {
		if math.Abs(mean(&w.runs[i])/mean(&w.runs[0])-1) > 1e-9 || w.runs[i].total.count == 0 {
			return false
		}
	}
	return true
}

func (w *weights) divide(by func(r *run, i int) float64) error {
	for i := range w.runs {
		r := &w.runs[i]
		divisor := by(r, i)
		if divisor == 0 && r.total.value != 0 {
			return fmt.Errorf("%w: what the values of profile %s are to be divided by is zero", ErrIncomparable, w.which(i))
		}
		if divisor != 0 {
			r.factor = 1 / divisor
		}
	}
	return nil
}

// which names a profile: A, B2.
func (w *weights) which(i int) string {
	side, n := "A", w.sides
	if i >= w.sides {
		side, i, n = "B", i-w.sides, len(w.list)-w.sides
	}
	if n == 1 {
		return side
	}
	return fmt.Sprintf("%s%d", side, i+1)
}

// few tells whether there is too little of something to be judged.
func (w *weights) few(cells []cell) bool {
	if w.sampling == profile.Sampled {
		return samples(cells) < FewSamples
	}
	there := 0
	for _, x := range cells {
		if x.value != 0 {
			there++
		}
	}
	return there < 2
}

func samples(cells []cell) (n float64) {
	for _, x := range cells {
		n += x.count
	}
	return n
}

// values are the normalised values of runs.
func (w *weights) values(cells []cell, from, to int) []float64 {
	out := make([]float64, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, cells[i].value*w.runs[i].factor)
	}
	return out
}

// estimate is the mean of runs, with the variance that the sampling within them
// makes.
func (w *weights) estimate(cells []cell, from, to int) estimate {
	return w.estimateOf(cells, from, to, w.shares)
}

func (w *weights) estimateOf(cells []cell, from, to int, shares bool) (e estimate) {
	n := float64(to - from)
	for i := from; i < to; i++ {
		x, r := cells[i], &w.runs[i]
		e.value += x.value * r.factor / n
		square := x.square
		if shares && r.total.value > 0 {
			// The total has an error too, in part the same.
			s := x.value / r.total.value
			square = (1-s)*(1-s)*x.square + s*s*(r.total.square-x.square)
		}
		e.variance += max(0, square) * (r.factor / n) * (r.factor / n)
	}
	return e
}

// whole is what all shares add up to in a profile: the same in each, by the way
// they are normalised.
func (w *weights) whole() float64 {
	for i := range w.runs {
		if r := &w.runs[i]; r.total.value > 0 {
			return r.total.value * r.factor
		}
	}
	return 1
}

// worth is how much a mean observation of one side is worth of one of the other.
func (w *weights) worth(from, to, otherFrom, otherTo int) float64 {
	total := make([]cell, len(w.runs))
	for i := range w.runs {
		total[i] = w.runs[i].total
	}
	_, one := w.estimateOf(total, from, to, false).observed()
	_, other := w.estimateOf(total, otherFrom, otherTo, false).observed()
	if one == 0 || other == 0 {
		return 1
	}
	return one / other
}

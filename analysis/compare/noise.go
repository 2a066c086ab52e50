package compare

import (
	"math"

	"loupe/format/profile"
	"loupe/value/stats"
)

// noise is how much runs of one program differ beyond the error of sampling,
// learned from all rows at once. A row alone has a handful of runs to tell its
// spread from; hundreds of rows together tell what spread is usual, and each is
// judged by its own and the usual spread together (the moderation of Smyth 2004,
// on the dispersion of counts).
//
// A run differs in two ways: as a whole, because the machine was faster or did
// more, and in how its total is divided among the rows. The first is one number
// for each run and is taken as it is; the second is what is learned.
type noise struct {
	// spread is the squared coefficient of variation of a row's share between
	// runs, beyond what sampling makes of it.
	spread float64
	// freedom is how many degrees of freedom the usual spread counts for
	// beside a row's own.
	freedom float64
	// base is the usual dispersion in units of what spread and sampling predict.
	base float64
}

// enoughRows is the number of rows from which on something can be learned.
const enoughRows = 8

// mostFreedom bounds what the usual spread counts for: rows of one call path
// are not independent.
const mostFreedom = 200

// divided is one row of several runs, as the parts of the runs' totals that it
// is, at the mean total of each side.
type divided struct {
	mean, sampling [2]float64 // of a run, by side
	own            [2]float64 // sum of the squared deviations
	free           [2]float64
}

// divide makes a row of cells comparable between the runs of a side.
func (w *weights) divided(cells []cell) (d divided) {
	for side, at := range [2][2]int{{0, w.sides}, {w.sides, len(cells)}} {
		whole := 0.0
		for i := at[0]; i < at[1]; i++ {
			whole += w.runs[i].total.value * w.runs[i].factor
		}
		n := float64(at[1] - at[0])
		whole /= n
		values := make([]float64, 0, at[1]-at[0])
		for i := at[0]; i < at[1]; i++ {
			r := &w.runs[i]
			if r.total.value == 0 {
				values = append(values, 0)
				continue
			}
			share := cells[i].value / r.total.value
			values = append(values, share*whole)
			d.mean[side] += share * whole / n
			square := (1-share)*(1-share)*cells[i].square + share*share*(r.total.square-cells[i].square)
			d.sampling[side] += max(0, square) / (r.total.value * r.total.value) * whole * whole / n
		}
		for _, v := range values {
			d.own[side] += (v - d.mean[side]) * (v - d.mean[side])
		}
		if d.mean[side] > 0 {
			d.free[side] = n - 1
		}
	}
	return d
}

// predicted is the variance of one run of a side.
func (d *divided) predicted(side int, spread float64) float64 {
	return d.sampling[side] + spread*d.mean[side]*d.mean[side]
}

// dispersion is a row's own spread in units of the predicted one.
func (d *divided) dispersion(spread float64) float64 {
	sum := 0.0
	for side := range 2 {
		if v := d.predicted(side, spread); d.free[side] > 0 && v > 0 {
			sum += d.own[side] / v
		}
	}
	return sum / (d.free[0] + d.free[1])
}

// learn learns the noise from rows; nil where there is too little to learn.
func (c *comparison) learn(rows [][]cell) *noise {
	if c.w.doubt() != FromRuns || c.w.sampling != profile.Sampled {
		return nil
	}
	var list []divided
	for _, cells := range rows {
		if c.w.few(cells) {
			continue
		}
		d := c.w.divided(cells)
		// What is nearly all of the total has no share to vary.
		if d.free[0] > 0 && d.free[1] > 0 && d.sampling[0] > 0 && d.sampling[1] > 0 {
			list = append(list, d)
		}
	}
	if len(list) < enoughRows {
		return nil
	}
	n := &noise{}
	excess := func(spread float64) float64 {
		sum := 0.0
		for i := range list {
			sum += min(list[i].dispersion(spread), 10)
		}
		return sum/float64(len(list)) - 1
	}
	for low, high, k := 0.0, 4.0, 0; k < 50 && excess(0) > 0; k++ {
		n.spread = (low + high) / 2
		if excess(n.spread) > 0 {
			low = n.spread
		} else {
			high = n.spread
		}
	}
	half := float64(len(c.w.list)-2) / 2
	logs := make([]float64, len(list))
	mean, variance := 0.0, 0.0
	for i := range list {
		logs[i] = math.Log(max(list[i].dispersion(n.spread), 1e-3)) - digamma(half) + math.Log(half)
		mean += logs[i] / float64(len(list))
	}
	for _, x := range logs {
		variance += (x - mean) * (x - mean) / float64(len(list)-1)
	}
	n.freedom = mostFreedom
	if beyond := variance - trigamma(half); beyond > 0 {
		n.freedom = min(mostFreedom, 2*inverseTrigamma(beyond))
	}
	n.base = math.Exp(mean + digamma(n.freedom/2) - math.Log(n.freedom/2))
	return n
}

// meanVariance is the variance of the means of a row on both sides, how
// they are divided, and the degrees of freedom behind it.
func (n *noise) meanVariance(d *divided, runs [2]float64) (variance, freedom float64) {
	own := d.free[0] + d.free[1]
	dispersion := n.base
	if own > 0 {
		// A row whose runs differ more than is usual is taken at its word; one
		// whose runs differ less was lucky.
		mine := d.dispersion(n.spread)
		dispersion = max(mine, (n.freedom*n.base+own*mine)/(n.freedom+own))
	}
	for side := range 2 {
		v := max(d.sampling[side], dispersion*d.predicted(side, n.spread))
		variance += v / runs[side]
	}
	return variance, n.freedom + own
}

// digamma is the derivative of the logarithm of the gamma function.
func digamma(x float64) (y float64) {
	for ; x < 10; x++ {
		y -= 1 / x
	}
	z := 1 / (x * x)
	return y + math.Log(x) - 1/(2*x) - z*(1./12-z*(1./120-z*(1./252-z/240)))
}

// trigamma is the derivative of digamma.
func trigamma(x float64) (y float64) {
	for ; x < 10; x++ {
		y += 1 / (x * x)
	}
	z := 1 / (x * x)
	return y + 1/x + z/2 + z/x*(1./6-z*(1./30-z*(1./42-z/30)))
}

// inverseTrigamma finds the x with this trigamma, which falls.
func inverseTrigamma(y float64) float64 {
	low, high := 1e-6, 1.0
	for trigamma(high) > y && high < 1e8 {
		high *= 2
	}
	for range 80 {
		if mid := (low + high) / 2; trigamma(mid) > y {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// moderated compares a row of several runs with what was learned from all.
func (c *comparison) moderated(cells []cell) (stats.Interval, float64) {
	d := c.w.divided(cells)
	runs := [2]float64{float64(c.w.sides), float64(len(cells) - c.w.sides)}
	for side := range 2 {
		if d.mean[side] == 0 {
			// Nothing was seen: half an observation in all runs together
			// would hardly have been.
			d.sampling[side] = c.w.unseen(cells, side) / runs[side]
		}
	}
	variance, freedom := c.noise.meanVariance(&d, runs)
	parts := variance * variance / freedom
	if !c.w.shares {
		for side, at := range [2][2]int{{0, c.w.sides}, {c.w.sides, len(cells)}} {
			total := make([]cell, len(cells))
			for i := range c.w.runs {
				total[i] = c.w.runs[i].total
			}
			mean, v := spreadOf(c.w.values(total, at[0], at[1]), 0)
			if mean > 0 {
				share := d.mean[side] / mean
				v *= share * share
				variance += v
				parts += v * v / (runs[side] - 1)
			}
		}
	}
	if parts > 0 {
		freedom = variance * variance / parts
	}
	values := c.w.values(cells, 0, len(cells))
	return student(stats.Mean(values[c.w.sides:])-stats.Mean(values[:c.w.sides]), variance, freedom)
}

// unseen is the variance that half an observation would have had, which is
// worth as much as on the other side.
func (w *weights) unseen(cells []cell, side int) float64 {
	from, to, otherFrom, otherTo := 0, w.sides, w.sides, len(cells)
	if side == 1 {
		from, to, otherFrom, otherTo = otherFrom, otherTo, from, to
	}
	_, weight := w.estimateOf(cells, otherFrom, otherTo, false).observed()
	weight *= w.worth(from, to, otherFrom, otherTo) * float64(to-from)
	return weight * weight / 2
}

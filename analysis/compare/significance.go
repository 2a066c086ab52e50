package compare

import (
	"math"

	"loupe/value/stats"
)

// estimate is the value of one side of a comparison, and how far it can be off
// because it comes from samples.
type estimate struct {
	value, variance float64
	// weight is what one observation is worth where none was made: it bounds
	// the value of what was not seen.
	weight float64
}

// times scales an estimate.
func (e estimate) times(f float64) estimate {
	return estimate{e.value * f, e.variance * f * f, e.weight * f}
}

// observed returns the number of equally heavy observations that would have
// been as precise, and what each of them is worth (Fay and Feuer 1997, for
// weighted sums of Poisson counts).
func (e estimate) observed() (n, weight float64) {
	if e.value == 0 || e.variance == 0 {
		return 0, e.weight
	}
	return e.value * e.value / e.variance, e.variance / e.value
}

// trials returns how many trials with how many hits would have given a share as
// precisely.
func (e estimate) trials() (hits, n float64) {
	if e.variance == 0 {
		if e.weight == 0 {
			return 0, 0
		}
		return e.value / e.weight, 1 / e.weight
	}
	n = e.value * (1 - e.value) / e.variance
	return e.value * n, n
}

// normal is the quantile of the standard normal distribution behind a two-sided
// interval.
func normal(confidence float64) float64 { return math.Sqrt2 * math.Erfinv(confidence) }

// countDifference compares two values that were estimated from counts: the
// interval of b−a, from the score intervals of the two counts (Zou and Donner
// 2008), and the two-sided p of the conditional test that both are equal
// (Przyborowski and Wilenski 1940, with half of the observed case).
func countDifference(a, b estimate) (stats.Interval, float64) {
	na, wa := a.observed()
	nb, wb := b.observed()
	z := normal(Confidence)
	limits := func(n, w float64) (low, high float64) {
		half := z * math.Sqrt(n+z*z/4)
		return w * max(0, n+z*z/2-half), w * (n + z*z/2 + half)
	}
	lowA, highA := limits(na, wa)
	lowB, highB := limits(nb, wb)
	// Under equality an observation is one of b with this probability.
	share := wa / (wa + wb)
	return recovered(a.value, lowA, highA, b.value, lowB, highB), middleP(nb, na+nb, share)
}

// shareDifference compares two shares of a whole that were estimated from
// counts: the interval of b−a from those of Wilson (Newcombe 1998), and the
// two-sided p of the score test that both are equal.
func shareDifference(a, b estimate) (stats.Interval, float64) {
	ka, na := a.trials()
	kb, nb := b.trials()
	ia, ib := stats.Wilson(ka, na, Confidence), stats.Wilson(kb, nb, Confidence)
	interval := recovered(a.value, ia.Low, ia.High, b.value, ib.Low, ib.High)
	pooled := (ka + kb) / (na + nb)
	sd := math.Sqrt(pooled * (1 - pooled) * (1/na + 1/nb))
	if !(sd > 0) {
		return interval, 1
	}
	return interval, math.Erfc(math.Abs(b.value-a.value) / sd / math.Sqrt2)
}

// recovered makes the interval of a difference of those of its parts.
func recovered(a, lowA, highA, b, lowB, highB float64) stats.Interval {
	return stats.Interval{
		Estimate:   b - a,
		Low:        b - a - math.Hypot(b-lowB, highA-a),
		High:       b - a + math.Hypot(highB-b, a-lowA),
		Confidence: Confidence,
	}
}

// middleP is the two-sided p of k hits among n trials of a probability, where
// what was observed counts half. The counts need not be whole.
func middleP(k, n, probability float64) float64 {
	if n <= 0 {
		return 1
	}
	// The probability of at most k hits is that of a beta distribution.
	atMost := func(k float64) float64 {
		switch {
		case k < 0:
			return 0
		case k >= n:
			return 1
		}
		return betaShare(1-probability, n-k, k+1)
	}
	below := (atMost(k) + atMost(k-1)) / 2
	return min(1, 2*min(below, 1-below))
}

// runsDifference compares the values of several runs a side, which need not
// vary alike (Welch 1947): the interval of the difference of the means, and the
// two-sided p that there is none. The variance of a mean is at least what the
// sampling within its runs makes it: few runs that are alike by luck do not
// prove anything.
func runsDifference(a, b []float64, floorA, floorB float64) (stats.Interval, float64) {
	meanA, varA := spreadOf(a, floorA)
	meanB, varB := spreadOf(b, floorB)
	sum := varA + varB
	if sum == 0 {
		// All runs of a side are the same to the last digit. How likely that
		// is by chance, their order tells.
		interval, _ := student(meanB-meanA, 0, 1)
		return interval, stats.Compare(stats.Side{Values: a}, stats.Side{Values: b}, Confidence).P
	}
	return student(meanB-meanA, sum, sum*sum/(varA*varA/float64(len(a)-1)+varB*varB/float64(len(b)-1)))
}

// student returns the interval of a difference with this variance, and the
// two-sided p that there is none.
func student(difference, variance, freedom float64) (stats.Interval, float64) {
	interval := stats.Interval{Estimate: difference, Low: difference, High: difference, Confidence: Confidence}
	if variance == 0 {
		return interval, 1
	}
	se := math.Sqrt(variance)
	half := studentQuantile(Confidence, freedom) * se
	interval.Low, interval.High = difference-half, difference+half
	return interval, studentP(difference/se, freedom)
}

// spreadOf returns the mean and its variance.
func spreadOf(values []float64, floor float64) (mean, variance float64) {
	mean = stats.Mean(values)
	for _, v := range values {
		variance += (v - mean) * (v - mean)
	}
	n := float64(len(values))
	return mean, max(variance/(n-1)/n, floor)
}

// studentP is the two-sided p of Student's t.
func studentP(t, freedom float64) float64 {
	return betaShare(freedom/(freedom+t*t), freedom/2, 0.5)
}

// studentQuantile returns the t that is exceeded, to either side, with a
// probability of one less the confidence.
func studentQuantile(confidence, freedom float64) float64 {
	low, high := 0.0, 1.0
	for studentP(high, freedom) > 1-confidence {
		high *= 2
	}
	for range 60 {
		if mid := (low + high) / 2; studentP(mid, freedom) > 1-confidence {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// betaShare is the regularized incomplete beta function: the probability that a
// value of the beta distribution is at most x. It evaluates the continued
// fraction of DiDonato and Morris (1992) by the method of Lentz.
func betaShare(x, a, b float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2): // where the fraction converges slowly
		return 1 - betaShare(1-x, b, a)
	}
	ab, _ := math.Lgamma(a + b)
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	front := math.Exp(ab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	const tiny = 1e-300
	c, d := 1.0, 1-(a+b)*x/(a+1)
	if math.Abs(d) < tiny {
		d = tiny
	}
	d = 1 / d
	f := d
	for i := range 10000 {
		m := float64(i + 1)
		for _, k := range [2]float64{
			m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)),
			-(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1)),
		} {
			if d = 1 + k*d; math.Abs(d) < tiny {
				d = tiny
			}
			if c = 1 + k/c; math.Abs(c) < tiny {
				c = tiny
			}
			d = 1 / d
			f *= c * d
		}
		if math.Abs(c*d-1) < 1e-14 {
			break
		}
	}
	return min(1, front*f)
}

package compare

import (
	"math"
	"slices"
	"time"

	"loupe/analysis/gc"
	"loupe/format/loadlog"
	"loupe/value/stats"
)

// never stands for a time of a round that never came, such as a percentile that
// falls among requests that were not answered: it is longer than all others.
const never = math.MaxFloat64

// took is a time of a load as a value of a row: unknown when it is not told.
func took(d time.Duration) float64 {
	switch d {
	case 0:
		return unknown
	case loadlog.Never:
		return never
	}
	return float64(d)
}

// fill puts the values of rounds into a cell. In a row of a load a figure that some
// rounds have too few requests for is told of none: the median of the others would
// be of other rounds than that of the row before.
func (c *Cell) fill(id string, values []float64) {
	c.Rounds = []float64{}
	missing := false
	for _, v := range values {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			missing = true
			continue
		case v == never:
			c.Never++
		default:
			c.Rounds = append(c.Rounds, v)
		}
		c.all = append(c.all, v)
	}
	if missing && ofAllRounds[id] {
		*c = Cell{Rounds: []float64{}, Median: gc.Unknown()}
		return
	}
	if id == errorsRow {
		// The median of rounds of which one had failures would be none.
		sum := 0.0
		for _, v := range c.Rounds {
			sum += v
		}
		if c.Median = gc.Figure(sum); len(c.Rounds) == 0 {
			c.Median = gc.Unknown()
		}
		return
	}
	c.Median = gc.Figure(stats.Median(c.all))
	if float64(c.Median) > never/4 { // also between one that came and one that did not
		c.Median = gc.Unknown()
	}
}

// ofAllRounds are rows in which the figures of single rounds may be missing because
// too few requests were sent.
var ofAllRounds = map[string]bool{
	"latency_mean": true, "latency_p10": true, "latency_p50": true, "latency_p90": true, "latency_p99": true, "latency_p999": true, "latency_max": true,
	"service_p50": true, "service_p99": true,
}

// NeverCame tells that most rounds have a time that never came.
func (c *Cell) NeverCame() bool { return c.Never > 0 && !c.Median.Known() }

// byRanks judges values of which some have no ratio, since they never came or are
// zero: by their ranks alone.
func (m metric) byRanks(old, new []float64) Change {
	c := Change{Ratio: gc.Unknown(), Low: gc.Unknown(), High: gc.Unknown(), P: 1}
	if min(len(old), len(new)) < EnoughRounds {
		return c
	}
	c.Verdict = Undecided
	if slices.Min(old) == never && slices.Min(new) == never {
		return c
	}
	// Times stand in for ranks, which is all that the test looks at.
	order := slices.Compact(slices.Sorted(slices.Values(slices.Concat(old, new))))
	rank := func(values []float64) (out []float64) {
		for _, v := range values {
			at, _ := slices.BinarySearch(order, v)
			out = append(out, float64(at+1))
		}
		return out
	}
	a, b := rank(old), rank(new)
	c.P = stats.Compare(stats.Side{Values: a}, stats.Side{Values: b}, Confidence).P
	if up := stats.Median(b) - stats.Median(a); c.P < 1-Confidence && up != 0 {
		c.Verdict = m.direction(up > 0)
	}
	return c
}

// agree takes back what contradicts the figures that stand beside it: the estimate
// is the median over all pairs of rounds, which in rounds that fall into two heaps can
// lie on the other side of the ratio of the medians. Then the ratio of the medians
// is told, and nothing is decided.
func (c *Change) agree(old, new gc.Figure) {
	if !c.Ratio.Known() || !old.Known() || !new.Known() || old <= 0 || new <= 0 {
		return
	}
	ratio := float64(new) / float64(old)
	estimate := float64(c.Ratio)
	if (ratio-1)*(estimate-1) > 0 || math.Abs(estimate-1) <= ROPE && math.Abs(ratio-1) <= ROPE {
		return
	}
	c.Ratio = gc.Figure(ratio)
	if c.Low.Known() && (ratio < float64(c.Low) || ratio > float64(c.High)) {
		c.Low, c.High, c.Confidence = gc.Unknown(), gc.Unknown(), 0
	}
	if c.Verdict != NoVerdict && c.Verdict != Same {
		c.Verdict = Undecided
	}
}

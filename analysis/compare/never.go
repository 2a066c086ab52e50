package compare

import (
	"math"
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
	for i, v := range values {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			missing = true
			continue
		case v == never:
			c.Never++
		default:
			c.Rounds = append(c.Rounds, v)
		}
		c.all, c.rounds = append(c.all, v), append(c.rounds, i)
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

// side are the values of a cell for a comparison, with the blocks that its rounds are of.
func (c *Cell) side(blocks []int) (s stats.Side) {
	for i, v := range c.all {
		if v == never {
			v = math.Inf(1)
		}
		s.Values = append(s.Values, v)
		if blocks != nil {
			s.Blocks = append(s.Blocks, blocks[c.rounds[i]])
		}
	}
	return s
}

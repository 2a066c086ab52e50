package plan

import (
	"math"
	"sort"
	"time"
)

// Stage is a stretch of a plan: over its Length the rate goes in a straight
// line from that of the stage before to its own. A stage without length is a
// jump.
type Stage struct {
	Length time.Duration
	Rate   float64 // requests a second, at its end
}

// shape is a rate over time, made of straight lines, and what it adds up to.
// Times are seconds.
type shape struct{ segments []segment }

// segment is one straight line, from at for length; before requests are due
// until it begins, and due within it.
type segment struct {
	at, length  float64
	from, to    float64
	before, due float64
}

// newShape lays stages end to end, the first one rising from no requests.
func newShape(stages []Stage) shape {
	var s shape
	var at, before, from float64
	for _, g := range stages {
		length := g.Length.Seconds()
		if length > 0 {
			due := (from + g.Rate) / 2 * length
			s.segments = append(s.segments, segment{at: at, length: length, from: from, to: g.Rate, before: before, due: due})
			at += length
			before += due
		}
		from = g.Rate
	}
	return s
}

// flat is a rate that never changes nor ends.
func flat(rate float64) shape {
	return shape{[]segment{{length: math.Inf(1), from: rate, to: rate, due: math.Inf(1)}}}
}

// whole returns how many requests are due in all, and when the last segment
// ends.
func (s *shape) whole() (due, seconds float64) {
	if len(s.segments) == 0 {
		return 0, 0
	}
	g := s.segments[len(s.segments)-1]
	return g.before + g.due, g.at + g.length
}

// until returns how many requests are due before a time.
func (s *shape) until(seconds float64) float64 {
	i := sort.Search(len(s.segments), func(i int) bool { return s.segments[i].at > seconds }) - 1
	if i < 0 {
		return 0
	}
	g := &s.segments[i]
	x := min(seconds-g.at, g.length)
	if g.from == g.to {
		return g.before + g.from*x
	}
	return g.before + g.from*x + (g.to-g.from)/(2*g.length)*x*x
}

// cursor finds when requests are due, in ascending order.
type cursor struct {
	shape *shape
	i     int
}

// at returns when the integral of the rate reaches y, in seconds; where it
// stays there for a while, when it leaves it. Calls have ascending y.
func (c *cursor) at(y float64) float64 {
	segments := c.shape.segments
	for c.i < len(segments)-1 && y >= segments[c.i].before+segments[c.i].due {
		c.i++
	}
	g := &segments[c.i]
	y -= g.before
	if y <= 0 && g.from > 0 {
		return g.at
	}
	if g.from == g.to {
		if g.from == 0 {
			return g.at + g.length
		}
		return g.at + y/g.from
	}
	// from·x + slope/2·x² = y, in the form that loses no digits when
	// slope or from is small.
	slope := (g.to - g.from) / g.length
	x := 2 * y / (g.from + math.Sqrt(max(0, g.from*g.from+2*slope*y)))
	if math.IsNaN(x) { // nothing of a rise from nothing
		return g.at
	}
	return g.at + min(x, g.length)
}

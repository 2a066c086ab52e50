package web

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"loupe/session"
	"loupe/value/timeline"
)

// The lanes of the one time axis: courses of figures, heat maps and stretches
// of time, reduced to as many points as a page has pixels. A spike stays: what
// is made one point keeps its least and its greatest value.

var laneEndpoints = []endpoint{on("lanes", answerLanes)}

// Numbers are figures as they travel: five digits, null for what is not known.
type Numbers []float64

// MarshalJSON writes them short: these lists are long, and nobody sees a sixth
// digit of a point on a screen.
func (n Numbers) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 8*len(n)+2), '[')
	for i, v := range n {
		if i > 0 {
			b = append(b, ',')
		}
		switch {
		case math.IsNaN(v), math.IsInf(v, 0):
			b = append(b, "null"...)
		case v == math.Trunc(v) && math.Abs(v) < 1e15:
			b = strconv.AppendInt(b, int64(v), 10)
		default:
			b = strconv.AppendFloat(b, v, 'g', 5, 64)
		}
	}
	return append(b, ']'), nil
}

// laneStack is what answers the question for lanes.
type laneStack struct {
	// Span is the part of the axis that they cover.
	Span  timeline.Span `json:"span"`
	Lanes []*lane       `json:"lanes"`
}

// lane is one lane.
type lane struct {
	Key   string `json:"key"`
	Title string `json:"title"`
	// Unit is that of the values: ns, bytes, count, per_second, cpus or share.
	Unit string `json:"unit"`
	// Shape is how it is drawn: lines, stack, heat (with lines above it) or
	// spans.
	Shape string `json:"shape"`
	// Source says where the figures come from.
	Source string `json:"source,omitempty"`
	// Top is the value at the upper edge; 0 is the greatest.
	Top   float64    `json:"top,omitempty"`
	Lines []laneLine `json:"lines,omitempty"`
	Heat  *laneHeat  `json:"heat,omitempty"`
	Spans *laneSpans `json:"spans,omitempty"`
	// Note is what a reader has to know.
	Note string `json:"note,omitempty"`
	// Missing says what to record when there is nothing to draw.
	Missing string `json:"missing,omitempty"`
}

// laneLine is the course of one figure. The columns have a value for each
// instant of At; null ends what was before.
type laneLine struct {
	Key   string `json:"key"`
	Title string `json:"title"`
	// Step tells that a value holds until the next instant; otherwise it was
	// measured at the instant.
	Step bool            `json:"step,omitempty"`
	At   []timeline.Time `json:"at"`
	Mean Numbers         `json:"mean"`
	// Min and Max are the bounds where a point stands for several values.
	Min Numbers `json:"min,omitempty"`
	Max Numbers `json:"max,omitempty"`
}

// laneHeat counts things by time and size.
type laneHeat struct {
	Start timeline.Time `json:"start"`
	Width float64       `json:"width"` // of a column, in ns
	// Rows are the bounds of the rows from the bottom up, one more than there
	// are rows.
	Rows Numbers `json:"rows"`
	// Counts go through the rows of the first column, then of the next one.
	Counts Numbers `json:"counts"`
}

// laneSpans are stretches of time.
type laneSpans struct {
	Start []timeline.Time `json:"start"`
	End   []timeline.Time `json:"end"`
	// Count is how many one of them stands for, Worst the greatest of their
	// values: the longest pause of a collection in ns.
	Count []int   `json:"count"`
	Worst Numbers `json:"worst,omitempty"`
	// Row is in which row each is drawn, Label what it is called.
	Row   []int    `json:"row,omitempty"`
	Label []string `json:"label,omitempty"`
}

// laneView is the part of the axis that lanes are made for.
type laneView struct {
	timeline.Span
	points int
	in     *session.Session
	s      *subject
}

// width is that of one point.
func (v *laneView) width() float64 { return float64(v.Len()) / float64(v.points) }

// lanesOf makes the lanes of each key.
var lanesOf = map[string]func(ctx context.Context, v *laneView) (*lane, error){
	"latency": latencyLane, "rps": rateLane,
	"heap": heapLane, "gc": collectionsLane, "alloc": allocLane, "gccpu": gcCPULane, "pauses": pausesLane,
	"goroutines": goroutinesLane, "cpu": cpuLane, "rss": rssLane, "phases": phasesLane,
	"procs": procsLane, "samples": samplesLane, "queue": queueLane, "states": statesLane, "wait": waitLane,
}

// answerLanes answers with the lanes whose keys are asked for, in their order.
func answerLanes(ctx context.Context, s *subject, q *query) (*laneStack, error) {
	in, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	axis, err := s.axis(ctx)
	if err != nil {
		return nil, err
	}
	span, err := q.span(axis)
	if err != nil {
		return nil, err
	}
	if span.Len() == 0 {
		return nil, nothing("This has no time axis.")
	}
	points, err := q.number("w", 1000)
	if err != nil {
		return nil, err
	}
	v := &laneView{span, int(min(max(points, 50), 2000)), in, s}
	out := &laneStack{Span: span, Lanes: []*lane{}}
	for key := range strings.SplitSeq(q.Get("keys"), ",") {
		if key == "vars" { // as many lanes as the program has variables
			out.Lanes = append(out.Lanes, varsLanes(v)...)
			continue
		}
		make, ok := lanesOf[key]
		if !ok {
			return nil, &refusal{400, "there is no lane " + key}
		}
		l, err := make(ctx, v)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			// One damaged file does not take the other lanes with it.
			l = &lane{Title: key, Missing: err.Error()}
			var r *refusal
			if !errors.As(err, &r) && !errors.Is(err, session.ErrNone) {
				l.Missing = "cannot be shown: " + err.Error()
			}
		}
		l.Key = key
		out.Lanes = append(out.Lanes, l)
	}
	return out, nil
}

// course is a figure over time, in ascending order; NaN ends what was before.
type course struct {
	at []timeline.Time
	v  []float64
}

func (c *course) add(at timeline.Time, v float64) {
	if n := len(c.at); n > 0 && at < c.at[n-1] {
		at = c.at[n-1]
	}
	c.at, c.v = append(c.at, at), append(c.v, v)
}

// end ends what was before, so that nothing is drawn up to what follows.
func (c *course) end() {
	if n := len(c.at); n > 0 && !math.IsNaN(c.v[n-1]) {
		c.add(c.at[n-1], math.NaN())
	}
}

// known tells whether there is any value in it within span.
func (c *course) known(span timeline.Span) bool {
	for i, at := range c.at {
		if !math.IsNaN(c.v[i]) && at < span.End && (at >= span.Start || i+1 < len(c.at) && c.at[i+1] > span.Start) {
			return true
		}
	}
	return false
}

// line reduces a course to what a page can show of it: as it is where there are
// few values, else one point for each pixel with its least, greatest and mean.
func (v *laneView) line(key, title string, c *course, step bool) laneLine {
	l := laneLine{Key: key, Title: title, Step: step, At: []timeline.Time{}, Mean: Numbers{}}
	// One value on each side takes the line to the edges.
	from, _ := slices.BinarySearch(c.at, v.Start)
	to, _ := slices.BinarySearch(c.at, v.End)
	from, to = max(0, from-1), min(len(c.at), to+1)
	if to-from <= 2*v.points {
		l.At, l.Mean = append(l.At, c.at[from:to]...), append(l.Mean, c.v[from:to]...)
		return l
	}
	if step {
		return v.stepped(l, c, from, to)
	}
	width := v.width()
	for i := from; i < to; {
		bucket := int64(math.Floor(float64(c.at[i]-v.Start) / width))
		low, high, sum, n, ends := math.Inf(1), math.Inf(-1), 0.0, 0, false
		for ; i < to && int64(math.Floor(float64(c.at[i]-v.Start)/width)) == bucket; i++ {
			if x := c.v[i]; math.IsNaN(x) {
				ends = true
			} else {
				low, high, sum, n = min(low, x), max(high, x), sum+x, n+1
			}
		}
		at := v.Start + timeline.Time((float64(bucket)+0.5)*width)
		if n > 0 {
			l.point(at, low, high, sum/float64(n))
		}
		if ends {
			l.point(at, math.NaN(), math.NaN(), math.NaN())
		}
	}
	return l
}

func (l *laneLine) point(at timeline.Time, low, high, mean float64) {
	l.At, l.Min, l.Max, l.Mean = append(l.At, at), append(l.Min, low), append(l.Max, high), append(l.Mean, mean)
}

// stepped reduces values that hold until the next one: means are over the time.
func (v *laneView) stepped(l laneLine, c *course, from, to int) laneLine {
	width := v.width()
	i := from
	for b := range v.points {
		start, end := v.Start+timeline.Time(float64(b)*width), v.Start+timeline.Time(float64(b+1)*width)
		for i+1 < to && c.at[i+1] <= start {
			i++
		}
		low, high, sum, over := math.Inf(1), math.Inf(-1), 0.0, 0.0
		for k := i; k < to && c.at[k] < end; k++ {
			if math.IsNaN(c.v[k]) {
				continue
			}
			until := end
			if k+1 < to {
				until = min(end, c.at[k+1])
			}
			d := max(0, float64(until-max(start, c.at[k])))
			low, high, sum, over = min(low, c.v[k]), max(high, c.v[k]), sum+d*c.v[k], over+d
		}
		switch {
		case math.IsInf(low, 1):
			l.point(start, math.NaN(), math.NaN(), math.NaN())
		case over == 0:
			l.point(start, low, high, high)
		default:
			l.point(start, low, high, sum/over)
		}
	}
	return l
}

// reduce makes at most one stretch a pixel of those given, which are in order.
func (v *laneView) reduce(all []stretch) *laneSpans {
	s := &laneSpans{Start: []timeline.Time{}, End: []timeline.Time{}, Count: []int{}}
	pixel := timeline.Time(v.width())
	for _, x := range all {
		if x.End <= v.Start && x.Start < v.Start || x.Start >= v.End {
			continue
		}
		if n := len(s.Start) - 1; n >= 0 && x.End-s.Start[n] <= pixel {
			s.End[n] = max(s.End[n], x.End)
			s.Count[n]++
			s.Worst[n] = max(s.Worst[n], x.worst)
			continue
		}
		s.Start, s.End = append(s.Start, x.Start), append(s.End, x.End)
		s.Count, s.Worst = append(s.Count, 1), append(s.Worst, x.worst)
	}
	return s
}

// stretch is a stretch of time with a value.
type stretch struct {
	timeline.Span
	worst float64
}

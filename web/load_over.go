package web

import (
	"context"
	"math"

	"loupe/format/loadlog"
	"loupe/value/stats"
	"loupe/value/timeline"
)

// loadOver is how a load run went over time, in columns of one length.
type loadOver struct {
	Span    timeline.Span `json:"span"` // on the axis
	Columns int           `json:"columns"`
	// Rows are classes of response times: from Low on, each up to Growth times
	// the one before. Cells counts the answered requests of each, row by row
	// from the fastest; Most is the fullest.
	Rows   int     `json:"rows"`
	Low    float64 `json:"low_ns"`
	Growth float64 `json:"growth"`
	Cells  []int   `json:"cells"`
	Most   int     `json:"most"`
	// Lines are percentiles over time.
	Lines []loadLine `json:"lines"`
	// Of each column: how many requests were due, were answered with a status
	// of each class (2xx, 3xx, 4xx, 5xx, others) and failed, and the longest
	// that one was sent late.
	Due    []int    `json:"due"`
	Status [5][]int `json:"status"`
	Failed []int    `json:"failed"`
	Late   []int64  `json:"late_ns"`
	// At the begin of each column: how many requests waited for an answer, and
	// how many were due and not sent.
	Flying  []int `json:"flying"`
	Waiting []int `json:"waiting"`
}

// loadLine is a percentile over time, in steps that are long enough to have it.
type loadLine struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"`
	// Step is how many columns one value is of; 0 when the whole has too few
	// requests for it. Values has -1 where a step has,
	// and where the percentile falls among requests that failed.
	Step   int     `json:"step"`
	Values []int64 `json:"values"`
	// Need is how many answers one step needs.
	Need int `json:"need"`
}

// heatRows is the number of classes of response times.
const heatRows = 48

// overTime goes through the requests of a run.
func overTime(ctx context.Context, c *chosenLoad, columns int) (*loadOver, error) {
	l := c.part
	o := &loadOver{Span: c.span, Columns: columns, Rows: heatRows, Cells: make([]int, heatRows*columns), Lines: []loadLine{}}
	for _, list := range []*[]int{&o.Due, &o.Failed, &o.Flying, &o.Waiting, &o.Status[0], &o.Status[1], &o.Status[2], &o.Status[3], &o.Status[4]} {
		*list = make([]int, columns)
	}
	o.Late = make([]int64, columns)
	low, high := int64(math.MaxInt64), int64(1)
	for r := range l.Answered() {
		low, high = min(low, int64(r.Latency())), max(high, int64(r.Latency()))
	}
	o.scale(float64(min(low, high)), float64(high))
	length := float64(max(1, l.Elapsed))
	at := func(t timeline.Time) int { return min(max(int(float64(t)/length*float64(columns)), 0), columns-1) }
	latency := make([]stats.Histogram, columns)
	n := 0
	for r := range l.All() {
		if n++; n&0xffff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		col := at(r.End())
		o.Late[col] = max(o.Late[col], int64(r.Late))
		if r.Begin >= 0 || c.span.Start == c.start {
			o.Due[at(r.Begin)]++
		}
		o.fly(at, r, length)
		if r.Error != 0 {
			o.Failed[col]++
			continue
		}
		o.Status[statusClass(r.Status)][col]++
		d := r.Latency()
		latency[col].Add(int64(d))
		cell := &o.Cells[o.row(float64(d))*columns+col]
		*cell++
		o.Most = max(o.Most, *cell)
	}
	summed(o.Flying)
	summed(o.Waiting)
	for _, p := range []struct {
		name  string
		share float64
	}{{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}} {
		o.Lines = append(o.Lines, percentileLine(p.name, p.share, latency, o.Failed))
	}
	return o, nil
}

// scale lays out the classes so that they hold all times.
func (o *loadOver) scale(low, high float64) {
	low, high = max(1, low)*0.98, max(1, high)*1.02
	if high < 4*low { // what hardly differs is not torn apart
		middle := math.Sqrt(low * high)
		low, high = middle/2, middle*2
	}
	o.Low, o.Growth = low, math.Pow(high/low, 1.0/heatRows)
}

// row is the class of a response time.
func (o *loadOver) row(ns float64) int {
	return min(max(int(math.Log(max(ns, 1)/o.Low)/math.Log(o.Growth)), 0), heatRows-1)
}

// fly counts a request at the begins of the columns at which it was in flight, or
// due and not sent: as differences, which are summed up at last.
func (o *loadOver) fly(at func(timeline.Time) int, r *loadlog.Request, length float64) {
	count := func(list []int, from, to timeline.Time) {
		if to < 0 || float64(from) > length {
			return
		}
		first, end := 0, at(to)
		if from > 0 {
			first = at(from) + 1
		}
		if first <= end && first < len(list) {
			list[first]++
			if end+1 < len(list) {
				list[end+1]--
			}
		}
	}
	count(o.Flying, r.Sent(), r.End())
	if r.Late > 0 {
		count(o.Waiting, r.Begin, r.Sent())
	}
}

func summed(list []int) {
	for i := 1; i < len(list); i++ {
		list[i] += list[i-1]
	}
}

// statusClass is the place of a status in loadOver.Status.
func statusClass(status uint16) int {
	if status >= 200 && status < 600 {
		return int(status/100) - 2
	}
	return 4
}

// percentileLine is a percentile in the shortest steps of which half have enough requests
// beyond it to tell.
func percentileLine(name string, share float64, latency []stats.Histogram, failed []int) loadLine {
	out := loadLine{Name: name, Share: share, Need: int(math.Round(loadlog.Enough / (1 - share)))}
	columns := len(latency)
	for step := 1; step <= columns; step = max(step+1, step*5/4) {
		told := 0
		out.Values = out.Values[:0]
		for from := 0; from < columns; from += step {
			var h stats.Histogram
			never := uint64(0)
			for i := from; i < min(from+step, columns); i++ {
				h.Merge(&latency[i])
				never += uint64(failed[i])
			}
			v := int64(-1) // also where it never came
			if h.Count()+never >= uint64(out.Need) {
				told++
				if took, ok := h.QuantileBefore(share, never); ok {
					v = took
				}
			}
			out.Values = append(out.Values, v)
		}
		if 2*told >= len(out.Values) {
			out.Step = step
			return out
		}
	}
	out.Values = []int64{}
	return out
}

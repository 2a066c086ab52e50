package web

import (
	"context"
	"math"
	"time"

	"loupe/format/loadlog"
	"loupe/recording"
	"loupe/value/stats"
	"loupe/value/timeline"
)

// loadPart is the requests of one phase, on the axis.
type loadPart struct {
	log   *loadlog.Log
	clock timeline.Clock
	span  timeline.Span
}

// loads are all load runs that have anything in the view.
func (v *laneView) loads() (parts []loadPart) {
	for _, e := range v.in.Manifest().Of(recording.Load) {
		l, _ := v.in.Load(e.Phase) // what is damaged has the requests before that
		if l == nil {
			continue
		}
		clock := v.in.OnAxis(l, e.Phase).Clock
		span := timeline.Span{Start: clock.At(0), End: clock.At(int64(l.Elapsed))}
		if span.Overlap(v.Span) > 0 {
			parts = append(parts, loadPart{l, clock, span})
		}
	}
	return parts
}

const noLoad = "No requests. Send some: loupe run -load URL ./cmd/server"

// loadColumns is how many columns the requests are counted in: so many that
// their shape is to be seen, and not so many that each has one request.
func (v *laneView) loadColumns() int { return min(v.points/2, 400) }

// latencyRows is how many rows a factor of ten has.
const latencyRows = 10

// latencyLane is how long the requests took, by when they ended.
func latencyLane(ctx context.Context, v *laneView) (*lane, error) {
	parts := v.loads()
	if len(parts) == 0 {
		return &lane{Title: "Latency", Missing: noLoad}, nil
	}
	columns := v.loadColumns()
	width := float64(v.Len()) / float64(columns)
	times, failed := make([]stats.Histogram, columns), make([]uint64, columns)
	n := 0
	for _, p := range parts {
		for r := range p.log.All() {
			if n++; n&0xffff == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if at := p.clock.At(int64(r.End())); v.Contains(at) {
				column := min(columns-1, int(float64(at-v.Start)/width))
				if r.Error != 0 {
					failed[column]++
					continue
				}
				times[column].Add(int64(r.Latency()))
			}
		}
	}
	row := func(ns int64) int { return int(math.Floor(latencyRows * math.Log10(max(1, float64(ns))))) }
	low, high := math.MaxInt, 0
	for i := range times {
		if times[i].Count() > 0 {
			low, high = min(low, row(times[i].Min())), max(high, row(times[i].Max()))
		}
	}
	l := &lane{Title: "Latency", Unit: "ns", Shape: "heat", Source: "the requests of the load, by when they ended"}
	if low > high {
		l.Missing = "No request was answered in this time."
		return l, nil
	}
	rows := high - low + 1
	h := &laneHeat{Start: v.Start, Width: width, Counts: make(Numbers, columns*rows)}
	for i := range rows + 1 {
		h.Rows = append(h.Rows, math.Pow(10, float64(low+i)/latencyRows))
	}
	for c := range times {
		times[c].Buckets(func(r stats.Range, count uint64) bool {
			at := min(max(row((r.Low+r.High)/2)-low, 0), rows-1)
			h.Counts[c*rows+at] += float64(count)
			return true
		})
	}
	l.Heat = h
	l.Lines = []laneLine{v.percentile("p50", 0.5, times, failed, parts), v.percentile("p99", 0.99, times, failed, parts)}
	if len(l.Lines[1].At) == 0 {
		l.Lines = l.Lines[:1]
		l.Note = "Too few requests for a 99th percentile."
	}
	return l, nil
}

// percentile is a percentile over time. Columns are taken together until ten
// requests lie beyond it, as everywhere: see [loadlog.Enough].
func (v *laneView) percentile(title string, q float64, times []stats.Histogram, failed []uint64, parts []loadPart) laneLine {
	l := laneLine{Key: title, Title: title, Step: true, At: []timeline.Time{}, Mean: Numbers{}}
	enough := uint64(math.Round(loadlog.Enough / (1 - q)))
	width := float64(v.Len()) / float64(len(times))
	at := func(c int) timeline.Time { return v.Start + timeline.Time(float64(c)*width) }
	loaded := func(c int) bool {
		for _, p := range parts {
			if p.span.Overlap(timeline.Span{Start: at(c), End: at(c + 1)}) > 0 {
				return true
			}
		}
		return false
	}
	var sum stats.Histogram
	never := uint64(0) // of sum, requests that were not answered
	from, open := 0, false
	for c := range times {
		if !loaded(c) {
			if open {
				l.At, l.Mean, open = append(l.At, at(c)), append(l.Mean, math.NaN()), false
			}
			sum.Reset()
			never, from = 0, c+1
			continue
		}
		sum.Merge(&times[c])
		never += failed[c]
		if sum.Count()+never >= enough {
			value := math.NaN() // it never came
			if took, ok := sum.QuantileBefore(q, never); ok {
				value = float64(took)
			}
			l.At, l.Mean, open = append(l.At, at(from)), append(l.Mean, value), true
			sum.Reset()
			never = 0
			from = c + 1
		}
	}
	if open {
		l.At, l.Mean = append(l.At, at(len(times))), append(l.Mean, math.NaN())
	}
	return l
}

// niceWidth is a stretch of time of 1, 2 or 5 of a power of ten that is no
// shorter than d.
func niceWidth(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for 10*unit < d {
		unit *= 10
	}
	for _, k := range []time.Duration{1, 2, 5} {
		if k*unit >= d {
			return k * unit
		}
	}
	return 10 * unit
}

// rateLane is how many requests were answered and failed a second.
func rateLane(ctx context.Context, v *laneView) (*lane, error) {
	parts := v.loads()
	if len(parts) == 0 {
		return &lane{Title: "Requests a second", Missing: noLoad}, nil
	}
	width := niceWidth(v.Len() / time.Duration(min(v.points/4, 200)))
	first := int64(math.Floor(float64(v.Start) / float64(width)))
	columns := int((int64(v.End)-1)/int64(width) - first + 1)
	answered, failed, covered := make([]float64, columns), make([]float64, columns), make([]float64, columns)
	n, errors := 0, false
	for _, p := range parts {
		for i := range columns {
			start := timeline.Time((first + int64(i)) * int64(width))
			covered[i] += p.span.Overlap(timeline.Span{Start: start, End: start.Add(width)}).Seconds()
		}
		for r := range p.log.All() {
			if n++; n&0xffff == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			at := p.clock.At(int64(r.End()))
			i := int64(math.Floor(float64(at)/float64(width))) - first
			switch {
			case i < 0 || i >= int64(columns):
			case r.Error != 0 || r.Status >= 500:
				failed[i]++
				errors = true
			default:
				answered[i]++
			}
		}
	}
	l := &lane{Title: "Requests a second", Unit: "per_second", Shape: "stack", Source: "the load, each " + width.String()}
	course := func(counts []float64) (c course) {
		for i, n := range counts {
			start := timeline.Time((first + int64(i)) * int64(width))
			// Of a column that the load hardly touches no rate is known.
			if covered[i] < 0.2*width.Seconds() {
				c.add(start, math.NaN())
			} else {
				c.add(start, n/covered[i])
			}
		}
		c.add(timeline.Time((first+int64(columns))*int64(width)), math.NaN())
		return c
	}
	good := course(answered)
	l.Lines = []laneLine{v.line("answered", "answered", &good, true)}
	if errors {
		bad := course(failed)
		l.Lines = append(l.Lines, v.line("failed", "failed, or status 5xx", &bad, true))
	}
	return l, nil
}

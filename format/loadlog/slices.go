package loadlog

import (
	"time"

	"loupe/value/stats"
	"loupe/value/timeline"
)

// Slice is a stretch of time of a run, with the requests that ended in it.
type Slice struct {
	Span timeline.Span
	// Latency counts the response times of the answered requests, Failed
	// how many were not answered.
	Latency stats.Histogram
	Failed  int
	// Late is the longest that a request was sent after it was due.
	Late time.Duration
}

// Rate returns the answered requests a second.
func (s *Slice) Rate() float64 {
	if d := s.Span.Len(); d > 0 {
		return float64(s.Latency.Count()) / d.Seconds()
	}
	return 0
}

// Quantile returns the response time at a share of the requests that ended in the
// slice, of which those that failed are slower than all others: [Never] where it
// is one of those, and 0 when there are none.
func (s *Slice) Quantile(q float64) time.Duration {
	v, ok := s.Latency.QuantileBefore(q, uint64(s.Failed))
	if !ok {
		return Never
	}
	return time.Duration(v)
}

// Ended is how many requests ended in the slice.
func (s *Slice) Ended() int { return int(s.Latency.Count()) + s.Failed }

// maxSlices bounds how finely a run can be cut, since each slice has a
// histogram.
const maxSlices = 1 << 16

// Slices cuts the run into stretches of one length, from its start to its end;
// the last one is shorter. A length of 0, and one that would make too many,
// gives at most 65,536 slices.
func (l *Log) Slices(length time.Duration) []Slice {
	length = max(length, l.Elapsed/maxSlices+1)
	out := make([]Slice, max(1, int((l.Elapsed+length-1)/length)))
	for i := range out {
		start := timeline.Time(length) * timeline.Time(i)
		out[i].Span = timeline.Span{Start: start, End: min(start.Add(length), timeline.Time(l.Elapsed))}
	}
	for r := range l.All() {
		at := min(max(int(r.End()/timeline.Time(length)), 0), len(out)-1)
		s := &out[at]
		s.Late = max(s.Late, r.Late)
		if r.Error != 0 {
			s.Failed++
			continue
		}
		s.Latency.Add(int64(r.Latency()))
	}
	return out
}

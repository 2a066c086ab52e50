package loadlog

import (
	"slices"
	"time"

	"loupe/value/timeline"
)

// Within returns a part of the run as a run of its own: the requests that ended
// from span.Start up to span.End on the log's own time, and the connections that
// were open meanwhile. Its own time begins with the part. The whole run is
// returned as it is.
//
// What the generator used, what it left unsent and what was wanted is told of
// the whole run alone: a part has none of it.
func (l *Log) Within(span timeline.Span) *Log {
	whole := timeline.Span{End: timeline.Time(l.Elapsed)}
	if span.Start <= whole.Start && span.End >= whole.End {
		return l
	}
	part := timeline.Span{Start: max(span.Start, whole.Start), End: min(span.End, whole.End)}
	h := l.Header
	h.Elapsed, h.Start = part.Len(), l.Start.Add(time.Duration(part.Start))
	if h.Monotonic != 0 {
		h.Monotonic += int64(part.Start)
	}
	h.CPU, h.GCs, h.Threads, h.Busy, h.RunDelay, h.Unsent, h.UnderWay, h.Resent, h.ServedLength, h.Wanted = 0, 0, 0, 0, nil, 0, 0, 0, 0, ""
	h.Closing = nil
	var b Builder
	to := b.Recorder()
	// What ended with the run, to the nanosecond, is part of its end.
	last := span.End >= whole.End
	for r := range l.All() {
		end := r.End()
		if end < part.Start && part.Start > 0 || end >= part.End && !last {
			continue
		}
		q := *r
		q.Begin -= part.Start
		to.Add(&q)
	}
	for _, c := range l.Connections {
		if c.Opened < part.End && (c.Closed >= part.Start || c.Closed == 0) {
			c.Opened, c.Closed = c.Opened-part.Start, c.Closed-part.Start
			b.Connect(c)
		}
	}
	out, _ := b.Log(h) // nothing is spilled
	out.Errors = slices.Clone(l.Errors)
	return out
}

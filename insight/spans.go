package insight

import (
	"time"

	"loupe/analysis/facts"
	"loupe/value/timeline"
)

// span is the form in which evidence names a part of the time axis.
func span(s timeline.Span) *[2]int64 { return &[2]int64{int64(s.Start), int64(s.End)} }

// at says that the evidence is what a round showed from its first to its last
// moment.
func (e Evidence) at(r *facts.Round) Evidence {
	e.Phase, e.Span = r.Phase.Name, span(r.Phase.Span)
	return e
}

// across says that the evidence is what several rounds showed together: from
// the start of the first to the end of the last.
func (e Evidence) across(rounds []*facts.Round) Evidence {
	if len(rounds) == 0 {
		return e
	}
	if len(rounds) == 1 {
		return e.at(rounds[0])
	}
	whole := rounds[0].Phase.Span
	for _, r := range rounds {
		whole.Start, whole.End = min(whole.Start, r.Phase.Span.Start), max(whole.End, r.Phase.Span.End)
	}
	e.Span = span(whole)
	return e
}

// pauseSpan places a pause on the axis. The runtime prints when a collection
// began, in whole milliseconds, and how long its phases took.
func pauseSpan(in *Input, p pause) *[2]int64 {
	log, err := in.Session.Runtime(p.round.Phase.Run)
	if err != nil {
		return nil
	}
	ms := func(v float64) time.Duration { return time.Duration(v * 1e6) }
	start := log.Clock.At(int64(p.row.AtS * 1e9))
	if !p.first {
		start = start.Add(ms(p.row.STW1MS + p.row.MarkMS))
	}
	return span(timeline.Span{Start: start, End: start.Add(ms(p.ms))})
}

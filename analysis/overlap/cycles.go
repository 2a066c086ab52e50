package overlap

import (
	"time"

	"loupe/value/timeline"
)

// Cycle is a collection as gctrace tells of it: when it began, on the clock of
// the requests, and how long its three phases took.
type Cycle struct {
	At               timeline.Time
	STW1, Mark, STW2 time.Duration
}

// Cycles makes kinds of the collections of a log: the mark phases and the
// pauses around them. off bounds how far their clock may be off that of the
// requests, which is some milliseconds.
func Cycles(all []Cycle, off time.Duration) []Kind {
	var mark, stop []timeline.Span
	for _, c := range all {
		begin := c.At.Add(c.STW1)
		end := begin.Add(c.Mark)
		mark = append(mark, timeline.Span{Start: begin, End: end})
		stop = append(stop, timeline.Span{Start: c.At, End: begin}, timeline.Span{Start: end, End: end.Add(c.STW2)})
	}
	return append([]Kind{
		{Key: programNames[gcMark].key, Name: programNames[gcMark].name, Set: newSet(mark), Error: off},
		{Key: programNames[stopped].key, Name: programNames[stopped].name, Set: newSet(stop), Error: off},
	}, ofRequests()...)
}

// Pauses makes a kind of the stops of the world that the runtime's memory
// statistics tell of (PauseEnd and PauseNs): the last 256 collections.
func Pauses(all []timeline.Span, off time.Duration) []Kind {
	return append([]Kind{{Key: programNames[stopped].key, Name: programNames[stopped].name, Set: newSet(all), Error: off}}, ofRequests()...)
}

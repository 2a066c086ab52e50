package session

import (
	"cmp"
	"fmt"
	"time"

	"loupe/format/loadlog"
	"loupe/recording"
	"loupe/value/timeline"
)

// Join says where the requests of a load run lie on the clock of something
// that the program told.
type Join struct {
	// Clock maps the log's own time onto that clock.
	timeline.Clock
	// How says in words what the join rests on.
	How string
}

// sameError bounds how far requests may lie off a trace that has the same
// clock: the trace's clock has a resolution of 64 ns, and the generator looks
// at two clocks one after the other.
const sameError = 2 * time.Microsecond

// OnTrace puts the requests of a log onto the clock of the trace that
// [Session.Trace] returns.
//
// Execution traces on Linux have the system's monotonic clock, as the log has:
// then there is nothing to estimate. That both are of one boot of one machine
// the distance of that clock to the date shows, which differs between any two
// (traces hold a date since Go 1.25; before, the time at which the trace was
// asked for has to fit). Otherwise the clocks of the recording must do.
func (s *Session) OnTrace(l *loadlog.Log, phase string) (Join, error) {
	_, e, err := s.Trace()
	if err != nil {
		return Join{}, err
	}
	axis := s.loadClock(l, phase)
	if l.Monotonic != 0 {
		begin, snap, err := s.traceBegin()
		if err != nil || begin == 0 {
			return Join{}, cmp.Or(err, fmt.Errorf("the trace has no events: %w", ErrNone))
		}
		offset, same := timeline.Time(l.Monotonic), false
		if snap != nil && !snap.Wall.IsZero() && snap.Mono != 0 {
			apart := snap.Wall.Sub(l.Start) - time.Duration(int64(snap.Mono)-l.Monotonic)
			same = apart.Abs() <= dateError
			offset += snap.Trace - timeline.Time(snap.Mono)
		} else {
			at := axis.Offset.Add(begin.Sub(offset))
			same = s.rec.Host.OS == "linux" && e.Span.Len() > 0 && at > e.Span.Start.Add(-dateError) && at < e.Span.End
		}
		if same {
			return Join{timeline.Clock{Offset: offset, Error: sameError}, "the same clock"}, nil
		}
	}
	c, err := s.TraceClock()
	if err != nil {
		return Join{}, err
	}
	return Join{timeline.Clock{Offset: axis.Offset - c.Offset, Error: axis.Error + c.Error}, "dates"}, nil
}

// OnAxis puts the requests of a log onto the recording's axis.
func (s *Session) OnAxis(l *loadlog.Log, phase string) Join {
	return Join{s.loadClock(l, phase), "the recording's clock"}
}

// loadClock is where the log's own time lies on the axis.
func (s *Session) loadClock(l *loadlog.Log, phase string) timeline.Clock {
	for _, e := range s.rec.Of(recording.Load) {
		for _, c := range s.rec.Clocks {
			if e.Phase == phase && c.Path == e.Path {
				return c.Clock
			}
		}
	}
	return timeline.Clock{Offset: timeline.Time(l.Start.Sub(s.rec.Start)), Error: dateError}
}

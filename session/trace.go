package session

import (
	"fmt"
	"time"

	"loupe/exectrace"
	"loupe/recording"
	"loupe/timeline"
)

// Trace returns the main execution trace ([recording.Manifest.Main]) and its entry. One that is damaged or
// cut off is read as far as it goes: see its Problems. An error means that
// there is none, or that it is none.
func (s *Session) Trace() (*exectrace.Trace, recording.Entry, error) {
	e, ok := s.rec.Main(recording.ExecTrace)
	if !ok {
		return nil, recording.Entry{}, fmt.Errorf("no execution trace: %w", ErrNone)
	}
	t, err := decoded(s, e.Path, func() (*exectrace.Trace, error) {
		data, size, err := s.rec.ReaderAt(e.Path, maxEntry)
		if err != nil {
			return nil, err
		}
		t, err := exectrace.OpenReaderAt(data, size, exectrace.Options{})
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", e.Path, err)
		}
		return t, nil
	})
	return t, e, err
}

// TraceClock maps the time of the trace that [Session.Trace] returns onto the
// axis. What the manifest says of its clock comes first; then the date that
// traces of Go 1.25 and later hold, where it lies in the time of the entry, as
// it does unless the program runs on a machine with another date; and at last
// the time at which the trace was asked for.
func (s *Session) TraceClock() (timeline.Clock, error) {
	t, e, err := s.Trace()
	if err != nil {
		return timeline.Clock{}, err
	}
	for _, c := range s.rec.Clocks {
		if c.Path == e.Path {
			return c.Clock, nil
		}
	}
	return decoded(s, e.Path+" clock", func() (timeline.Clock, error) {
		r := t.Reader()
		if !r.Next() {
			return timeline.Clock{Offset: e.Span.Start, Error: e.Span.Len()}, r.Err()
		}
		begin := r.Event().Time // of the trace
		asked := timeline.Clock{Offset: e.Span.Start - begin, Error: e.Span.Len()}
		snap := r.Clock()
		if snap == nil || snap.Wall.IsZero() {
			return asked, nil
		}
		dated := timeline.Clock{Offset: timeline.Time(snap.Wall.Sub(s.rec.Start)) - snap.Trace, Error: dateError}
		if at := dated.At(int64(begin)); e.Span.Len() > 0 && (at < e.Span.Start.Add(-dateError) || at > e.Span.End) {
			return asked, nil
		}
		return dated, nil
	})
}

// dateError is how far the date of one machine is taken to wander between the
// start of a recording and that of a trace in it.
const dateError = 10 * time.Millisecond

package session

import (
	"fmt"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/recording"
	"loupe/value/timeline"
)

// Trace returns the main execution trace ([recording.Manifest.Main]) and its entry. One that is damaged or
// cut off is read as far as it goes: see its Problems. An error means that
// there is none, or that it is none.
func (s *Session) Trace() (*exectrace.Trace, recording.Entry, error) {
	e, ok := s.rec.Main(recording.ExecTrace)
	if !ok {
		return nil, recording.Entry{}, fmt.Errorf("no execution trace: %w", ErrNone)
	}
	t, err := decoded(s, e.Path, func(s *Session) (*exectrace.Trace, error) {
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

// Sweep returns the desk of the trace that [Session.Trace] returns, which keeps
// what passes over it have found out.
func (s *Session) Sweep() (*sweep.Desk, error) {
	t, e, err := s.Trace()
	if err != nil {
		return nil, err
	}
	return decoded(s, e.Path+" desk", func(s *Session) (*sweep.Desk, error) { return sweep.NewDesk(t), nil })
}

// TraceSpan is [exectrace.Trace.Span] of that trace.
func (s *Session) TraceSpan() (timeline.Span, error) {
	t, e, err := s.Trace()
	if err != nil {
		return timeline.Span{}, err
	}
	return decoded(s, e.Path+" span", func(*Session) (timeline.Span, error) { return t.Span() })
}

// traceBegin returns when the trace begins, and what ties its clock to others,
// which may be nil.
func (s *Session) traceBegin() (timeline.Time, *exectrace.ClockSnapshot, error) {
	t, e, err := s.Trace()
	if err != nil {
		return 0, nil, err
	}
	type begin struct {
		at   timeline.Time
		snap *exectrace.ClockSnapshot
	}
	b, err := decoded(s, e.Path+" begin", func(s *Session) (b begin, err error) {
		pass := sweep.New(t)
		pass.Join(sweep.On(sweep.Every, func(e *exectrace.Event) {
			b = begin{e.Time, pass.Reader().Clock()}
			pass.End()
		}))
		return b, pass.Run(nil)
	})
	return b.at, b.snap, err
}

// TraceClock maps the time of the trace that [Session.Trace] returns onto the
// axis. What the manifest says of its clock comes first; then the date that
// traces of Go 1.25 and later hold, where it lies in the time of the entry, as
// it does unless the program runs on a machine with another date; and at last
// the time at which the trace was asked for.
func (s *Session) TraceClock() (timeline.Clock, error) {
	_, e, err := s.Trace()
	if err != nil {
		return timeline.Clock{}, err
	}
	for _, c := range s.rec.Clocks {
		if c.Path == e.Path {
			return c.Clock, nil
		}
	}
	return decoded(s, e.Path+" clock", func(s *Session) (timeline.Clock, error) {
		begin, snap, err := s.traceBegin()
		if err != nil {
			return timeline.Clock{Offset: e.Span.Start, Error: e.Span.Len()}, err
		}
		asked := timeline.Clock{Offset: e.Span.Start - begin, Error: e.Span.Len()}
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

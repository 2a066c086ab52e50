package web

import (
	"context"

	"loupe/exectrace"
	"loupe/tiles"
	"loupe/timeline"
)

var timelineEndpoints = []endpoint{
	on("timeline/lanes", timelineLanes),
	post(raw("timeline/tiles", timelineTiles)),
}

// traced is the timeline of the source's execution trace.
type traced struct {
	*tiles.Set
	// Clock maps the trace's time onto the axis.
	Clock timeline.Clock
}

// On returns a span of the trace's time on the axis.
func (t *traced) On(s timeline.Span) timeline.Span {
	return timeline.Span{Start: t.Clock.At(int64(s.Start)), End: t.Clock.At(int64(s.End))}
}

// Own returns a span of the axis in the trace's own time.
func (t *traced) Own(s timeline.Span) timeline.Span {
	return timeline.Span{Start: timeline.Time(t.Clock.Own(s.Start)), End: timeline.Time(t.Clock.Own(s.End))}
}

// traced returns the timeline of the source's trace, [session.ErrNone] when
// there is no trace.
func (s *subject) traced(ctx context.Context) (*traced, error) {
	o, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return memo(ctx, s, "traced", func(ctx context.Context) (*traced, error) {
		t, _, err := o.Session.Trace()
		if err != nil {
			return nil, err
		}
		clock, err := o.Session.TraceClock()
		if err != nil {
			return nil, err
		}
		set, err := s.tiles(ctx, t)
		if err != nil {
			return nil, err
		}
		return &traced{set, clock}, nil
	})
}

// tiles makes the timeline of a trace.
func (s *subject) tiles(ctx context.Context, t *exectrace.Trace) (*tiles.Set, error) {
	tell := s.job("reading the trace")
	defer tell(1)
	r := t.Reader()
	b := tiles.NewBuilder(r, tiles.Options{Memory: max(1<<20, t.Size()/6)}) // an event of a trace has about six bytes
	for n := 0; r.Next(); n++ {
		if n&0xfffff == 0xfffff && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b.Event(r.Event())
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return b.Finish(), nil
}

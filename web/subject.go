package web

import (
	"context"
	"sync"
	"time"

	"loupe/format/exectrace/sweep"
	"loupe/session"
	"loupe/session/memo"
	"loupe/value/timeline"
)

// subject is a source with everything that has been computed of it.
type subject struct {
	Source
	id  string
	ctx context.Context // of the server
	hub *hub
	// heaps has the heap of a core in memory, of all sources.
	heaps *heldHeap

	gone  bool // its folder has it no more; of the shelf's mu
	named bool // it was made of its id

	editions

	mu      sync.Mutex
	writing bool   // it is being written
	seen    string // the state of the source at the last look, of [Server.watch] alone
	builds  int    // counts the timelines that were begun
	build   *build // the last of them
}

// once returns what compute gives, which is called once for a key and version of the
// source: the one that was the latest when ctx first had to do with it. It is kept with
// what has been read of the source, and ended when nobody waits for it, see [memo.Get].
func once[T any](ctx context.Context, s *subject, key string, compute func(ctx context.Context) (T, error)) (T, error) {
	in, err := s.session(ctx)
	if err != nil {
		var none T
		return none, err
	}
	return memo.Get(ctx, in.Memo(), "web "+key, compute)
}

// onceFew is once for what there may be any number of, such as answers for a
// range: of a family only the last few are kept.
func onceFew[T any](ctx context.Context, s *subject, family, key string, compute func(ctx context.Context) (T, error)) (T, error) {
	in, err := s.session(ctx)
	if err != nil {
		var none T
		return none, err
	}
	return memo.GetFew(ctx, in.Memo(), "web "+family, key, compute)
}

// around is what goes on around computations for pages.
func (s *subject) around() memo.Around {
	return memo.Around{
		Base: s.ctx,
		Hold: func(work, asker context.Context) (context.Context, func()) {
			held, release := holding(work, asker)
			return held, func() { _ = release() } // read only: there is nothing to lose
		},
		Reading: func(key string) func() {
			news := notice{Kind: "job", Source: s.id, Job: "reading " + key}
			late := time.AfterFunc(soon, func() { s.hub.send(news) })
			return func() {
				if !late.Stop() {
					s.hub.send(notice{Kind: news.Kind, Source: news.Source, Job: news.Job, Done: 1})
				}
			}
		},
	}
}

// live tells that the source is being written.
func (s *subject) live() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writing
}

// setLive says whether it is, and tells whether that is news.
func (s *subject) setLive(live bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	news := s.writing != live
	s.writing = live
	return news
}

// sweep lets one pass over the trace find out what is wanted, and the timeline
// where that is not kept: nearly every page wants it.
func (s *subject) sweep(ctx context.Context, tell func(float64), wants ...sweep.Wanted) error {
	b, err := s.building(ctx)
	if err != nil {
		return err
	}
	if b.unmade() {
		wants = append(wants, b.want())
	}
	return b.desk.Prepare(ctx, tell, wants...)
}

// swept returns what a pass over the trace finds out. A job tells that it is read.
func swept[T any](ctx context.Context, s *subject, job string, w sweep.Want[T]) (T, error) {
	var none T
	in, err := s.session(ctx)
	if err != nil {
		return none, err
	}
	desk, err := in.Sweep()
	if err != nil {
		return none, err
	}
	tell := s.job(job)
	defer tell(1)
	return sweep.Get(ctx, desk, tell, w)
}

// session opens the source and returns its session.
func (s *subject) session(ctx context.Context) (*session.Session, error) {
	o, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return o.Session, nil
}

// axis returns the span of the source's time axis.
func (s *subject) axis(ctx context.Context) (timeline.Span, error) {
	in, err := s.session(ctx)
	if err != nil {
		return timeline.Span{}, err
	}
	span := axisOf(in)
	if span.Len() > 0 && s.Kind == "recording" {
		return span, nil
	}
	return once(ctx, s, "axis", func(context.Context) (timeline.Span, error) {
		// A trace that stands alone does not say how long it is. One that cannot
		// be read says so when it is looked at.
		clock, err := in.TraceClock()
		if err != nil {
			return span, nil
		}
		own, err := in.TraceSpan()
		if err != nil {
			return span, nil
		}
		on := clock.Span(own)
		if span.Len() == 0 {
			return on, nil
		}
		return timeline.Span{Start: min(span.Start, on.Start), End: max(span.End, on.End)}, nil
	})
}

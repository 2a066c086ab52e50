package web

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"

	"loupe/session"
	"loupe/timeline"
)

// subject is a source with everything that has been computed of it.
type subject struct {
	Source
	id  string
	ctx context.Context // of the server
	hub *hub
	// heaps has the heap of a core in memory, of all sources.
	heaps *heldHeap

	gone bool // its folder has it no more; of the server's mu

	mu       sync.Mutex
	writing  bool       // it is being written
	seen     string     // the state of the source at the last look, of [Server.watch] alone
	epoch    *epoch     // the current one
	editions []*edition // those that are open
	builds   int        // counts the timelines that were begun
	build    *build     // the last of them
}

// add makes a subject of a source. The caller holds s.mu, or nobody else
// knows the server yet.
func (s *Server) add(ctx context.Context, src Source) *subject {
	sub := &subject{Source: src, id: strconv.Itoa(len(s.subjects) + 1), ctx: ctx, hub: &s.hub, heaps: s.heaps, writing: src.Live, epoch: &epoch{version: 1, kept: map[string]*once{}}}
	if src.Changed != nil {
		// Before anybody can open it: what comes from now on is news.
		sub.seen, sub.writing = src.Changed()
	}
	s.subjects = append(s.subjects, sub)
	return sub
}

// subject returns the source that has an id.
func (s *Server) subject(id string) (*subject, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range s.subjects {
		if sub.id == id {
			return sub, nil
		}
	}
	return nil, &refusal{http.StatusNotFound, fmt.Sprintf("there is no source %q; loupe was perhaps started anew", id)}
}

// once is a value that is computed for as long as somebody waits for it.
type once struct {
	done    chan struct{}
	value   any
	err     error
	waiting int
	cancel  context.CancelFunc
}

// memo returns what compute gives, which is called once for a key and version
// of the source: the one that was the latest when ctx first had to do with it. Everybody who asks while it runs gets the same answer; when
// the last of them no longer waits, it is cancelled and forgotten.
func memo[T any](ctx context.Context, s *subject, key string, compute func(ctx context.Context) (T, error)) (T, error) {
	kept := s.pinned(ctx).kept
	s.mu.Lock()
	o, known := kept[key]
	if !known {
		o = &once{done: make(chan struct{})}
		kept[key] = o
	}
	o.waiting++
	if !known {
		var work context.Context
		work, o.cancel = context.WithCancel(s.ctx)
		s.mu.Unlock() // holding locks it
		work, release := holding(work, ctx)
		s.mu.Lock()
		go func() {
			defer close(o.done)
			defer release()
			defer o.cancel()
			debug.SetPanicOnFault(true) // see api
			defer func() {
				if p := recover(); p != nil {
					o.err = fmt.Errorf("loupe has a mistake here: %v", p)
				}
			}()
			o.value, o.err = compute(work)
		}()
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		o.waiting--
		select {
		case <-o.done:
		default:
			if o.waiting == 0 {
				o.cancel()
				if kept[key] == o {
					delete(kept, key)
				}
			}
		}
	}()
	var none T
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case <-o.done:
	}
	if o.err != nil {
		return none, o.err
	}
	return o.value.(T), nil
}

// memoFew is memo for what there may be any number of, such as answers for a
// range: of a family only the last few are kept.
func memoFew[T any](ctx context.Context, s *subject, family, key string, compute func(ctx context.Context) (T, error)) (T, error) {
	const few = 8
	e := s.pinned(ctx)
	key = family + " " + key
	s.mu.Lock()
	if e.recent == nil {
		e.recent = map[string][]string{}
	}
	list := slices.DeleteFunc(e.recent[family], func(k string) bool { return k == key })
	list = append(list, key)
	for i := 0; i < len(list)-few; {
		o := e.kept[list[i]]
		if o != nil && o.waiting > 0 {
			i++
			continue
		}
		delete(e.kept, list[i])
		list = slices.Delete(list, i, i+1)
	}
	e.recent[family] = list
	s.mu.Unlock()
	return memo(ctx, s, key, compute)
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
	return memo(ctx, s, "axis", func(context.Context) (timeline.Span, error) {
		// A trace that stands alone does not say how long it is. One that cannot
		// be read says so when it is looked at.
		t, _, err := in.Trace()
		if err != nil {
			return span, nil
		}
		clock, err := in.TraceClock()
		if err != nil {
			return span, nil
		}
		own, err := t.Span()
		if err != nil {
			return span, nil
		}
		on := onAxis(clock, own)
		if span.Len() == 0 {
			return on, nil
		}
		return timeline.Span{Start: min(span.Start, on.Start), End: max(span.End, on.End)}, nil
	})
}

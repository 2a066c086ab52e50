package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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

	mu      sync.Mutex
	version int // counts the changes of the source
	opened  *once
	kept    map[string]*once
	retired []func() error // closes what earlier versions have opened
}

// add makes a subject of a source. The caller holds s.mu, or nobody else
// knows the server yet.
func (s *Server) add(ctx context.Context, src Source) *subject {
	sub := &subject{Source: src, id: strconv.Itoa(len(s.subjects) + 1), ctx: ctx, hub: &s.hub, version: 1, kept: map[string]*once{}}
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
// of the source. Everybody who asks while it runs gets the same answer; when
// the last of them no longer waits, it is cancelled and forgotten.
func memo[T any](ctx context.Context, s *subject, key string, compute func(ctx context.Context) (T, error)) (T, error) {
	s.mu.Lock()
	o := s.kept[key]
	if o == nil {
		var work context.Context
		o = &once{done: make(chan struct{})}
		work, o.cancel = context.WithCancel(s.ctx)
		s.kept[key] = o
		go func() {
			defer close(o.done)
			defer o.cancel()
			defer func() {
				if p := recover(); p != nil {
					o.err = fmt.Errorf("loupe has a mistake here: %v", p)
				}
			}()
			o.value, o.err = compute(work)
		}()
	}
	o.waiting++
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
				if s.kept[key] == o {
					delete(s.kept, key)
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

// open opens the source.
func (s *subject) open(ctx context.Context) (*Opened, error) {
	return memo(ctx, s, "open", func(ctx context.Context) (*Opened, error) {
		o, err := s.Open(ctx)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		s.retired = append(s.retired, o.Close)
		s.mu.Unlock()
		return o, nil
	})
}

// session opens the source and returns its session.
func (s *subject) session(ctx context.Context) (*session.Session, error) {
	o, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return o.Session, nil
}

// changed forgets everything that was computed of the source.
//
// Note: what is open stays so until the server ends: others may be reading.
func (s *subject) changed() {
	s.mu.Lock()
	s.version++
	s.kept = map[string]*once{}
	s.mu.Unlock()
}

func (s *subject) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first error
	for _, c := range s.retired {
		if c == nil {
			continue
		}
		if err := c(); err != nil && first == nil {
			first = err
		}
	}
	s.retired = nil
	return first
}

// axis returns the span of the source's time axis.
func (s *subject) axis(ctx context.Context) (timeline.Span, error) {
	in, err := s.session(ctx)
	if err != nil {
		return timeline.Span{}, err
	}
	span := axisOf(in)
	if span.Len() > 0 {
		return span, nil
	}
	// A trace that stands alone does not say how long it is.
	t, err := s.traced(ctx)
	if errors.Is(err, session.ErrNone) {
		return span, nil
	}
	if err != nil {
		return span, err
	}
	return t.On(t.Span()), nil
}

package web

import (
	"context"
	"errors"
	"maps"
	"sync"

	"loupe/session/memo"
)

// edition is a source as it was when it was opened. One that grows is opened
// again and again; an older edition stays open for as long as somebody reads it.
type edition struct {
	*Opened
	of *editions

	// Guarded by of.mu.
	users   int
	retired bool // there is a newer one
	closed  bool
}

// editions are those of one source that are open, and what was computed of the current one.
type editions struct {
	source func(ctx context.Context) (*Opened, error) // opens it
	around memo.Around                                // what goes on around computations

	mu    sync.Mutex
	epoch *epoch     // the current one
	list  []*edition // those that are open
}

// begin says how the source is opened. Nothing has been computed of it yet.
func (s *editions) begin(source func(ctx context.Context) (*Opened, error), around memo.Around) {
	s.source, s.around, s.epoch = source, around, &epoch{version: 1}
	s.epoch.memo.Around = around
}

// version is the number of the current epoch: 1 until the source has changed.
func (s *editions) version() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch.version
}

// epoch is the time in which a source does not change, and what has been
// computed of it then. What was computed of an older edition is never taken for
// an answer about a newer one.
type epoch struct {
	version int
	memo    memo.Memo // of what is known without opening it for long
}

// hold is what one request or one computation reads: of each source one epoch.
type hold struct {
	mu       sync.Mutex
	editions []*edition
	epochs   map[*editions]*epoch
}

// pinned returns the epoch in which ctx sees the source.
func (s *editions) pinned(ctx context.Context) *epoch {
	s.mu.Lock()
	now := s.epoch
	s.mu.Unlock()
	h, ok := ctx.Value(holdKey{}).(*hold)
	if !ok {
		return now
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.epochs[s]; e != nil {
		return e
	}
	if h.epochs == nil {
		h.epochs = map[*editions]*epoch{}
	}
	h.epochs[s] = now
	return now
}

// unpin lets ctx see the source as it is now.
func (s *editions) unpin(ctx context.Context) {
	if h, ok := ctx.Value(holdKey{}).(*hold); ok {
		h.mu.Lock()
		delete(h.epochs, s)
		h.mu.Unlock()
	}
}

type holdKey struct{}

// holding returns a context whose editions stay open until release. It begins
// with those of the given one.
func holding(ctx, from context.Context) (held context.Context, release func() error) {
	h := &hold{}
	if f, ok := from.Value(holdKey{}).(*hold); ok {
		f.mu.Lock()
		for _, e := range f.editions {
			if e.take() {
				h.editions = append(h.editions, e)
			}
		}
		h.epochs = maps.Clone(f.epochs)
		f.mu.Unlock()
	}
	return context.WithValue(ctx, holdKey{}, h), h.release
}

func (h *hold) release() error {
	h.mu.Lock()
	all := h.editions
	h.editions = nil
	h.mu.Unlock()
	var errs []error
	for _, e := range all {
		errs = append(errs, e.drop())
	}
	return errors.Join(errs...)
}

// keep makes a context hold an edition; false when it is closed already.
func (e *edition) keep(ctx context.Context) bool {
	h, ok := ctx.Value(holdKey{}).(*hold)
	if !ok { // whoever holds nothing, as a test, has it open until the end
		h = &hold{}
	}
	if !e.take() {
		return false
	}
	h.mu.Lock()
	h.editions = append(h.editions, e)
	h.mu.Unlock()
	return true
}

func (e *edition) take() bool {
	e.of.mu.Lock()
	defer e.of.mu.Unlock()
	if e.closed {
		return false
	}
	e.users++
	return true
}

func (e *edition) drop() error {
	e.of.mu.Lock()
	e.users--
	last := e.retired && e.users == 0 && !e.closed
	e.closed = e.closed || last
	e.of.mu.Unlock()
	if last {
		return e.of.shut(e)
	}
	return nil
}

// shut closes an edition that nobody reads any more.
func (s *editions) shut(e *edition) error {
	s.mu.Lock()
	for i, other := range s.list {
		if other == e {
			s.list = append(s.list[:i:i], s.list[i+1:]...)
			break
		}
	}
	s.mu.Unlock()
	if e.Close == nil {
		return nil
	}
	return e.Close()
}

// open opens the source. It stays open for as long as ctx holds it; its session waits as
// long as ctx lasts.
func (s *editions) open(ctx context.Context) (*Opened, error) {
	for {
		e, err := memo.Get(ctx, &s.pinned(ctx).memo, "open", func(ctx context.Context) (*edition, error) {
			began := s.pinned(ctx)
			o, err := s.source(ctx)
			if err != nil {
				return nil, err
			}
			o.Session.Memo().Around = s.around
			e := &edition{Opened: o, of: s}
			s.mu.Lock()
			defer s.mu.Unlock()
			e.retired = s.epoch != began
			s.list = append(s.list, e)
			return e, nil
		})
		if err != nil {
			return nil, err
		}
		if e.keep(ctx) {
			o := *e.Opened
			o.Session, o.edition = o.Session.With(ctx), e
			return &o, nil
		}
		s.unpin(ctx)
	}
}

// changed forgets everything that was computed of the source, closes what
// nobody reads, and returns the number of the new version.
func (s *editions) changed() int {
	s.mu.Lock()
	version := s.epoch.version + 1
	s.epoch = &epoch{version: version}
	s.epoch.memo.Around = s.around
	var idle []*edition
	for _, e := range s.list {
		e.retired = true
		if e.users == 0 && !e.closed {
			e.closed = true
			idle = append(idle, e)
		}
	}
	s.mu.Unlock()
	for _, e := range idle {
		_ = s.shut(e) // read only: there is nothing to lose
	}
	return version
}

// close closes everything, whoever reads it: the server has ended.
func (s *editions) close() error {
	s.mu.Lock()
	all := s.list
	s.list = nil
	var open []*edition
	for _, e := range all {
		if !e.closed {
			e.closed = true
			open = append(open, e)
		}
	}
	s.mu.Unlock()
	var errs []error
	for _, e := range open {
		if e.Close != nil {
			errs = append(errs, e.Close())
		}
	}
	return errors.Join(errs...)
}

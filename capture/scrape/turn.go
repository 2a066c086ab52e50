package scrape

import (
	"context"
	"errors"
	"sync"
)

// errHeld is the error of a profile that was given up because somebody else takes some.
var errHeld = errors.New("somebody else takes profiles of it")

// turn decides who takes a profile of a target: the worker, or those who hold the target,
// who go before it.
type turn struct {
	mu    sync.Mutex
	holds int
	// stop gives up the profile that is being taken; nil for none.
	stop context.CancelCauseFunc
	// changed is closed and made anew when one of these has changed.
	changed chan struct{}
}

func newTurn() *turn { return &turn{changed: make(chan struct{})} }

// change tells those who wait. The caller holds t.mu.
func (t *turn) change() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// begin waits until nobody holds the target. The context that it returns ends with the cause errHeld
// when somebody wants to; done must be called.
func (t *turn) begin(ctx context.Context) (mine context.Context, done func(), err error) {
	t.mu.Lock()
	for t.holds > 0 {
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		t.mu.Lock()
	}
	defer t.mu.Unlock()
	mine, stop := context.WithCancelCause(ctx)
	t.stop = stop
	return mine, func() {
		stop(nil)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.stop = nil
		t.change()
	}, nil
}

// hold is that of [Scraper.Hold].
func (t *turn) hold(ctx context.Context) (release func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.holds++
	if t.stop != nil {
		t.stop(errHeld)
	}
	for t.stop != nil && ctx.Err() == nil {
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		t.mu.Lock()
	}
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.holds--
		t.change()
	})
}

package collect

import (
	"context"
	"sync"
	"time"
)

// background is a goroutine with an owner.
type background struct {
	cancel context.CancelFunc
	done   chan struct{}
	err    error
	once   sync.Once
}

func inBackground(f func(ctx context.Context) error) *background {
	ctx, cancel := context.WithCancel(context.Background())
	b := &background{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(b.done)
		b.err = f(ctx)
	}()
	return b
}

// stop cancels the goroutine and waits for it.
func (b *background) stop() error {
	b.once.Do(b.cancel)
	<-b.done
	return b.err
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

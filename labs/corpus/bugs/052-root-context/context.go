package main

import (
	"context"
)

type rootKey struct{}

func withRoot(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	return context.WithValue(ctx, rootKey{}, ctx), cancel
}

func withRootCancel(parent context.Context, watch bool) (context.Context, context.CancelFunc) {
	root, ok := parent.Value(rootKey{}).(context.Context)
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	if !ok {
		return ctx, cancel
	}
	if watch {
		stop := context.AfterFunc(root, cancel)
		return ctx, func() {
			stop()
			cancel()
		}
	}
	go func() {
		<-root.Done()
		cancel()
	}()
	return ctx, cancel
}

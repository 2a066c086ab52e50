package main

import (
	"context"
	"errors"
	"time"
)

var errExceeded = errors.New("timeout exceeded")

type policy struct {
	limit time.Duration
	tidy  bool
}

type execution struct {
	ctx    context.Context
	cancel context.CancelFunc
	tries  int
	last   []byte
}

func (p *policy) execute(parent context.Context, work func(*execution) error) error {
	ctx, cancel := context.WithCancel(context.WithValue(parent, key{}, make([]byte, 4096)))
	e := &execution{ctx: ctx, cancel: cancel, tries: 1}
	timer := time.AfterFunc(p.limit, func() { e.cancel() })
	err := work(e)
	if !timer.Stop() {
		return errExceeded
	}
	if p.tidy {
		cancel()
	}
	return err
}

type key struct{}

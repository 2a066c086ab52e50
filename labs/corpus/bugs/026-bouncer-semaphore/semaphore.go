package main

import (
	"errors"
	"sync"
	"time"
)

var errTimeout = errors.New("no slot within the timeout")

type semaphore struct {
	mu    sync.Mutex
	size  int
	used  int
	slots chan struct{}
}

func newSemaphore(size int, blocking bool) *semaphore {
	s := &semaphore{size: size}
	if blocking {
		s.slots = make(chan struct{}, size)
	}
	return s
}

func (s *semaphore) acquire(timeout time.Duration) error {
	if s.slots == nil {
		return s.acquirePolling(timeout)
	}
	t := time.NewTimer(timeout)
	defer t.Stop()
	select {
	case s.slots <- struct{}{}:
		return nil
	case <-t.C:
		return errTimeout
	}
}

func (s *semaphore) acquirePolling(timeout time.Duration) error {
	for started := time.Now(); time.Since(started) < timeout; {
		s.mu.Lock()
		if s.used < s.size {
			s.used++
			s.mu.Unlock()
			return nil
		}
		s.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
	}
	return errTimeout
}

func (s *semaphore) release() {
	if s.slots != nil {
		<-s.slots
		return
	}
	s.mu.Lock()
	s.used--
	s.mu.Unlock()
}

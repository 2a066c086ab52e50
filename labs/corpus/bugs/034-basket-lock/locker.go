package main

import (
	"sync"
	"time"
)

type lease struct {
	key     string
	renewed time.Time
	note    [4096]byte
}

type locker struct {
	ends bool
	mu   sync.Mutex
	held map[string]*lease
}

func (l *locker) lock(key string) func() {
	le := &lease{key: key, renewed: time.Now()}
	l.mu.Lock()
	l.held[key] = le
	l.mu.Unlock()
	ticker := time.NewTicker(100 * time.Millisecond)
	done := make(chan struct{})
	if l.ends {
		go l.holdUntil(le, ticker, done)
	} else {
		go l.hold(le, ticker)
	}
	return func() {
		ticker.Stop()
		close(done)
		l.mu.Lock()
		delete(l.held, key)
		l.mu.Unlock()
	}
}

func (l *locker) hold(le *lease, ticker *time.Ticker) {
	for now := range ticker.C {
		l.renew(le, now)
	}
}

func (l *locker) holdUntil(le *lease, ticker *time.Ticker, done chan struct{}) {
	for {
		select {
		case now := <-ticker.C:
			l.renew(le, now)
		case <-done:
			return
		}
	}
}

func (l *locker) renew(le *lease, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	le.renewed = now
	le.note[now.Nanosecond()%len(le.note)]++
}

package main

import "sync"

type span struct {
	trace  string
	fields map[string]int
}

type collector struct {
	guard *guard
	mu    sync.Mutex
	trace map[string][]span
}

func (c *collector) add(s span) bool {
	if c.guard.full() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	spans := append(c.trace[s.trace], s)
	if len(spans) > 50 {
		delete(c.trace, s.trace)
		return true
	}
	c.trace[s.trace] = spans
	return true
}

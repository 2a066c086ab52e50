package main

import (
	"sync"
	"time"
)

type value struct {
	total   int
	created time.Time
}

type cache struct {
	ttl    time.Duration
	mu     sync.Mutex
	values map[string]value
	quit   chan struct{}
}

func newCache(ttl time.Duration) *cache {
	c := &cache{ttl: ttl, values: map[string]value{}, quit: make(chan struct{})}
	go c.clean()
	return c
}

func (c *cache) get(key string, load func(string) int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.values[key]
	if !ok || time.Since(v.created) > c.ttl {
		v = value{total: load(key), created: time.Now()}
		c.values[key] = v
	}
	return v.total
}

func (c *cache) clean() {
	ticker := time.NewTicker(2 * c.ttl)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			c.expire(now)
		case <-c.quit:
			return
		}
	}
}

func (c *cache) expire(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, v := range c.values {
		if now.Sub(v.created) > c.ttl {
			delete(c.values, k)
		}
	}
}

func (c *cache) close() { close(c.quit) }

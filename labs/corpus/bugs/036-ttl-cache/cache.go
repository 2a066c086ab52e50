package main

import (
	"sync"
	"time"
)

type item struct {
	value   [8]uint64
	expires int64
}

type cache struct {
	mu      sync.Mutex
	ttl     time.Duration
	rebuild bool
	peak    int
	items   map[uint64]item
}

func newCache(ttl time.Duration, rebuild bool) *cache {
	return &cache{ttl: ttl, rebuild: rebuild, items: map[uint64]item{}}
}

func (c *cache) set(key uint64, value uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items[key] = item{value: [8]uint64{value}, expires: time.Now().Add(c.ttl).UnixNano()}
	c.peak = max(c.peak, len(c.items))
}

func (c *cache) get(key uint64) (uint64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	it, ok := c.items[key]
	return it.value[0], ok && it.expires > time.Now().UnixNano()
}

func (c *cache) evict() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now().UnixNano()
	for k, it := range c.items {
		if it.expires <= now {
			delete(c.items, k)
		}
	}
	if c.rebuild && len(c.items) < c.peak/4 {
		items := make(map[uint64]item, len(c.items))
		for k, it := range c.items {
			items[k] = it
		}
		c.items, c.peak = items, len(items)
	}
}

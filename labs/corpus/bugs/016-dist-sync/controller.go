package main

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
)

type handler struct {
	node   int
	url    string
	client *http.Client
}

func (h *handler) pull() error {
	resp, err := h.client.Get(h.url)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

type controller struct {
	mu       sync.RWMutex
	handlers map[int]*handler
	snapshot bool
}

func (c *controller) syncAll(ctx context.Context) {
	if c.snapshot {
		c.mu.RLock()
		all := slices.Collect(maps.Values(c.handlers))
		c.mu.RUnlock()
		pullAll(all)
		return
	}
	c.syncLocked(ctx)
}

func (c *controller) syncLocked(ctx context.Context) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, h := range c.handlers {
		if ctx.Err() != nil {
			return
		}
		h.pull()
	}
}

func pullAll(all []*handler) {
	for _, h := range all {
		h.pull()
	}
}

func (c *controller) join(h *handler) {
	c.mu.Lock()
	c.handlers[h.node] = h
	c.mu.Unlock()
}

func (c *controller) route(key int) *handler {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.handlers[key%len(c.handlers)]
}

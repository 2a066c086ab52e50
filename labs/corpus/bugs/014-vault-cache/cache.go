package main

import (
	"sync"
	"time"
)

type cache struct {
	ttl     time.Duration
	compute func() ([]byte, error)
	single  bool

	mu      sync.Mutex
	body    []byte
	expires time.Time
	flight  *flight
}

type flight struct {
	done chan struct{}
	body []byte
	err  error
}

func (c *cache) lookup() ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.body, time.Now().Before(c.expires)
}

func (c *cache) get() ([]byte, error) {
	if body, ok := c.lookup(); ok {
		return body, nil
	}
	if c.single {
		return c.getOnce()
	}
	body, err := c.compute()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.body, c.expires = body, time.Now().Add(c.ttl)
	return body, nil
}

func (c *cache) getOnce() ([]byte, error) {
	c.mu.Lock()
	if f := c.flight; f != nil {
		c.mu.Unlock()
		<-f.done
		return f.body, f.err
	}
	f := &flight{done: make(chan struct{})}
	c.flight = f
	c.mu.Unlock()
	f.body, f.err = c.compute()
	c.mu.Lock()
	if c.flight = nil; f.err == nil {
		c.body, c.expires = f.body, time.Now().Add(c.ttl)
	}
	c.mu.Unlock()
	close(f.done)
	return f.body, f.err
}

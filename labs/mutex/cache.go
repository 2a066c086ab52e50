package main

import "sync"

// cache keeps pages that have been fetched.
type cache interface {
	get(address string) (string, error)
}

// heldCache is locked while a page is fetched: the mistake of this lab.
type heldCache struct {
	fetch func(address string) (string, error)

	mu    sync.Mutex
	pages map[string]string
}

func newHeldCache(fetch func(address string) (string, error)) cache {
	return &heldCache{fetch: fetch, pages: map[string]string{}}
}

func (c *heldCache) get(address string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if page, ok := c.pages[address]; ok {
		return page, nil
	}
	page, err := c.fetch(address)
	if err != nil {
		return "", err
	}
	c.pages[address] = page
	return page, nil
}

// freeCache is never locked: its map can be read by all at once. Who asks first
// for a page fetches it, those who come meanwhile wait for that page.
type freeCache struct {
	fetch func(address string) (string, error)
	pages sync.Map // of *entry, by address
}

// entry is a page that is there once ready is closed.
//
// Note: A sync.Once would say it in less, but who waits for one waits for the
// mutex in it, which is held across the fetch by design.
type entry struct {
	ready chan struct{}
	page  string
	err   error
}

func newFreeCache(fetch func(address string) (string, error)) cache {
	return &freeCache{fetch: fetch}
}

func (c *freeCache) get(address string) (string, error) {
	found, ok := c.pages.Load(address)
	if !ok {
		found, ok = c.pages.LoadOrStore(address, &entry{ready: make(chan struct{})})
	}
	e := found.(*entry)
	if !ok {
		e.page, e.err = c.fetch(address)
		close(e.ready)
	}
	<-e.ready
	return e.page, e.err
}

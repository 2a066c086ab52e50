package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

type cluster struct {
	nodes  []string
	client *http.Client
	quorum bool
	mu     sync.Mutex
	took   map[string]time.Duration
}

func (c *cluster) ask(ctx context.Context, node, hash string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", node+"/retrieve/"+hash, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

func (c *cluster) retrieve(ctx context.Context, hash string) ([]byte, error) {
	if c.quorum {
		return c.first(ctx, hash)
	}
	return c.stash(ctx, hash)
}

func (c *cluster) stash(ctx context.Context, hash string) ([]byte, error) {
	answers := make([][]byte, len(c.nodes))
	var wg sync.WaitGroup
	for i, node := range c.nodes {
		wg.Go(func() {
			answers[i], _ = c.ask(ctx, node, hash)
		})
	}
	wg.Wait()
	for _, a := range answers {
		if a != nil {
			return a, nil
		}
	}
	return nil, errors.New("no node has " + hash)
}

func (c *cluster) first(ctx context.Context, hash string) ([]byte, error) {
	for _, node := range c.bySpeed() {
		began := time.Now()
		a, err := c.ask(ctx, node, hash)
		c.note(node, time.Since(began))
		if err == nil {
			return a, nil
		}
	}
	return nil, errors.New("no node has " + hash)
}

func (c *cluster) bySpeed() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	nodes := slices.Clone(c.nodes)
	slices.SortFunc(nodes, func(a, b string) int { return cmp.Compare(c.took[a], c.took[b]) })
	return nodes
}

func (c *cluster) note(node string, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took[node] = (7*c.took[node] + took) / 8
}

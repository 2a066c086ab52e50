package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

type cluster struct {
	nodes  []string
	client *http.Client
	quorum bool
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan []byte, len(c.nodes))
	for _, node := range c.nodes {
		go func() {
			a, _ := c.ask(ctx, node, hash)
			answers <- a
		}()
	}
	for range c.nodes {
		if a := <-answers; a != nil {
			return a, nil
		}
	}
	return nil, errors.New("no node has " + hash)
}

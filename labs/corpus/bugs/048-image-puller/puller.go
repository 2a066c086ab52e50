package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
)

type registry struct {
	base   string
	client *http.Client
}

func (r *registry) fetch(image string) (int64, error) {
	resp, err := r.client.Get(r.base + "/v2/" + url.PathEscape(image))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("pull %s: %s", image, resp.Status)
	}
	return io.Copy(io.Discard, resp.Body)
}

type puller interface {
	pull(image string) (int64, error)
}

type pulled struct {
	size int64
	err  error
}

type pullRequest struct {
	image string
	done  chan<- pulled
}

type serialPuller struct {
	registry *registry
	requests chan pullRequest
}

func newSerialPuller(r *registry) *serialPuller {
	p := &serialPuller{registry: r, requests: make(chan pullRequest, 10)}
	go p.run()
	return p
}

func (p *serialPuller) pull(image string) (int64, error) {
	done := make(chan pulled, 1)
	p.requests <- pullRequest{image: image, done: done}
	res := <-done
	return res.size, res.err
}

func (p *serialPuller) run() {
	for req := range p.requests {
		size, err := p.registry.fetch(req.image)
		req.done <- pulled{size: size, err: err}
	}
}

type parallelPuller struct {
	registry *registry
	tokens   chan struct{}
}

func (p *parallelPuller) pull(image string) (int64, error) {
	p.tokens <- struct{}{}
	defer func() { <-p.tokens }()
	return p.registry.fetch(image)
}

package main

import (
	"net/http"
	"net/url"
	"sync"
)

type filesystem struct {
	root string
	cs   bool
}

type registry struct {
	mu     sync.Mutex
	known  map[string]*filesystem
	narrow bool
	server string
	client *http.Client
}

func (r *registry) get(folder string) (*filesystem, error) {
	if r.narrow {
		return r.getNarrow(folder)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if fs := r.known[folder]; fs != nil {
		return fs, nil
	}
	fs, err := r.open(folder)
	if err != nil {
		return nil, err
	}
	r.known[folder] = fs
	return fs, nil
}

func (r *registry) getNarrow(folder string) (*filesystem, error) {
	r.mu.Lock()
	fs := r.known[folder]
	r.mu.Unlock()
	if fs != nil {
		return fs, nil
	}
	fs, err := r.open(folder)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[folder] = fs
	return fs, nil
}

func (r *registry) open(folder string) (*filesystem, error) {
	resp, err := r.client.Get(r.server + "/probe?folder=" + url.QueryEscape(folder))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return &filesystem{root: folder, cs: resp.StatusCode == http.StatusOK}, nil
}

func (r *registry) forget(folder string) {
	r.mu.Lock()
	delete(r.known, folder)
	r.mu.Unlock()
}

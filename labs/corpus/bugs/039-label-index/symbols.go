package main

import (
	"strings"
	"sync"
)

type symbols struct {
	clone bool
	mu    sync.Mutex
	known map[string]struct{}
}

func (s *symbols) add(v string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.known[v]; ok {
		return
	}
	if s.clone {
		v = strings.Clone(v)
	}
	s.known[v] = struct{}{}
}

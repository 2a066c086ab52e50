package main

import (
	"math/rand"
	randv2 "math/rand/v2"
	"sync"
)

type source struct {
	mu   sync.Mutex
	prng *rand.Rand
}

func newSource(shared bool) *source {
	if !shared {
		return &source{}
	}
	return &source{prng: rand.New(rand.NewSource(7))}
}

func (s *source) draw(n int) int {
	if s.prng == nil {
		return randv2.IntN(n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prng.Intn(n)
}

package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"sync"
	"time"
)

type shop struct {
	mu      sync.Mutex
	rebuild bool
	caches  []*cache
}

func (s *shop) open() *cache {
	c := newCache(20*time.Millisecond, s.rebuild)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caches = append(s.caches, c)
	if len(s.caches) > 5000 {
		s.caches = append(s.caches[:0], s.caches[1:]...)
	}
	return c
}

func (s *shop) janitor() {
	for range time.Tick(50 * time.Millisecond) {
		s.mu.Lock()
		recent := s.caches[max(0, len(s.caches)-100):]
		s.mu.Unlock()
		for _, c := range recent {
			c.evict()
		}
	}
}

func (c *cache) warm(keys uint64) (sum uint64) {
	for key := range keys {
		c.set(key, key*7)
	}
	for key := range keys {
		if v, ok := c.get(key); ok {
			sum += v
		}
	}
	return sum
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	s := &shop{rebuild: *form == "fixed"}
	go s.janitor()
	http.HandleFunc("/visit", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, s.open().warm(1500))
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

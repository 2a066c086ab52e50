package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"net/http"
	"sync"
	"time"
)

type registry struct {
	mu       sync.Mutex
	all      map[string]*semaphore
	blocking bool
}

func (r *registry) get(key string) *semaphore {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.all[key]
	if s == nil {
		s = newSemaphore(4, r.blocking)
		r.all[key] = s
	}
	return s
}

func work(key string) [32]byte {
	sum := sha256.Sum256([]byte(key))
	for range 2000 {
		sum = sha256.Sum256(sum[:])
	}
	return sum
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	reg := &registry{all: map[string]*semaphore{}, blocking: *form == "fixed"}
	http.HandleFunc("/semaphore", func(w http.ResponseWriter, r *http.Request) {
		key := r.FormValue("key")
		s := reg.get(key)
		if err := s.acquire(5 * time.Second); err != nil {
			http.Error(w, err.Error(), http.StatusRequestTimeout)
			return
		}
		defer s.release()
		fmt.Fprintf(w, "%x\n", work(key))
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

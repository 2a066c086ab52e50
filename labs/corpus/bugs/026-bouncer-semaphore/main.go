package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"sync"
	"time"

	"example.com/bugs/peer"
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
		s = newSemaphore(2, r.blocking)
		r.all[key] = s
	}
	return s
}

func protected(client *http.Client, url string) error {
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	role := flag.String("peer", "", "be this peer")
	flag.Parse()
	if *role != "" {
		log.Fatal(peer.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(3 * time.Millisecond)
		})))
	}
	backend, err := peer.Start("backend")
	if err != nil {
		log.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	reg := &registry{all: map[string]*semaphore{}, blocking: *form == "fixed"}
	http.HandleFunc("/semaphore", func(w http.ResponseWriter, r *http.Request) {
		key := r.FormValue("key")
		s := reg.get(key)
		if err := s.acquire(5 * time.Second); err != nil {
			http.Error(w, err.Error(), http.StatusRequestTimeout)
			return
		}
		defer s.release()
		if err := protected(client, "http://"+backend+"/"+key); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintln(w, key, "used")
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

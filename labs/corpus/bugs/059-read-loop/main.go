package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"sync"
)

type hub struct {
	mu      sync.Mutex
	clients []*client
}

func (h *hub) add(c *client) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients = append(h.clients, c)
	if len(h.clients) > 2000 {
		close(h.clients[0].frames)
		h.clients = append(h.clients[:0], h.clients[1:]...)
	}
	return len(h.clients)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	h := &hub{}
	var ids sync.Mutex
	var next int64
	http.HandleFunc("/connect", func(w http.ResponseWriter, r *http.Request) {
		ids.Lock()
		next++
		c := newClient(next, *form == "fixed")
		ids.Unlock()
		go c.readLoop()
		c.frames <- frame{kind: "connect", depth: 100}
		<-c.ready
		fmt.Fprintln(w, "connected", c.id, "of", h.add(c))
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"sync/atomic"
)

func connect(n int, apart bool) []*client {
	clients := make([]*client, n)
	for i := range clients {
		clients[i] = newClient(int64(i), apart)
		go clients[i].readLoop()
	}
	return clients
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	clients := connect(1500, *form == "fixed")
	var next atomic.Int64
	http.HandleFunc("/publish", func(w http.ResponseWriter, r *http.Request) {
		c := clients[next.Add(1)%int64(len(clients))]
		done := make(chan int)
		c.frames <- frame{kind: "publish", depth: 100, done: done}
		fmt.Fprintln(w, "published to", c.id, <-done)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

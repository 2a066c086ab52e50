package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"sync/atomic"
	"time"

	"example.com/bugs/peer"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	role := flag.String("peer", "", "be this peer")
	flag.Parse()
	if *role != "" {
		log.Fatal(peer.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(2 * time.Millisecond)
		})))
	}
	nodes, err := peer.Start("node")
	if err != nil {
		log.Fatal(err)
	}
	client := &http.Client{}
	newHandler := func(n int) *handler {
		return &handler{node: n, url: fmt.Sprintf("http://%s/distribution?node=%d", nodes, n), client: client}
	}
	c := &controller{handlers: map[int]*handler{}, snapshot: *form == "fixed"}
	for n := range 10 {
		c.join(newHandler(n))
	}
	go func() {
		for {
			c.syncAll(context.Background())
			time.Sleep(time.Millisecond)
		}
	}()
	go func() {
		for n := 0; ; n++ {
			time.Sleep(5 * time.Millisecond)
			c.join(newHandler(n % 10))
		}
	}()
	var keys atomic.Int64
	http.HandleFunc("/route", func(w http.ResponseWriter, r *http.Request) {
		h := c.route(int(keys.Add(1)))
		fmt.Fprintln(w, h.node, h.url)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

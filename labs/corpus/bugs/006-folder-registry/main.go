package main

import (
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
			time.Sleep(4 * time.Millisecond)
		})))
	}
	disk, err := peer.Start("disk")
	if err != nil {
		log.Fatal(err)
	}
	reg := &registry{
		known:  map[string]*filesystem{},
		narrow: *form == "fixed",
		server: "http://" + disk,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
	var served atomic.Int64
	http.HandleFunc("/request", func(w http.ResponseWriter, r *http.Request) {
		n := served.Add(1)
		folder := fmt.Sprintf("folder-%d", n%40)
		fs, err := reg.get(folder)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		if n%2 == 0 {
			reg.forget(folder)
		}
		fmt.Fprintln(w, fs.root, fs.cs)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

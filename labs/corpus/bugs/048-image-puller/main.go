package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"

	"example.com/bugs/peer"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	role := flag.String("peer", "", "be this peer")
	flag.Parse()
	if *role != "" {
		layer := strings.Repeat("layer", 1000)
		log.Fatal(peer.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(6 * time.Millisecond)
			fmt.Fprint(w, layer)
		})))
	}
	hub, err := peer.Start("hub")
	if err != nil {
		log.Fatal(err)
	}
	reg := &registry{base: "http://" + hub, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	var p puller
	if *form == "fixed" {
		p = &parallelPuller{registry: reg, tokens: make(chan struct{}, 32)}
	} else {
		p = newSerialPuller(reg)
	}
	http.HandleFunc("/pod", func(w http.ResponseWriter, r *http.Request) {
		size, err := p.pull(r.FormValue("image"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintln(w, "started,", size, "bytes")
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

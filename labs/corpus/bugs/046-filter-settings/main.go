package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"sync/atomic"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	f := newFiltering(300_000, *form == "slow")
	var n atomic.Int64
	http.HandleFunc("/resolve", func(w http.ResponseWriter, r *http.Request) {
		i := n.Add(1)
		host := fmt.Sprintf("ads%d.example.com", i*7919%600_000)
		if i%50 == 0 {
			f.rebuild([]string{host, "tracker.example.net"})
		}
		fmt.Fprintln(w, host, f.blocks(host))
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

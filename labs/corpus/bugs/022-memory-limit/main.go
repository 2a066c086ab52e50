package main

import (
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"runtime/debug"
	"sync/atomic"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	limit := int64(34 << 20)
	if *form == "fixed" {
		limit = 300 << 20
	}
	debug.SetMemoryLimit(limit)
	s := newStore(60_000)
	var n atomic.Int64
	http.HandleFunc("/session", func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(s.replace(int(n.Add(1))))
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

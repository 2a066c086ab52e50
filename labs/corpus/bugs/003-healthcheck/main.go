package main

import (
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"time"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	c := &checker{checks: []check{
		{name: "cache", timeout: 100 * time.Millisecond, probe: dial("cache", 2*time.Millisecond)},
		{name: "queue", timeout: 10 * time.Millisecond, probe: dial("queue", 40*time.Millisecond)},
	}}
	if *form == "fixed" {
		c.spare = 1
	}
	http.HandleFunc("/status", func(w http.ResponseWriter, r *http.Request) {
		failures := c.measure(r.Context())
		json.NewEncoder(w).Encode(map[string]any{"failures": failures, "at": time.Now()})
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

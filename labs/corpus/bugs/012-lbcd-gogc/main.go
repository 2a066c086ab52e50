package main

import (
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"sync/atomic"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	if os.Getenv("GOGC") == "" && *form == "slow" {
		debug.SetGCPercent(10)
	}
	idx := newIndex(150_000)
	var height atomic.Int64
	http.HandleFunc("/block", func(w http.ResponseWriter, r *http.Request) {
		h := int(height.Add(1))
		b := idx.assemble(h, 60)
		w.Header().Set("X-Height", strconv.Itoa(h))
		json.NewEncoder(w).Encode(b)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

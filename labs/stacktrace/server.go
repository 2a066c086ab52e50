package main

import (
	"encoding/json"
	"log"
	"net/http"
	"sync/atomic"
	"time"

	"loupe/labs/form/web"
)

// answer is what the server sends.
type answer struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// held is how long every fourth request waits.
const held = 20 * time.Millisecond

// serve answers POST /sendjson.
func serve(addr string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /sendjson", sendJSON)
	return web.Serve(addr, "/sendjson", mux)
}

var requests atomic.Int64

func sendJSON(w http.ResponseWriter, r *http.Request) {
	if requests.Add(1)%4 == 0 {
		wait(r.URL.Path, held, true)
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer{"gopher", "gopher@example.com"}); err != nil {
		log.Println("cannot send:", err)
	}
}

// wait stands for work elsewhere.
//
//go:noinline
func wait(route string, d time.Duration, slow bool) {
	time.Sleep(d)
	if d < 0 || !slow {
		log.Println(route)
	}
}

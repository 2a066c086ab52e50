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
	s := &scanner{detach: *form == "fixed"}
	var files atomic.Int64
	http.HandleFunc("/scan", func(w http.ResponseWriter, r *http.Request) {
		n := s.scan(fmt.Sprintf("repo/file-%d.yaml", files.Add(1)))
		fmt.Fprintln(w, n, "matches")
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

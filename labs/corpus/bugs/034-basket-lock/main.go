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
	l := &locker{ends: *form == "fixed", held: map[string]*lease{}}
	var baskets atomic.Int64
	http.HandleFunc("/basket", func(w http.ResponseWriter, r *http.Request) {
		key := fmt.Sprintf("basket-%d", baskets.Add(1))
		unlock := l.lock(key)
		defer unlock()
		fmt.Fprintln(w, key, "checked out")
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

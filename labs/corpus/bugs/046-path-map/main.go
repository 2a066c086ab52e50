package main

import (
	"flag"
	"log"
	"net/http"
	"sync/atomic"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	count := flag.Int("nodes", 800_000, "nodes of the tree")
	flag.Parse()
	t := newTree(*count, *form == "fixed")
	var n atomic.Int64
	http.HandleFunc("/resolve", func(w http.ResponseWriter, r *http.Request) {
		text, err := t.resolve(int(n.Add(7919)) % t.count)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Write(text)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

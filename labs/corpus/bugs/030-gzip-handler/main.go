package main

import (
	"compress/gzip"
	"flag"
	"fmt"
	"log"
	"net/http"
)

func items(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/csv")
	for i := range 20 {
		fmt.Fprintf(w, "%d,item %d,%d.%02d EUR\n", i, i, i*3, i%100)
	}
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	c := &compressor{level: gzip.DefaultCompression, pooled: *form == "fixed"}
	http.Handle("/items", c.wrap(http.HandlerFunc(items)))
	log.Fatal(http.ListenAndServe(*addr, nil))
}

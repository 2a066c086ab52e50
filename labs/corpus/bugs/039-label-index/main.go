package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"sync/atomic"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	s := &symbols{clone: *form == "fixed", known: map[string]struct{}{}}
	rest := common()
	var n atomic.Int64
	http.HandleFunc("/push", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		labels := 0
		parse(body("tenant", int(n.Add(1)), rest), func(name, value string) {
			s.add(name)
			s.add(value)
			labels++
		})
		fmt.Fprintln(w, labels, "labels")
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

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
	var n atomic.Int64
	http.HandleFunc("/snapshot", func(w http.ResponseWriter, r *http.Request) {
		d := open(fmt.Sprintf("snapshot-%d", n.Add(1)), 64<<10, *form == "fixed")
		defer d.close()
		d.set("user", r.RemoteAddr)
		fmt.Fprintln(w, d.get(20), unclosed.Load())
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

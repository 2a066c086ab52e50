package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"sync/atomic"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	c := &collector{guard: &guard{limit: 1 << 30, cheap: *form == "fixed"}, trace: map[string][]span{}}
	var n atomic.Int64
	http.HandleFunc("/batch", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		kept := 0
		for i := range 5 {
			s := span{trace: "trace-" + strconv.FormatInt(n.Add(1)%2000, 10), fields: map[string]int{"status": 200, "ms": i}}
			if c.add(s) {
				kept++
			}
		}
		fmt.Fprintln(w, kept)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

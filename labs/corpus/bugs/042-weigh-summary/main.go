package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"strconv"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	http.HandleFunc("/weigh", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.FormValue("n"))
		if err != nil || n > 10_000 {
			http.Error(w, "want a number of entries", http.StatusBadRequest)
			return
		}
		s := &summary{entries: make([]entry, n), shared: *form == "fixed"}
		fmt.Fprintln(w, s.weigh(1.37))
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	http.HandleFunc("/report", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, report(200, *form == "fixed"))
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

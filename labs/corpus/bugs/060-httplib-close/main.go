package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"

	"example.com/bugs/peer"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	role := flag.String("peer", "", "be this peer")
	flag.Parse()
	if *role != "" {
		log.Fatal(peer.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, 100+len(r.FormValue("sku")))
		})))
	}
	at, err := peer.Start("prices")
	if err != nil {
		log.Fatal(err)
	}
	perHost := -1
	if *form == "fixed" {
		perHost = 100
	}
	c := newClient("http://"+at, perHost)
	http.HandleFunc("/price", func(w http.ResponseWriter, r *http.Request) {
		cents, err := c.price(r.FormValue("sku"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintf(w, "%d.%02d EUR\n", cents/100, cents%100)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

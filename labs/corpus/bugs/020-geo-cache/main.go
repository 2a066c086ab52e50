package main

import (
	"flag"
	"log"
	"math/rand/v2"
	"net/http"
	"net/netip"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	s := &server{cache: map[string][]byte{}}
	if *form == "fixed" {
		s.limit = 500
	}
	http.HandleFunc("/lookup", func(w http.ResponseWriter, r *http.Request) {
		ip := r.FormValue("ip")
		if ip == "" {
			n := rand.Uint32()
			ip = netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}).String()
		}
		body, err := s.lookup(ip)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(body)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"time"

	"example.com/bugs/peer"
)

func addChain(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	time.Sleep(3 * time.Millisecond)
	json.NewEncoder(w).Encode(sct{ID: "log", Timestamp: time.Now().UnixMilli()})
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	role := flag.String("peer", "", "be this peer")
	flag.Parse()
	if *role != "" {
		log.Fatal(peer.Serve(http.HandlerFunc(addChain)))
	}
	ctlog, err := peer.Start("log")
	if err != nil {
		log.Fatal(err)
	}
	perHost := 0
	if *form == "fixed" {
		perHost = 100
	}
	p := newPublisher("http://"+ctlog, perHost)
	http.HandleFunc("/submit", func(w http.ResponseWriter, r *http.Request) {
		cert := fmt.Appendf(nil, "certificate for %s at %d", r.RemoteAddr, time.Now().UnixNano())
		s, err := p.submit(cert)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		json.NewEncoder(w).Encode(s)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

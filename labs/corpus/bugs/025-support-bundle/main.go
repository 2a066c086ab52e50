package main

import (
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"time"

	"example.com/bugs/peer"
)

func api(w http.ResponseWriter, r *http.Request) {
	time.Sleep(8 * time.Millisecond)
	json.NewEncoder(w).Encode(map[string]any{"path": r.URL.Path, "version": "2.9"})
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	role := flag.String("peer", "", "be this peer")
	flag.Parse()
	if *role != "" {
		log.Fatal(peer.Serve(http.HandlerFunc(api)))
	}
	at, err := peer.Start("api")
	if err != nil {
		log.Fatal(err)
	}
	g := &gatherer{base: "http://" + at, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	fetch := g.deployment
	if *form == "fixed" {
		fetch = g.deploymentWide
	}
	http.HandleFunc("/bundle", func(w http.ResponseWriter, r *http.Request) {
		d, err := fetch()
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		json.NewEncoder(w).Encode(d)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

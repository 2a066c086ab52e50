package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"time"

	"example.com/bugs/peer"
)

func chain(w http.ResponseWriter, r *http.Request) {
	time.Sleep(20 * time.Millisecond)
	list := make([]vault, 2000)
	for i := range list {
		list[i] = vault{Address: fmt.Sprintf("0x%040x", i), Symbol: fmt.Sprintf("yv%d", i), TVL: float64(i) * 31.5}
	}
	json.NewEncoder(w).Encode(list)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	role := flag.String("peer", "", "be this peer")
	flag.Parse()
	if *role != "" {
		log.Fatal(peer.Serve(http.HandlerFunc(chain)))
	}
	node, err := peer.Start("chain")
	if err != nil {
		log.Fatal(err)
	}
	v := &vaults{chain: "http://" + node, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	c := &cache{ttl: 50 * time.Millisecond, compute: v.all, single: *form == "fixed"}
	http.HandleFunc("/vaults", func(w http.ResponseWriter, r *http.Request) {
		body, err := c.get()
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Write(body)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

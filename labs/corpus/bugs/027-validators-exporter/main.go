package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"

	"example.com/bugs/peer"
)

type validator struct {
	Moniker string  `json:"moniker"`
	Tokens  float64 `json:"tokens"`
	Jailed  bool    `json:"jailed"`
}

func node(w http.ResponseWriter, r *http.Request) {
	list := make([]validator, 10)
	for i := range list {
		list[i] = validator{Moniker: fmt.Sprintf("%s-%d", r.URL.Path, i), Tokens: float64(i) * 1e6}
	}
	json.NewEncoder(w).Encode(list)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	role := flag.String("peer", "", "be this peer")
	flag.Parse()
	if *role != "" {
		log.Fatal(peer.Serve(http.HandlerFunc(node)))
	}
	at, err := peer.Start("node")
	if err != nil {
		log.Fatal(err)
	}
	c := &client{host: "http://" + at}
	if *form == "fixed" {
		c.shared = c.httpClient()
	}
	http.HandleFunc("/metrics", func(w http.ResponseWriter, r *http.Request) {
		for _, path := range []string{"/validators", "/delegations", "/rewards"} {
			var list []validator
			if err := c.get(path, &list); err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			for _, v := range list {
				fmt.Fprintf(w, "cosmos_tokens{validator=%q} %g\n", v.Moniker, v.Tokens)
			}
		}
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

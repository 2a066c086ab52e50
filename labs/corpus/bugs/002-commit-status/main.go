package main

import (
	"encoding/json"
	"flag"
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
		log.Fatal(peer.Serve(http.HandlerFunc(database)))
	}
	db, err := peer.Start("database")
	if err != nil {
		log.Fatal(err)
	}
	s := &site{
		status: &statusStore{base: "http://" + db, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}},
		bulk:   *form == "fixed",
	}
	http.HandleFunc("/commits", func(w http.ResponseWriter, r *http.Request) {
		commits := history(r.FormValue("branch"), 30)
		if err := s.parseCommits(commits); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		json.NewEncoder(w).Encode(commits)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

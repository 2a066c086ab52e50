package main

import (
	"flag"
	"fmt"
	"io"
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
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprintln(w, `{"accepted":true}`)
		})))
	}
	server, err := peer.Start("unleash")
	if err != nil {
		log.Fatal(err)
	}
	m := &metrics{
		url:    "http://" + server + "/client/metrics",
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}},
		tidy:   *form == "fixed",
		counts: map[string]int{},
	}
	http.HandleFunc("/feature", func(w http.ResponseWriter, r *http.Request) {
		name := r.FormValue("name")
		if err := m.report(m.count(name)); err != nil {
			log.Println(err)
		}
		fmt.Fprintf(w, "%s is %v\n", name, len(name)%2 == 0)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"time"

	"example.com/bugs/peer"
)

func node(takes time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(takes):
			fmt.Fprintln(w, "image", r.URL.Path)
		case <-r.Context().Done():
		}
	})
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	role := flag.String("peer", "", "be this peer")
	flag.Parse()
	switch *role {
	case "":
	case "far":
		log.Fatal(peer.Serve(node(70 * time.Millisecond)))
	default:
		log.Fatal(peer.Serve(node(2 * time.Millisecond)))
	}
	c := &cluster{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}, quorum: *form == "fixed", took: map[string]time.Duration{}}
	for _, name := range []string{"near", "near", "far"} {
		at, err := peer.Start(name)
		if err != nil {
			log.Fatal(err)
		}
		c.nodes = append(c.nodes, "http://"+at)
	}
	http.HandleFunc("/image", func(w http.ResponseWriter, r *http.Request) {
		img, err := c.retrieve(r.Context(), r.FormValue("hash"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		w.Write(img)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

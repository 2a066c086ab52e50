package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"

	"example.com/bugs/peer"
)

var summary = strings.Repeat(`{"read_rows":"1","written_rows":"1"}`+"\n", 300)

func clickhouse(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.(http.Flusher).Flush()
	io.WriteString(w, summary)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	role := flag.String("peer", "", "be this peer")
	flag.Parse()
	if *role != "" {
		log.Fatal(peer.Serve(http.HandlerFunc(clickhouse)))
	}
	db, err := peer.Start("clickhouse")
	if err != nil {
		log.Fatal(err)
	}
	c := &client{
		url:   "http://" + db + "/",
		http:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
		drain: *form == "fixed",
	}
	http.HandleFunc("/event", func(w http.ResponseWriter, r *http.Request) {
		query := fmt.Sprintf("INSERT INTO events VALUES ('%s', now())", r.RemoteAddr)
		if err := c.exec(query); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		io.WriteString(w, "stored\n")
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

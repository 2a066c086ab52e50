package main

import (
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"time"
)

func status(w http.ResponseWriter, r *http.Request) {
	user, _, _ := r.BasicAuth()
	json.NewEncoder(w).Encode(map[string]any{"user": user, "at": time.Now(), "path": r.URL.Path})
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	a := newAccounts(*form == "fixed")
	if err := a.add("ann", "secret"); err != nil {
		log.Fatal(err)
	}
	http.Handle("/api", a.require(http.HandlerFunc(status)))
	log.Fatal(http.ListenAndServe(*addr, nil))
}

package main

import (
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"strconv"
	"time"
	_ "time/tzdata"
)

var zones = []string{"Europe/Berlin", "America/New_York", "Asia/Jerusalem", "Australia/Sydney", "America/Sao_Paulo"}

func eventsOf(user int) []event {
	first := time.Date(2026, time.March, 1, 8, 0, 0, 0, time.UTC)
	events := make([]event, 12)
	for i := range events {
		events[i] = event{
			Title: "meeting " + strconv.Itoa(user*100+i),
			Zone:  zones[(user+i)%len(zones)],
			Start: first.Add(time.Duration(i*31) * time.Hour),
		}
	}
	return events
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	c := &calendar{keep: *form == "fixed"}
	http.HandleFunc("/agenda", func(w http.ResponseWriter, r *http.Request) {
		user, err := strconv.Atoi(r.FormValue("user"))
		if err != nil {
			http.Error(w, "want a user", http.StatusBadRequest)
			return
		}
		entries, err := c.agenda(eventsOf(user))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		json.NewEncoder(w).Encode(entries)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

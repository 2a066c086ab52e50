package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"strconv"
	"time"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	c := newCache(20*time.Millisecond, *form == "fixed")
	for i := range 1_200_000 {
		c.set(uint64(i), uint64(i))
	}
	go func() {
		for range time.Tick(100 * time.Millisecond) {
			c.evict()
		}
	}()
	http.HandleFunc("/get", func(w http.ResponseWriter, r *http.Request) {
		key, err := strconv.ParseUint(r.FormValue("key"), 10, 64)
		if err != nil {
			http.Error(w, "want a number", http.StatusBadRequest)
			return
		}
		value, ok := c.get(key)
		if !ok {
			value = key * 7
			c.set(key, value)
		}
		fmt.Fprintln(w, value, ok)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

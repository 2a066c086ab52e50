package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"net/http"
	"time"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	service, stop := context.WithCancel(context.Background())
	defer stop()
	p := &policy{limit: 5 * time.Second, tidy: *form == "fixed"}
	http.HandleFunc("/run", func(w http.ResponseWriter, r *http.Request) {
		err := p.execute(service, func(e *execution) error {
			sum := sha256.Sum256([]byte(r.RemoteAddr))
			e.last = sum[:]
			_, err := fmt.Fprintf(w, "%x\n", e.last)
			return err
		})
		if err != nil {
			log.Println(err)
		}
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

func closedAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	service, err := closedAddress()
	if err != nil {
		log.Fatal(err)
	}
	table := &remoteTable{service: service}
	if *form == "fixed" {
		table.backoff = 10 * time.Millisecond
	}
	released := make(chan int64, 64)
	go func() {
		for txn := range released {
			ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
			table.unlock(ctx, txn)
			cancel()
		}
	}()
	var txns atomic.Int64
	http.HandleFunc("/txn", func(w http.ResponseWriter, r *http.Request) {
		txn := txns.Add(1)
		select {
		case released <- txn:
		default:
		}
		fmt.Fprintln(w, "committed", txn)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

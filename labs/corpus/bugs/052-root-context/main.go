package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
)

type call struct {
	ctx    context.Context
	method string
	reply  [2048]byte
}

func forward(ctx context.Context, method string) (int, error) {
	c := &call{ctx: ctx, method: method}
	n := copy(c.reply[:], "reply to "+c.method)
	return n, c.ctx.Err()
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	root, stop := withRoot(context.Background())
	defer stop()
	http.HandleFunc("/forward", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := withRootCancel(root, *form == "fixed")
		defer cancel()
		n, err := forward(ctx, r.URL.Path)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintln(w, n)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

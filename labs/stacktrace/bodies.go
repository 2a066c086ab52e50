package main

import (
	"fmt"
	"log"
	"net"
	"net/http"

	"loupe/labs/form/web"
)

// serveBodies answers POST /sendjson as serve does, and asks a service of its own
// about each request.
func serveBodies(addr string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	other := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "known since", r.URL.Query().Get("name"))
	})}
	go other.Serve(l)
	defer other.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /sendjson", func(w http.ResponseWriter, r *http.Request) {
		known(l.Addr().String(), "gopher")
		sendJSON(w, r)
	})
	return web.Serve(addr, "/sendjson", mux)
}

// known tells whether the other service knows somebody. It forgets to close the
// body of the answer.
func known(addr, name string) bool {
	resp, err := http.Get("http://" + addr + "/?name=" + name)
	if err != nil {
		log.Println("cannot ask:", err)
		return false
	}
	return resp.StatusCode == http.StatusOK
}

package main

import (
	"io"
	"net"
	"net/http"
	"time"
)

// asks is a fake of a service and its client, for so long. Afresh means a connection for each request.
func asks(length time.Duration, afresh bool) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") }))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: afresh}}
	for end := time.Now().Add(length); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		answer, err := client.Get("http://" + l.Addr().String())
		if err != nil {
			panic(err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
}

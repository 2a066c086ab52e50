//go:build ignore

// ld06 is a server that asks another one for each of its answers. With -slow it
// closes the bodies of these without reading them, so that no connection to the
// other server can be used again; otherwise it reads them.
package main

import (
	"bytes"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
)

func main() {
	slow := flag.Bool("slow", false, "do not read the bodies")
	flag.Parse()
	page := bytes.Repeat([]byte("loupe "), 50_000)
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(page) }))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 50}}
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		resp, err := client.Get(backend.URL)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		if !*slow {
			io.Copy(io.Discard, resp.Body)
		}
		resp.Body.Close()
		io.WriteString(w, resp.Status)
	})
	l, err := net.Listen("tcp", "127.0.0.1:9071")
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(l, nil))
}

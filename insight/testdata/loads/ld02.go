//go:build ignore

// ld02 is a server that makes garbage for each of its answers. With -slow it has
// a large heap of small objects besides, so that each collection takes long;
// without it collections are short.
package main

import (
	"flag"
	"io"
	"log"
	"net"
	"net/http"
)

type node struct{ left, right *node }

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{tree(depth - 1), tree(depth - 1)}
}

var keep *node

func main() {
	slow := flag.Bool("slow", false, "have a large heap")
	flag.Parse()
	if *slow {
		keep = tree(20)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		garbage := make([]byte, 512<<10)
		io.WriteString(w, http.StatusText(200+int(garbage[0])))
	})
	l, err := net.Listen("tcp", "127.0.0.1:9072")
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(l, nil))
}

package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	u := &uploader{release: *form == "slow", objects: map[string]*object{}}
	for i := range 20_000 {
		key := fmt.Sprintf("bucket/object-%d", i)
		u.objects[key] = &object{key: key, etag: fmt.Sprintf("%032x", i), meta: map[string]string{"owner": "system"}}
	}
	var n atomic.Int64
	http.HandleFunc("/upload", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		id := n.Add(1)
		body := rand.NewChaCha8([32]byte{byte(id)})
		etag, err := u.put(fmt.Sprintf("bucket/object-%d", id%20_000), body, 3)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, etag)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

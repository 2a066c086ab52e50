package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"time"

	"example.com/bugs/peer"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	role := flag.String("peer", "", "be this peer")
	flag.Parse()
	if *role != "" {
		log.Fatal(peer.Serve(http.HandlerFunc(fileServer)))
	}
	share, err := peer.Start("share")
	if err != nil {
		log.Fatal(err)
	}
	file := &remoteFile{url: "http://" + share + "/worker.INFO", client: &http.Client{}}
	s := newSink(file, *form == "fixed")
	http.HandleFunc("/work", func(w http.ResponseWriter, r *http.Request) {
		for i := range 5 {
			s.emit(fmt.Appendf(nil, "I%s %s] step %d\n", time.Now().Format("0102 15:04:05.000000"), r.RemoteAddr, i))
		}
		fmt.Fprintln(w, "done")
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

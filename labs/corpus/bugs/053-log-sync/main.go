package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	dir, err := os.MkdirTemp("", "logs")
	if err != nil {
		log.Fatal(err)
	}
	s, err := newSink(filepath.Join(dir, "worker.INFO"), *form == "fixed")
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/work", func(w http.ResponseWriter, r *http.Request) {
		for i := range 5 {
			s.emit(fmt.Appendf(nil, "I%s %s] step %d\n", time.Now().Format("0102 15:04:05.000000"), r.RemoteAddr, i))
		}
		fmt.Fprintln(w, "done")
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

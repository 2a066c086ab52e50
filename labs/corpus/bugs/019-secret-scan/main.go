package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
)

func repository(files int) (string, error) {
	dir, err := os.MkdirTemp("", "repository")
	if err != nil {
		return "", err
	}
	line := []byte("replicas: 3 # scaled by hand\n")
	for i := range files {
		text := append(bytes.Repeat(line, 3000), "token: AKIA0123456789ABCDEF\n"...)
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), text, 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	dir, err := repository(100)
	if err != nil {
		log.Fatal(err)
	}
	s := &scanner{detach: *form == "fixed"}
	var files atomic.Int64
	http.HandleFunc("/scan", func(w http.ResponseWriter, r *http.Request) {
		n, err := s.scan(filepath.Join(dir, strconv.Itoa(int(files.Add(1)%100))))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		fmt.Fprintln(w, n, "matches")
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

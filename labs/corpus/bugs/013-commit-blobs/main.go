package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
)

func catFile(id string) {
	if id != "batch" {
		fmt.Printf("text of %s\n", id)
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Printf("text of %s\n", lines.Text())
	}
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	blob := flag.String("cat-file", "", "print this blob")
	flag.Parse()
	if *blob != "" {
		catFile(*blob)
		return
	}
	repo := &repository{root: os.TempDir()}
	if *form == "fixed" {
		repo.batches = make(chan *batch, 8)
		for range cap(repo.batches) {
			b, err := startBatch()
			if err != nil {
				log.Fatal(err)
			}
			repo.batches <- b
		}
	}
	http.HandleFunc("/tree", func(w http.ResponseWriter, r *http.Request) {
		var ids []string
		for i := range 5 {
			ids = append(ids, fmt.Sprintf("%040x", i*7919))
		}
		texts, err := repo.blobs(ids)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		json.NewEncoder(w).Encode(texts)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

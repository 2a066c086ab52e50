package main

import (
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	dir, err := os.MkdirTemp("", "certs")
	if err != nil {
		log.Fatal(err)
	}
	p, err := issue(dir)
	if err != nil {
		log.Fatal(err)
	}
	if *form == "fixed" {
		p.reload = time.Hour
	}
	http.HandleFunc("/sign", func(w http.ResponseWriter, r *http.Request) {
		pair, err := p.get()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		digest := sha256.Sum256([]byte(r.RemoteAddr))
		sig, err := pair.PrivateKey.(crypto.Signer).Sign(rand.Reader, digest[:], crypto.SHA256)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, "%x\n", sig)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

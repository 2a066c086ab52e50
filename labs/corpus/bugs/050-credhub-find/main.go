package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"strings"
	"time"

	"example.com/bugs/peer"
)

func credhub() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		return err
	}
	l, err := peer.Listen()
	if err != nil {
		return err
	}
	pair := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	history := strings.Repeat(`{"version":1,"rotated":true}`+"\n", 2000)
	return http.Serve(tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}}), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(credential{Name: r.FormValue("name"), Type: "password", Value: "s3cret"})
		w.(http.Flusher).Flush()
		io.WriteString(w, history)
	}))
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	role := flag.String("peer", "", "be this peer")
	flag.Parse()
	if *role != "" {
		log.Fatal(credhub())
	}
	at, err := peer.Start("credhub")
	if err != nil {
		log.Fatal(err)
	}
	c := &client{base: "https://" + at, token: "t0ken", drain: *form == "fixed"}
	c.http = &http.Client{Transport: &http.Transport{
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true},
		MaxIdleConnsPerHost: 100,
	}}
	http.HandleFunc("/credential", func(w http.ResponseWriter, r *http.Request) {
		cred, err := c.find(r.FormValue("name"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintln(w, cred.Name, cred.Type, len(cred.Value))
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}

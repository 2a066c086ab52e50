package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/http"
	"time"
)

// pageSize is more than net/http reads ahead of a client that has seen enough.
const pageSize = 256 << 10

// service serves one page over TLS, with a certificate that it makes for
// itself.
type service struct {
	cert tls.Certificate
	page []byte
}

func newService() *service {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // crypto/rand never fails
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	page := bytes.Repeat([]byte("All that glitters is not gold.\n"), pageSize/31+1)
	return &service{cert: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, page: page[:pageSize]}
}

// roots holds the service's certificate, for its clients.
func (s *service) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	if cert, err := x509.ParseCertificate(s.cert.Certificate[0]); err == nil {
		pool.AddCert(cert)
	}
	return pool
}

// serve answers until the listener is closed.
func (s *service) serve(l net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, r *http.Request) { w.Write(s.page) })
	server := &http.Server{Handler: mux, TLSConfig: &tls.Config{Certificates: []tls.Certificate{s.cert}, NextProtos: []string{"http/1.1"}}}
	return server.ServeTLS(l, "", "")
}

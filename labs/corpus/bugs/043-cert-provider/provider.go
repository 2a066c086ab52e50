package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"sync"
	"time"
)

type provider struct {
	cert, key string
	reload    time.Duration
	mu        sync.Mutex
	pair      *tls.Certificate
	until     time.Time
}

func writePEM(name, kind string, der []byte) error {
	return os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

func issue(dir string) (*provider, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	p := &provider{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem")}
	if err := writePEM(p.cert, "CERTIFICATE", der); err != nil {
		return nil, err
	}
	return p, writePEM(p.key, "EC PRIVATE KEY", private)
}

func (p *provider) load() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(p.cert, p.key)
	return &pair, err
}

func (p *provider) get() (*tls.Certificate, error) {
	if p.reload == 0 {
		return p.load()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pair == nil || time.Now().After(p.until) {
		pair, err := p.load()
		if err != nil {
			return nil, err
		}
		p.pair, p.until = pair, time.Now().Add(p.reload)
	}
	return p.pair, nil
}

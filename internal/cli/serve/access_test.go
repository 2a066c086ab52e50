package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certify writes a certificate with a serial number, and its key.
func certify(t *testing.T, cert, key string, serial int64) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCertificateChanges renews a certificate under a server: connections that begin then
// have the new one, and a file that is none changes nothing.
func TestCertificateChanges(t *testing.T) {
	dir := t.TempDir()
	a := &access{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem")}
	certify(t, a.cert, a.key, 1)
	if err := a.open(); err != nil {
		t.Fatal(err)
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := a.around(plain)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				c.(*tls.Conn).Handshake()
				c.Close()
			}()
		}
	}()
	serial := func() int64 {
		c, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	var said []string
	tell := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	a.identity.again(tell)
	if got := serial(); got != 1 || len(said) > 0 {
		t.Errorf("at first the certificate is number %d; told %q", got, said)
	}
	if err := os.WriteFile(a.cert, []byte("half of a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.identity.again(tell)
	a.identity.again(tell)
	if got := serial(); got != 1 || len(said) != 1 || !strings.Contains(said[0], "what was there before holds") {
		t.Errorf("with half of a file the certificate is number %d; told %q", got, said)
	}
	certify(t, a.cert, a.key, 20)
	a.identity.again(tell)
	if got := serial(); got != 20 || len(said) != 2 || !strings.HasSuffix(said[1], "was read again") {
		t.Errorf("the renewed certificate is number %d; told %q", got, said)
	}
}

// TestCheck refuses what would let in anybody.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		address string
		access
		ok bool
	}{
		{"127.0.0.1:4040", access{}, true},
		{"[::1]:4040", access{}, true},
		{"localhost:4040", access{}, true},
		{"127.0.0.1:4040", access{tokens: "t", cert: "c", key: "k"}, true},
		{":4040", access{}, false},
		{"0.0.0.0:4040", access{insecure: true}, false},
		{"0.0.0.0:4040", access{tokens: "t"}, false},
		{"0.0.0.0:4040", access{tokens: "t", insecure: true}, true},
		{"host.example:4040", access{tokens: "t"}, false},
		{"10.0.0.1:4040", access{tokens: "t", cert: "c"}, false},
		{"10.0.0.1:4040", access{tokens: "t", cert: "c", key: "k"}, true},
		{"4040", access{}, false},
	} {
		if err := c.check(c.address); (err == nil) != c.ok {
			t.Errorf("%s with %+v: %v", c.address, c.access, err)
		}
	}
}

package load

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"loupe/capture/load/target"
	"loupe/format/loadlog"
)

// dialer opens the connections of every engine.
type dialer struct {
	c   *Config
	net net.Dialer
	tls *tls.Config
}

func newDialer(c *Config) *dialer {
	d := &dialer{c: c, tls: c.TLS.Clone()}
	if d.tls == nil {
		d.tls = &tls.Config{}
	}
	d.tls.InsecureSkipVerify = !c.VerifyTLS
	return d
}

// dialling is how long the parts of opening a connection took.
type dialling struct{ whole, dns, tls time.Duration }

func (d *dialling) add(o dialling) {
	d.whole += o.whole
	d.dns += o.dns
	d.tls += o.tls
}

// dial opens a connection that requests to o can be written to: to its
// address, or to what stands in for it.
func (d *dialer) dial(ctx context.Context, o *origin) (net.Conn, dialling, error) {
	var took dialling
	begun := time.Now()
	conn, err := d.reach(ctx, o, &took)
	if err == nil && o.scheme == "https" {
		conn, err = d.secure(ctx, conn, o, &took)
	}
	took.whole = time.Since(begun)
	return conn, took, err
}

// reach opens a connection on which the bytes of o's scheme can be sent.
func (d *dialer) reach(ctx context.Context, o *origin, took *dialling) (net.Conn, error) {
	if d.c.Proxy == nil {
		return d.connect(ctx, o.address, took)
	}
	conn, err := d.connect(ctx, proxyAddress(d.c.Proxy), took)
	if err != nil || o.scheme == "http" {
		return conn, err
	}
	if err := d.tunnel(ctx, conn, o.address); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// connect opens a TCP connection, or one to the socket that is asked for.
func (d *dialer) connect(ctx context.Context, address string, took *dialling) (net.Conn, error) {
	if d.c.Unix != "" {
		return d.net.DialContext(ctx, "unix", d.c.Unix)
	}
	address = cmp.Or(d.c.ConnectTo[address], address)
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return d.net.DialContext(ctx, "tcp", address)
	}
	// The hooks run in goroutines of the resolver.
	begun := time.Now()
	var from, to atomic.Int64
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { from.CompareAndSwap(0, int64(time.Since(begun))) },
		DNSDone:  func(httptrace.DNSDoneInfo) { to.CompareAndSwap(0, int64(time.Since(begun))) },
	})
	conn, err := d.net.DialContext(ctx, "tcp", address)
	took.dns += time.Duration(max(0, to.Load()-from.Load()))
	return conn, err
}

// Endpoint is where a load connects to: a network, "tcp" or "unix", and an address.
type Endpoint struct{ Network, Address string }

// Endpoints are where the requests of c get to, each once, in the order of the targets: what is
// dialled for their hosts, or behind a proxy what that dials.
func (c *Config) Endpoints() ([]Endpoint, error) {
	if c.Unix != "" {
		return []Endpoint{{"unix", c.Unix}}, nil
	}
	urls := []string{target.Quote(c.URL)}
	if len(c.Targets) > 0 {
		urls = nil
	}
	for _, t := range c.Targets {
		urls = append(urls, t.URL)
	}
	var all []Endpoint
	for _, text := range urls {
		a, err := target.Split(text)
		if err != nil {
			return nil, err
		}
		address := net.JoinHostPort(a.Hostname(), a.Port())
		if c.Proxy == nil {
			address = cmp.Or(c.ConnectTo[address], address)
		}
		if e := (Endpoint{"tcp", address}); !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all, nil
}

// secure does the TLS handshake.
func (d *dialer) secure(ctx context.Context, conn net.Conn, o *origin, took *dialling) (net.Conn, error) {
	begun := time.Now()
	config := d.tls
	if config.ServerName == "" || len(config.NextProtos) == 0 {
		config = config.Clone()
		config.ServerName = cmp.Or(config.ServerName, o.name)
		config.NextProtos = []string{"http/1.1"}
	}
	secured := tls.Client(conn, config)
	err := secured.HandshakeContext(ctx)
	took.tls = time.Since(begun)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return secured, nil
}

// tunnel asks the proxy for a connection to address.
func (d *dialer) tunnel(ctx context.Context, conn net.Conn, address string) error {
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if user := d.c.Proxy.User; user != nil {
		req.Header.Set("Proxy-Authorization", basicOf(user))
	}
	if err := req.Write(conn); err != nil {
		return err
	}
	// Behind the answer nothing comes before our side has spoken, so that
	// what the reader holds back is nothing.
	resp, err := http.ReadResponse(bufio.NewReader(conn), req)
	if err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the proxy refused a connection: %s", resp.Status)
	}
	if !stop() {
		return ctx.Err()
	}
	return nil
}

// proxyAddress is what to dial for a proxy.
func proxyAddress(u *url.URL) string {
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), map[string]string{"https": "443"}[u.Scheme], "80"))
}

// localPort is the port of our end, 0 where there is none.
func localPort(conn net.Conn) uint16 {
	if a, ok := conn.LocalAddr().(*net.TCPAddr); ok {
		return uint16(a.Port)
	}
	return 0
}

// errTimeout is what became of a request that took longer than it may.
var errTimeout = errors.New(loadlog.TimedOut)

// errDropped is what became of a request whose connection, which had carried others,
// ended without a byte of an answer: the server may have done its work or not.
var errDropped = errors.New(loadlog.Dropped)

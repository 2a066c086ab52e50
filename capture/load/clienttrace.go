package load

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strings"
	"time"

	"loupe/capture/load/plan"
	"loupe/capture/load/target"
	"loupe/format/loadlog"
	"loupe/value/secret"
)

// MaxTraced is how many requests [Trace] sends at most: it is for looking at
// each of them.
const MaxTraced = 100

// Trace sends n requests one after the other and returns all phases of each.
// What is sent, and how it gets there, is what [Run] does with the same Config;
// what says how many requests there are and when does not count. Redirects are
// exchanges of their own. When ctx ends, the request in flight is left out. An
// error says that nothing could be sent; failed requests are no error.
//
// Note: it is net/http that sends, for its hooks. Its hook for a written
// request runs before the buffer with the request is flushed (golang/go#60576),
// so that the system call would count as waiting for the service; the
// connection is watched instead (tap).
func Trace(ctx context.Context, c Config, n int) (*loadlog.ClientTrace, error) {
	if n < 1 || n > MaxTraced {
		return nil, fmt.Errorf("cannot trace %d requests: want 1 to %d", n, MaxTraced)
	}
	c.Requests, c.Duration, c.Warmup, c.Concurrency, c.Think = n, 0, 0, 1, 0
	c.Plan, c.Rate, c.MaxConns = nil, 0, 0
	c.HTTP2 = c.HTTP2 || c.Engine == engineHTTP2
	r, err := setUp(c)
	if err != nil {
		return nil, err
	}
	t := &tracer{run: r, transports: map[origin]*http.Transport{}}
	defer t.close()
	t.call.values = target.NewValues(r.stream(0))
	out := &loadlog.ClientTrace{Schema: loadlog.TraceSchema, Exchanges: []loadlog.Exchange{}}
	for i := range n {
		list := t.request(ctx, int64(i))
		if ctx.Err() != nil {
			break
		}
		out.Exchanges = append(out.Exchanges, list...)
	}
	for i := range out.Exchanges {
		out.Exchanges[i].Start -= t.first
	}
	return out, nil
}

// tracer is a client that keeps its connections.
type tracer struct {
	*run
	call       call
	transports map[origin]*http.Transport
	first      time.Duration // when the first exchange began
	begun      bool
}

func (t *tracer) close() {
	for _, x := range t.transports {
		x.CloseIdleConnections()
	}
}

// request sends one request and follows its redirects.
func (t *tracer) request(ctx context.Context, seq int64) (list []loadlog.Exchange) {
	c := &t.call
	now := t.now()
	c.start(t.run, turn{begin: now, target: plan.AnyTarget, seq: seq}, now)
	ctx, cancel := t.within(ctx, c)
	defer cancel()
	for {
		x := t.exchange(ctx, c)
		x.Hop = c.hops
		again := false
		if c.status = x.Status; x.Error == "" && x.Location != "" && !t.NoRedirects {
			var err error
			if again, err = c.redirect(t.run, x.Location); err != nil {
				x.Error = plain(err)
			}
		}
		x.Location, x.Error = secret.URL(x.Location), secret.Text(x.Error)
		list = append(list, *x)
		if !again {
			return list
		}
	}
}

// exchange sends the request of c and keeps what happens to it, up to the end of
// the answer.
func (t *tracer) exchange(ctx context.Context, c *call) *loadlog.Exchange {
	o := cmp.Or(c.far, c.m.origin)
	req, body, err := c.forNetHTTP(o, t.GRPC)
	x := &tracing{now: t.now, begin: t.now(), frames: t.HTTP2, once: t.Retry == 0}
	if !t.begun {
		t.begun, t.first = true, time.Duration(x.begin)
	}
	x.Method, x.Start = c.method, time.Duration(x.begin)
	if err != nil {
		x.Error = err.Error()
		return &x.Exchange
	}
	x.URL = t.shown(c, req)
	// Where a request goes is not for its Host header to say.
	req.URL.Host = o.address
	if len(body) > 0 {
		req.Body = io.NopCloser(bytes.NewReader(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	req = req.WithContext(context.WithValue(httptrace.WithClientTrace(ctx, x.hooks()), tracingKey{}, x))
	resp, err := t.transport(o).RoundTrip(req)
	if err == nil {
		x.answered(resp)
		x.Bytes, err = io.Copy(io.Discard, resp.Body)
		err = errors.Join(err, resp.Body.Close())
		if err == nil && t.GRPC {
			err = grpcStatus(resp)
		}
	}
	if x.wasRefused() {
		err = errDropped
	}
	x.end(err)
	return &x.Exchange
}

// shown is the URL of the request as people know it.
func (t *tracer) shown(c *call, req *http.Request) string {
	u := *req.URL
	u.Host = req.Host
	if c.hops == 0 {
		u.Host = c.m.address.Host
	}
	return secret.URL(u.String())
}

// transport returns the client of an origin. Each has its own, because
// connections to one address differ by the name that TLS gets.
func (t *tracer) transport(o *origin) *http.Transport {
	if x := t.transports[*o]; x != nil {
		return x
	}
	x := &http.Transport{
		DisableCompression:    true, // bodies are counted as they come over the wire
		DisableKeepAlives:     t.NoKeepAlive,
		ExpectContinueTimeout: time.Second,
		Protocols:             new(http.Protocols),
	}
	x.Protocols.SetHTTP1(!t.HTTP2)
	x.Protocols.SetHTTP2(t.HTTP2)
	x.Protocols.SetUnencryptedHTTP2(t.HTTP2)
	if t.Proxy != nil && o.scheme == "http" {
		x.Proxy = http.ProxyURL(t.Proxy)
	}
	dial := func(ctx context.Context, _, address string) (net.Conn, error) {
		x, _ := ctx.Value(tracingKey{}).(*tracing)
		return t.dial(ctx, x, o, address)
	}
	x.DialContext, x.DialTLSContext = dial, dial
	t.transports[*o] = x
	return x
}

// dial opens a connection as [dialer.dial] does, and notes the phases. address
// is that of o, or of the proxy for it.
func (t *tracer) dial(ctx context.Context, x *tracing, o *origin, address string) (net.Conn, error) {
	d := t.dialer
	if t.Proxy != nil {
		address = proxyAddress(t.Proxy)
	}
	var took dialling
	conn, err := d.connect(ctx, address, &took)
	if err != nil {
		return nil, err
	}
	if o.scheme == "http" {
		return &tap{Conn: conn}, nil
	}
	if t.Proxy != nil {
		err := x.during("connect", "CONNECT "+o.address+" through the proxy", func() error { return d.tunnel(ctx, conn, o.address) })
		if err != nil {
			conn.Close()
			return nil, err
		}
	}
	tapped := &tap{Conn: conn}
	config := d.tls.Clone()
	config.ServerName = cmp.Or(config.ServerName, o.name)
	if t.HTTP2 {
		config.NextProtos = []string{"h2"}
	} else if len(config.NextProtos) == 0 {
		config.NextProtos = []string{"http/1.1"}
	}
	secured := tls.Client(tapped, config)
	if err := x.during("tls", "", func() error { return secured.HandshakeContext(ctx) }); err != nil {
		conn.Close()
		return nil, err
	}
	tapped.tls = tlsFacts(secured.ConnectionState())
	return secured, nil
}

// tlsFacts says how a connection is encrypted.
func tlsFacts(s tls.ConnectionState) *loadlog.TLS {
	f := &loadlog.TLS{
		Version: tls.VersionName(s.Version), Cipher: tls.CipherSuiteName(s.CipherSuite), Protocol: s.NegotiatedProtocol,
		Resumed: s.DidResume, Verified: len(s.VerifiedChains) > 0,
	}
	if len(s.PeerCertificates) > 0 {
		c := s.PeerCertificates[0]
		names := append([]string{c.Subject.CommonName}, c.DNSNames...)
		for _, a := range c.IPAddresses {
			names = append(names, a.String())
		}
		f.Subject = cmp.Or(cmp.Or(names...), c.Subject.String())
		f.Expires = c.NotAfter
		if bytes.Equal(c.RawIssuer, c.RawSubject) {
			f.Issuer = "itself"
			return f
		}
		f.Issuer = cmp.Or(c.Issuer.CommonName, strings.Join(c.Issuer.Organization, ", "), c.Issuer.String())
	}
	return f
}

// isAddress tells whether a host is an address already.
func isAddress(host string) bool {
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}

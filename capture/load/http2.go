package load

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"loupe/format/loadlog"
)

// http2 carries HTTP/2 through net/http's pinned connections.
type http2 struct {
	r         *run
	transport *http.Transport

	mu       sync.Mutex
	requests map[*message]*http.Request // of those that do not vary
}

func newHTTP2(r *run) *http2 {
	t := &http.Transport{
		DisableCompression: true, // bodies are counted as they come over the wire
		TLSClientConfig:    r.dialer.tls.Clone(),
		Protocols:          new(http.Protocols),
	}
	t.Protocols.SetHTTP2(true)
	t.Protocols.SetUnencryptedHTTP2(true)
	if r.Proxy != nil {
		t.Proxy = http.ProxyURL(r.Proxy)
	}
	if r.Host != "" && t.TLSClientConfig.ServerName == "" {
		t.TLSClientConfig.ServerName = r.origins[0].name
	}
	t.DialContext = func(ctx context.Context, _, address string) (net.Conn, error) {
		var took dialling
		return r.dialer.connect(ctx, address, &took)
	}
	return &http2{r: r, transport: t, requests: map[*message]*http.Request{}}
}

// stream is a connection on which one request is sent at a time.
type stream struct {
	h       *http2
	conn    *http.ClientConn
	origin  *origin
	fact    loadlog.Connection
	discard []byte
	ctx     context.Context // until interrupt
	stop    context.CancelFunc
}

func (h *http2) dial(ctx context.Context, o *origin) (carrier, error) {
	opened := h.r.now()
	var took dialling
	var lookup, shake atomic.Int64
	var dns, secure atomic.Int64
	trace := &httptrace.ClientTrace{
		TLSHandshakeStart: func() { shake.CompareAndSwap(0, h.r.now()) },
		TLSHandshakeDone:  func(tls.ConnectionState, error) { secure.CompareAndSwap(0, h.r.now()-shake.Load()) },
	}
	if net.ParseIP(hostOf(o.address)) == nil {
		trace.DNSStart = func(httptrace.DNSStartInfo) { lookup.CompareAndSwap(0, h.r.now()) }
		trace.DNSDone = func(httptrace.DNSDoneInfo) { dns.CompareAndSwap(0, h.r.now()-lookup.Load()) }
	}
	var port atomic.Int64
	trace.GotConn = func(i httptrace.GotConnInfo) { port.Store(int64(localPort(i.Conn))) }
	conn, err := h.transport.NewClientConn(httptrace.WithClientTrace(ctx, trace), o.scheme, o.address)
	if err != nil {
		return nil, err
	}
	took = dialling{time.Duration(h.r.now() - opened), time.Duration(dns.Load()), time.Duration(secure.Load())}
	s := &stream{h: h, conn: conn, origin: o, fact: h.r.connected(opened, took, uint16(port.Load())), discard: make([]byte, largeBuffer/2)}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s, nil
}

func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

func (s *stream) record() *loadlog.Connection { return &s.fact }
func (s *stream) interrupt()                  { s.stop() }
func (s *stream) alive() bool                 { return s.conn.Err() == nil }
func (s *stream) close()                      { s.stop(); s.conn.Close() }

func (s *stream) roundTrip(ctx context.Context, c *call) (end int64, more bool, err error) {
	r := s.h.r
	req, body, err := s.h.request(c, s.origin)
	if err != nil {
		return r.now(), true, err
	}
	within, cancel := r.within(s.ctx, c)
	defer cancel()
	c.ask(nil)
	asked := r.now()
	// The hooks run in goroutines of the connection.
	var wrote, first atomic.Int64
	trace := &httptrace.ClientTrace{
		WroteRequest:         func(httptrace.WroteRequestInfo) { wrote.CompareAndSwap(0, r.now()) },
		GotFirstResponseByte: func() { first.CompareAndSwap(0, r.now()) },
	}
	req = req.WithContext(httptrace.WithClientTrace(within, trace))
	if body != nil {
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	resp, err := s.conn.RoundTrip(req)
	if err != nil {
		return r.now(), false, s.failure(within, err)
	}
	c.first = first.Load()
	if c.first == 0 {
		c.first = r.now()
	}
	c.write += max(0, min(wrote.Load(), c.first)-asked)
	n, err := s.drain(resp.Body, c.parser.Look)
	end = r.now()
	if err != nil {
		return end, false, s.failure(within, err)
	}
	c.parser.Take(resp.StatusCode, n, resp.ContentLength, resp.Header.Get("Location"))
	if r.GRPC {
		err = grpcStatus(resp)
	}
	return end, !resp.Close && s.conn.Err() == nil, err
}

// failure names what went wrong.
func (s *stream) failure(within context.Context, err error) error {
	if errors.Is(within.Err(), context.DeadlineExceeded) {
		return errTimeout
	}
	if s.conn.Err() != nil && wasClosed(err) {
		return fmt.Errorf("%w", net.ErrClosed)
	}
	return err
}

// wasClosed tells whether err is what net/http gives for a kept connection
// that was closed before the request.
func wasClosed(err error) bool {
	text := err.Error()
	return hungUp(err) || strings.Contains(text, "reset by peer") || strings.Contains(text, "broken pipe") ||
		strings.Contains(text, "GOAWAY") || strings.Contains(text, "connection closed") || strings.Contains(text, "client connection lost")
}

// drain reads the body to its end, so that the connection can be used again.
func (s *stream) drain(body io.ReadCloser, look func([]byte)) (n int64, err error) {
	defer body.Close()
	for {
		got, err := body.Read(s.discard)
		n += int64(got)
		if look != nil {
			look(s.discard[:got])
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// request makes net/http's request of the one that was rendered.
func (h *http2) request(c *call, o *origin) (*http.Request, []byte, error) {
	same := !c.m.varies() && c.hops == 0
	if same {
		h.mu.Lock()
		defer h.mu.Unlock()
		if req := h.requests[c.m]; req != nil {
			_, _, body := splitRequest(c.request)
			if h.r.GRPC {
				body = grpcMessage(body)
			}
			return req, body, nil
		}
	}
	req, body, err := c.forNetHTTP(o, h.r.GRPC)
	if err != nil {
		return nil, nil, err
	}
	if same {
		h.requests[c.m] = req
	}
	return req, body, nil
}

// forNetHTTP makes net/http's request, and its body, of the one that was
// rendered.
func (c *call) forNetHTTP(o *origin, grpc bool) (*http.Request, []byte, error) {
	line, fields, body := splitRequest(c.request)
	if grpc {
		body = grpcMessage(body)
	}
	uri := strings.Fields(line)[1]
	if strings.HasPrefix(uri, "/") { // not one for a proxy
		uri = o.scheme + "://" + fields[0].Value + uri
	}
	u, err := url.Parse(uri)
	if err != nil {
		return nil, nil, err
	}
	req := &http.Request{Method: c.method, URL: u, Host: fields[0].Value, Header: http.Header{}, ContentLength: int64(len(body))}
	for _, f := range fields[1:] {
		switch strings.ToLower(f.Name) {
		case "content-length", "connection", "proxy-authorization":
		default:
			req.Header.Add(f.Name, f.Value)
		}
	}
	if grpc {
		req.Header.Set("Content-Type", "application/grpc")
		req.Header.Set("Te", "trailers")
	}
	return req, body, nil
}

// grpcMessage puts what gRPC has before a message: that it is not compressed,
// and its length.
func grpcMessage(message []byte) []byte {
	out := make([]byte, 5, 5+len(message))
	binary.BigEndian.PutUint32(out[1:], uint32(len(message)))
	return append(out, message...)
}

// grpcStatus makes an error of a call that failed. The status stands in the
// trailer, or in the header of an answer without a message.
func grpcStatus(resp *http.Response) error {
	from := resp.Trailer
	if from.Get("Grpc-Status") == "" {
		from = resp.Header
	}
	switch status := from.Get("Grpc-Status"); status {
	case "0":
		return nil
	case "":
		return fmt.Errorf("no gRPC status in an answer with HTTP status %d", resp.StatusCode)
	default:
		text := "grpc status " + status
		if m, err := url.PathUnescape(from.Get("Grpc-Message")); err == nil && m != "" {
			text += ": " + m
		}
		return errors.New(text)
	}
}

package load

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"loupe/loadlog"
	"loupe/timeline"
)

// worker sends one request after the other over a connection of its own.
type worker struct {
	g    *generator
	conn *http.ClientConn
	// at is the host that conn leads to.
	scheme, at string
	rows       []row
	served     int64
	errors     map[string]uint16
	texts      []string
	discard    []byte
}

// row is one request as a worker keeps it. Instants are offsets from the
// start of the run.
type row struct {
	begin             timeline.Time
	late, service     time.Duration
	dial, dns         time.Duration
	write, wait, read time.Duration
	status            uint16
	fault             uint16 // index into texts, plus one
	bytes             int64
}

func newWorker(g *generator) *worker {
	return &worker{g: g, errors: map[string]uint16{}, discard: make([]byte, 32<<10)}
}

// run sends requests until there are none left or ctx ends.
func (w *worker) run(ctx context.Context) {
	defer w.hangUp()
	for ctx.Err() == nil {
		begin, ok := w.g.tickets.take(ctx)
		if !ok {
			return
		}
		sent := time.Now()
		if begin.IsZero() {
			begin = sent
		}
		r := row{begin: timeline.Time(begin.Sub(w.g.start)), late: max(0, sent.Sub(begin))}
		err := w.request(ctx, &r)
		r.service = time.Since(sent)
		if ctx.Err() != nil && err != nil {
			return // given up, not failed
		}
		if err != nil {
			r.fault = w.fault(err)
			r.status = 0
			w.hangUp()
		}
		w.rows = append(w.rows, r)
	}
}

// request sends one request and follows its redirects.
func (w *worker) request(ctx context.Context, r *row) error {
	if w.g.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.g.Timeout)
		defer cancel()
	}
	req := w.g.template
	for hop := 0; ; hop++ {
		resp, err := w.roundTrip(ctx, req, r)
		if err != nil {
			return unwrapURL(ctx, err)
		}
		first := time.Now()
		n, err := w.drain(resp)
		r.bytes += n
		r.read += time.Since(first)
		if err != nil {
			return err
		}
		r.status = uint16(resp.StatusCode)
		w.served += max(0, resp.ContentLength)
		if resp.Close || w.g.NoKeepAlive {
			w.hangUp()
		}
		next := redirect(req, resp)
		if next == nil || w.g.NoRedirects {
			return nil
		}
		if hop == maxRedirects {
			return errors.New("stopped after 10 redirects")
		}
		req = next
	}
}

// roundTrip sends req and returns when the head of the answer is there. A
// connection that the server closed between requests is replaced once.
func (w *worker) roundTrip(ctx context.Context, req *http.Request, r *row) (*http.Response, error) {
	for try := 0; ; try++ {
		reused := w.conn != nil && w.at == address(req.URL) && w.scheme == req.URL.Scheme && w.conn.Err() == nil
		if !reused {
			if err := w.dial(ctx, req.URL, r); err != nil {
				return nil, err
			}
		}
		begun := time.Now()
		// The hooks run in goroutines of the connection.
		var wrote, first atomic.Int64
		trace := &httptrace.ClientTrace{
			WroteRequest:         func(httptrace.WroteRequestInfo) { wrote.CompareAndSwap(0, int64(time.Since(begun))) },
			GotFirstResponseByte: func() { first.CompareAndSwap(0, int64(time.Since(begun))) },
		}
		out := req.WithContext(httptrace.WithClientTrace(ctx, trace))
		if len(w.g.Body) > 0 && out.ContentLength > 0 {
			out.Body = io.NopCloser(bytes.NewReader(w.g.Body))
		}
		resp, err := w.conn.RoundTrip(out)
		if err != nil {
			w.hangUp()
			// As net/http does: a kept connection may have been closed
			// just now, which is not the request's fault.
			if reused && try == 0 && ctx.Err() == nil && first.Load() == 0 && wasClosed(err) {
				continue
			}
			return nil, err
		}
		// On a busy machine the answer can come before the goroutine that
		// wrote gets to say so: it had written by then.
		answered := first.Load()
		written := min(wrote.Load(), answered)
		r.write += time.Duration(written)
		r.wait += time.Duration(answered - written)
		return resp, nil
	}
}

// wasClosed tells whether err is what a kept connection gives that was closed
// before the request: by the other side, or by net/http's own reader, which
// gives one up when the machine is so busy that its writer has not come back
// within 50 ms (persistConn.wroteRequest).
func wasClosed(err error) bool {
	text := err.Error()
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		strings.Contains(text, "reset by peer") || strings.Contains(text, "broken pipe") ||
		strings.Contains(text, "server closed idle connection") || strings.Contains(text, "connection closed") ||
		strings.Contains(text, "persistConn.readLoop exiting")
}

// dial gets a new connection.
func (w *worker) dial(ctx context.Context, u *url.URL, r *row) error {
	w.hangUp()
	begun := time.Now()
	var lookup, looked atomic.Int64
	if net.ParseIP(u.Hostname()) == nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			DNSStart: func(httptrace.DNSStartInfo) { lookup.CompareAndSwap(0, int64(time.Since(begun))) },
			DNSDone:  func(httptrace.DNSDoneInfo) { looked.CompareAndSwap(0, int64(time.Since(begun))) },
		})
	}
	conn, err := w.g.transport.NewClientConn(ctx, u.Scheme, address(u))
	r.dial += time.Since(begun)
	r.dns += time.Duration(max(0, looked.Load()-lookup.Load()))
	if err != nil {
		return err
	}
	w.conn, w.scheme, w.at = conn, u.Scheme, address(u)
	return nil
}

func (w *worker) hangUp() {
	if w.conn != nil {
		w.conn.Close()
		w.conn = nil
	}
}

// drain reads the body to its end, so that the connection can be used again.
func (w *worker) drain(resp *http.Response) (n int64, err error) {
	defer resp.Body.Close()
	for {
		got, err := resp.Body.Read(w.discard)
		n += int64(got)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// redirect returns the request that a redirect asks for, nil for an answer.
// A POST becomes a GET except after 307 and 308 (RFC 9110, section 15.4).
func redirect(req *http.Request, resp *http.Response) *http.Request {
	var same bool
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		same = true
	default:
		return nil
	}
	to, err := req.URL.Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" {
		return nil
	}
	next := req.Clone(req.Context())
	next.URL = to
	if to.Host != req.URL.Host {
		next.Host = ""
		next.Header.Del("Authorization")
		next.Header.Del("Cookie")
	}
	if !same && req.Method != http.MethodHead && req.Method != http.MethodGet {
		next.Method, next.ContentLength = http.MethodGet, 0
	}
	return next
}

// address is what to dial for a URL.
func address(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "https" {
		return net.JoinHostPort(u.Hostname(), "443")
	}
	return net.JoinHostPort(u.Hostname(), "80")
}

// unwrapURL drops what net/http puts before an error, so that equal failures
// have equal texts, and gives a timeout its plain name.
func unwrapURL(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.New("timeout")
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		// The local port differs in every one of them.
		op.Source = nil
		return op
	}
	return err
}

// maxTexts bounds the different errors that are told apart.
const maxTexts = 1000

// fault returns the number of an error's text.
func (w *worker) fault(err error) uint16 {
	text := err.Error()
	if _, ok := w.errors[text]; !ok {
		if len(w.texts) >= maxTexts {
			text = "other errors"
		}
		if _, ok := w.errors[text]; !ok {
			w.texts = append(w.texts, text)
			w.errors[text] = uint16(len(w.texts))
		}
	}
	return w.errors[text]
}

// merge makes one log of what the workers kept, in the order in which the
// requests ended.
func merge(workers []*worker, g *generator) *loadlog.Log {
	h := loadlog.Header{
		Schema: loadlog.Schema, Tool: g.Tool, URL: g.URL, Method: g.Method, Concurrency: g.Concurrency,
		Requests: g.Requests, Duration: g.Duration, Rate: g.Rate, Open: g.Rate > 0, Start: g.start,
	}
	if !g.VerifyTLS && strings.HasPrefix(g.URL, "https:") {
		h.Notes = append(h.Notes, "the server's certificate was not verified")
	}
	var b loadlog.Builder
	var rows []row
	for _, w := range workers {
		h.ServedLength += w.served
		for _, r := range w.rows {
			if r.fault != 0 {
				r.fault = b.Fault(w.texts[r.fault-1])
			}
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return int(min(max(a.begin.Add(a.late+a.service)-b.begin.Add(b.late+b.service), -1), 1))
	})
	to := b.Recorder()
	for _, r := range rows {
		q := loadlog.Request{
			Begin: r.begin, Service: r.service, Dial: r.dial, DNS: r.dns, Write: r.write, Read: r.read,
			Status: r.status, Bytes: r.bytes, Error: r.fault,
		}
		if h.Open {
			q.Late = r.late
		}
		to.Add(&q)
	}
	l, _ := b.Log(h) // nothing is spilled
	return l
}

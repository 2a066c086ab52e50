// Package load puts HTTP load on a service and keeps every request.
//
// The model is the closed loop: a number of workers, each with a connection of
// its own, send the next request when the last one is answered. Given a rate,
// requests have a schedule, and the time that a request waited for its turn
// counts: a server that stalls does not slow the clock down. Requests go
// through net/http's pinned client connections.
//
// The figures that follow from the requests are package loadlog's.
package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"loupe/loadlog"
)

// Config says what to send.
type Config struct {
	URL    string
	Method string // GET when empty
	Header http.Header
	Host   string // of the request and of TLS; that of the URL when empty
	Body   []byte

	// Requests is how many to send in all; 0 means until Duration is over,
	// or with neither until the context ends.
	Requests int
	Duration time.Duration
	// Concurrency is the number of workers; 50 when zero.
	Concurrency int
	// Rate is how many requests a second to begin in all workers together;
	// 0 is as fast as they are answered.
	Rate float64

	// Timeout bounds one request with its dialling and its body; 0 is
	// none.
	Timeout time.Duration

	Proxy                    *url.URL
	HTTP2                    bool
	NoCompression            bool // do not ask for gzip
	NoKeepAlive              bool // a new connection for every request
	NoRedirects              bool // a redirect is an answer
	VerifyTLS                bool // hey never does
	BasicUser, BasicPassword string
	// Tool goes into User-Agent behind what Header has there.
	Tool string
}

// maxRedirects is how many redirects one request follows.
const maxRedirects = 10

// check fills in defaults and says what cannot work.
func (c *Config) check() error {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil:
		return fmt.Errorf("cannot use URL %q: %w", c.URL, err)
	case u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("cannot use URL %q: want http://host:port/path", c.URL)
	case c.Requests < 0 || c.Concurrency < 0 || c.Rate < 0:
		return errors.New("counts and rates cannot be negative")
	}
	if c.Method == "" {
		c.Method = http.MethodGet
	}
	if c.Concurrency == 0 {
		c.Concurrency = 50
	}
	if c.Requests > 0 {
		c.Concurrency = min(c.Concurrency, c.Requests)
	}
	if _, err := c.request(context.Background()); err != nil {
		return err
	}
	return nil
}

// generator is a load run in progress.
type generator struct {
	Config
	start     time.Time
	transport *http.Transport
	tickets   tickets
	template  *http.Request
}

// gcPercent is that of loupe while it sends: the generator's own collections
// must not look like the server's latency.
const gcPercent = 800

// Run sends the load and returns what happened to every request. When Duration
// is over, requests in flight are finished; when ctx ends, they are given up
// and left out. An error says that nothing could be sent; failed requests are
// no error.
func Run(ctx context.Context, c Config) (*loadlog.Log, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	g := &generator{Config: c, transport: c.newTransport()}
	defer g.transport.CloseIdleConnections()
	var err error
	if g.template, err = c.request(ctx); err != nil {
		return nil, err
	}
	before := takeUsage()
	g.start = time.Now()
	g.tickets = tickets{limit: int64(c.Requests), start: g.start, interval: interval(c.Rate), alarm: newAlarm()}
	defer g.tickets.alarm.close()
	if c.Duration > 0 {
		g.tickets.end = g.start.Add(c.Duration)
	}
	workers := make([]*worker, c.Concurrency)
	var wg sync.WaitGroup
	for i := range workers {
		workers[i] = newWorker(g)
		wg.Go(func() { workers[i].run(ctx) })
	}
	wg.Wait()
	log := merge(workers, g)
	log.Elapsed = time.Since(g.start)
	used := takeUsage().since(before)
	log.CPU, log.GCs = used.cpu, used.gcs
	return log, nil
}

func interval(rate float64) time.Duration {
	if rate <= 0 {
		return 0
	}
	return max(time.Nanosecond, time.Duration(float64(time.Second)/rate))
}

// newTransport makes connections; nothing is pooled in it.
func (c *Config) newTransport() *http.Transport {
	t := &http.Transport{
		DisableCompression: true, // bodies are counted as they come over the wire
		TLSClientConfig:    &tls.Config{InsecureSkipVerify: !c.VerifyTLS},
	}
	if c.Host != "" {
		t.TLSClientConfig.ServerName, _, _ = strings.Cut(c.Host, ":")
	}
	if c.Proxy != nil {
		t.Proxy = http.ProxyURL(c.Proxy)
	}
	p := new(http.Protocols)
	if c.HTTP2 {
		p.SetHTTP2(true)
		p.SetUnencryptedHTTP2(true)
	} else {
		p.SetHTTP1(true)
	}
	t.Protocols = p
	return t
}

// request makes the request that every worker sends.
func (c *Config) request(ctx context.Context) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, c.Method, c.URL, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot make the request: %w", err)
	}
	if c.Header != nil {
		req.Header = c.Header.Clone()
	}
	if !c.NoCompression && req.Header.Get("Accept-Encoding") == "" && req.Header.Get("Range") == "" && c.Method != http.MethodHead {
		req.Header.Set("Accept-Encoding", "gzip")
	}
	tool := c.Tool
	if tool == "" {
		tool = "loupe"
	}
	if ua := req.Header.Get("User-Agent"); ua != "" {
		tool = ua + " " + tool
	}
	req.Header.Set("User-Agent", tool)
	if c.BasicUser != "" {
		req.SetBasicAuth(c.BasicUser, c.BasicPassword)
	}
	req.ContentLength = int64(len(c.Body))
	req.Host = c.Host
	req.Close = c.NoKeepAlive
	return req, nil
}

// tickets hands out requests to workers: when the next one is to begin, until
// there are none left.
type tickets struct {
	limit    int64
	start    time.Time
	end      time.Time
	interval time.Duration
	alarm    *alarm

	mu   sync.Mutex
	next int64
}

// take waits for the turn of the next request and returns the instant at which
// it was to begin; without a schedule that is now, as the zero time. The lock
// is kept while waiting: turns come one after the other, so that one worker
// looks at the clock and the others wait for it.
func (t *tickets) take(ctx context.Context) (begin time.Time, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.next
	t.next++
	if t.limit > 0 && n >= t.limit {
		return time.Time{}, false
	}
	if t.interval == 0 {
		return time.Time{}, t.end.IsZero() || time.Now().Before(t.end)
	}
	begin = t.start.Add(time.Duration(n) * t.interval)
	if !t.end.IsZero() && !begin.Before(t.end) {
		return time.Time{}, false
	}
	return begin, t.alarm.wait(ctx, begin)
}

// sleep waits for d, or returns false when ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}

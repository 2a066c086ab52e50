package load

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loupe/capture/load/target"
	"loupe/format/loadlog"
)

// http1Engines carry HTTP/1.1 here; every test of the suite runs on each.
func http1Engines() []string {
	if haveEpoll {
		return []string{engineEpoll, engineNet}
	}
	return []string{engineNet}
}

func eachEngine(t *testing.T, f func(t *testing.T, engine string)) {
	for _, e := range http1Engines() {
		t.Run(e, func(t *testing.T) { f(t, e) })
	}
}

// do runs c and returns the log, which must say which engine it was.
func do(t *testing.T, c Config) *loadlog.Log {
	t.Helper()
	l, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if c.Engine != "" && l.Engine != c.Engine {
		t.Errorf("%s was asked for, %s sent", c.Engine, l.Engine)
	}
	return l
}

// play starts a server that hands each connection to talk, with a reader that
// knows requests.
func play(t *testing.T, talk func(c net.Conn, r *bufio.Reader)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + l.Addr().String() + serveOn(t, l, talk)
}

func serveOn(t *testing.T, l net.Listener, talk func(c net.Conn, r *bufio.Reader)) string {
	var all sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			all.Go(func() {
				defer c.Close()
				talk(c, bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return "/"
}

// readRequest reads a request with its body; it returns nil at the end.
func readRequest(r *bufio.Reader) *http.Request {
	req, err := http.ReadRequest(r)
	if err != nil {
		return nil
	}
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil
	}
	return req
}

// TestSuiteAnswers plays answers of every kind over real connections, in one
// piece and byte by byte.
func TestSuiteAnswers(t *testing.T) {
	type want struct {
		status int
		bytes  int64
		err    string
		conns  int // for three requests
	}
	cases := map[string]struct {
		answer string // "." at its end hangs up
		want
	}{
		"length":      {"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", want{200, 5, "", 1}},
		"chunked":     {"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5;x=y\nhello\n0\nA: b\n\n", want{200, 5, "", 1}},
		"interim":     {"HTTP/1.1 100 Continue\n\nHTTP/1.1 201 Created\nContent-Length: 1\n\nx", want{201, 1, "", 1}},
		"nothing":     {"HTTP/1.1 204 No Content\n\n", want{204, 0, "", 1}},
		"not changed": {"HTTP/1.1 304 Not Modified\nContent-Length: 7\n\n", want{304, 0, "", 1}},
		"close":       {"HTTP/1.1 200 OK\nConnection: close\nContent-Length: 2\n\nhi", want{200, 2, "", 3}},
		"http 1.0":    {"HTTP/1.0 200 OK\nContent-Length: 2\n\nhi", want{200, 2, "", 3}},
		"keep 1.0":    {"HTTP/1.0 200 OK\nConnection: keep-alive\nContent-Length: 2\n\nhi", want{200, 2, "", 1}},
		"to the end":  {"HTTP/1.1 200 OK\n\nall of it.", want{200, 9, "", 3}},
		"garbage":     {"HTTP/1.1 200 OK\nContent-Length: 2\n\nhiHTTP/1.1 200 OK\n", want{200, 2, "", 3}},
		"cut off":     {"HTTP/1.1 200 OK\nContent-Length: 9\n\nhi.", want{0, 2, "within an answer", 3}},
		"no http":     {"220 smtp ready\n\n", want{0, 0, "malformed answer", 3}},
		"hang up":     {".", want{0, 0, "without an answer", 3}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, engine string) {
				for _, size := range []int{1 << 20, 1} {
					if name == "garbage" && size == 1 {
						continue // what comes late belongs to the next answer
					}
					u := play(t, func(conn net.Conn, r *bufio.Reader) {
						for readRequest(r) != nil {
							text, hangUp := strings.CutSuffix(strings.ReplaceAll(c.answer, "\n", "\r\n"), ".")
							for len(text) > 0 {
								n := min(size, len(text))
								if _, err := io.WriteString(conn, text[:n]); err != nil {
									return
								}
								text = text[n:]
							}
							if hangUp {
								return
							}
						}
					})
					l := do(t, Config{URL: u, Engine: engine, Requests: 3, Concurrency: 1})
					s := l.Summary()
					if l.Len() != 3 || c.err == "" && s.Status[c.status] != 3 || !strings.Contains(s.CommonError(), c.err) || len(s.Errors) > 1 || (c.err == "") != (len(s.Errors) == 0) {
						t.Errorf("%d requests gave %v and %v", l.Len(), s.Status, s.Errors)
					}
					for r := range l.All() {
						// A hung-up connection may be gone before all of it is read.
						if r.Bytes != c.bytes && c.err == "" {
							t.Errorf("a body of %d bytes, want %d", r.Bytes, c.bytes)
						}
					}
					if n := len(l.Connections); n < min(c.conns, 3) || n > c.conns {
						t.Errorf("%d connections, want %d", n, c.conns)
					}
				}
			})
		})
	}
}

// TestSuiteExactly: the number of requests is exact in closed and open loops,
// whatever the number of loops.
func TestSuiteExactly(t *testing.T) {
	u, n := serve(t, hello)
	eachEngine(t, func(t *testing.T, engine string) {
		for _, c := range []Config{{Concurrency: 10}, {Concurrency: 7, Loops: 3}, {Concurrency: 4, Rate: 5000, Loops: 2}, {Concurrency: 1, Rate: 1e6, MaxConns: 1}} {
			n.Store(0)
			c.URL, c.Engine, c.Requests = u, engine, 205
			l := do(t, c)
			if l.Len() != 205 || n.Load() != 205 || l.Unsent != 0 {
				t.Errorf("%+v: kept %d, the server saw %d, %d unsent", c, l.Len(), n.Load(), l.Unsent)
			}
			if c.Rate > 0 != l.Open || l.Model == "" || len(l.Connections) < min(c.Concurrency, 4) {
				t.Errorf("the header is %+v, %d connections", l.Header, len(l.Connections))
			}
		}
	})
}

func TestSuiteReset(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		u := play(t, func(c net.Conn, r *bufio.Reader) {
			readRequest(r)
			io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			c.(*net.TCPConn).SetLinger(0)
		})
		l := do(t, Config{URL: u, Engine: engine, Requests: 6, Concurrency: 2})
		if s := l.Summary(); len(s.Errors) != 1 || !strings.Contains(s.CommonError(), "connection reset") || s.Errors[s.CommonError()] != 6 {
			t.Errorf("got %v, %v", s.Status, s.Errors)
		}
	})
}

func TestSuiteFailures(t *testing.T) {
	hang, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	eachEngine(t, func(t *testing.T, engine string) {
		for _, c := range []struct {
			url, want string
		}{{"http://127.0.0.1:1/", "connection refused"}, {hang, "timeout"}, {"http://nowhere.invalid/", ""}} {
			timeout := 5 * time.Second // also of a resolver that does not answer
			if c.want == "timeout" {
				timeout = 50 * time.Millisecond
			}
			l := do(t, Config{URL: c.url, Engine: engine, Requests: 3, Concurrency: 3, Timeout: timeout})
			s := l.Summary()
			if text := s.CommonError(); l.Len() != 3 || s.Responses != 0 || !strings.Contains(text, c.want) || s.Errors[text] != 3 {
				t.Errorf("%s: %d requests, %v", c.url, l.Len(), s.Errors)
			}
			if c.want == "timeout" && s.Failed.Min < timeout {
				t.Errorf("timed out after %v", s.Failed.Min)
			}
		}
	})
}

// TestSuiteTimeout: the time is that of each request, also on a connection
// that took others before.
func TestSuiteTimeout(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		u, n := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				<-r.Context().Done()
			}
		})
		n.Store(0)
		l := do(t, Config{Engine: engine, Concurrency: 1, Requests: 20, Timeout: 100 * time.Millisecond, Targets: []target.Target{
			{URL: u + "/fast", Weight: 9}, {URL: u + "/slow"},
		}})
		s := l.Summary()
		if s.Errors["timeout"] < 2 || s.Responses+s.Errors["timeout"] != 20 || s.Failed.Min < 100*time.Millisecond {
			t.Errorf("got %v and %v", s.Status, s.Errors)
		}
	})
}

// TestSuiteCancel: requests in flight are given up, those before are kept.
func TestSuiteCancel(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		for _, rate := range []float64{0, 1000} {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var n atomic.Int64
			u, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if n.Add(1) > 10 {
					cancel()
					<-r.Context().Done()
				}
			})
			l, err := Run(ctx, Config{URL: u, Engine: engine, Concurrency: 4, MaxConns: 4, Rate: rate})
			s := l.Summary()
			if err != nil || s.Responses == 0 || s.Responses > 10 || s.Responses+int(s.GivenUp()) != l.Len() {
				t.Errorf("kept %d, %v: %v", l.Len(), err, s.Errors)
			}
		}
	})
}

// TestSuiteStall: what was due while the server stood still has waited, though
// nothing could be sent.
func TestSuiteStall(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		const stall = 200 * time.Millisecond
		var once sync.Once
		u, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			once.Do(func() { <-time.After(stall) })
		})
		l := do(t, Config{URL: u, Engine: engine, Requests: 200, Concurrency: 1, MaxConns: 1, Rate: 500})
		late, total := 0, time.Duration(0)
		for r := range l.All() {
			if r.Latency() > stall/4 {
				late++
			}
			total += r.Service
		}
		// 75 are due in the first three quarters of the stall.
		if late < 60 || total > 2*l.Elapsed {
			t.Errorf("%d requests show the stall; they took %v within %v", late, total, l.Elapsed)
		}
		if s := l.Summary(); s.Late < 60 || s.Service.P50 > s.Latency.P50 {
			t.Errorf("%d late, service %v, latency %v", s.Late, s.Service, s.Latency)
		}
	})
}

// TestSuiteMaxConns: an open loop opens connections when all are busy, up to a
// limit; what is due at the end and has none is counted.
func TestSuiteMaxConns(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		release := make(chan struct{})
		var n atomic.Int64
		u, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1); r.URL.Path == "/wait" {
				select {
				case <-release:
				case <-r.Context().Done():
				}
			}
		})
		const length = 300 * time.Millisecond
		var once sync.Once
		l := do(t, Config{URL: u + "/wait", Engine: engine, Concurrency: 1, MaxConns: 5, Rate: 200, Duration: length, Live: func(s Snapshot) {
			if s.Elapsed > length { // what is in flight then is still answered
				once.Do(func() { close(release) })
			}
		}})
		if l.Len() != 5 || len(l.Connections) != 5 {
			t.Errorf("%d requests on %d connections", l.Len(), len(l.Connections))
		}
		unsent := l.Unsent
		if unsent == 0 || unsent > 55 {
			t.Errorf("%d of 55 unsent", unsent)
		}
	})
}

// TestSuiteRedirects: to the same place over the same connection, to another
// over one of its own, all within one request.
func TestSuiteRedirects(t *testing.T) {
	far, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Method, r.Header.Get("Authorization"), r.URL.Path)
	})
	u, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/near":
			http.Redirect(w, r, "/end", http.StatusSeeOther)
		case "/same":
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		case "/far":
			http.Redirect(w, r, far+"/x", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusMovedPermanently)
		default:
			body, _ := io.ReadAll(r.Body)
			fmt.Fprint(w, r.Method, string(body))
		}
	})
	eachEngine(t, func(t *testing.T, engine string) {
		f := func(path string, status, bytes, hops, conns int) {
			t.Helper()
			l := do(t, Config{URL: u + path, Engine: engine, Method: "POST", Body: []byte("hello"), Requests: 1, BasicUser: "me", NoCompression: true})
			for r := range l.All() {
				if int(r.Status) != status || int(r.Bytes) != bytes || int(r.Hops) != hops || len(l.Connections) != conns {
					t.Errorf("%s: %+v %v on %d connections", path, r, l.Errors, len(l.Connections))
				}
			}
		}
		f("/near", 200, len("GET"), 1, 1)
		f("/same", 200, len("POSThello"), 1, 1)
		// 302 answers a POST without a body of its own.
		f("/far", 200, len("GET/x"), 1, 2)
		l := do(t, Config{URL: u + "/loop", Engine: engine, Requests: 2})
		if s := l.Summary(); s.Errors["stopped after 10 redirects"] != 2 {
			t.Errorf("a loop gave %v and %v", s.Status, s.Errors)
		}
	})
}

// TestSuiteTargets: several targets by their weights, with templates, on
// several origins.
func TestSuiteTargets(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	handle := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		seen[r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Kind")+" "+string(body)]++
	}
	a, _ := serve(t, handle)
	b, _ := serve(t, handle)
	eachEngine(t, func(t *testing.T, engine string) {
		mu.Lock()
		clear(seen)
		mu.Unlock()
		l := do(t, Config{Engine: engine, Requests: 40, Concurrency: 3, Header: http.Header{"X-Kind": {"all"}}, Targets: []target.Target{
			{URL: a + "/a/{{seq}}", Weight: 3, Header: []target.Field{{Name: "X-Kind", Value: "n{{seq}}"}}},
			{URL: b + "/b", Method: "POST", Body: "at {{seq}}"},
		}})
		mu.Lock()
		defer mu.Unlock()
		posts, gets := 0, 0
		for k := range seen {
			var n, m int
			if c, _ := fmt.Sscanf(k, "GET /a/%d n%d", &n, &m); c == 2 && n == m {
				gets++
			} else if c, _ := fmt.Sscanf(k, "POST /b all at %d", &n); c == 1 {
				posts++
			} else {
				t.Errorf("the server saw %q", k)
			}
		}
		if gets != 30 || posts != 10 || len(l.Targets) != 2 || l.Targets[0].Weight != 3 || len(l.Connections) != 6 {
			t.Errorf("%d and %d requests, %+v, %d connections", gets, posts, l.Targets, len(l.Connections))
		}
		if s := l.Summary(); s.Targets[0].Responses != 30 {
			t.Errorf("targets are %+v", s.Targets)
		}
	})
}

func TestSuiteUnixAndConnectTo(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip("no unix sockets here: ", err)
	}
	hosts := make(chan string, 8)
	talk := func(c net.Conn, r *bufio.Reader) {
		for req := readRequest(r); req != nil; req = readRequest(r) {
			hosts <- req.Host
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
		}
	}
	serveOn(t, l, talk)
	u := play(t, talk)
	eachEngine(t, func(t *testing.T, engine string) {
		for _, c := range []Config{{Unix: socket}, {ConnectTo: map[string]string{"nowhere.invalid:80": strings.Trim(u, "htp:/")}}} {
			c.URL, c.Engine, c.Requests = "http://nowhere.invalid/", engine, 1
			if s := do(t, c).Summary(); s.Status[200] != 1 || <-hosts != "nowhere.invalid" {
				t.Errorf("%+v: %v %v", c, s.Status, s.Errors)
			}
		}
	})
}

// TestSuiteProxy: a whole URL for plain HTTP, a tunnel for TLS.
func TestSuiteProxy(t *testing.T) {
	secure := httptest.NewTLSServer(http.HandlerFunc(hello))
	defer secure.Close()
	asked := make(chan string, 8)
	p, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.RequestURI + " " + r.Header.Get("Proxy-Authorization")
		if r.Method != http.MethodConnect {
			return
		}
		c, rw, _ := w.(http.Hijacker).Hijack()
		defer c.Close()
		d, err := net.Dial("tcp", r.Host)
		if err != nil {
			return
		}
		defer d.Close()
		io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
		go io.Copy(d, rw)
		io.Copy(c, d)
	})
	proxy, _ := url.Parse(p)
	proxy.User = url.UserPassword("u", "p")
	eachEngine(t, func(t *testing.T, engine string) {
		do(t, Config{URL: "http://nowhere.invalid/x", Engine: engine, Requests: 1, Proxy: proxy})
		if got := <-asked; got != "GET http://nowhere.invalid/x Basic dTpw" {
			t.Errorf("the proxy was asked for %q", got)
		}
	})
	for _, h2 := range []bool{false, true} {
		c := Config{URL: secure.URL, Requests: 3, Concurrency: 1, Proxy: proxy, HTTP2: h2}
		if h2 {
			continue // this server has no HTTP/2
		}
		if s := do(t, c).Summary(); s.Status[200] != 3 {
			t.Errorf("through a tunnel: %v %v", s.Status, s.Errors)
		}
		if got := <-asked; !strings.HasPrefix(got, "CONNECT 127.0.0.1:") {
			t.Errorf("the proxy was asked for %q", got)
		}
	}
}

// TestSuiteLargeBodies: bodies beyond what a socket buffers, both ways.
func TestSuiteLargeBodies(t *testing.T) {
	const size = 8 << 20
	var got atomic.Int64
	u, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		got.Add(n)
		w.Write(make([]byte, size))
	})
	eachEngine(t, func(t *testing.T, engine string) {
		got.Store(0)
		l := do(t, Config{URL: u, Engine: engine, Method: "POST", Body: bytes.Repeat([]byte("x"), size), Requests: 4, Concurrency: 2, Timeout: time.Minute})
		if s := l.Summary(); s.Status[200] != 4 || s.Bytes != 4*size || got.Load() != 4*size {
			t.Errorf("%v %v: %d bytes came, %d went", s.Status, s.Errors, s.Bytes, got.Load())
		}
	})
}

// TestSuiteWarmupAndLive: what is sent before is not kept, and whoever watches
// sees it all.
func TestSuiteWarmupAndLive(t *testing.T) {
	u, n := serve(t, hello)
	eachEngine(t, func(t *testing.T, engine string) {
		// A machine that stands still for the whole warm-up shows nothing of
		// it; it gets longer until it does.
		for length := 300 * time.Millisecond; ; length *= 2 {
			n.Store(0)
			var last Snapshot
			warm := false
			var boundaries []int64
			l := do(t, Config{URL: u, Engine: engine, Requests: 100, Concurrency: 2, Warmup: length, Live: func(s Snapshot) {
				warm = warm || s.Warmup
				last = s
			}, Boundary: func() { boundaries = append(boundaries, int64(n.Load())) }})
			if len(boundaries) != 2 || boundaries[1]-boundaries[0] != 100 || boundaries[1] != int64(n.Load()) {
				t.Errorf("boundaries after %v requests, want two with the 100 that are kept between them, of %d", boundaries, n.Load())
			}
			if l.Len() != 100 || l.Warmup < length || l.Start.IsZero() {
				t.Errorf("kept %d of %d after %v", l.Len(), n.Load(), l.Warmup)
			}
			if last.Warmup || last.Requests != 100 || last.Connections != 2 {
				t.Errorf("the last snapshot is %+v", last)
			}
			for r := range l.All() {
				if r.Begin < 0 {
					t.Errorf("a request of the warm-up was kept: %+v", r)
				}
			}
			if warm && n.Load() > 100 {
				return
			}
		}
	})
}

func TestSuiteThink(t *testing.T) {
	u, _ := serve(t, hello)
	eachEngine(t, func(t *testing.T, engine string) {
		l := do(t, Config{URL: u, Engine: engine, Requests: 6, Concurrency: 2, Think: 20 * time.Millisecond})
		if l.Len() != 6 || l.Elapsed < 40*time.Millisecond {
			t.Errorf("%d requests in %v", l.Len(), l.Elapsed)
		}
	})
}

// TestSuiteAllocates: requests by the thousand cost no memory but what is kept
// of them.
func TestSuiteAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	u := play(t, func(c net.Conn, _ *bufio.Reader) {
		answer := []byte("HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, world!")
		buf := make([]byte, 4096)
		for {
			if _, err := c.Read(buf); err != nil {
				return
			}
			if _, err := c.Write(answer); err != nil {
				return
			}
		}
	})
	// A collection empties the pools: how many there are depends on all that the process does.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	eachEngine(t, func(t *testing.T, engine string) {
		mallocs := func(c Config) uint64 {
			c.URL, c.Engine, c.Concurrency, c.Timeout = u, engine, 2, time.Minute
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			do(t, c)
			runtime.ReadMemStats(&after)
			return after.Mallocs - before.Mallocs
		}
		const more = 10000
		for _, c := range []Config{{}, {Rate: 1e5, MaxConns: 2}, {Targets: []target.Target{{URL: u + "{{seq}}{{uuid}}"}}}} {
			c.Requests = 100
			// What else the process allocates meanwhile only adds.
			least := func(c Config) uint64 { return min(mallocs(c), mallocs(c), mallocs(c)) }
			few := least(c)
			c.Requests += more
			// What goes by time is more of a longer run: one in ten requests is far from
			// one a request, which is what a mistake costs.
			if many := least(c); float64(many)-float64(few) > more/10 {
				t.Errorf("%+v: %d requests more allocate %d times more", c, more, many-few)
			}
		}
	})
}

// TestHTTP2AndGRPC: over TLS, by prior knowledge, and calls whose status stands
// in the trailer.
func TestHTTP2AndGRPC(t *testing.T) {
	message := make(chan []byte, 8)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") == "application/grpc" {
			body, _ := io.ReadAll(r.Body)
			message <- body
			w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
			w.Write([]byte{0, 0, 0, 0, 0})
			if r.URL.Path == "/fail" {
				w.Header().Set("Grpc-Status", "5")
				w.Header().Set("Grpc-Message", "not%20there")
			} else {
				w.Header().Set("Grpc-Status", "0")
			}
			return
		}
		io.WriteString(w, r.Proto)
	}))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	defer s.Close()
	for _, rate := range []float64{0, 2000} {
		l := do(t, Config{URL: s.URL, Requests: 30, Concurrency: 3, HTTP2: true, Rate: rate})
		if sum := l.Summary(); sum.Status[200] != 30 || sum.Bytes != 30*int64(len("HTTP/2.0")) || l.Engine != engineHTTP2 {
			t.Errorf("h2c: %v %v %d", sum.Status, sum.Errors, sum.Bytes)
		}
	}
	l := do(t, Config{URL: s.URL + "/pkg.Service/Call", Requests: 2, Concurrency: 1, GRPC: true, Body: []byte("abc")})
	if sum := l.Summary(); sum.Status[200] != 2 || string(<-message) != "\x00\x00\x00\x00\x03abc" {
		t.Errorf("gRPC: %v %v", sum.Status, sum.Errors)
	}
	l = do(t, Config{URL: s.URL + "/fail", Requests: 2, Concurrency: 1, GRPC: true})
	if sum := l.Summary(); sum.Errors["grpc status 5: not there"] != 2 {
		t.Errorf("gRPC: %v %v", sum.Status, sum.Errors)
	}
}

// TestCertificates: a client's certificate is shown, and an authority trusted.
func TestCertificates(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(hello))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	s.Config.ErrorLog = discardLog()
	s.StartTLS()
	defer s.Close()
	trust := s.Client().Transport.(*http.Transport).TLSClientConfig
	own := &tls.Config{RootCAs: trust.RootCAs, Certificates: s.TLS.Certificates, ServerName: "example.com"}
	l := do(t, Config{URL: s.URL, Requests: 2, Concurrency: 1, VerifyTLS: true, TLS: own})
	if sum := l.Summary(); sum.Status[200] != 2 || len(l.Notes) != 0 || sum.Connections.TLS <= 0 {
		t.Errorf("%v %v %v %+v", sum.Status, sum.Errors, l.Notes, sum.Connections)
	}
	l = do(t, Config{URL: s.URL, Requests: 2, Concurrency: 1})
	if sum := l.Summary(); sum.Responses != 0 || len(sum.Errors) != 1 {
		t.Errorf("without a certificate: %v %v", sum.Status, sum.Errors)
	}
}

func TestRemote(t *testing.T) {
	for _, c := range []Config{{URL: "http://192.0.2.1/", Rate: 2000}, {URL: "http://[2001:db8::1]/", Concurrency: 51}} {
		_, err := Run(t.Context(), c)
		if remote, ok := errors.AsType[*RemoteError](err); !ok || remote.Host == "" {
			t.Errorf("%+v gave %v", c, err)
		}
	}
	for _, a := range []string{"127.0.0.1:1", "10.1.2.3:1", "[fd00::1]:1", "100.64.1.1:1"} {
		r := &run{Config: Config{Concurrency: 100}, origins: []*origin{{address: a}}}
		if err := r.checkRemote(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }

package load

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loupe/format/loadlog"
)

// traced sends n requests and checks what holds of every exchange: phases lie
// within it, and those on the connection follow each other without a gap.
func traced(t *testing.T, c Config, n int) []loadlog.Exchange {
	t.Helper()
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	trace, err := Trace(t.Context(), c, n)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range trace.Exchanges {
		var last *loadlog.Phase
		for _, p := range x.Phases {
			if p.Start < 0 || p.End < p.Start || p.End > x.Total {
				t.Errorf("exchange %d: phase %+v lies outside of %v", i, p, x.Total)
			}
			switch p.Name {
			case "write", "wait", "read":
				if last != nil && p.Start != last.End {
					t.Errorf("exchange %d: %s begins at %v, after the end of %s at %v", i, p.Name, p.Start, last.Name, last.End)
				}
				last = &p
			}
		}
		if x.Error == "" && (last == nil || last.Name != "read" || last.End != x.Total) {
			t.Errorf("exchange %d has no end: %+v", i, x)
		}
	}
	return trace.Exchanges
}

// names are those of the phases in their order.
func names(x loadlog.Exchange) string {
	var list []string
	for _, p := range x.Phases {
		list = append(list, p.Name)
	}
	return strings.Join(list, " ")
}

func TestTrace(t *testing.T) {
	u, n := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/from" {
			http.Redirect(w, r, "/to?x=1", http.StatusFound)
			return
		}
		io.Copy(w, r.Body)
	})
	list := traced(t, Config{URL: u + "/from"}, 2)
	if len(list) != 4 || n.Load() != 4 {
		t.Fatalf("%d exchanges, the server saw %d", len(list), n.Load())
	}
	first, hop := list[0], list[1]
	if names(first) != "connect write wait read" || first.Status != 302 || first.Location != "/to?x=1" || first.Hop != 0 || first.Reused || first.Start != 0 {
		t.Errorf("the first one: %+v", first)
	}
	if address := strings.TrimPrefix(u, "http://"); first.Phases[0].Detail != address || first.Remote != address {
		t.Errorf("it went to %s and %s, not to %s", first.Phases[0].Detail, first.Remote, address)
	}
	if names(hop) != "write wait read" || hop.Hop != 1 || hop.URL != u+"/to?x=1" || !hop.Reused || hop.Local != first.Local || hop.Start < first.Total {
		t.Errorf("the redirect: %+v", hop)
	}
	if list[2].Hop != 0 || !list[2].Reused || list[2].URL != u+"/from" {
		t.Errorf("the second request: %+v", list[2])
	}
	list = traced(t, Config{URL: u, Method: "POST", Body: []byte("12345"), NoKeepAlive: true, Host: "example.com"}, 2)
	if len(list) != 2 || list[1].Reused || list[1].Bytes != 5 || list[1].URL != u+"/" {
		t.Errorf("without keep-alive: %+v", list)
	}
	list = traced(t, Config{URL: u + "/from", NoRedirects: true}, 1)
	if len(list) != 1 || list[0].Status != 302 {
		t.Errorf("redirects are not to be followed: %+v", list)
	}
}

// TestTraceLikeRun: a traced request is the one that a run sends.
func TestTraceLikeRun(t *testing.T) {
	arrived := make(chan string, 2)
	u, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Header.Del("Connection")
		arrived <- fmt.Sprint(r.Method, r.Host, r.RequestURI, r.Proto, r.Header, string(body))
	})
	for _, c := range []Config{
		{URL: u + "/a?b=c%20d"},
		{URL: u, Method: "POST", Body: []byte("x=1"), BasicUser: "u", BasicPassword: "p", Tool: "loupe/test", Host: "other.example",
			Header: http.Header{"X-A": {"1", "2"}, "User-Agent": {"mine"}}},
		{URL: u, Method: "PUT", NoCompression: true},
	} {
		c.Requests = 1
		if _, err := Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		traced(t, c, 1)
		if run, trace := <-arrived, <-arrived; run != trace {
			t.Errorf("a run sends\n%s\nand tracing\n%s", run, trace)
		}
	}
}

func TestTraceTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(hello))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	list := traced(t, Config{URL: s.URL}, 2)
	x := list[0]
	if names(x) != "connect tls write wait read" || x.TLS == nil || x.TLS.Version != "TLS 1.3" || x.TLS.Verified || x.TLS.Subject == "" || x.Protocol != "HTTP/1.1" {
		t.Errorf("%+v, %+v", x, x.TLS)
	}
	if !list[1].Reused || list[1].TLS == nil || names(list[1]) != "write wait read" {
		t.Errorf("the second one: %+v", list[1])
	}
	c := Config{URL: s.URL, HTTP2: true, VerifyTLS: true, TLS: s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()}
	c.TLS.NextProtos = nil
	x = traced(t, c, 1)[0]
	if x.Error != "" || x.Protocol != "HTTP/2.0" || x.TLS.Protocol != "h2" || !x.TLS.Verified || x.Bytes != 13 {
		t.Errorf("HTTP/2: %+v, %+v", x, x.TLS)
	}
	c.TLS.RootCAs = x509.NewCertPool()
	x = traced(t, c, 1)[0]
	if names(x) != "connect tls" || !strings.Contains(x.Error, "certificate") || x.Phases[1].Error == "" {
		t.Errorf("not to be trusted: %+v", x)
	}
}

func TestTraceWays(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(hello), Protocols: new(http.Protocols)}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	x := traced(t, Config{URL: "http://nowhere.invalid/", Unix: socket}, 1)[0]
	if x.Error != "" || names(x) != "connect write wait read" || x.Remote != socket {
		t.Errorf("a socket: %+v", x)
	}
	x = traced(t, Config{URL: "http://nowhere.invalid/", Unix: socket, HTTP2: true}, 1)[0]
	if x.Error != "" || x.Protocol != "HTTP/2.0" {
		t.Errorf("HTTP/2 over it: %+v", x)
	}

	u, _ := serve(t, hello)
	address := strings.TrimPrefix(u, "http://")
	x = traced(t, Config{URL: "http://nowhere.invalid:81/", ConnectTo: map[string]string{"nowhere.invalid:81": address}}, 1)[0]
	if x.Error != "" || x.Remote != address || x.URL != "http://nowhere.invalid:81/" {
		t.Errorf("connect-to: %+v", x)
	}
	_, port, _ := net.SplitHostPort(address)
	x = traced(t, Config{URL: "http://localhost:" + port}, 1)[0]
	if x.Error != "" || x.Phases[0].Name != "dns" || !strings.HasPrefix(x.Phases[0].Detail, "localhost → ") {
		t.Errorf("with a name: %+v", x)
	}

	requests := make(chan string, 1)
	proxy, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { requests <- r.Method + " " + r.RequestURI })
	to, err := url.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	x = traced(t, Config{URL: "http://nowhere.invalid/x", Proxy: to}, 1)[0]
	if asked := <-requests; x.Error != "" || asked != "GET http://nowhere.invalid/x" {
		t.Errorf("through a proxy: %s, %+v", asked, x)
	}
	x = traced(t, Config{URL: "https://nowhere.invalid/x", Proxy: to}, 1)[0]
	if asked := <-requests; asked != "CONNECT nowhere.invalid:443" || !strings.Contains(names(x), "connect connect tls") || x.Error == "" {
		t.Errorf("through a tunnel that is none: %s, %+v", asked, x)
	}
}

// TestTraceFailures: an error stands in the phase that it ended.
func TestTraceFailures(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().String()
	l.Close()
	x := traced(t, Config{URL: "http://" + gone}, 1)[0]
	if names(x) != "connect" || !strings.Contains(x.Error, "refused") || !strings.Contains(x.Phases[0].Error, "refused") || x.Status != 0 {
		t.Errorf("refused: %+v", x)
	}
	u, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			<-r.Context().Done()
		case "/cut":
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "12345")
		case "/hints":
			w.WriteHeader(http.StatusEarlyHints)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		}
	})
	x = traced(t, Config{URL: u + "/hang", Timeout: 50 * time.Millisecond}, 1)[0]
	if names(x) != "connect write wait" || x.Error != "timeout" || x.Phases[2].Error != "timeout" {
		t.Errorf("timeout: %+v", x)
	}
	x = traced(t, Config{URL: u + "/cut"}, 1)[0]
	if names(x) != "connect write wait read" || x.Error == "" || x.Phases[3].Error == "" || x.Status != 200 || x.Bytes != 5 {
		t.Errorf("cut off: %+v", x)
	}
	x = traced(t, Config{URL: u + "/hints"}, 1)[0]
	if x.Error != "" || len(x.Informational) != 1 || x.Informational[0] != 103 {
		t.Errorf("early hints: %+v", x)
	}
	list := traced(t, Config{URL: u + "/loop"}, 1)
	if len(list) != maxRedirects+1 || list[maxRedirects].Error != errRedirects.Error() {
		t.Errorf("a circle: %d exchanges", len(list))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if trace, err := Trace(ctx, Config{URL: u}, 1); err != nil || len(trace.Exchanges) != 0 {
		t.Errorf("given up before: %v, %v", trace, err)
	}
	for _, n := range []int{0, MaxTraced + 1} {
		if _, err := Trace(t.Context(), Config{URL: u}, n); err == nil {
			t.Errorf("%d requests are traced", n)
		}
	}
}

// slowConn is a connection whose writes take their time.
type slowConn struct {
	net.Conn
	wrote func()
}

func (s slowConn) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	s.wrote()
	return n, err
}

// TestTraceLateReturn: a short write that returns after the answer came was
// over before.
func TestTraceLateReturn(t *testing.T) {
	var now int64
	x := &tracing{now: func() int64 { return now }}
	here, there := net.Pipe()
	defer there.Close()
	conn := &tap{Conn: slowConn{here, func() {
		now = 60
		x.hooks().GotFirstResponseByte()
		now = 80
	}}}
	conn.user.Store(x)
	x.got, x.current = 1, conn
	go io.CopyN(io.Discard, there, 3)
	now = 5
	if _, err := conn.Write([]byte("GET")); err != nil {
		t.Fatal(err)
	}
	now = 90
	x.end(nil)
	want := []loadlog.Phase{{Name: "write", Start: 1, End: 5}, {Name: "wait", Start: 5, End: 60}, {Name: "read", Start: 60, End: 90}}
	if fmt.Sprint(x.Phases) != fmt.Sprint(want) {
		t.Errorf("phases are %v, want %v", x.Phases, want)
	}
}

// TestTraceFlush: writing ends when the system call returns, which is after
// net/http says that the request was written.
func TestTraceFlush(t *testing.T) {
	var now int64
	x := &tracing{now: func() int64 { return now }}
	here, there := net.Pipe()
	defer there.Close()
	conn := &tap{Conn: slowConn{here, func() { now = 50 }}}
	hooks := x.hooks()
	conn.user.Store(x)
	x.got, x.current = 1, conn
	now = 2
	hooks.WroteRequest(struct{ Err error }{})
	go io.CopyN(io.Discard, there, 3)
	if _, err := conn.Write([]byte("GET")); err != nil {
		t.Fatal(err)
	}
	now = 60
	hooks.GotFirstResponseByte()
	now = 70
	hooks.GotFirstResponseByte() // the first one counts
	x.end(nil)
	want := []loadlog.Phase{{Name: "write", Start: 1, End: 50}, {Name: "wait", Start: 50, End: 60}, {Name: "read", Start: 60, End: 70}}
	if fmt.Sprint(x.Phases) != fmt.Sprint(want) {
		t.Errorf("phases are %v, want %v", x.Phases, want)
	}
}

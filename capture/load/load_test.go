package load

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loupe/value/timeline"
)

// serve starts a server and returns its address and a count of requests.
func serve(t *testing.T, h http.HandlerFunc) (string, *atomic.Int64) {
	t.Helper()
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, &n
}

func hello(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "Hello, world!") }

// TestExactly checks that -n is exact: hey sends 200 of 205.
func TestExactly(t *testing.T) {
	u, n := serve(t, hello)
	for _, c := range []Config{{Requests: 205, Concurrency: 10}, {Requests: 1}, {Requests: 3, Concurrency: 50}} {
		n.Store(0)
		c.URL = u
		l, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if l.Len() != c.Requests || int(n.Load()) != c.Requests {
			t.Errorf("asked for %d: kept %d, the server saw %d", c.Requests, l.Len(), n.Load())
		}
		s := l.Summary()
		if s.Status[200] != c.Requests || s.Bytes != int64(13*c.Requests) || l.ServedLength != s.Bytes {
			t.Errorf("summary is %+v", s)
		}
	}
}

// TestClosing counts the answers that say that their connection is to be closed.
func TestClosing(t *testing.T) {
	for says, want := range map[string]int64{"close": 20, "keep-alive": 0} {
		u, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", says)
			hello(w, r)
		})
		for _, engine := range []string{"", engineNet} {
			l, err := Run(t.Context(), Config{URL: u, Requests: 20, Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			if l.Closing == nil || *l.Closing != want {
				t.Errorf("engine %q, %s: %v, want %d", engine, says, l.Closing, want)
			}
		}
	}
}

// TestParts: the parts of a request fit into it, and each worker keeps its
// connection.
func TestParts(t *testing.T) {
	// The first two requests wait for each other: one worker alone could
	// otherwise send all of them before the other has begun.
	var both sync.WaitGroup
	both.Add(2)
	var seen atomic.Int64
	u, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if seen.Add(1) <= 2 {
			both.Done()
			both.Wait()
		}
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		io.WriteString(w, "x")
	})
	const requests = 50
	l, err := Run(t.Context(), Config{URL: u, Requests: requests, Concurrency: 2})
	if err != nil {
		t.Fatal(err)
	}
	last := timeline.Time(0)
	for r := range l.All() {
		if r.Dial > 0 {
			t.Errorf("a request waited for a connection: %+v", r)
		}
		// Which side of the border between writing and waiting a moment
		// falls on is up to the scheduler.
		if r.Write+r.Wait <= 0 {
			t.Errorf("nothing was written and nothing awaited: %+v", r)
		}
		if r.End() < last {
			t.Errorf("a request that ended at %v comes after one of %v", r.End(), last)
		}
		last = r.End()
	}
	if n := len(l.Connections); n != 2 || l.Connections[0].Opened >= 0 {
		t.Errorf("%d connections for two workers: %+v", n, l.Connections)
	}
}

// TestDuration: a run is no shorter than it was asked to be.
func TestDuration(t *testing.T) {
	u, _ := serve(t, hello)
	// A machine that stands still for the whole time sends nothing; it gets
	// longer until it does not.
	for length := 100 * time.Millisecond; ; length *= 2 {
		l, err := Run(t.Context(), Config{URL: u, Duration: length, Concurrency: 2})
		if err != nil {
			t.Fatal(err)
		}
		if l.Elapsed < length {
			t.Errorf("it took %v of %v", l.Elapsed, length)
		}
		if l.Len() > 0 {
			return
		}
	}
}

func TestCancel(t *testing.T) {
	u, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-r.Context().Done()
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	l, err := Run(ctx, Config{URL: u + "/slow", Concurrency: 3})
	if err != nil || int(l.Summary().GivenUp()) != l.Len() {
		t.Errorf("requests that were given up are kept as something else: %v, %v", l.Summary().Errors, err)
	}
}

// TestCancelSchedule cancels while every connection waits for its turn, but
// for the one whose turn is at once.
func TestCancelSchedule(t *testing.T) {
	// It would otherwise take three hours.
	u, n := serve(t, hello)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	l, err := Run(ctx, Config{URL: u, Concurrency: 3, Rate: 1. / 3600})
	if err != nil || l.Len() > 1 || n.Load() > 1 {
		t.Errorf("%d requests were sent, %d kept, %v; want the first one at most", n.Load(), l.Len(), err)
	}
}

func TestTimeout(t *testing.T) {
	u, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	l, err := Run(t.Context(), Config{URL: u, Requests: 2, Timeout: 30 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if s := l.Summary(); s.Errors["timeout"] != 2 || s.Failed.Min < 30*time.Millisecond {
		t.Errorf("summary is %+v, failures %+v", s, s.Failed)
	}
}

// TestRate checks the schedule: under a stall of the server the requests that
// should have been sent count with the time they waited.
func TestRate(t *testing.T) {
	var stalled atomic.Bool
	u, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if stalled.CompareAndSwap(false, true) {
			time.Sleep(200 * time.Millisecond)
		}
	})
	l, err := Run(t.Context(), Config{URL: u, Requests: 100, Concurrency: 1, MaxConns: 1, Rate: 200})
	if err != nil {
		t.Fatal(err)
	}
	late := 0
	for r := range l.All() {
		if r.Latency() > 50*time.Millisecond {
			late++
		}
	}
	if late < 20 {
		t.Errorf("%d requests show the stall of 200 ms; 40 were due in it", late)
	}
	// The one worker serves one request after the other, so that the sum of
	// the service times is no longer than the run, unless waits are in it.
	var service time.Duration
	for r := range l.All() {
		service += r.Service
	}
	if service > l.Elapsed {
		t.Errorf("service times of %v in all hold waits: the run took %v", service, l.Elapsed)
	}
}

func TestWhatIsSent(t *testing.T) {
	var got *http.Request
	var body string
	u, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, body = r, string(b)
	})
	h := http.Header{"X-A": {"1", "2"}, "User-Agent": {"mine"}}
	_, err := Run(t.Context(), Config{
		URL: u + "/p?q=1", Method: "POST", Body: []byte("data"), Header: h, Host: "other.example",
		BasicUser: "u", BasicPassword: "p", Requests: 1, Tool: "loupe/x",
	})
	if err != nil {
		t.Fatal(err)
	}
	user, password, _ := got.BasicAuth()
	sent := fmt.Sprint(got.Method, got.RequestURI, body, got.Host, user, password, got.Header["X-A"], got.UserAgent(), got.Header.Get("Accept-Encoding"))
	if want := "POST/p?q=1dataother.exampleup[1 2]mine loupe/xgzip"; sent != want {
		t.Errorf("sent %s, want %s", sent, want)
	}
}

func TestRedirects(t *testing.T) {
	u, n := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/from":
			http.Redirect(w, r, "/to", http.StatusSeeOther)
		default:
			io.WriteString(w, r.Method)
		}
	})
	l, err := Run(t.Context(), Config{URL: u + "/from", Method: "POST", Body: []byte("x"), Requests: 1})
	if err != nil || l.Summary().Status[200] != 1 || n.Load() != 2 {
		t.Errorf("a redirect gave %+v after %d requests, %v", l.Summary(), n.Load(), err)
	}
	if l, _ = Run(t.Context(), Config{URL: u + "/from", Requests: 1, NoRedirects: true}); l.Summary().Status[303] != 1 {
		t.Errorf("an unfollowed redirect gave %+v", l.Summary())
	}
	if l, _ = Run(t.Context(), Config{URL: u + "/loop", Requests: 1}); l.Summary().Errors["stopped after 10 redirects"] != 1 {
		t.Errorf("a loop gave %v", l.Summary().Errors)
	}
}

// TestConnections checks that connections that the server closes are
// replaced, and that every request has its own when asked.
func TestConnections(t *testing.T) {
	u, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		io.WriteString(w, "bye")
	})
	l, err := Run(t.Context(), Config{URL: u, Requests: 20, Concurrency: 2})
	if err != nil || l.Summary().Status[200] != 20 {
		t.Errorf("a closing server gave %+v, %v", l.Summary(), err)
	}
	u, _ = serve(t, hello)
	l, err = Run(t.Context(), Config{URL: u, Requests: 20, Concurrency: 2, NoKeepAlive: true})
	if err != nil {
		t.Fatal(err)
	}
	for r := range l.All() {
		if r.Dial == 0 {
			t.Errorf("the request of %v had no connection of its own", r.Begin)
		}
	}
}

func TestRefused(t *testing.T) {
	// Not a port that was free a moment ago: others are looking for one too.
	l, err := Run(t.Context(), Config{URL: "http://127.0.0.1:1", Requests: 5})
	if err != nil {
		t.Fatal(err)
	}
	if s := l.Summary(); s.Responses != 0 || !strings.Contains(s.CommonError(), "connection refused") || len(s.Errors) != 1 {
		t.Errorf("refused connections gave %+v", s)
	}
}

func TestTLSAndHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	for _, h2 := range []bool{false, true} {
		l, err := Run(t.Context(), Config{URL: s.URL, Requests: 10, Concurrency: 2, HTTP2: h2})
		if err != nil || l.Summary().Status[200] != 10 || len(l.Notes) != 1 {
			t.Errorf("HTTP2 %v: %+v, %v", h2, l.Summary(), err)
		}
	}
	l, err := Run(t.Context(), Config{URL: s.URL, Requests: 1, VerifyTLS: true})
	if err != nil || !strings.Contains(l.Summary().CommonError(), "certificate") {
		t.Errorf("an unknown certificate was accepted: %+v, %v", l.Summary(), err)
	}
}

func TestProxy(t *testing.T) {
	proxied := ""
	p, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { proxied = r.RequestURI })
	u, _ := url.Parse(p)
	if _, err := Run(t.Context(), Config{URL: "http://nowhere.example/x", Requests: 1, Proxy: u}); err != nil || proxied != "http://nowhere.example/x" {
		t.Errorf("the proxy was asked for %q, %v", proxied, err)
	}
}

func TestBadConfig(t *testing.T) {
	for _, c := range []Config{{URL: "localhost"}, {URL: "ftp://x/"}, {URL: "http://x/", Method: "A B"}, {URL: "http://x/", Requests: -1}, {URL: "http://%zz/"}, {URL: "http://x/", Engine: "x"}, {URL: "https://x/", Engine: "epoll"}, {URL: "http://x/", Proxy: &url.URL{Scheme: "socks5", Host: "x:1"}}} {
		if _, err := Run(t.Context(), c); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

func ExampleRun() {
	s := httptest.NewServer(http.HandlerFunc(hello))
	defer s.Close()
	l, err := Run(context.Background(), Config{URL: s.URL, Requests: 1000, Concurrency: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.Summary().Status)
	// Output: map[200:1000]
}

// BenchmarkSchedule tells what keeping a schedule costs the machine: CPU
// seconds of loupe and of a local service for each second at 1,000 requests a
// second, and how late requests are sent.
func BenchmarkSchedule(b *testing.B) {
	s := httptest.NewServer(http.HandlerFunc(hello))
	defer s.Close()
	var cpu, elapsed, late time.Duration
	for b.Loop() {
		l, err := Run(b.Context(), Config{URL: s.URL, Duration: time.Second, Concurrency: 50, Rate: 1000})
		if err != nil {
			b.Fatal(err)
		}
		cpu, elapsed, late = cpu+l.CPU, elapsed+l.Elapsed, late+l.Summary().Generator.LagP99
	}
	b.ReportMetric(cpu.Seconds()/elapsed.Seconds(), "CPUs")
	b.ReportMetric(float64(late.Microseconds())/float64(b.N), "late-p99-µs")
}

package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// guarded serves nothing but the guard's own questions, at 127.0.0.1:1.
func guarded(t *testing.T, opts Options) *Server {
	t.Helper()
	opts.Token = "secret"
	if opts.Pages == nil {
		opts.Pages = fstest.MapFS{"index.html": {Data: []byte("<!doctype html>page")}, "app.js": {Data: []byte("script")}, "hidden/file": {Data: []byte("hidden")}}
	}
	s, err := New(t.Context(), "127.0.0.1:1", opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestGuard: who may not ask gets no answer.
func TestGuard(t *testing.T) {
	edited := 0
	s := guarded(t, Options{Edit: func(string, int) error { edited++; return nil }})
	own := map[string]string{"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-origin"}
	link := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
	frame := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
	for _, c := range []struct {
		what, method, host, path string
		head                     map[string]string
		want                     int
	}{
		{"the first page", "GET", "127.0.0.1:1", "/secret/", nil, 200},
		{"by name", "GET", "localhost:1", "/secret/", nil, 200},
		{"by IPv6", "GET", "[::1]:1", "/secret/", nil, 200},
		{"through a forwarded port", "GET", "localhost:9999", "/secret/", nil, 200},
		{"a question", "GET", "127.0.0.1:1", "/secret/api/sources", own, 200},
		{"typed into the browser", "GET", "127.0.0.1:1", "/secret/api/sources", map[string]string{"Sec-Fetch-Site": "none"}, 200},
		{"HEAD", "HEAD", "127.0.0.1:1", "/secret/", nil, 200},
		{"without the end of the address", "GET", "127.0.0.1:1", "/secret", nil, 303},
		{"a link in a mail", "GET", "127.0.0.1:1", "/secret/", link, 200},
		{"what acts", "POST", "127.0.0.1:1", "/secret/api/edit?file=/x.go", own, 200},

		{"no token", "GET", "127.0.0.1:1", "/", nil, 403},
		{"an empty token", "GET", "127.0.0.1:1", "//api/sources", nil, 403},
		{"a wrong token", "GET", "127.0.0.1:1", "/secreT/", nil, 403},
		{"a part of the token", "GET", "127.0.0.1:1", "/secre/", nil, 403},
		{"the token in another place", "GET", "127.0.0.1:1", "/api/sources?token=secret", nil, 403},
		{"a name that resolves to us", "GET", "evil.example:1", "/secret/", nil, 403},
		{"one that contains ours", "GET", "localhost.evil.example:1", "/secret/", nil, 403},
		{"one that begins with our number", "GET", "127.0.0.1.nip.io:1", "/secret/", nil, 403},
		{"a number in another form", "GET", "2130706433:1", "/secret/", nil, 403},
		{"all addresses", "GET", "0.0.0.0:1", "/secret/", nil, 403},
		{"no host", "GET", "", "/secret/", nil, 403},
		{"user and password", "GET", "localhost@evil.example", "/secret/", nil, 403},
		{"an image on another page", "GET", "127.0.0.1:1", "/secret/api/sources", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403},
		{"a script of another port", "GET", "127.0.0.1:1", "/secret/app.js", map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
		{"a frame", "GET", "127.0.0.1:1", "/secret/", frame, 403},
		{"a link to a question", "GET", "127.0.0.1:1", "/secret/api/sources", link, 403},
		{"fetch of another site", "GET", "127.0.0.1:1", "/secret/api/sources", map[string]string{"Origin": "https://evil.example"}, 403},
		{"POST of another port", "POST", "127.0.0.1:1", "/secret/api/edit", map[string]string{"Origin": "http://127.0.0.1:2"}, 403},
		{"POST of a page without origin", "POST", "127.0.0.1:1", "/secret/api/edit", map[string]string{"Origin": "null"}, 403},
		{"POST without Origin", "POST", "127.0.0.1:1", "/secret/api/edit", nil, 403},
		{"POST by https", "POST", "127.0.0.1:1", "/secret/api/edit", map[string]string{"Origin": "https://127.0.0.1:1"}, 403},
		{"what acts, by GET", "GET", "127.0.0.1:1", "/secret/api/edit?file=/x.go", own, 405},
		{"a permission asked beforehand", "OPTIONS", "127.0.0.1:1", "/secret/api/edit", map[string]string{"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}, 405},
		{"PUT", "PUT", "127.0.0.1:1", "/secret/api/edit", own, 405},
		{"TRACE", "TRACE", "127.0.0.1:1", "/secret/", own, 405},
		{"upwards", "GET", "127.0.0.1:1", "/secret/../guard.go", nil, 404},
		{"upwards, hidden", "GET", "127.0.0.1:1", "/secret/%2e%2e/guard.go", nil, 404},
		{"upwards, the other way", "GET", "127.0.0.1:1", "/secret/..%5cguard.go", nil, 404},
		{"a root", "GET", "127.0.0.1:1", "/secret//etc/passwd", nil, 404},
		{"a folder", "GET", "127.0.0.1:1", "/secret/hidden/file", nil, 404},
		{"NUL", "GET", "127.0.0.1:1", "/secret/app.js%00.html", nil, 404},
		{"no such question", "GET", "127.0.0.1:1", "/secret/api/nothing", own, 404},
		{"no such source", "GET", "127.0.0.1:1", "/secret/api/source?s=../../etc", own, 404},
	} {
		// http.NewRequest would tidy the path up.
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(c.method + " " + c.path + " HTTP/1.1\r\nHost: " + c.host + "\r\n\r\n")))
		if err != nil {
			if c.host != "localhost@evil.example" {
				t.Errorf("%s: %v", c.what, err)
			}
			continue
		}
		for k, v := range c.head {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s: %d, want %d: %s", c.what, w.Code, c.want, w.Body)
		}
		for _, head := range []string{"Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Resource-Policy", "Cross-Origin-Opener-Policy", "Cache-Control", "X-Frame-Options"} {
			if w.Header().Get(head) == "" {
				t.Errorf("%s: the answer has no %s", c.what, head)
			}
		}
		for head := range w.Header() {
			if strings.HasPrefix(head, "Access-Control-") {
				t.Errorf("%s: the answer has %s", c.what, head)
			}
		}
		if c.want == 403 && (strings.Contains(w.Body.String(), "secret") || w.Header().Get("Connection") != "close") {
			t.Errorf("%s: who may not ask stays, or is told the token", c.what)
		}
	}
	if edited != 1 {
		t.Errorf("the editor was opened %d times, want once", edited)
	}
}

// TestLoopback: the pages are for this machine alone.
func TestLoopback(t *testing.T) {
	for address, ok := range map[string]bool{
		"127.0.0.1:1": true, "[::1]:1": true, "127.9.9.9:1": true,
		"0.0.0.0:1": false, "[::]:1": false, ":1": false, "192.168.0.2:1": false, "localhost:1": false, "example.com:1": false, "": false,
	} {
		s, err := New(t.Context(), address, Options{})
		if (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
		if s != nil {
			s.Close()
		}
	}
}

// listening serves the questions of a test over a real connection, with little
// time for those who are slow.
func listening(t *testing.T, extra ...endpoint) (address string) {
	t.Helper()
	for _, e := range extra {
		endpoints[e.name] = e
		t.Cleanup(func() { delete(endpoints, e.name) })
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s, err := New(ctx, l.Addr().String(), Options{Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	header, all := readHeader, readAll
	readHeader, readAll = 300*time.Millisecond, 600*time.Millisecond
	done := make(chan error)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		readHeader, readAll = header, all
		s.Close()
	})
	return l.Addr().String()
}

// TestSlow: who sends little by little is sent away, and a stream of events
// lives on beyond the time for a request.
func TestSlow(t *testing.T) {
	address := listening(t)
	f := func(what, text string) {
		t.Helper()
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		began := time.Now()
		go func() {
			for _, b := range []byte(text) {
				if _, err := c.Write([]byte{b}); err != nil {
					return
				}
			}
		}()
		c.SetReadDeadline(time.Now().Add(10 * time.Second))
		_, err = io.Copy(io.Discard, c)
		var late net.Error
		if errors.As(err, &late) && late.Timeout() || time.Since(began) > 9*time.Second {
			t.Errorf("%s: still connected after %v", what, time.Since(began))
		}
	}
	f("half a header", "GET /secret/ HTTP/1.1\r\nHost: "+address+"\r\nX-")
	f("half a body", "POST /secret/api/edit HTTP/1.1\r\nHost: "+address+"\r\nOrigin: http://"+address+"\r\nContent-Length: 100\r\n\r\nabc")
	f("garbage", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")

	resp, err := http.Get("http://" + address + "/secret/api/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, resp.Body)
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Errorf("the events end: %v", err)
	case <-time.After(3 * readAll):
	}
}

// TestLongAnswer: what takes longer to compute than a request may take to send
// is answered, to a POST as well.
func TestLongAnswer(t *testing.T) {
	address := listening(t, post(all("test/long", func(ctx context.Context, _ *Server, q *query) (string, error) {
		select {
		case <-time.After(3 * readAll):
		case <-ctx.Done():
			return "", ctx.Err()
		}
		body, err := io.ReadAll(q.Body)
		return string(body), err
	})))
	r, err := http.NewRequest("POST", "http://"+address+"/secret/api/test/long", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", "http://"+address)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); resp.StatusCode != 200 || string(body) != `"body"` {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(strings.Repeat("x", largestBody+1))), largestBody+1
	if resp, err = http.DefaultClient.Do(r); err == nil {
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("a long question: %d", resp.StatusCode)
		}
	}
}

// TestMany: a thousand who say nothing do not keep out one who asks.
func TestMany(t *testing.T) {
	address := listening(t)
	for range 1000 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Skip(err) // this machine allows fewer
		}
		defer c.Close()
	}
	client := http.Client{Timeout: 5 * time.Second}
	resp, err := client.Get("http://" + address + "/secret/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// TestContained: a mistake in one answer is told and leaves the server alive,
// also in what is computed for several.
func TestContained(t *testing.T) {
	address := listening(t,
		all("test/panic", func(context.Context, *Server, *query) (int, error) { panic("out of range") }),
		all("test/late", func(_ context.Context, _ *Server, q *query) (int, error) { panic(http.ErrAbortHandler) }),
		all("test/large", func(context.Context, *Server, *query) ([]byte, error) { return make([]byte, largestAnswer), nil }),
		all("test/hostile", func(context.Context, *Server, *query) (int, error) {
			return 0, fmt.Errorf("%s", "über \x00\xff<script>"+strings.Repeat("long ", 1e5))
		}),
		all("test/memo", func(ctx context.Context, s *Server, _ *query) (int, error) {
			s.sources.mu.Lock()
			sub := s.sources.add(ctx, Source{Name: "x", Open: func(context.Context) (*Opened, error) { panic("damaged") }})
			s.sources.mu.Unlock()
			_, err := sub.open(ctx)
			return 0, err
		}),
	)
	ask := func(name string) (int, problem) {
		t.Helper()
		resp, err := http.Get("http://" + address + "/secret/api/" + name)
		if err != nil {
			return 0, problem{}
		}
		defer resp.Body.Close()
		var p problem
		if err := json.NewDecoder(resp.Body).Decode(&p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return resp.StatusCode, p
	}
	if code, p := ask("test/panic"); code != 500 || p.Error != "loupe has a mistake here: out of range" {
		t.Errorf("a panic: %d %v", code, p)
	}
	if code, p := ask("test/memo"); code != 500 || p.Error != "loupe has a mistake here: damaged" {
		t.Errorf("a panic in what is kept: %d %v", code, p)
	}
	if code, _ := ask("test/late"); code != 0 {
		t.Errorf("an answer that was broken off ends well: %d", code)
	}
	if code, p := ask("test/large"); code != 500 || !strings.Contains(p.Error, "MiB") {
		t.Errorf("an answer that is too large: %d %v", code, p)
	}
	if code, p := ask("test/hostile"); code != 500 || !strings.HasPrefix(p.Error, "Über ") || len(p.Error) > 3000 {
		t.Errorf("a hostile error: %d %q", code, p.Error)
	}
	if code, _ := ask("sources"); code != 200 {
		t.Errorf("afterwards: %d", code)
	}
}

// TestPatience: who does not read an answer does not hold it for ever.
func TestPatience(t *testing.T) {
	p := &patient{ResponseWriter: httptest.NewRecorder(), control: http.NewResponseController(httptest.NewRecorder())}
	if begun(p) {
		t.Error("an answer begins before it is written")
	}
	fmt.Fprint(p, "text")
	if !begun(p) {
		t.Error("an answer does not begin")
	}
}

// TestShownTitle: a title does not turn what stands behind it, and ends.
func TestShownTitle(t *testing.T) {
	for in, want := range map[string]string{
		"sieve":                  "sieve",
		"\u202egnp.\x00exe":      "\ufffdgnp.\ufffdexe",
		"<script>":               "<script>",
		strings.Repeat("ü", 201): strings.Repeat("ü", 200) + "…",
	} {
		if got := shownTitle(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

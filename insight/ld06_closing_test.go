package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/format/loadlog"
	"loupe/format/loadlog/loadlogtest"
	"loupe/recording"
	"loupe/session"
)

// TestClosings: what lets a server close its connections is found, and what a client sends is not.
func TestClosings(t *testing.T) {
	for _, c := range []struct {
		name, body string
		line       int // of it; 0 is none
	}{
		{"in a response", "func f(w http.ResponseWriter) {\nw.Header().Set(\"Connection\", \"close\")\n}", 6},
		{"in a header that it is given", "func f(h http.Header) {\n\nh.Add(\"connection\", \"Close\")\n}\nfunc g(w http.ResponseWriter) { f(w.Header()) }", 7},
		{"in a header by another name", "func f(w http.ResponseWriter) {\nh := w.Header()\nh.Set(\"Connection\", \"close\")\n}", 7},
		{"in a literal", "var f = 1\nfunc g() { handle(func(w http.ResponseWriter, r *http.Request) {\nw.Header().Set(\"Connection\", \"close\") }) }", 7},
		{"in what wraps one", "type wrapped struct { http.ResponseWriter }\nfunc (w *wrapped) WriteHeader(int) {\nw.Header().Set(\"Connection\", \"close\") }", 7},
		{"of echo", "func f(c echo.Context) {\nc.Response().Header().Set(\"Connection\", \"close\") }", 6},
		{"of gin", "func f(c *gin.Context) {\nc.Header(\"Connection\", \"close\") }", 6},
		{"of fiber", "func f(c *fiber.Ctx) {\nc.Set(\"Connection\", \"close\") }", 6},
		{"a value of a context", "func f(c echo.Context) {\nc.Set(\"Connection\", \"close\") }", 0},
		{"in a header of its own", "func f() {\nh := http.Header{}\nh.Set(\"Connection\", \"close\")\nsend(h)\n}", 0},
		{"in a header that nobody gives", "func f(h http.Header) {\nh.Set(\"Connection\", \"close\")\n}", 0},
		{"in a header of a mail", "func f() {\nh := textproto.MIMEHeader{}\nh.Set(\"Connection\", \"close\")\n}", 0},
		{"in what a proxy sends", "func f(pr *httputil.ProxyRequest) {\npr.Out.Header.Set(\"Connection\", \"close\")\n}", 0},
		{"in a recorder", "func f() {\nrec := httptest.NewRecorder()\nrec.Header().Set(\"Connection\", \"close\")\n}", 0},
		{"in a recorder that it is given", "func f(rec *httptest.ResponseRecorder) {\nrec.Header().Set(\"Connection\", \"close\")\n}", 0},
		{"for all", "func f(s *http.Server) {\ns.SetKeepAlivesEnabled(false)\n}\nfunc main() { f(s) }", 6},
		{"for all, where it serves", "func (a *app) run() error {\na.s.SetKeepAlivesEnabled(false)\nreturn a.s.ListenAndServe()\n}", 6},
		{"after a signal", "func main() {\ngo func() {\n<-sig\ns.SetKeepAlivesEnabled(false)\n}()\ns.ListenAndServe()\n}", 0},
		{"after a signal in main", "func main() {\ngo s.ListenAndServe()\nselect {\ncase <-sig:\n}\ns.SetKeepAlivesEnabled(false)\n}", 0},
		{"in a function that is called after a signal", "func drain() {\ns.SetKeepAlivesEnabled(false)\n}\nfunc main() {\ngo s.ListenAndServe()\n<-sig\ndrain()\n}", 0},
		{"where it shuts down", "func stop() {\ns.SetKeepAlivesEnabled(false)\ns.Shutdown(ctx)\n}\nfunc main() { defer stop() }", 0},
		{"when it is asked to", "func drain(w http.ResponseWriter, r *http.Request) {\ns.SetKeepAlivesEnabled(false)\n}\nfunc main() { http.HandleFunc(\"/drain\", drain)\ns.ListenAndServe() }", 0},
		{"of fasthttp", "var s = &fasthttp.Server{DisableKeepalive: true}", 5},
		{"a context of fasthttp", "func f(ctx *fasthttp.RequestCtx) {\nctx.SetConnectionClose()\n}", 6},
		{"a response of fasthttp", "func f(ctx *fasthttp.RequestCtx) {\nctx.Response.Header.Set(\"Connection\", \"close\")\n}", 6},
		{"a request of fasthttp", "func f() {\nreq := fasthttp.AcquireRequest()\nreq.SetConnectionClose()\n}", 0},
		{"a request in a context of fasthttp", "func f(ctx *fasthttp.RequestCtx) {\nctx.Request.SetConnectionClose()\n}", 0},
		{"kept", "func f(w http.ResponseWriter) {\nw.Header().Set(\"Connection\", \"keep-alive\")\nw.Header().Set(\"X\", \"close\")\n}", 0},
		{"left on", "func main() {\ns.SetKeepAlivesEnabled(true)\n}", 0},
		{"in a request", "func f(r *http.Request) {\nr.Header.Set(\"Connection\", \"close\")\n}", 0},
		{"in a request that it makes", "func f() {\nreq, err := http.NewRequest(\"GET\", url, nil)\nreq.Header.Set(\"Connection\", \"close\")\n}", 0},
	} {
		found := connSources{sourceOf("package main\n\nimport \"net/http\"\n\n" + c.body + "\n")}.closings()
		if c.line == 0 && len(found) > 0 || c.line > 0 && (len(found) != 1 || found[0].at.Line != c.line) {
			t.Errorf("%s: %+v", c.name, found)
		}
	}
	f := Finding{Summary: "Closed", Advice: "Let them be."}
	tellClosings(&f, connSources{sourceOf("package main\n\nfunc f(w http.ResponseWriter) {\nw.Header().Set(\"Connection\", \"close\")\nw.Header().Set(\"Connection\", \"close\")\n}\n")})
	if !strings.Contains(f.Summary, "closes the connection after the response, if it is reached (a.go:4, and at 1 other place)") || !strings.HasPrefix(f.Advice, "If these responses go through a.go:4, remove that line,") || len(f.Evidence) != 2 {
		t.Errorf("%+v", f)
	}
}

// TestIdleTimeouts: what sets for how long a server keeps idle connections, where it is not longer
// than they were idle.
func TestIdleTimeouts(t *testing.T) {
	for _, c := range []struct {
		name, body string
		line       int
	}{
		{"in a literal", "var s = &http.Server{\nReadTimeout: 9 * time.Second,\nIdleTimeout: 50 * time.Millisecond}", 7},
		{"assigned", "func main() {\ns.IdleTimeout = time.Millisecond * 50\n}", 6},
		{"by another name", "func main() {\ns.IdleTimeout = *idle\n}", 6},
		{"that for reading", "var s = &http.Server{\nReadTimeout: 50 * time.Millisecond}", 6},
		{"longer", "var s = &http.Server{ReadTimeout: 50 * time.Millisecond, IdleTimeout: time.Minute}", 0},
		{"of a client", "var s = &Redis{IdleTimeout: 50 * time.Millisecond}", 0},
	} {
		f := Finding{Advice: "x"}
		tellIdle(&f, connSources{sourceOf("package main\n\nimport \"net/http\"\n\n" + c.body + "\n")}, 51*time.Millisecond)
		if c.line == 0 && len(f.Evidence) > 0 || c.line > 0 && (len(f.Evidence) != 1 || f.Evidence[0].Line != c.line) {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

// TestClosedConnections: connections that end because they are idle, or without an announcement,
// are not put down to a line that announces it.
func TestClosedConnections(t *testing.T) {
	const source = "package main\n\nfunc f(w http.ResponseWriter) {\nw.Header().Set(\"Connection\", \"close\")\n}\n"
	said := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		name   string
		engine string
		idle   time.Duration
		said   *int64
		known  bool
		want   string
		cites  bool
	}{
		{"an older log", "epoll", 0, nil, true, "because the server closes them; opening one took 200 µs on average; a line of the source closes", true},
		{"announced", "epoll", 0, said(1000), true, "; a line of the source closes", true},
		{"not announced", "epoll", 0, said(0), true, "its responses do not announce it", false},
		{"idle", "epoll", 50 * ms, nil, true, "because the server closes them when they are idle, half of them within 50.0 ms of their last response", false},
		{"found when it is used again", "http2", 50 * ms, nil, true, "because the server closes them; opening one", true},
		{"of another generator", "epoll", 0, nil, false, "the load opened 1,000 connections for 1,000 requests; opening one", false},
	} {
		l := connected(1000, loadlog.ByServer)
		l.Closing, l.Engine = c.said, c.engine
		for i := range l.Connections {
			l.Connections[i].Closed = l.Connections[i].Closed.Add(c.idle)
		}
		if !c.known {
			l.Connections = nil
		}
		r := underLoad(l).Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(source))
		f := expect(t, c.name, r, "LD06", Found, c.want)
		if cites := strings.Contains(f.Summary, "a.go") || strings.Contains(f.Advice, "a.go"); cites != c.cites {
			t.Errorf("%s: %s\n%s", c.name, f.Summary, f.Advice)
		}
	}
}

// TestUnreadBodies: where net/http waits before it closes most connections, because a body was not
// read, that is the reason.
func TestUnreadBodies(t *testing.T) {
	for waits, want := range map[int]bool{400: true, 40: false} {
		n := 0
		r := served(t, 400, func(p *accounttest.Program) {
			if n++; n <= waits {
				await(p, time.Millisecond, "sleep", "time.Sleep@sleep.go:1", lingers+"@server.go:3")
			}
		})
		r.Put(recording.Entry{Path: "load-trace.requests", Kind: recording.Load, Phase: "trace"}, loadlogtest.Encode(connected(400, loadlog.ByServer)))
		in := NewInput(session.New(r.Open()))
		f := Finding{Summary: "x"}
		tellClosed(&f, in, hungUp{byServer: 400, said: 400})
		if got := strings.Contains(f.Summary, "request bodies were left unread"); got != want || want && (len(f.Evidence) != 1 || f.Evidence[0].Function != lingers) {
			t.Errorf("%d waits: %s %+v", waits, f.Summary, f.Evidence)
		}
	}
}

// TestFoldHandshakes: what handshakes cost is told where the reason for them is, of the same side.
func TestFoldHandshakes(t *testing.T) {
	h := handshaken{Finding: Finding{Summary: "60% of the CPU time went into TLS handshakes", Impact: exactly(0.6, "share of CPU samples"), Score: 80}, found: true}
	f := Finding{Summary: "closed", Score: 50}
	if h.foldInto(&f, true); !h.found || f.Summary != "closed" {
		t.Errorf("those of the other side: %+v", f)
	}
	if h.foldInto(&f, false); h.found || f.Summary != "closed; 60% of the CPU time went into TLS handshakes" || f.Score != 80 || f.Impact.Value != 0.6 {
		t.Errorf("%+v", f)
	}
}

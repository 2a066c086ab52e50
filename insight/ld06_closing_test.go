package insight

import (
	"strings"
	"testing"
)

// TestClosings: what lets a server close its connections is found, and what a client sends is not.
func TestClosings(t *testing.T) {
	for _, c := range []struct {
		name, body string
		line       int // of it; 0 is none
	}{
		{"in a response", "func f(w http.ResponseWriter) {\nw.Header().Set(\"Connection\", \"close\")\n}", 6},
		{"in a header", "func f(h http.Header) {\n\nh.Add(\"connection\", \"Close\")\n}", 7},
		{"for all", "func f(s *http.Server) {\ns.SetKeepAlivesEnabled(false)\n}", 6},
		{"of fasthttp", "var s = &fasthttp.Server{DisableKeepalive: true}", 5},
		{"a context of fasthttp", "func f(ctx *fasthttp.RequestCtx) {\nctx.SetConnectionClose()\n}", 6},
		{"a request of fasthttp", "func f() {\nreq := fasthttp.AcquireRequest()\nreq.SetConnectionClose()\n}", 0},
		{"kept", "func f(w http.ResponseWriter) {\nw.Header().Set(\"Connection\", \"keep-alive\")\nw.Header().Set(\"X\", \"close\")\n}", 0},
		{"left on", "func f(s *http.Server) {\ns.SetKeepAlivesEnabled(true)\n}", 0},
		{"in a request", "func f(r *http.Request) {\nr.Header.Set(\"Connection\", \"close\")\n}", 0},
		{"in a request that it makes", "func f() {\nreq, err := http.NewRequest(\"GET\", url, nil)\nreq.Header.Set(\"Connection\", \"close\")\n}", 0},
	} {
		found := connSources{sourceOf("package main\n\nimport \"net/http\"\n\n" + c.body + "\n")}.closings()
		if c.line == 0 && len(found) > 0 || c.line > 0 && (len(found) != 1 || found[0].at.Line != c.line) {
			t.Errorf("%s: %+v", c.name, found)
		}
	}
	f := Finding{Summary: "Closed", Advice: "Let them be."}
	tellClosings(&f, connSources{sourceOf("package main\n\nfunc f(h H) {\nh.Set(\"Connection\", \"close\")\nh.Set(\"Connection\", \"close\")\n}\n")})
	if !strings.Contains(f.Summary, "closes the connection after the response, if it is reached (a.go:4, and at 1 other place)") || !strings.HasPrefix(f.Advice, "If these responses go through a.go:4, remove that line,") || len(f.Evidence) != 2 {
		t.Errorf("%+v", f)
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

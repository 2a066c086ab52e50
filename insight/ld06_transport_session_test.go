package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestTransportSession: calls on a Transport that each request makes may be a session, of which the peer knows the user by the connection: a login, only one
// connection, or several calls. Of one call, it is none.
func TestTransportSession(t *testing.T) {
	const (
		make1  = "tr := &http.Transport{}\nc := &http.Client{Transport: tr}\ndefer tr.CloseIdleConnections()\n"
		single = "\tc.Do(r) // 1\n"
	)
	for _, c := range []struct {
		name, source, want string
		sure               bool
	}{
		{"one call", "func get(w http.ResponseWriter, r *http.Request) {\n" + make1 + single + "}\n", "", false},
		{"one connection", "func get(w http.ResponseWriter, r *http.Request) {\nc := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}\n" + single + "}\n", "MaxConnsPerHost is 1", true},
		{"one connection, set later", "func get(w http.ResponseWriter, r *http.Request) {\n" + make1 + "tr.MaxConnsPerHost = 1\n" + single + "}\n", "MaxConnsPerHost is 1", true},
		{"some connections", "func get(w http.ResponseWriter, r *http.Request) {\nc := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 8}}\n" + single + "}\n", "", false},
		{"a login by the path", "func get(w http.ResponseWriter, r *http.Request) {\n" + make1 + "c.Get(`http://peer/login`)\n" + single + "}\n", "c.Get may log in", true},
		{"a login by the name", "func get(w http.ResponseWriter, r *http.Request) {\n" + make1 + "signIn(c)\n" + single + "}\n", "signIn may log in", true},
		{"two calls", "func get(w http.ResponseWriter, r *http.Request) {\n" + make1 + "c.Get(`http://peer/list`)\n" + single + "}\n", "it makes several calls with it", false},
		{"calls of a loop", "func get(w http.ResponseWriter, r *http.Request) {\n" + make1 + "for range 3 {\n" + single + "}\n}\n", "it makes several calls with it", false},
		{"a blog and an author", "func get(w http.ResponseWriter, r *http.Request) {\n" + make1 + "c.Do(of(`/blog/insights?author=1`)) // 1\n}\n", "", false},
		{"the call and its answer", "func get(w http.ResponseWriter, r *http.Request) {\n" + make1 + "resp, _ := c.Do(r) // 1\nresp.Body.Close()\nuse(resp)\n}\n", "", false},
	} {
		text := "package main\n\nimport \"net/http\"\n\n" + c.source
		before, _, _ := strings.Cut(text, "// 1\n")
		frames := []stack.Frame{{Func: "net/http.(*Client).Do", File: "client.go", Line: 1}, {Func: "main.get", File: "a.go", Line: 1 + strings.Count(before, "\n")}, {Func: "net/http.(*conn).serve"}}
		d := newDerivations(codeOf(text))
		x, ok := transportFor(d, frames, func(f stack.Frame) bool { return f.File == "a.go" })
		if !ok {
			t.Errorf("%s: no Transport", c.name)
			continue
		}
		if s := x.sessionOf(d); s.sign != c.want || s.sure != c.sure {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

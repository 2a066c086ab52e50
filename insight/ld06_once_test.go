package insight

import (
	"strings"
	"testing"
)

// TestMadeOnce: one client for all requests is not advised where main makes the only one; where it is made for each request, or in a loop, it is.
func TestMadeOnce(t *testing.T) {
	const advice = "Read it; use one http.Client for all requests; and set its Transport's limit."
	const head = "package main\n\nimport \"net/http\"\n\ntype api struct{ rt http.RoundTripper }\n\nfunc (a *api) get(r *http.Request) {\n\ta.rt.RoundTrip(r) // 1\n}\n\n"
	const makes = "func newTransport(n int) *http.Transport {\n\treturn &http.Transport{MaxIdleConns: n}\n}\n\n"
	for _, c := range []struct {
		name, source string
		once         bool
	}{
		{"in main", head + "func main() {\n\ta := &api{rt: &http.Transport{}}\n\ta.get(nil)\n}\n", true},
		{"by a constructor", head + makes + "func newAPI(rt http.RoundTripper) *api { return &api{rt: rt} }\n\nfunc main() {\n\ta := newAPI(newTransport(9))\n\ta.get(nil)\n}\n", true},
		{"of the package", "package main\n\nimport \"net/http\"\n\nvar rt = &http.Transport{}\n\nfunc get(r *http.Request) {\n\trt.RoundTrip(r) // 1\n}\n", true},
		{"for each request", head + makes + "func page(w http.ResponseWriter, r *http.Request) {\n\ta := &api{rt: newTransport(9)}\n\ta.get(r)\n}\n", false},
		{"in a loop of main", head + makes + "func main() {\n\tfor range 9 {\n\t\ta := &api{rt: newTransport(9)}\n\t\ta.get(nil)\n\t}\n}\n", false},
		{"in a function without a name", head + makes + "func main() {\n\thttp.HandleFunc(`/`, func(w http.ResponseWriter, r *http.Request) {\n\t\ta := &api{rt: newTransport(9)}\n\t\ta.get(r)\n\t})\n}\n", false},
		{"at two places", head + makes + "func main() {\n\ta := &api{rt: newTransport(9)}\n\ta.get(nil)\n\ta = &api{rt: newTransport(7)}\n\ta.get(nil)\n}\n", false},
		{"given from elsewhere", head + "func newAPI(rt http.RoundTripper) *api { return &api{rt: rt} }\n", false},
	} {
		f := adviceOn(c.source, "package clean\n", advice, tellMadeOnce)
		if once := !strings.Contains(f.Advice, "use one"); once != c.once || once && f.Advice != "Read it; and set the Transport's limit." {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}

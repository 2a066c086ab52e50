package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// cleanSource makes Transports as a package of others does, one of them without keep-alives.
const cleanSource = `package clean

import (
	"net/http"
	"runtime"
)

func Plain() *http.Transport {
	t := Pooled()
	t.DisableKeepAlives = true // off
	t.MaxIdleConnsPerHost = -1 // idle
	return t
}

func Pooled() *http.Transport {
	return &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: runtime.GOMAXPROCS(0) + 1}
}

func PlainClient() *http.Client { return &http.Client{Transport: Plain()} }

func Proxied(p string) *http.Transport {
	t := &http.Transport{}
	t.Proxy = parse(p)
	return t
}

func Copied(n int) *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 32 // copied
	return &http.Client{Transport: t}
}

func Undone(n int) *http.Transport {
	t := Plain()
	t.DisableKeepAlives, t.MaxIdleConnsPerHost = false, 4
	return t
}

func Asked(off bool) *http.Transport { return &http.Transport{DisableKeepAlives: off} } // asked

func Sometimes(n int) *http.Transport {
	t := &http.Transport{}
	if n > 3 {
		t.DisableKeepAlives = true // sometimes
	}
	return t
}

func Either(n int8) *http.Client {
	if n > 3 {
		return http.DefaultClient
	}
	return PlainClient()
}

func Tuned(opts ...func(*http.Transport)) *http.Transport {
	t := &http.Transport{DisableKeepAlives: true}
	for _, o := range opts {
		o(t)
	}
	return t
}

func Only(n, m int) (*http.Client, error) {
	if n < m {
		return nil, errTooFew
	}
	t := &http.Transport{DisableKeepAlives: true} // only
	return &http.Client{Transport: t}, nil
}

var shared = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // shared

func Shared(n int) *http.Client { return shared }

var later = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func Later(n int) *http.Client { return later }

func init() { later.Transport = Pooled() }
`

// TestTellDependency: what a function of another package sets is told where the requests have their Transport from it, and only there; what the program
// sets afterwards counts.
func TestTellDependency(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"net/http\"\n\n\t\"example.com/go-clean\"\n\t\"example.com/other\"\n)\n\n"
	const get = "type api struct {\n\thc *http.Client\n}\n\nfunc (a *api) get(r *http.Request) {\n\ta.hc.Do(r) // 1\n}\n\n"
	base := "Use one http.Client " + perHostDefault + " for all."
	const plain, idle, sibling = "turns keep-alive off (DisableKeepAlives at clean.go:10)", "keeps no idle connection (MaxIdleConnsPerHost is -1 at clean.go:11)", "Use clean.Pooled at a.go:"
	const make1 = "func newAPI() *api {\n\ttr := clean.Plain()\n"
	const made1 = "\treturn &api{hc: &http.Client{Transport: tr, Timeout: 5}}\n}\n"
	for _, c := range []struct {
		name, source string
		says         []string // in the advice; nil where it stays
		not          string
	}{
		{"by a variable", get + make1 + "\ttr.TLSHandshakeTimeout = 10\n" + made1, []string{"By the source, the Transport comes from clean.Plain at a.go:19, which", plain, idle, sibling, "one of it for all requests", "It keeps runtime.GOMAXPROCS(0) + 1 idle"}, "Otherwise"},
		{"a client", get + "func newAPI() *api { return &api{hc: clean.PlainClient()} }\n", []string{plain, "Set DisableKeepAlives to false and MaxIdleConnsPerHost"}, "Use clean."},
		{"of the package", "var hc = clean.PlainClient()\n\nfunc get(r *http.Request) {\n\thc.Do(r) // 1\n}\n", []string{plain}, ""},
		{"by a function of the program", get + "func transport() http.RoundTripper { return clean.Plain() }\n\nfunc newAPI() *api {\n\tc := &http.Client{}\n\tc.Transport = transport()\n\treturn &api{hc: c}\n}\n", []string{plain, sibling}, ""},
		{"by a parameter", "func get(c *http.Client, r *http.Request) {\n\tc.Do(r) // 1\n}\n\nfunc main() {\n\tc := &http.Client{Transport: clean.Plain()}\n\tget(c, nil)\n}\n", []string{plain}, ""},
		{"behind the program's own RoundTripper", "type logging struct {\n\tnext http.RoundTripper\n\tname string\n}\n\n" + get + "func newAPI() *api {\n\treturn &api{hc: &http.Client{Transport: &logging{next: clean.Plain(), name: name()}}}\n}\n", []string{plain, sibling}, ""},
		{"in the place of the default one", "func main() { http.DefaultTransport = clean.Plain() }\n\nfunc get() {\n\thttp.Get(name()) // 1\n}\n", []string{base + " One Transport that may be in use here comes from clean.Plain at a.go:10", plain}, ""},
		{"with an error", get + "func newAPI() (*api, error) {\n\tc, err := clean.Only(1, 2)\n\treturn &api{hc: c}, err\n}\n", []string{"turns keep-alive off (DisableKeepAlives at clean.go:", "Set DisableKeepAlives to false on the Transport"}, "MaxIdleConnsPerHost to"},
		{"a variable of its package", get + "func newAPI() *api { return &api{hc: clean.Shared(1)} }\n", []string{"turns keep-alive off (DisableKeepAlives at clean.go:"}, ""},
		{"half undone", get + make1 + "\ttr.DisableKeepAlives = false\n" + made1, []string{idle}, "turns keep-alive off"},
		{"only more idle ones", get + make1 + "\ttr.MaxIdleConnsPerHost = 16\n" + made1, []string{plain}, "keeps no idle"},
		{"in one case of two", get + "func newAPI(pooled bool) *api {\n\ttr := clean.Plain()\n\tif pooled {\n\t\ttr = clean.Pooled()\n\t}\n" + made1, []string{base + " One Transport that may be in use here comes from clean.Plain", plain, "if it is that one, use clean.Pooled"}, ""},

		{"undone", get + make1 + "\ttr.DisableKeepAlives, tr.MaxIdleConnsPerHost = false, 16\n" + made1, []string{"Use one http.Client (16, set at a.go:20) for all."}, "comes from"},
		{"undone on the client", get + "func newAPI() *api {\n\tc := clean.PlainClient()\n\tt := c.Transport.(*http.Transport)\n\tt.DisableKeepAlives = false\n\tt.MaxIdleConnsPerHost = 8\n\treturn &api{hc: c}\n}\n", []string{"Use one http.Client (8, set at"}, "comes from"},
		{"undone by a function", get + make1 + "\ttune(tr)\n" + made1 + "\nfunc tune(t *http.Transport) {\n\tt.DisableKeepAlives = false\n\tt.MaxIdleConnsPerHost = 8\n}\n", []string{"Use one http.Client (8, set at"}, "comes from"},
		{"undone on a condition", get + make1 + "\tif len(name()) > 1 {\n\t\ttr.DisableKeepAlives, tr.MaxIdleConnsPerHost = false, 16\n\t}\n" + made1, []string{"what it sets depends on something else (DisableKeepAlives at a.go:21 and MaxIdleConnsPerHost at a.go:21)", "Otherwise: use one"}, ""},
		{"replaced", get + "func newAPI() *api {\n\tc := clean.PlainClient()\n\tc.Transport = clean.Pooled()\n\treturn &api{hc: c}\n}\n", []string{"(runtime.GOMAXPROCS(0) + 1, set at clean.go:16)"}, "comes from"},
		{"replaced by one of the program", get + "func newAPI() *api {\n\tc := clean.PlainClient()\n\tc.Transport = &http.Transport{}\n\treturn &api{hc: c}\n}\n", nil, ""},
		{"set by the program itself", get + "func newAPI() *api {\n\ttr := clean.Pooled()\n\ttr.DisableKeepAlives = true\n" + made1, nil, ""},
		{"that keeps alive", get + "func newAPI() *api { return &api{hc: &http.Client{Transport: clean.Pooled()}} }\n", []string{"Use one http.Client (runtime.GOMAXPROCS(0) + 1, set at clean.go:16) for all."}, "comes from"},
		{"that sets a proxy only", get + "func newAPI() *api { return &api{hc: &http.Client{Transport: clean.Proxied(`x`)}} }\n", []string{"Use one http.Client (2: clean.Proxied leaves it unset) for all."}, "comes from"},
		{"a copy of the default one", get + "func newAPI() *api { return &api{hc: clean.Copied(1)} }\n", []string{"(32, set at clean.go:"}, "comes from"},
		{"that undoes it itself", get + "func newAPI() *api { return &api{hc: &http.Client{Transport: clean.Undone(1)}} }\n", []string{"(4, set at clean.go:"}, "comes from"},
		{"not called for these", get + "var unused = clean.PlainClient()\n\nfunc newAPI() *api { return &api{hc: &http.Client{}} }\n", nil, ""},
		{"the default client", "var unused = clean.PlainClient()\n\nfunc get(r *http.Request) {\n\thttp.Get(name()) // 1\n}\n", nil, ""},
		{"as it is asked", get + "func newAPI() *api { return &api{hc: &http.Client{Transport: clean.Asked(no())}} }\n", []string{"what it sets depends on something else (DisableKeepAlives at clean.go:"}, "opens a connection of its own"},
		{"sometimes", get + "func newAPI() *api { return &api{hc: &http.Client{Transport: clean.Sometimes(n)}} }\n", []string{"what it sets depends on something else (DisableKeepAlives at clean.go:"}, "opens a connection of its own"},
		{"one of two that it returns", get + "func newAPI() *api { return &api{hc: clean.Either(n)} }\n", []string{"what it sets depends on something else (DisableKeepAlives at clean.go:10 and MaxIdleConnsPerHost at clean.go:11)"}, "opens a connection of its own"},
		{"a pool of the library", "var pool sync.Pool\n\nfunc get(r *http.Request) {\n\tpool.Get().(*http.Client).Do(r) // 1\n}\n", nil, ""},
		{"a number that is not known", get + make1 + "\ttr.DisableKeepAlives, tr.MaxIdleConnsPerHost = false, conf.idle\n" + made1, []string{"(conf.idle, set at a.go:20)"}, "comes from"},
		{"set where it may not be called", get + "func newAPI() *api { return &api{hc: clean.PlainClient()} }\n\nfunc (a *api) pooled() { a.hc.Transport = clean.Pooled() }\n", []string{"One Transport that may be in use here comes from clean.PlainClient", plain}, ""},
		{"an option that nobody uses", get + "func newAPI() *api { return &api{hc: clean.PlainClient()} }\n\nfunc with(hc *http.Client) func(*api) { return func(a *api) { a.hc = hc } }\n", []string{"One Transport that may be in use here comes from clean.PlainClient", plain}, ""},
		{"given to others there", get + "func newAPI() *api { return &api{hc: &http.Client{Transport: clean.Tuned()}} }\n", []string{"its source does not show all that it sets: look there first"}, "opens a connection of its own"},
		{"changed in its package", get + "func newAPI() *api { return &api{hc: clean.Later(1)} }\n", []string{"its source does not show all that it sets"}, "opens a connection of its own"},
		{"without source", get + "func newAPI() *api { return &api{hc: other.New()} }\n", []string{"the Transport comes from other.New at a.go:18, whose source the recording does not have: look there first. With DisableKeepAlives, or a MaxIdleConnsPerHost below 0", "Otherwise: use one"}, "opens a connection of its own"},
		{"a method without source", get + "func newAPI() *api {\n\tx := other.Config()\n\treturn &api{hc: x.Client(1)}\n}\n", []string{"comes from x.Client at a.go:20, whose source"}, ""},
		{"without source, but set", get + "func newAPI() *api {\n\ttr := other.New()\n\ttr.DisableKeepAlives = false\n\ttr.MaxIdleConnsPerHost = 9\n" + made1, []string{"(9, set at a.go:21)"}, "comes from"},
		{"a field of something else", get + make1 + "\tset := options{}\n\tset.DisableKeepAlives = false\n" + made1 + "\ntype options struct{ DisableKeepAlives bool }\n", []string{plain, sibling}, ""},
		{"a Transport without connections", get + "func newAPI() *api { return &api{hc: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) { return nil, nil })}} }\n\ntype roundTrip func(r *http.Request) (*http.Response, error)\n", nil, ""},
	} {
		text := head + c.source
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(text))
		r.Put(recording.Entry{Path: recording.DependencyPath("example.com/go-clean", "clean.go"), Kind: recording.Dependency, Source: "/cache/clean.go"}, []byte(cleanSource))
		before, _, _ := strings.Cut(text, "// 1\n")
		frames := []stack.Frame{{Func: "net/http.(*Client).Do", File: "client.go", Line: 1}, {Func: "main.(*api).get", File: "a.go", Line: 1 + strings.Count(before, "\n")}}
		f := Finding{Advice: base, Severity: Warning}
		tellDependency(&f, NewInput(session.New(r.Open())).code, frames, func(f stack.Frame) bool { return f.File == "a.go" })
		for _, want := range c.says {
			if !strings.Contains(f.Advice, want) {
				t.Errorf("%s: %q is not in: %s", c.name, want, f.Advice)
			}
		}
		if c.says == nil && f.Advice != base || c.not != "" && strings.Contains(f.Advice, c.not) {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}

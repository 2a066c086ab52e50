package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// FuzzDependency: whatever the sources of a foreign recording say of Transports, in the program and in a package that it imports, as long as
// they parse, where the Transport of a request comes from has an answer.
func FuzzDependency(f *testing.F) {
	const use = "func get(c *http.Client) {\nc.Do(nil)\nhc.Get(a)\nhttp.Get(a)\n}\nvar hc = clean.New()\nvar c = &http.Client{Transport: t{hc.Transport}}\ntype t struct { http.RoundTripper }\nfunc main() {\nx, err := clean.Plain(), hc\nx.DisableKeepAlives = false\nget(&http.Client{Transport: x})\nhc.Transport = x\nget(err)\n}"
	for _, made := range []string{
		cleanSource,
		"func New() *http.Client {\nreturn &http.Client{Transport: Plain()}\n}\nfunc Plain() (t *http.Transport) {\nt = Plain()\nt.DisableKeepAlives = true\nreturn\n}",
		"var d = New()\nfunc New() *http.Client {\nc := d\nif c == nil {\nc = &http.Client{}\nc.Transport = d.Transport.(*http.Transport).Clone()\n}\nd = c\nreturn c\n}\nfunc Plain() http.RoundTripper { return New().Transport }",
		"func New(n ...int) *http.Client {\nfor _, t := range []*http.Transport{{}, nil} {\nset(t)\nfunc() { t.MaxIdleConnsPerHost = -n[0] }()\n}\nswitch {\ncase len(n) > 1:\nreturn nil\n}\nreturn &http.Client{nil}\n}\nfunc set(t *http.Transport) *http.Transport {\nset(t).DisableKeepAlives = !t.DisableKeepAlives\nreturn set(t)\n}",
	} {
		f.Add(use, strings.TrimPrefix(made, "package clean\n"))
	}
	f.Fuzz(func(t *testing.T, use, made string) {
		r := recordingtest.New("title x")
		use = "package main\n\nimport (\n\t\"net/http\"\n\t\"example.com/go-clean\"\n)\n\n" + use
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(use))
		r.Put(recording.Entry{Path: recording.DependencyPath("example.com/go-clean", "clean.go"), Kind: recording.Dependency, Source: "/cache/clean.go"}, []byte("package clean\n"+made))
		c := NewInput(session.New(r.Open())).code
		if c.parse("a.go") == nil {
			return
		}
		for line := range min(strings.Count(use, "\n")+2, 40) {
			finding := Finding{Advice: "Use one http.Client " + perHostDefault + " for all."}
			for _, calls := range []string{"net/http.(*Client).Do", "net/http.Get"} {
				tellDependency(&finding, c, []stack.Frame{{Func: calls, File: "client.go", Line: 1}, {Func: "main.get", File: "a.go", Line: line}}, func(f stack.Frame) bool { return f.File == "a.go" })
			}
		}
	})
}

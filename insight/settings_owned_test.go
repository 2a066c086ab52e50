package insight

import (
	"go/ast"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestTransportOwn: settings that come from what the function is given belong to whoever gives them.
func TestTransportOwn(t *testing.T) {
	for source, want := range map[string]string{
		"func f(t tenant) *http.Transport { return &http.Transport{TLSClientConfig: dial(t)} }":                                              "TLSClientConfig",
		"func f(t tenant) *http.Transport {\nc := dial(t)\nreturn &http.Transport{TLSClientConfig: c}\n}":                                    "TLSClientConfig",
		"func f(p *url.URL) *http.Transport { return &http.Transport{Proxy: http.ProxyURL(p)} }":                                             "Proxy",
		"func (c *api) f() *http.Transport { return &http.Transport{TLSClientConfig: c.tls} }":                                               "",
		"func f(n int) *http.Transport { return &http.Transport{MaxIdleConnsPerHost: n} }":                                                   "",
		"func f() *http.Transport {\nd := &net.Dialer{Timeout: 5}\nreturn &http.Transport{DialContext: d.DialContext}\n}":                    "",
		"func f() *http.Transport { return &http.Transport{DialContext: func(ctx context.Context) (net.Conn, error) { return dial(ctx) }} }": "",
	} {
		d := newDerivations(codeOf("package main\n\nimport \"net/http\"\n\n" + source + "\n"))
		for _, decl := range d.t.decls {
			var x ownTransport
			ast.Inspect(decl, func(n ast.Node) bool {
				if lit, ok := n.(*ast.CompositeLit); ok && isTransport(lit) {
					x = ownTransport{in: []*ast.FuncDecl{decl}, made: lit}
				}
				return true
			})
			if x.made != nil && transportOwn(d, x) != want {
				t.Errorf("%s: %q", source, transportOwn(d, x))
			}
		}
	}
}

// TestLimiterShared: a limiter that is asked at several lines, or changed, is not judged by one of them.
func TestLimiterShared(t *testing.T) {
	for source, want := range map[string]bool{
		"func f() { l.Wait(ctx) }":                             false,
		"func f() {\nl.Wait(ctx)\nwg.Wait()\n}":                false,
		"func f() {\nl.Wait(ctx)\nl.WaitN(ctx, 3)\n}":          true,
		"func f() { l.Wait(ctx) }\nfunc g() { l.SetLimit(5) }": true,
	} {
		r := recordingtest.New("title x")
		withSource(r, "a.go", "package main\n\n"+source+"\n")
		if got := limiterShared(NewInput(session.New(r.Open())).code); got != want {
			t.Errorf("%s: %v", source, got)
		}
	}
}

// TestTableChanges: a turn that changes the working directory, flags, or what may be a file may change what is read.
func TestTableChanges(t *testing.T) {
	for source, want := range map[string]bool{
		"os.Chdir(dir)":                            true,
		"flag.Set(\"dir\", dir)":                   true,
		"out.Flush()":                              true,
		"fmt.Fprintln(out, 1)":                     true,
		"fmt.Fprintln(os.Stdout, 1)":               false,
		"fmt.Println(1)":                           false,
		"var b bytes.Buffer\nb.WriteString(\"x\")": false,
		"h.Write(data)":                            false,
		"use(m)":                                   false,
	} {
		d := newDerivations(codeOf("package main\n\nimport (\"bytes\"; \"fmt\"; \"os\"; \"flag\")\n\nfunc f() {\nfor {\n" + source + "\n}\n}\n"))
		for _, decl := range d.t.decls {
			if _, found := tableChanges(d, decl, decl.Body, nil); found != want {
				t.Errorf("%s: %v", source, found)
			}
		}
	}
}

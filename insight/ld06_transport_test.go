package insight

import (
	"go/ast"
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestTransportFor: a Transport that is made on the way of a request, in a function that it calls too, is told from one that
// is kept, that belongs to somebody else, or that is made once.
func TestTransportFor(t *testing.T) {
	const served = "net/http.(*conn).serve"
	for _, c := range []struct {
		name, source, outer string
		at                  string // a text in the line of what makes it; "" for none
		given               bool
	}{
		{"in the handler", "func get(w http.ResponseWriter, r *http.Request) {\n\tc := &http.Client{Transport: &http.Transport{}} // here\n\tc.Do(r) // 1\n}\n", served, "// here", false},
		{"by a variable", "func get(w http.ResponseWriter, r *http.Request) {\n\ttr := &http.Transport{MaxIdleConnsPerHost: 8} // here\n\tc := &http.Client{Transport: tr}\n\tc.Do(r) // 1\n}\n", served, "// here", false},
		{"by a function", "func transport() *http.Transport {\n\treturn &http.Transport{}\n}\n\nfunc get(w http.ResponseWriter, r *http.Request) {\n\tc := &http.Client{Transport: transport()} // here\n\tc.Do(r) // 1\n}\n", served, "// here", true},
		{"a builder's", "type api struct{ shared http.RoundTripper }\ntype call struct{ tr http.RoundTripper }\n\nfunc (a *api) transport() http.RoundTripper {\n\treturn &http.Transport{}\n}\n\nfunc (a *api) get() *call {\n\tc := &call{}\n\tc.tr = a.shared\n\tif c.tr == nil {\n\t\tc.tr = a.transport() // here\n\t}\n\treturn c\n}\n\nfunc (c *call) do(r *http.Request) {\n\thc := &http.Client{Transport: c.tr}\n\thc.Do(r) // 1\n}\n\nfunc (a *api) serve(w http.ResponseWriter, r *http.Request) {\n\ta.get().do(r) // 2\n}\n", served, "// here", true},
		{"a client of its own for each", "type api struct{ hc *http.Client }\n\nfunc newAPI() *api {\n\treturn &api{hc: &http.Client{Transport: &http.Transport{}}} // here\n}\n\nfunc (a *api) get(r *http.Request) {\n\ta.hc.Do(r) // 1\n}\n\nfunc serve(w http.ResponseWriter, r *http.Request) {\n\tnewAPI().get(r) // 2\n}\n", served, "// here", true},
		{"in a loop of a tool", "func get(r *http.Request) {\n\tc := &http.Client{Transport: &http.Transport{}} // here\n\tc.Do(r) // 1\n}\n\nfunc main() {\n\tfor _, r := range all {\n\t\tget(r) // 2\n\t}\n}\n", "runtime.main", "// here", false},

		{"kept where it is not there yet", "type api struct{ tr http.RoundTripper }\n\nfunc (a *api) get(w http.ResponseWriter, r *http.Request) {\n\tif a.tr == nil {\n\t\ta.tr = &http.Transport{}\n\t}\n\tc := &http.Client{Transport: a.tr}\n\tc.Do(r) // 1\n}\n", served, "", false},
		{"kept for each host", "func get(w http.ResponseWriter, r *http.Request) {\n\tc := clients[r.Host]\n\tif c == nil {\n\t\tc = &http.Client{Transport: &http.Transport{}}\n\t\tclients[r.Host] = c\n\t}\n\tc.Do(r) // 1\n}\n\nvar clients = map[string]*http.Client{}\n", served, "", false},
		{"of the package", "var client = &http.Client{Transport: &http.Transport{}}\n\nfunc get(w http.ResponseWriter, r *http.Request) {\n\tclient.Do(r) // 1\n}\n", served, "", false},
		{"another one than the one in use", "var client = &http.Client{Transport: &http.Transport{}}\n\nfunc get(w http.ResponseWriter, r *http.Request) {\n\tother := &http.Client{Transport: &http.Transport{}}\n\tuse(other)\n\tclient.Do(r) // 1\n}\n", served, "", false},
		{"a client with the default one", "func get(w http.ResponseWriter, r *http.Request) {\n\tc := &http.Client{Timeout: 5}\n\tc.Do(r) // 1\n}\n", served, "", false},
		{"made at the start", "type api struct{ hc *http.Client }\n\nfunc newAPI() *api {\n\treturn &api{hc: &http.Client{Transport: &http.Transport{}}}\n}\n\nfunc (a *api) get(w http.ResponseWriter, r *http.Request) {\n\ta.hc.Do(r) // 1\n}\n\nfunc main() {\n\thttp.HandleFunc(`/`, newAPI().get)\n}\n", served, "", false},
		{"before the loop of a tool", "func get(c *http.Client, r *http.Request) {\n\tc.Do(r) // 1\n}\n\nfunc main() {\n\tc := &http.Client{Transport: &http.Transport{}}\n\tfor _, r := range all {\n\t\tget(c, r) // 2\n\t}\n}\n", "runtime.main", "", false},
		{"once in a tool", "func main() {\n\tc := &http.Client{Transport: &http.Transport{}}\n\tc.Do(r) // 1\n}\n", "runtime.main", "", false},
	} {
		text := "package main\n\nimport \"net/http\"\n\n" + c.source
		frames := []stack.Frame{{Func: "net/http.(*Client).Do", File: "client.go", Line: 1}}
		for _, mark := range []string{"// 1\n", "// 2\n"} {
			if before, _, ok := strings.Cut(text, mark); ok {
				frames = append(frames, stack.Frame{Func: "main.f", File: "a.go", Line: 1 + strings.Count(before, "\n")})
			}
		}
		frames = append(frames, stack.Frame{Func: c.outer})
		d := newDerivations(codeOf(text))
		x, ok := transportFor(d, frames, func(f stack.Frame) bool { return f.File == "a.go" })
		if ok != (c.at != "") {
			t.Errorf("%s: %v", c.name, ok)
			continue
		}
		if !ok {
			continue
		}
		line := d.placeOf(x.made).line
		if x.given && len(x.calls) > 0 && c.name != "a client of its own for each" {
			line = d.placeOf(x.calls[len(x.calls)-1]).line
		}
		before, _, _ := strings.Cut(text, c.at)
		if want := 1 + strings.Count(before, "\n"); line != want || x.given != c.given {
			t.Errorf("%s: line %d, want %d; given %v", c.name, line, want, x.given)
		}
	}
}

// TestTransportOwn: settings that come from what the function is given belong to whoever gives them.
func TestTransportOwn(t *testing.T) {
	for source, want := range map[string]struct {
		field string
		from  settingFrom
	}{
		"func f(t tenant) *http.Transport { return &http.Transport{TLSClientConfig: dial(t)} }":                                                                                           {"TLSClientConfig", settingGiven},
		"func f(t tenant) *http.Transport {\nc := dial(t)\nreturn &http.Transport{TLSClientConfig: c}\n}":                                                                                 {"TLSClientConfig", settingGiven},
		"func f(p *url.URL) *http.Transport { return &http.Transport{Proxy: http.ProxyURL(p)} }":                                                                                          {"Proxy", settingGiven},
		"func (c *api) f() *http.Transport { return &http.Transport{TLSClientConfig: c.tls} }":                                                                                            {"TLSClientConfig", settingOwner},
		"func main() { handle(func(r *http.Request) { use(&http.Transport{Proxy: http.ProxyURL(of(r))}) }) }":                                                                             {"Proxy", settingGiven},
		"func main() { handle(func(r *http.Request) {\nc := of(r)\nuse(&http.Transport{TLSClientConfig: &tls.Config{Certificates: c}}) }) }":                                              {"TLSClientConfig", settingGiven},
		"func main() { handle(func(r *http.Request) { use((&api{tls: r.N}).f()) }) }\nfunc (c *api) f() *http.Transport { return &http.Transport{TLSClientConfig: c.tls} }":               {"TLSClientConfig", settingOwner},
		"func (c *api) do() { use(f(`here`)) }\nfunc f(name string) *http.Transport { return &http.Transport{TLSClientConfig: &tls.Config{ServerName: name}} }":                           {},
		"func (c *api) do() { use(f(lookup())) }\nfunc f(name string) *http.Transport { return &http.Transport{TLSClientConfig: &tls.Config{ServerName: name}} }":                         {"TLSClientConfig", settingGiven},
		"func f() (err error) { use(&http.Transport{DialContext: func() error { err = dial(); return err }}); return err }":                                                               {},
		"func f(n int) *http.Transport { return &http.Transport{MaxIdleConnsPerHost: n} }":                                                                                                {},
		"func f() *http.Transport {\nd := &net.Dialer{Timeout: 5}\nreturn &http.Transport{DialContext: d.DialContext}\n}":                                                                 {},
		"func f() *http.Transport { return &http.Transport{DialContext: func(ctx context.Context) (net.Conn, error) { return dial(ctx) }} }":                                              {},
		"func (c *api) do() { use(f(c.conf)) }\nfunc f(conf config) *http.Transport { return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: conf.roots}} }":                        {"TLSClientConfig", settingOwner},
		"func (c *api) do(t tenant) { use(f(c.conf), f(t.conf)) }\nfunc f(conf config) *http.Transport { return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: conf.roots}} }":     {"TLSClientConfig", settingGiven},
		"func (c *api) do(r *http.Request) { use(f(c.of[r.Host])) }\nfunc f(conf config) *http.Transport { return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: conf.roots}} }":   {"TLSClientConfig", settingGiven},
		"func main() { for _, t := range tenants { use(f(t.conf)) } }\nfunc f(conf config) *http.Transport { return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: conf.roots}} }": {"TLSClientConfig", settingGiven},
	} {
		const head = "package main\n\nimport \"net/http\"\n\ntype api struct { conf config; tls int; of map[string]config }\ntype config struct { roots int }\ntype tenant struct { conf config }\n\n"
		d := newDerivations(codeOf(head + source + "\n"))
		for _, decl := range d.t.decls {
			var x ownTransport
			ast.Inspect(decl, func(n ast.Node) bool {
				if lit, ok := n.(*ast.CompositeLit); ok && isTransport(lit) {
					x = ownTransport{in: []*ast.FuncDecl{decl}, made: lit}
				}
				return true
			})
			if x.made == nil {
				continue
			}
			if field, from := transportOwn(d, x); field != want.field || from != want.from {
				t.Errorf("%s: %q, %v", source, field, from)
			}
		}
	}
}

// TestTransportDiffers: a setting that comes from the request needs a Transport for each value, or is set in another way; how connections are kept
// is one for all.
func TestTransportDiffers(t *testing.T) {
	const head = "package main\n\nimport \"net/http\"\n\n"
	for _, c := range []struct{ name, source, says string }{
		{"a time limit", "func get(r *http.Request) {\n\td := limit(r)\n\tc := &http.Client{Transport: &http.Transport{ResponseHeaderTimeout: d}}\n\tc.Get(`u`) // 1\n}\n", "Its ResponseHeaderTimeout comes from what the function is given (d at a.go:7), and one Transport for all requests would have that of the first one. If the same values come again"},
		{"a time limit that is set later", "func get(r *http.Request) {\n\ttr := &http.Transport{}\n\ttr.ResponseHeaderTimeout = limit(r)\n\tc := &http.Client{Transport: tr}\n\tc.Get(`u`) // 1\n}\n", "Its ResponseHeaderTimeout comes from what the function is given (limit(r) at a.go:7)"},
		{"set in the function around", "func made() *http.Transport {\n\treturn &http.Transport{}\n}\n\nfunc get(r *http.Request) {\n\ttr := made()\n\ttr.MaxResponseHeaderBytes = r.ContentLength\n\tc := &http.Client{Transport: tr}\n\tc.Get(`u`) // 1\n}\n", "Its MaxResponseHeaderBytes comes from what the function is given"},
		{"a switch", "func get(r *http.Request) {\n\tc := &http.Client{Transport: &http.Transport{DisableCompression: r.FormValue(`raw`) == `1`}}\n\tc.Get(`u`) // 1\n}\n", "Its DisableCompression comes from what the function is given (r.FormValue(`raw`) == `1` at a.go:6), and one Transport for all requests would have that of the first one. Keep two Transports"},
		{"the same time limit each time", "func made(d int) *http.Client {\n\treturn &http.Client{Transport: &http.Transport{ResponseHeaderTimeout: d}}\n}\n\nfunc get(r *http.Request) {\n\tmade(5).Get(`u`) // 1\n}\n", "Make the Transport once"},
		{"how many are kept", "func get(r *http.Request) {\n\tc := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: r.N}}\n\tc.Get(`u`) // 1\n}\n", "Make the Transport once"},

		{"a function that tells the request", "func get(r *http.Request) {\n\tvar end int\n\tc := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{VerifyConnection: func(cs tls.ConnectionState) error {\n\t\tend = cs.End\n\t\treturn nil\n\t}}}}\n\tc.Get(`u`) // 1\n\tuse(end)\n}\n", "A function in its TLSClientConfig sets end of the request that makes the Transport (a.go:8)"},
		{"one that is set later", "func get(r *http.Request) {\n\tseen := &peer{}\n\tcfg := &tls.Config{}\n\tcfg.VerifyConnection = func(cs tls.ConnectionState) error {\n\t\tseen.end = cs.End\n\t\treturn nil\n\t}\n\tc := &http.Client{Transport: &http.Transport{TLSClientConfig: cfg}}\n\tc.Get(`u`) // 1\n}\n\ntype peer struct{ end int }\n", "A function in its TLSClientConfig sets seen of the request"},
		{"a method", "func get(r *http.Request) {\n\tseen := &peer{}\n\tc := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{VerifyConnection: seen.verify}}}\n\tc.Get(`u`) // 1\n}\n\ntype peer struct{ end int }\n\nfunc (p *peer) verify(cs tls.ConnectionState) error {\n\tp.end = cs.End\n\treturn nil\n}\n", "A function in its TLSClientConfig sets a field of seen of the request"},
		{"a result of the function", "func get() (end int) {\n\tc := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{VerifyConnection: func(cs tls.ConnectionState) error {\n\t\tend = cs.End\n\t\treturn nil\n\t}}}}\n\tc.Get(`u`) // 1\n\treturn end\n}\n", "A function in its TLSClientConfig sets end of the request"},
		{"a dialler that tells", "func get(r *http.Request) {\n\tvar remote string\n\tc := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {\n\t\tc, err := net.Dial(network, addr)\n\t\tremote = c.RemoteAddr().String()\n\t\treturn c, err\n\t}}}\n\tc.Get(`u`) // 1\n\tuse(remote)\n}\n", "A function in its DialContext sets remote of the request"},
		{"a function that sets its own", "func get(r *http.Request) {\n\tc := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{VerifyConnection: func(cs tls.ConnectionState) error {\n\t\tend := 0\n\t\tend = cs.End\n\t\treturn check(end)\n\t}}}}\n\tc.Get(`u`) // 1\n}\n", "Make the Transport once"},
		{"a function that counts for all", "var seen struct{ n int }\n\nfunc get(r *http.Request) {\n\tc := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{VerifyConnection: func(cs tls.ConnectionState) error {\n\t\tseen.n++\n\t\treturn nil\n\t}}}}\n\tc.Get(`u`) // 1\n}\n", "Make the Transport once"},
	} {
		text := head + c.source
		before, _, _ := strings.Cut(text, "// 1")
		frames := []stack.Frame{{Func: "net/http.(*Client).Do", File: "client.go", Line: 1}, {Func: "main.get", File: "a.go", Line: 1 + strings.Count(before, "\n")}, {Func: "net/http.(*conn).serve"}}
		f := Finding{Advice: "Read it.", Severity: Warning}
		tellTransport(&f, codeOf(text), frames, func(f stack.Frame) bool { return f.File == "a.go" })
		if !strings.HasPrefix(f.Advice, c.says) {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}

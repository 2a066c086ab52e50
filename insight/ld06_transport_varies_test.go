package insight

import (
	"go/ast"
	"strings"
	"testing"
)

// TestTransportVaries: a Transport that is made once is the same as one for each request only where its settings would be the same each
// time; the place that makes them differ is named.
func TestTransportVaries(t *testing.T) {
	const clone = "\ttr := http.DefaultTransport.(*http.Transport).Clone() // made\n"
	const proxied = "\treturn &http.Transport{Proxy: http.ProxyURL(%)} // made\n"
	proxy := func(x string) string { return strings.ReplaceAll(proxied, "%", x) }
	for _, c := range []struct {
		name, source string
		field        string
		how          settingChange
		at           string // in the line that is named
	}{
		{"a proxy in turn", "type ring struct {\n\tn atomic.Int64\n\turls []*url.URL\n}\n\nfunc (p *ring) next() *url.URL { return p.urls[int(p.n.Add(1))%len(p.urls)] }\n\nvar all ring\n\nfunc f() *http.Transport {\n" + proxy("all.next()") + "}\n", "Proxy", changesEach, "p.n.Add"},
		{"a dialer that takes a peer in turn", "type service struct {\n\tturn int\n\tpeers []string\n}\n\nfunc (s *service) f() *http.Transport {\n" + clone + "\ts.turn++\n\tpeer := s.peers[s.turn%len(s.peers)]\n\ttr.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {\n\t\treturn (&net.Dialer{}).DialContext(ctx, network, peer)\n\t}\n\treturn tr\n}\n", "DialContext", changesEach, "s.turn++"},
		{"a dialer that takes a peer in turn at each connection", "type service struct {\n\tturn int\n\tpeers []string\n}\n\nfunc (s *service) next() string {\n\ts.turn++\n\treturn s.peers[s.turn%len(s.peers)]\n}\n\nfunc (s *service) f() *http.Transport {\n\treturn &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) { return net.Dial(network, s.next()) }} // made\n}\n", "DialContext", changesEach, "s.turn++"},
		{"a configuration that is stored anew", "type config struct{ proxy *url.URL }\n\nvar current atomic.Pointer[config]\n\nfunc set(u *url.URL) {\n\tcurrent.Store(&config{u})\n}\n\nfunc serve(w http.ResponseWriter, r *http.Request) { set(nil) }\n\nfunc f() *http.Transport {\n\tc := current.Load()\n" + proxy("c.proxy") + "}\n", "Proxy", changesLater, "current.Store"},
		{"settings of the package that are reloaded", "var roots *x509.CertPool\n\nfunc reload() {\n\tfor range time.Tick(time.Hour) {\n\t\troots = load()\n\t}\n}\n\nfunc load() *x509.CertPool { return x509.NewCertPool() }\n\nfunc f() *http.Transport {\n\treturn &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}} // made\n}\n", "TLSClientConfig", changesLater, "roots = load()"},
		{"a certificate that is read each time", "func f() *http.Transport {\n\tcert, _ := tls.LoadX509KeyPair(`a.pem`, `a.key`)\n\treturn &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{cert}}} // made\n}\n", "TLSClientConfig", changesLater, "tls.LoadX509KeyPair"},
		{"set in a part of it", "var name string\n\nfunc serve(w http.ResponseWriter, r *http.Request) {\n\tname = r.Host // set\n}\n\nfunc f() *http.Transport {\n" + clone + "\ttr.TLSClientConfig.ServerName = name\n\treturn tr\n}\n", "TLSClientConfig", changesLater, "// set"},
		{"a proxy by chance", "var urls []*url.URL\n\nfunc f() *http.Transport {\n" + proxy("urls[rand.Intn(len(urls))]") + "}\n", "Proxy", changesEach, "rand.Intn"},
		{"a peer from a channel", "var peers chan *url.URL\n\nfunc f() *http.Transport {\n" + proxy("<-peers") + "}\n", "Proxy", changesEach, "<-peers"},
		{"in turn by a variable around the handler", "func main() {\n\tn, urls := 0, list()\n\thttp.HandleFunc(`/`, func(w http.ResponseWriter, r *http.Request) {\n\t\tn++\n\t\tuse(&http.Transport{Proxy: http.ProxyURL(urls[n%len(urls)])}) // made\n\t})\n}\n\nfunc list() []*url.URL { return nil }\n", "Proxy", changesEach, "n++"},
		{"in each turn of a loop", "func main() {\n\tfor _, u := range list() { // loop\n\t\tuse(&http.Transport{Proxy: http.ProxyURL(u)}) // made\n\t}\n}\n\nfunc list() []*url.URL { return nil }\n", "Proxy", changesEach, "// loop"},
		{"what a library gives", "func f() *http.Transport {\n" + proxy("vendor.Next()") + "}\n", "Proxy", changesUnseen, "vendor.Next"},

		{"a constant", "func f() *http.Transport {\n\tu, _ := url.Parse(`http://proxy:8080`)\n" + proxy("u") + "}\n", "", changesNever, ""},
		{"of the environment", "func f() *http.Transport {\n\treturn &http.Transport{Proxy: http.ProxyFromEnvironment} // made\n}\n", "", changesNever, ""},
		{"set at the start", "var target *url.URL\n\nfunc main() {\n\ttarget, _ = url.Parse(os.Args[1])\n\tuse(f())\n}\n\nfunc f() *http.Transport {\n" + proxy("target") + "}\n", "", changesNever, ""},
		{"a dialer of its own", "func f() *http.Transport {\n\tdialer := &net.Dialer{Timeout: time.Second}\n\treturn &http.Transport{DialContext: dialer.DialContext} // made\n}\n", "", changesNever, ""},
		{"a closure that dials what it is given", "func f() *http.Transport {\n" + clone + "\ttr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {\n\t\treturn (&net.Dialer{}).DialContext(ctx, network, addr)\n\t}\n\treturn tr\n}\n", "", changesNever, ""},
		{"a function that chooses for each request", "type ring struct {\n\tn int\n\turls []*url.URL\n}\n\nfunc (p *ring) next() *url.URL {\n\tp.n++\n\treturn p.urls[p.n%len(p.urls)]\n}\n\nfunc (p *ring) f() *http.Transport {\n\treturn &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return p.next(), nil }} // made\n}\n", "", changesNever, ""},
		{"made where it is not there yet", "var roots *x509.CertPool\n\nfunc pool() *x509.CertPool {\n\tif roots == nil {\n\t\troots = x509.NewCertPool()\n\t}\n\treturn roots\n}\n\nfunc f() *http.Transport {\n\treturn &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool()}} // made\n}\n", "", changesNever, ""},
		{"a counter that no setting has", "var calls int\n\nfunc f() *http.Transport {\n\tcalls++\n\treturn &http.Transport{MaxIdleConns: calls, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}} // made\n}\n", "", changesNever, ""},
		{"TLS of a plain literal", "func f() *http.Transport {\n" + clone + "\ttr.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}\n\treturn tr\n}\n", "", changesNever, ""},
	} {
		text := "package main\n\nimport (\n\t\"context\"\n\t\"crypto/tls\"\n\t\"crypto/x509\"\n\t\"math/rand\"\n\t\"net\"\n\t\"net/http\"\n\t\"net/url\"\n\t\"os\"\n\t\"sync/atomic\"\n\t\"time\"\n\n\t\"example.com/vendor\"\n)\n\n" + c.source
		d := newDerivations(codeOf(text))
		var x ownTransport
		for _, decl := range d.t.decls {
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				lit, is := n.(*ast.CompositeLit)
				call, made := n.(*ast.CallExpr)
				if is && isTransport(lit) || made && makesTransport(d, call) {
					x = ownTransport{in: []*ast.FuncDecl{decl}, made: n}
				}
				return true
			})
		}
		if x.made == nil {
			t.Errorf("%s: none is made", c.name)
			continue
		}
		got, line := x.varies(d), 0
		if before, _, ok := strings.Cut(text, c.at); ok && c.at != "" {
			line = 1 + strings.Count(before, "\n")
		}
		if got.how != c.how || got.field != c.field || got.at.line != line {
			t.Errorf("%s: %s, %d at line %d (%s), want %s, %d at line %d", c.name, got.field, got.how, got.at.line, got.says, c.field, c.how, line)
		}
	}
}

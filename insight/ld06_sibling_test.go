package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// adviceOn is what tell says, after an advice, of the requests that the line with "// 1" of a source makes, with a package clean that it imports.
func adviceOn(text, made, advice string, tell func(*Finding, *code, []stack.Frame, func(stack.Frame) bool)) Finding {
	r := recordingtest.New("title x")
	r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(text))
	r.Put(recording.Entry{Path: recording.DependencyPath("example.com/go-clean", "clean.go"), Kind: recording.Dependency, Source: "/cache/clean.go"}, []byte(made))
	before, _, _ := strings.Cut(text, "// 1\n")
	frames := []stack.Frame{{Func: "net/http.(*Client).Do", File: "client.go", Line: 1}, {Func: "main.get", File: "a.go", Line: 1 + strings.Count(before, "\n")}}
	f := Finding{Advice: advice, Severity: Warning}
	tell(&f, NewInput(session.New(r.Open())).code, frames, func(f stack.Frame) bool { return f.File == "a.go" })
	return f
}

// TestSiblings: a function is named in the place of another one where its source shows that it differs in what keeps connections alone.
func TestSiblings(t *testing.T) {
	const head = "package clean\n\nimport (\n\t\"crypto/tls\"\n\t\"net\"\n\t\"net/http\"\n\t\"runtime\"\n\t\"time\"\n)\n\n"
	const base = "func base() *http.Transport {\n\treturn &http.Transport{\n\t\tProxy: http.ProxyFromEnvironment,\n\t\tDialContext: (&net.Dialer{\n\t\t\tTimeout: 30 * time.Second,\n\t\t}).DialContext,\n\t\tMaxIdleConns: 100,\n\t\tMaxIdleConnsPerHost: runtime.GOMAXPROCS(0) + 1,\n\t}\n}\n\n"
	const plain = "func Plain() *http.Transport {\n\tt := base()\n\tt.DisableKeepAlives = true\n\tt.MaxIdleConnsPerHost = -1\n\treturn t\n}\n\n"
	const off = "func Plain() *http.Transport {\n\tt := base()\n\t%\n\tt.DisableKeepAlives = true\n\treturn t\n}\n\n"
	pooled := func(more string) string {
		return "func Pooled() *http.Transport {\n\tt := base()\n\t" + more + "\n\treturn t\n}\n\n"
	}
	both := func(a, b string) string { return strings.Replace(off, "%", a, 1) + pooled(b) }
	const client = "func Plain() *http.Client { return &http.Client{Transport: off()} }\n\nfunc off() *http.Transport {\n\tt := base()\n\tt.DisableKeepAlives = true\n\treturn t\n}\n\n"
	for _, c := range []struct {
		name, made string
		same       bool
	}{
		{"of the same base", plain + "func Pooled() *http.Transport { return base() }\n", true},
		{"the base itself", strings.ReplaceAll(plain+base, "base()", "Pooled()"), true},
		{"a longer idle time and more connections", both("", "t.IdleConnTimeout, t.MaxIdleConns = 90*time.Second, 500"), true},
		{"the same further settings, in another order", both("t.Proxy = nil\n\tt.TLSClientConfig = &tls.Config{}", "t.TLSClientConfig = &tls.Config{}\n\tt.Proxy = nil"), true},
		{"the same by a variable", both("d := &net.Dialer{}\n\tt.DialContext = d.DialContext", "d := &net.Dialer{}\n\tt.DialContext = d.DialContext"), true},
		{"written out", strings.ReplaceAll(plain, "base()", "&http.Transport{Proxy: nil}") + "func Pooled() *http.Transport { return &http.Transport{Proxy: nil, MaxConnsPerHost: 10} }\n", true},
		{"a client", client + "func Pooled() *http.Client {\n\tc := &http.Client{}\n\tc.Transport = base()\n\treturn c\n}\n", true},
		{"copies of the default one", strings.ReplaceAll(plain, "base()", "http.DefaultTransport.(*http.Transport).Clone()") + "func Pooled() *http.Transport { return http.DefaultTransport.(*http.Transport).Clone() }\n", true},
		{"the same is told to somebody", both("count(`made`)", "count(`made`)"), true},
		{"set up for HTTP/2", both("http2.ConfigureTransport(t)", "http2.ConfigureTransport(t)"), true},

		{"another dialer", both("", "t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {\n\t\treturn net.Dial(`unix`, `/run/a.sock`)\n\t}"), false},
		{"another function that dials", both("t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) { return net.Dial(`tcp`, addr) }", "t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) { return net.Dial(`unix`, addr) }"), false},
		{"the same by a variable that is another one", both("d := &net.Dialer{}\n\tt.DialContext = d.DialContext", "d := &net.Dialer{LocalAddr: lo}\n\tt.DialContext = d.DialContext"), false},
		{"no check of certificates", both("", "t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}"), false},
		{"a part of the TLS settings", both("t.TLSClientConfig = &tls.Config{}", "t.TLSClientConfig = &tls.Config{}\n\tt.TLSClientConfig.InsecureSkipVerify = true"), false},
		{"no proxy", both("", "t.Proxy = nil"), false},
		{"HTTP/2 only in one", both("t.ForceAttemptHTTP2 = true", ""), false},
		{"another effect", both("count(`plain`)", "count(`pooled`)"), false},
		{"an effect more", both("", "Live.Add(1)"), false},
		{"on a condition", both("", "if debug {\n\t\tt.Proxy = nil\n\t}"), false},
		{"given to somebody", both("tune(t)", "tune(t)"), false},
		{"it depends on what keeps connections", both("if t.DisableKeepAlives {\n\t\tt.Proxy = nil\n\t}", "if t.DisableKeepAlives {\n\t\tt.Proxy = nil\n\t}"), false},
		{"a client with a time limit", client + "func Pooled() *http.Client { return &http.Client{Transport: base(), Timeout: 5} }\n", false},
		{"a client that keeps cookies", client + "func Pooled() *http.Client { return &http.Client{Transport: base(), Jar: jar} }\n", false},
		{"wrapped", strings.ReplaceAll(client, "*http.Client { return &http.Client{Transport: off()} }", "http.RoundTripper { return off() }") + "func Pooled() http.RoundTripper { return &signing{next: base()} }\n", false},
		{"one that all share", plain + "var one = base()\n\nfunc Pooled() *http.Transport { return one }\n", false},
		{"another base", plain + "func Pooled() *http.Transport { return &http.Transport{MaxIdleConnsPerHost: 8} }\n", false},
		{"another argument", strings.ReplaceAll(plain, "base()", "of(1)") + "func Pooled() *http.Transport { return of(2) }\n\nfunc of(v uint16) *http.Transport { return &http.Transport{TLSClientConfig: &tls.Config{MinVersion: v}} }\n", false},
		{"two of the same name", plain + "func Pooled() *http.Transport { return base() }\n\nfunc base() *http.Transport { return &http.Transport{Proxy: nil} }\n", false},
		{"in another package", strings.ReplaceAll(plain, "t.DisableKeepAlives = true\n", "t.DisableKeepAlives = true\n\tt.DialContext = dial.Context\n") + pooled("t.DialContext = dial2.Context"), false},
	} {
		made := head + c.made
		if !strings.Contains(made, "Timeout: 30 * time") {
			made += base
		}
		text := "package main\n\nimport (\n\t\"net/http\"\n\n\t\"example.com/go-clean\"\n)\n\nvar hc = &http.Client{Transport: clean.Plain()}\n\nfunc get(r *http.Request) {\n\thc.Do(r) // 1\n}\n"
		if strings.Contains(c.made, "Plain() *http.Client") {
			text = strings.ReplaceAll(text, "&http.Client{Transport: clean.Plain()}", "clean.Plain()")
		}
		f := adviceOn(text, made, "Use one.", tellDependency)
		named, undone := strings.Contains(f.Advice, "Use clean.Pooled at a.go:9"), strings.Contains(f.Advice, "Set DisableKeepAlives to false")
		if strings.Contains(f.Advice, "its source does not show all") && !named && !c.same {
			continue
		}
		if named != c.same || undone == c.same || !strings.Contains(f.Advice, "Keep one of it for all requests.") {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}

// TestUndone: where no other function is like it, its settings are undone where the program can do that.
func TestUndone(t *testing.T) {
	const base = "package clean\n\nimport \"net/http\"\n\nfunc off() *http.Transport { return &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment} }\n\n"
	for name, c := range map[string]struct{ made, says, not string }{
		"a Transport":   {"func Plain() *http.Transport { return off() }", "Set DisableKeepAlives to false on the Transport that the call at a.go:5 returns, before its first request; leave its other settings", "MaxIdleConnsPerHost to"},
		"a client":      {"func Plain() *http.Client { return &http.Client{Transport: off()} }", "on the Transport of the client (client.Transport.(*http.Transport)) that the call at a.go:5 returns", "the program's own"},
		"wrapped":       {"func Plain() *http.Client { return &http.Client{Transport: &signing{next: off()}} }", "Make a Transport of the program's own with the same other settings (dialer, proxy, TLS) and with DisableKeepAlives to false", "before its first"},
		"shared":        {"var one = &http.Client{Transport: off()}\n\nfunc Plain() *http.Client { return one }", "Take a copy of the Transport (Clone of *http.Transport", "leave its"},
		"by a context":  {"func Plain() *http.Transport {\n\tt := off()\n\tt.DialContext = dial\n\treturn t\n}\n\nfunc dial(ctx context.Context, network, addr string) (net.Conn, error) {\n\treturn as(ctx.Value(user), addr)\n}\n", "Look at clean.go:14 first, which takes a value out of a context", ""},
		"a context too": {"func Plain() *http.Transport {\n\tt := off()\n\tt.DialContext = dial\n\treturn t\n}\n\nfunc dial(ctx context.Context, network, addr string) (net.Conn, error) {\n\treturn d.DialContext(ctx, network, addr)\n}\n", "Set DisableKeepAlives", "out of a context"},
	} {
		makes := "clean.Plain()"
		if strings.Contains(c.made, "Plain() *http.Transport") {
			makes = "&http.Client{Transport: clean.Plain()}"
		}
		f := adviceOn("package main\n\nimport (\"net/http\"; \"example.com/go-clean\")\n\nvar hc = "+makes+"\n\nfunc get(r *http.Request) {\n\thc.Do(r) // 1\n}\n", base+c.made, "Use one.", tellDependency)
		if !strings.Contains(f.Advice, c.says) || c.not != "" && strings.Contains(f.Advice, c.not) {
			t.Errorf("%s: %s", name, f.Advice)
		}
	}
}

// TestOneClient: one client for all requests is not advised where what it is made with may be of one of them.
func TestOneClient(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"net/http\"\n\t\"os\"\n\n\t\"example.com/go-clean\"\n)\n\n"
	const made = "package clean\n\nimport \"net/http\"\n\nfunc As(user string) *http.Transport { return &http.Transport{DisableKeepAlives: true, DialContext: dialAs(user)} }\n\nfunc Plain() *http.Transport { return &http.Transport{DisableKeepAlives: true} }\n"
	const advice = "Read it; use one http.Client for all requests; and more."
	handler := func(body string) string {
		return "func page(w http.ResponseWriter, r *http.Request) {\n" + body + "\tc.Do(r) // 1\n}\n"
	}
	const plain = "use one http.Client for all requests; and"
	for _, c := range []struct {
		name, source, says string
		of                 string // in the advice of tellDependency
	}{
		{"of the user", handler("\tuser := r.URL.Query().Get(`u`)\n\tc := &http.Client{Transport: clean.As(user)}\n"), "use one http.Client for each user (a.go:12), kept in a map by that with a bound, and never one for all", "Keep one of it for each user (a.go:12), in a map by that with a bound, and never one for all"},
		{"by a function", handler("\tc := of(r.Header.Get(`u`))\n") + "\nfunc of(name string) *http.Client { return &http.Client{Transport: clean.As(name)} }\n", "for each name (a.go:", "for each name (a.go:"},
		{"of each of some", "func all(users []string) {\n\tfor _, u := range users {\n\t\tc := &http.Client{Transport: clean.As(u)}\n\t\tc.Do(r) // 1\n\t}\n}\n", "for each u (", "for each u ("},
		{"of a channel", handler("\tc := &http.Client{Transport: clean.As(<-names)}\n"), "for each <-names (", "for each <-names ("},
		{"filled in", handler("\tvar q query\n\tjson.NewDecoder(r.Body).Decode(&q)\n\tc := &http.Client{Transport: clean.As(q.user)}\n") + "type query struct{ user string }\n", "for each q.user (", "for each q.user ("},
		{"of the value", "type api struct{ user string }\n\nfunc (a *api) get(r *http.Request) {\n\tc := &http.Client{Transport: clean.As(a.user)}\n\tc.Do(r) // 1\n}\n", "for each value that has its own a.user (", "Keep it in the value that has a.user ("},
		{"not seen", handler("\tc := &http.Client{Transport: clean.As(current())}\n") + "\nfunc current() string { return os.Args[1] }\n", "for all requests if current() (a.go:11) is the same for all of them, or else one for each of it", "Keep one of it for all requests if current() (a.go:11) is the same"},
		{"set afterwards", handler("\ttr := clean.Plain()\n\ttr.TLSClientConfig = certOf(r.Host)\n\tc := &http.Client{Transport: tr}\n"), "for each certOf(r.Host) (a.go:12)", "for each certOf(r.Host) (a.go:12)"},
		{"a proxy of the request", handler("\tc := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxyOf(r))}}\n"), "for each http.ProxyURL(proxyOf(r)) (a.go:11)", ""},
		{"a jar of the request", handler("\tc := &http.Client{Jar: jarOf(r)}\n"), "use one Transport for all requests, in clients that differ in jarOf(r) (a.go:11)", ""},
		{"a jar that is set", handler("\tc := &http.Client{}\n\tc.Jar = jarOf(r)\n"), "use one Transport for all requests, in clients that differ in jarOf(r) (a.go:12)", ""},
		{"a token around it", "type auth struct {\n\tnext http.RoundTripper\n\ttoken string\n}\n\n" + handler("\tc := &http.Client{Transport: &auth{clean.Plain(), r.Header.Get(`t`)}}\n"), "use one Transport for all requests, in clients that differ in r.Header.Get(`t`) (", "Keep one of it for all requests."},
		{"a field of one for each", "type api struct{ hc *http.Client }\n\nfunc newAPI(user string) *api { return &api{hc: &http.Client{Transport: clean.As(user)}} }\n\nfunc (a *api) get(r *http.Request) {\n\ta.hc.Do(r) // 1\n}\n\nfunc page(w http.ResponseWriter, r *http.Request) { newAPI(r.Host).get(r) }\n", "for each user (a.go:12)", "for each user (a.go:12)"},

		{"nothing is given", handler("\tc := &http.Client{Transport: clean.Plain()}\n"), plain, "Keep one of it for all requests."},
		{"a word", handler("\tc := &http.Client{Transport: clean.As(`app`)}\n"), plain, "Keep one of it for all requests."},
		{"a constant, by a function", handler("\tc := of(app)\n") + "\nconst app = `app`\n\nfunc of(name string) *http.Client { return &http.Client{Transport: clean.As(name)} }\n", plain, "Keep one of it for all requests."},
		{"of the environment", handler("\tuser := os.Getenv(`USER`)\n\tc := &http.Client{Transport: clean.As(user)}\n"), plain, "Keep one of it for all requests."},
		{"a variable of the package", "var name = os.Getenv(`USER`)\n\n" + handler("\tc := &http.Client{Transport: clean.As(name)}\n"), plain, "Keep one of it for all requests."},
		{"a variable that changes", "var name string\n\nfunc rename(w http.ResponseWriter, r *http.Request) { name = r.Host }\n\n" + handler("\tc := &http.Client{Transport: clean.As(name)}\n"), "for all requests if name (a.go:15) is the same", "Keep one of it for all requests if name (a.go:15) is the same"},
		{"only numbers", handler("\tn := len(r.Host)\n\tc := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}}\n"), plain, ""},
		{"a dialer", handler("\td := &net.Dialer{Timeout: 5}\n\tc := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {\n\t\tconn, err := d.DialContext(ctx, network, addr)\n\t\treturn conn, err\n\t}}}\n"), plain, ""},
		{"of the package", "var c = &http.Client{Transport: clean.As(name())}\n\n" + handler(""), plain, "Keep one of it for all requests"},
		{"another client is of the user", "var c = &http.Client{}\n\n" + handler("\tother := &http.Client{Transport: clean.As(r.Host)}\n\tother.Get(`x`)\n"), plain, ""},
		{"the default one", "func page(w http.ResponseWriter, r *http.Request) {\n\thttp.Get(r.Host) // 1\n}\n", plain, ""},
	} {
		if f := adviceOn(head+c.source, made, advice, tellOneClient); !strings.Contains(f.Advice, c.says) {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
		if f := adviceOn(head+c.source, made, advice, tellDependency); c.of != "" && !strings.Contains(f.Advice, c.of) {
			t.Errorf("%s, of the dependency: %s", c.name, f.Advice)
		}
	}
}

package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// withSource puts a source file into a recording.
func withSource(r *recordingtest.Recording, file, text string) {
	r.Put(recording.Entry{Path: "source/" + file, Kind: recording.Source, Source: file}, []byte(text))
}

// TestSameCall: what is made or loaded for each request with the same arguments is told, at the
// outermost such call, and not where the request, a closure of it or a variable decides.
func TestSameCall(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name, source string
		callee, at   string // empty where nothing is told
	}{
		{"a field of the handler", "func (a *api) handle(w http.ResponseWriter, r *http.Request) {\n\tp := NewThing(r.Context(), a.client, a.cfg.Issuer)\n}", "NewThing", "main.go:4"},
		{"a literal", "func handle(w http.ResponseWriter, r *http.Request) {\n\tp := NewThing(r.Context(), \"https://issuer\")\n}", "NewThing", "main.go:4"},
		{"the request's", "func (a *api) handle(w http.ResponseWriter, r *http.Request) {\n\tp := NewThing(r.Context(), a.client, r.Host)\n}", "", ""},
		{"a variable of the request", "func (a *api) handle(w http.ResponseWriter, r *http.Request) { host := r.Host\n\tp := NewThing(ctx, host)\n}", "", ""},
		{"a closure of a request", "func (a *api) handle(w http.ResponseWriter, r *http.Request) { host := r.Host; run(func() {\n\tp := NewThing(ctx, host)\n}) }", "", ""},
		{"a closure that is registered", "func register(host string) { http.HandleFunc(\"/\", func(w http.ResponseWriter, r *http.Request) {\n\tp := NewThing(r.Context(), host)\n}) }", "NewThing", "main.go:4"},
		{"of nothing but a client", "func (a *api) handle(w http.ResponseWriter, r *http.Request) {\n\tp := NewThing(r.Context(), a.client)\n}", "", ""},
		{"a session", "func (a *api) handle(w http.ResponseWriter, r *http.Request) {\n\tp := NewSession(r.Context(), a.cfg.Issuer)\n}", "", ""},
		{"settings", "func (a *api) handle(w http.ResponseWriter, r *http.Request) {\n\tp := a.client.FetchSettings(r.Context())\n}", "FetchSettings", "main.go:4"},
		{"messages", "func (a *api) handle(w http.ResponseWriter, r *http.Request) {\n\tp := a.client.FetchMessages(r.Context(), a.topic)\n}", "", ""},
		{"a method of what the request has", "func (a *api) handle(w http.ResponseWriter, r *http.Request) { s := a.open(r)\n\tp := s.LoadConfig(\"main\")\n}", "", ""},
	} {
		callee := "main.NewThing"
		if i := strings.IndexAny(c.source, "\n"); i > 0 {
			for _, name := range []string{"NewSession", "FetchSettings", "FetchMessages", "LoadConfig"} {
				if strings.Contains(c.source, name) {
					callee = "main." + name
				}
			}
		}
		r := served(t, 20, func(p *accounttest.Program) {
			await(p, 8*ms, "network", readNet, callee+"@other.go:9", "main.handle@main.go:4")
			p.Pass(ms)
		})
		withSource(r, "main.go", "package main\n\n"+c.source+"\n")
		f := answers(t, r, "WT06")[0]
		if c.callee == "" {
			if f.State == Found && strings.Contains(f.Summary, "same arguments") {
				t.Errorf("%s: %s", c.name, f.Summary)
			}
			continue
		}
		if f.Severity != Warning || !strings.Contains(f.Summary, "calls main."+c.callee+" in main.handle at "+c.at+" with the same arguments as all others, and waits for it: 88.") {
			t.Errorf("%s: %s %s: %s", c.name, f.State, f.Severity, f.Summary)
		}
	}
}

// TestCP18Calls: what a library compiles within requests is told whatever the text is, what the
// program makes only where its arguments are the same.
func TestCP18Calls(t *testing.T) {
	const handled = "net/http.(*conn).serve net/http.HandlerFunc.ServeHTTP main.handle:/src/main.go:4 "
	rest := column{"net/http.(*conn).serve main.other:/src/other.go:3", []int64{20}}
	for _, c := range []struct {
		name, stack, source, says string
	}{
		{"a library's compiler", handled + "example.com/expr.MustCompile example.com/expr.parse", "func handle(w http.ResponseWriter, r *http.Request) {\n\tp := expr.MustCompile(r.FormValue(\"q\"))\n}", "repeated calls of expr.MustCompile in main.handle at main.go:4"},
		{"an index of what is fixed", handled + "main.buildIndex:/src/main.go:9 sort.Strings", "func (a *api) handle(w http.ResponseWriter, r *http.Request) {\n\tp := buildIndex(a.words)\n}", "repeated calls of main.buildIndex in main.handle at main.go:4 with the same arguments"},
		{"an index of the request's", handled + "main.buildIndex:/src/main.go:9 sort.Strings", "func (a *api) handle(w http.ResponseWriter, r *http.Request) {\n\tp := buildIndex(words(r))\n}", ""},
		{"at startup", "runtime.main main.main:/src/main.go:4 main.buildIndex:/src/main.go:9 sort.Strings", "func main() {\n\tp := buildIndex(words)\n}", ""},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte("package main\n\n"+c.source+"\n"))
		withProfile(r, recording.CPU, "cpu", column{c.stack, []int64{80}}, rest)
		f := answers(t, r, "CP18")[0]
		if told := f.State == Found; told != (c.says != "") || !strings.Contains(f.Summary, c.says) {
			t.Errorf("%s: %s: %s", c.name, f.State, f.Summary)
		}
	}
}

// TestChangesType: what only makes a value, or changes another one of the type in a field, does not change what is returned; what changes a value that its user
// has does.
func TestChangesType(t *testing.T) {
	const (
		of    = "package main\n\ntype set []string\n\nfunc (s *set) add(v string) {\n\t*s = append(*s, v)\n}\n\ntype node struct {\n\tsubs set\n\tnext *node\n}\n\n"
		finds = "func find(n *node) set {\n\tvar all set\n\tcollect(n, &all)\n\treturn all\n}\n\nfunc collect(n *node, all *set) {\n\tfor _, s := range n.subs {\n\t\tall.add(s)\n\t}\n\tif n.next != nil {\n\t\tcollect(n.next, all)\n\t}\n}\n\n"
		joins = "func join(n *node, v string) {\n\tn.subs.add(v)\n}\n"
	)
	for _, c := range []struct{ name, source, want string }{
		{"while it is made", of + finds, ""},
		{"while it is made, and that of a field", of + finds + joins, ""},
		{"by who has got it", of + finds + joins + "\nfunc use(n *node) {\n\tall := find(n)\n\tall.add(\"x\")\n}\n", "a.go:6"},
		{"that of a field, which it returns", of + "func find(n *node) set {\n\treturn n.subs\n}\n\n" + joins, "a.go:6"},
		{"that of a field, to which it is set", of + "func find(n *node) set {\n\tall := n.subs\n\treturn all\n}\n\n" + joins, "a.go:6"},
		{"by a function that is given one", of + finds + "func more(s *set) {\n\ts.add(\"x\")\n}\n", "a.go:6"},
	} {
		code := codeOf(c.source)
		fn := code.function(lineWith(c.source, "func find("))
		if got := changesType(code, fn, "a.go"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

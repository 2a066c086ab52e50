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

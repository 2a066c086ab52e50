package insight

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/format/loadlog"
	"loupe/format/loadlog/loadlogtest"
	"loupe/recording"
	"loupe/session"
)

// alike is a log of 200 requests, of which 20 answers were compared: so much was the same.
func alike(share float64) *loadlog.Log {
	l := loadlogtest.Steady(200, 2*time.Second, time.Millisecond)
	l.Method, l.ServiceCPU = "GET", time.Second
	l.Likeness = []loadlog.Likeness{{Compared: 20, Bytes: 1e6, Same: int64(1e6 * share), LastBytes: 50000, SameAsFirst: int64(50000 * share), Between: 2 * time.Second}}
	return l
}

// alikeBut is alike of nearly all, changed.
func alikeBut(change func(l *loadlog.Log)) *loadlog.Log {
	l := alike(0.999)
	change(l)
	return l
}

// TestCP30Request: what makes the answers is told where the source shows that it reads nothing of the request. A line with // H is that of
// the handler, one with // R that of what it calls, which has 80 of 100 samples.
func TestCP30Request(t *testing.T) {
	const (
		server = "type server struct{ items []item; by map[string]item }\ntype item struct{ name string; labels []string }\nfunc (s *server) write(w io.Writer, kind string) {\nfor _, it := range s.items {\nfmt.Fprint(w, kind, it) // R\n}\n}\nfunc one(w io.Writer, it item) {\nfmt.Fprint(w, it.name, it.labels)\n}\n"
		handle = "func (s *server) handle(w http.ResponseWriter, r *http.Request) {\n"
	)
	for _, c := range []struct {
		name, source, says string
		frames             string // of the two lines; empty is main.(*server).handle and main.(*server).write
	}{
		{"what the server has", server + handle + "s.write(w, \"all\") // H\n}\n", "main.(*server).write rebuilds the answer to / for each request: it reads nothing of the request, and 99.9% of the content was in the previous answer; that takes 80.0% of the CPU time, 4.00 ms per request", ""},
		{"by the request's context", server + handle + "ctx := r.Context()\nif ctx.Err() == nil {\ns.write(w, \"all\") // H\n}\n}\n", "main.(*server).write rebuilds the answer", ""},
		{"only who may ask is decided by the request", server + handle + "if r.Header.Get(\"Authorization\") == \"\" {\nreturn\n}\ns.write(w, \"all\") // H\n}\n", "main.(*server).write rebuilds the answer", ""},
		{"through a buffer that the request is written to", server + handle + "var b bytes.Buffer\nb.WriteString(r.Host)\ns.write(&b, \"all\") // H\nw.Write(b.Bytes())\n}\n", "main.(*server).write rebuilds the answer", ""},
		{"what it makes, encoded", server + "func (s *server) tree() []item { return s.items }\n" + handle + "all := s.tree()\njson.NewEncoder(w).Encode(all) // H R\n}\n", "main.go:23 rebuilds the answer", "main.(*server).handle"},
		{"in a loop of its own", server + handle + "for _, it := range s.items {\none(w, it) // H R\n}\n}\n", "the loop at main.go:", "main.(*server).handle"},
		{"one element, where the request chooses which", server + handle + "ns := r.URL.Query().Get(\"ns\")\nfor _, it := range s.items {\nif it.name == ns {\ncontinue\n}\none(w, it) // H\n}\n}\nfunc two() {\nprint() // R\n}\n", "", "main.(*server).handle main.one"},
		{"a handler without a name", server + "func main() {\ns := &server{}\nhttp.HandleFunc(\"/\", func(w http.ResponseWriter, r *http.Request) {\ns.write(w, \"all\") // H\n})\n}\n", "main.(*server).write rebuilds the answer", "main.main.func1 main.(*server).write"},
		{"a handler that is made for a store", server + "func serve(s *server) http.HandlerFunc {\nreturn func(w http.ResponseWriter, r *http.Request) {\ns.write(w, \"all\") // H\n}\n}\n", "main.(*server).write rebuilds the answer", "main.serve.func1 main.(*server).write"},
		{"of a framework", server + "func (s *server) tree() []item {\nreturn s.items // R\n}\nfunc (s *server) handle(c *gin.Context) {\nc.JSON(200, s.tree()) // H\n}\n", "main.(*server).tree rebuilds the answer", "main.(*server).handle main.(*server).tree"},

		{"a buffer that the request is read into", server + handle + "var b bytes.Buffer\nio.Copy(&b, r.Body)\ns.write(w, b.String()) // H\n}\n", "", ""},
		{"a value that fills itself", server + "func (it *item) fill(r *http.Request) { it.name = r.Host }\n" + handle + "var q item\nq.fill(r)\ns.write(w, q.name) // H\n}\n", "", ""},
		{"a value that is filled, on one line", server + "func fill(r *http.Request, it *item) { it.name = r.Host }\n" + handle + "var q item; fill(r, &q); s.write(w, q.name) // H\n}\n", "", ""},
		{"a builder of the program's own", server + "type queryBuilder struct{ q []string }\nfunc newQueryBuilder(r *http.Request) *queryBuilder { return &queryBuilder{[]string{r.Host}} }\n" + handle + "b := newQueryBuilder(r)\ns.write(w, b.q[0]) // H\n}\n", "", ""},
		{"a builder that is given", server + "type QueryBuilder struct{ q []string }\nfunc show(s *server, w io.Writer, b *QueryBuilder) {\ns.write(w, b.q[0]) // R\n}\n" + handle + "show(s, w, &QueryBuilder{[]string{r.Host}}) // H\n}\n", "", "main.(*server).handle main.show"},
		{"a library calls a typed handler", server + "type input struct{ kind string }\nfunc main() {\ns := &server{}\nrest.Get(api, \"/x\", func(ctx context.Context, w io.Writer, in *input) error {\ns.write(w, in.kind) // H\nreturn nil\n})\n}\n", "", "main.main.func1 main.(*server).write"},
		{"through a channel", server + handle + "c := make(chan string, 1)\nc <- r.Host\ns.write(w, <-c) // H\n}\n", "", ""},
		{"through a field, by another name", server + "type box struct{ next *box; v string }\n" + handle + "a := &box{}\nb := &box{next: a}\nb.next.v = r.Host\ns.write(w, a.v) // H\n}\n", "", ""},
		{"by a list that the context decides", server + "func (s *server) list(ctx context.Context) []item { return s.lists[ctx.Value(\"tenant\").(string)] }\nfunc all(w io.Writer, its []item) {\nfmt.Fprint(w, its) // R\n}\n" + handle + "its := s.list(r.Context())\nall(w, its) // H\n}\n", "", "main.(*server).handle main.all"},
		{"a setting of the encoder", server + handle + "enc := json.NewEncoder(w)\nif r.FormValue(\"pretty\") != \"\" {\nenc.SetIndent(\"\", \" \")\n}\nenc.Encode(s.items) // H R\n}\n", "", "main.(*server).handle"},
		{"by the query", server + handle + "kind := r.URL.Query().Get(\"kind\")\ns.write(w, kind) // H\n}\n", "", ""},
		{"by a form, as an argument", server + handle + "s.write(w, r.FormValue(\"kind\")) // H\n}\n", "", ""},
		{"the query decides", server + handle + "kind := \"some\"\nif r.FormValue(\"full\") == \"1\" {\nkind = \"all\"\n}\ns.write(w, kind) // H\n}\n", "", ""},
		{"a case of the query", server + handle + "kind := \"some\"\nswitch r.FormValue(\"full\") {\ncase \"1\":\nkind = \"all\"\n}\ns.write(w, kind) // H\n}\n", "", ""},
		{"by the body", server + handle + "var q item\njson.NewDecoder(r.Body).Decode(&q)\ns.write(w, q.name) // H\n}\n", "", ""},
		{"by the body, read before", server + handle + "q := new(item)\nbody, _ := io.ReadAll(r.Body)\njson.Unmarshal(body, q)\ns.write(w, q.name) // H\n}\n", "", ""},
		{"by who asks", server + "func (s *server) user(r *http.Request) string { return r.Header.Get(\"X-User\") }\n" + handle + "name := s.user(r)\ns.write(w, name) // H\n}\n", "", ""},
		{"the request is handed on", server + "func (s *server) show(w http.ResponseWriter, r *http.Request) {\nfmt.Fprint(w, s.items, r.Host) // R\n}\n" + handle + "s.show(w, r) // H\n}\n", "", "main.(*server).handle main.(*server).show"},
		{"through what it calls", server + "func (s *server) show(w http.ResponseWriter, path string) {\nfmt.Fprint(w, s.by[path]) // R\n}\n" + handle + "s.show(w, r.URL.Path) // H\n}\n", "", "main.(*server).handle main.(*server).show"},
		{"a parameter of a framework", server + "func (s *server) handle(c *gin.Context) {\ns.write(c.Writer, c.Query(\"kind\")) // H\n}\n", "", ""},
		{"the context of a framework handed on", server + "func (s *server) list(c *gin.Context) {\nfmt.Fprint(c.Writer, s.by[c.Param(\"id\")]) // R\n}\nfunc (s *server) handle(c *gin.Context) {\ns.list(c) // H\n}\n", "", "main.(*server).handle main.(*server).list"},
		{"a list that the request is put into", server + handle + "kinds := []string{}\nkinds = append(kinds, r.Host)\ns.write(w, kinds[0]) // H\n}\n", "", ""},
		{"a map that the request is put into", server + handle + "kinds := map[string]string{}\nkinds[\"a\"] = r.Host\ns.write(w, kinds[\"a\"]) // H\n}\n", "", ""},
		{"a wrapper that gives who asks", server + "func wrap(f func(w http.ResponseWriter, name string)) http.HandlerFunc { return func(w http.ResponseWriter, r *http.Request) { f(w, r.Host) } }\nfunc routes(s *server, mux *http.ServeMux, auth *http.Request) {\nmux.Handle(\"/\", check(auth, func(w http.ResponseWriter, name string) {\ns.write(w, name) // H\n}))\n}\n", "", "main.routes.func1 main.(*server).write"},
	} {
		text := "package main\n\nimport (\n\"bytes\"\n\"encoding/json\"\n\"fmt\"\n\"io\"\n\"net/http\"\n)\n" + c.source
		handler, callee := strings.Count(text[:strings.Index(text, "// H")], "\n")+1, strings.Count(text[:strings.Index(text, "R\n")], "\n")+1
		frames := "main.(*server).handle main.(*server).write"
		if c.frames != "" {
			frames = c.frames
		}
		name, called, _ := strings.Cut(frames, " ")
		way := fmt.Sprintf("net/http.serverHandler.ServeHTTP:/go/server.go:1 %s:/src/main.go:%d", name, handler)
		if called != "" {
			way += fmt.Sprintf(" %s:/src/main.go:%d", called, callee)
		}
		r := underLoad(alike(0.999))
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
		withProfile(r, recording.CPU, "cpu", column{way + " fmt.Fprint:/go/print.go:1", []int64{80}}, column{"net/http.(*conn).serve:/go/server.go:1", []int64{20}})
		f := answers(t, r, "CP30")[0]
		if c.says == "" && f.State != Fine || c.says != "" && (f.State != Found || f.Severity != Warning || !strings.Contains(f.Summary, c.says)) {
			t.Errorf("%s: %s %s: %s", c.name, f.State, f.Severity, f.Summary)
		}
	}
}

// TestCP30Load: only answers that are nearly as before count, of requests that ask, and only the work of making them.
func TestCP30Load(t *testing.T) {
	const source = "package main\n\nfunc (s *server) handle(w http.ResponseWriter, r *http.Request) {\n\ts.write(w)\n}\n\nfunc (s *server) write(w io.Writer) {\n\tfor _, it := range s.items {\n\t\tfmt.Fprint(w, it)\n\t}\n}\n"
	const way = "net/http.serverHandler.ServeHTTP:/go/server.go:1 main.(*server).handle:/src/main.go:4 main.(*server).write:/src/main.go:9 fmt.Fprint:/go/print.go:1"
	two := []loadlog.Target{{Method: "GET", URL: "http://localhost/a"}, {Method: "GET", URL: "http://localhost/b"}}
	for _, c := range []struct {
		name  string
		log   *loadlog.Log
		way   string
		state State
		says  string
	}{
		{"as before", alike(0.999), "", Found, "99.9% of the content"},
		{"not quite as before", alike(0.99999), "", Found, "more than 99.9% of the content"},
		{"different", alike(0.5), "", Fine, "differ"},
		{"it drifts away", alikeBut(func(l *loadlog.Log) { l.Likeness[0].SameAsFirst = 30000 }), "", Fine, "differ"},
		{"short answers", alikeBut(func(l *loadlog.Log) { l.Likeness[0].Bytes, l.Likeness[0].Same = 18000, 18000 }), "", Fine, "900 B of content"},
		{"few answers", alikeBut(func(l *loadlog.Log) { l.Likeness[0].Compared = 2 }), "", TooLittle, "2 answers could be compared; 3 are needed"},
		{"nothing compared", alikeBut(func(l *loadlog.Log) { l.Likeness = nil }), "", NotApplicable, "its requests differ"},
		{"what it posts", alikeBut(func(l *loadlog.Log) { l.Method = "POST" }), "", Fine, "differ"},
		{"another target differs", alikeBut(func(l *loadlog.Log) { l.Targets, l.Likeness[0].Target = two, 1 }), "", Fine, "differ"},
		{"little work", alikeBut(func(l *loadlog.Log) { l.ServiceCPU = 40 * time.Millisecond }), "", Fine, "making them takes 80.0% of the CPU time"},
		{"it is sent", alike(0.999), way + " net/http.(*response).Write:/go/server.go:2 net.(*conn).Write:/go/net.go:1", TooLittle, "0 samples of requests"},
		{"a database makes it", alike(0.999), way + " database/sql.(*DB).Query:/go/sql.go:1", TooLittle, "0 samples of requests"},
	} {
		r := underLoad(c.log)
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		if c.way == "" {
			c.way = way
		}
		withProfile(r, recording.CPU, "cpu", column{c.way, []int64{80}}, column{"net/http.(*conn).serve:/go/server.go:1", []int64{20}})
		if f := answers(t, r, "CP30")[0]; f.State != c.state || !strings.Contains(f.Summary, c.says) {
			t.Errorf("%s: %s %s: %s", c.name, f.State, f.Severity, f.Summary)
		}
	}
}

// TestCP30Besides: what belongs to one request though it is not given to what makes the answer is no warning, and is named. The line with // H is
// that of the handler.
func TestCP30Besides(t *testing.T) {
	const (
		pages  = "type rw struct {\nhttp.ResponseWriter\nuser string\n}\nvar lang atomic.Value\nvar names []string\nvar shown int\n"
		handle = "func handle(w http.ResponseWriter, r *http.Request) {\npage(w) // H\n}\n"
	)
	for _, c := range []struct {
		name, source string
		severity     Severity // empty for nothing found
		says         string   // in the advice or the doubts
	}{
		{"names", pages + "func page(w io.Writer) {\nfor _, n := range names {\nfmt.Fprint(w, n)\n}\n}\n" + handle, Warning, "Keep what main.page builds"},
		{"a method of what is made for each", pages + "type tenant struct{ names []string }\nfunc page(w io.Writer, n []string) {\nfmt.Fprint(w, n)\n}\nfunc (t *tenant) ServeHTTP(w http.ResponseWriter, r *http.Request) {\npage(w, t.names) // H\n}\n", Warning, "in the tenant that serves the requests (each has its own)"},
		{"others call it, too", pages + "func page(w io.Writer, n []string) {\nfmt.Fprint(w, n)\n}\nfunc other(w http.ResponseWriter, r *http.Request) { page(w, names[1:]) }\nfunc handle(w http.ResponseWriter, r *http.Request) {\npage(w, names) // H\n}\n", Warning, "Keep what main.page builds for the call at main.go:25"},
		{"a replacer of the program", pages + "var escaper = strings.NewReplacer(\"a\", \"b\")\nfunc page(w io.Writer) {\nfmt.Fprint(w, escaper.Replace(names[0]))\n}\n" + handle, Warning, "Keep what main.page builds"},
		{"with the context, which ends it", pages + "func page(ctx context.Context, w io.Writer) {\nfor _, n := range names {\nif ctx.Err() != nil {\nreturn\n}\nfmt.Fprint(w, n)\n}\n}\nfunc handle(w http.ResponseWriter, r *http.Request) {\npage(r.Context(), w) // H\n}\n", Warning, "Keep what main.page builds"},
		{"it flushes", pages + "func page(w http.ResponseWriter) {\nfmt.Fprint(w, names)\nif f, ok := w.(http.Flusher); ok {\nf.Flush()\n}\n}\n" + handle, Warning, "Keep what main.page builds"},
		{"it sets a header", pages + "func page(w http.ResponseWriter) {\nw.Header().Set(\"Content-Type\", \"text/plain\")\nfmt.Fprint(w, names)\n}\n" + handle, Warning, "Keep what main.page builds"},
		{"what others set", pages + "func page(w io.Writer) {\nfmt.Fprint(w, names)\n}\nfunc post(w http.ResponseWriter, r *http.Request) { names = append(names, r.Host) }\n" + handle, Warning, "may be changed at main.go"},
		{"files", pages + "func page(w io.Writer) {\nb, _ := os.ReadFile(\"page\")\nfmt.Fprint(w, names, b)\n}\n" + handle, Info, "it asks the system at main.go:21"},
		{"a handler for each", pages + "func page(w io.Writer, n string) {\nfmt.Fprint(w, n)\n}\nfunc handle() {\nfor _, n := range names {\nhttp.HandleFunc(\"/\"+n, func(w http.ResponseWriter, r *http.Request) {\npage(w, n) // H\n})\n}\n}\n", Warning, "Each handler has its own n"},
		{"a handler that is made", pages + "func page(w io.Writer, n string) {\nfmt.Fprint(w, n)\n}\nfunc handle(n string) http.HandlerFunc {\nreturn func(w http.ResponseWriter, r *http.Request) {\npage(w, n) // H\n}\n}\n", Warning, "Each handler has its own n"},

		{"a writer that has the user", pages + "func page(w http.ResponseWriter) {\nfmt.Fprint(w, names, w.(*rw).user)\n}\n" + handle, "", ""},
		{"the context says who asks", pages + "func page(ctx context.Context, w io.Writer) {\nfor _, n := range names {\nif ctx.Value(\"user\") != n {\nfmt.Fprint(w, n)\n}\n}\n}\nfunc handle(w http.ResponseWriter, r *http.Request) {\npage(r.Context(), w) // H\n}\n", "", ""},
		{"the context says it in what is called", pages + "func hidden(ctx context.Context, n string) bool { return ctx.Value(\"user\") != n }\nfunc page(ctx context.Context, w io.Writer) {\nfor _, n := range names {\nif hidden(ctx, n) {\ncontinue\n}\nfmt.Fprint(w, n)\n}\n}\nfunc handle(w http.ResponseWriter, r *http.Request) {\npage(r.Context(), w) // H\n}\n", "", ""},
		{"others give the same function something else, and this handler the request as well", pages + "func page(w io.Writer, n []string, r *http.Request) {\nfor _, x := range n {\nfmt.Fprint(w, x)\n}\n}\nfunc other(w http.ResponseWriter, r *http.Request) { page(w, nil, r) }\nfunc handle(w http.ResponseWriter, r *http.Request) {\npage(w, names, r) // H\n}\n", "", ""},
		{"a header of the answer that says who asks", pages + "func page(w http.ResponseWriter) {\nfmt.Fprint(w, names, w.Header().Get(\"X-User\"))\n}\n" + handle, "", ""},
		{"a variable that is set for each request", pages + "func page(w io.Writer) {\nfmt.Fprint(w, names, lang.Load())\n}\nfunc handle(w http.ResponseWriter, r *http.Request) {\nlang.Store(r.Header.Get(\"Accept-Language\"))\npage(w) // H\n}\n", Info, "it reads lang, which is set on the way to it"},
		{"a variable of the program is a function", pages + "var now = time.Now\nfunc page(w io.Writer) {\nfmt.Fprint(w, names, now())\n}\n" + handle, Info, "it calls now at"},
		{"it counts", pages + "func page(w io.Writer) {\nshown++\nfmt.Fprint(w, names)\n}\n" + handle, Info, "it changes shown"},
		{"what it calls takes turns", pages + "func pick() string {\nshown = (shown + 1) % len(names)\nreturn names[shown]\n}\nfunc page(w io.Writer) {\nfmt.Fprint(w, names, pick())\n}\n" + handle, Info, "it changes shown"},
		{"it draws", pages + "func page(w io.Writer) {\nfmt.Fprint(w, names, rand.Text())\n}\n" + handle, Info, "draws a random"},
	} {
		text := "package main\n\nimport (\n\"context\"\n\"crypto/rand\"\n\"fmt\"\n\"io\"\n\"net/http\"\n\"os\"\n\"strings\"\n\"sync/atomic\"\n)\n" + c.source
		line := strings.Count(text[:strings.Index(text, "// H")], "\n") + 1
		name := "main.handle"
		if strings.Contains(c.source, "(t *tenant)") {
			name = "main.(*tenant).ServeHTTP"
		}
		if strings.Contains(c.source, "func(w http") {
			name += ".func1"
		}
		page := strings.Count(text[:strings.Index(text, "fmt.Fprint(w")], "\n") + 1
		r := underLoad(alike(0.999))
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
		withProfile(r, recording.CPU, "cpu", column{fmt.Sprintf("net/http.serverHandler.ServeHTTP:/go/server.go:1 %s:/src/main.go:%d main.page:/src/main.go:%d fmt.Fprint:/go/print.go:1", name, line, page), []int64{80}},
			column{"net/http.(*conn).serve:/go/server.go:1", []int64{20}})
		f := answers(t, r, "CP30")[0]
		told := f.Advice + "\n" + strings.Join(f.Doubts, "\n")
		if f.Severity != c.severity || !strings.Contains(told, c.says) {
			t.Errorf("%s: %s %s: %s\n%s", c.name, f.State, f.Severity, f.Summary, told)
		}
	}
}

// TestCP30Cards: that an answer need not be made comes before what is costly in making it, and behind what of that need not be done.
func TestCP30Cards(t *testing.T) {
	const head = "package main\n\nimport (\n\"encoding/json\"\n\"net/http\"\n\"regexp\"\n)\n\nvar items []string\n\nfunc handle(w http.ResponseWriter, r *http.Request) {\n"
	for _, c := range []struct{ name, source, library, first string }{
		{"how it is encoded", "json.NewEncoder(w).Encode(items)\n}\n", "encoding/json.(*Encoder).Encode:/go/encode.go:1", "CP30"},
		{"an expression that is compiled for each element", "for _, x := range items {\nw.Write(regexp.MustCompile(`a+`).Find([]byte(x)))\n}\n}\n", "regexp.MustCompile:/go/regexp.go:1 regexp.compile:/go/regexp.go:2", "AL14"},
	} {
		text := head + c.source
		line := strings.Count(text[:max(strings.Index(text, "json.New"), strings.Index(text, "w.Write"))], "\n") + 1
		r := underLoad(alike(0.999))
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
		withProfile(r, recording.CPU, "cpu", column{fmt.Sprintf("net/http.serverHandler.ServeHTTP:/go/server.go:1 main.handle:/src/main.go:%d %s", line, c.library), []int64{160}},
			column{"net/http.(*conn).serve:/go/server.go:1", []int64{40}})
		in := NewInput(session.New(r.Open()))
		all := Run(in)
		if !slices.ContainsFunc(all, func(f Finding) bool { return f.Rule == "CP30" && f.State == Found }) {
			t.Errorf("%s: CP30 found nothing", c.name)
		}
		if cards := Cards(in, all); len(cards) == 0 || all[cards[0].Finding].Rule != c.first {
			t.Errorf("%s: %+v", c.name, cards)
		}
	}
}

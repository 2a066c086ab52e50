package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

// TestCP28: a function that returns the same in all requests is told where its arguments were there before the request; what a request
// decides, what changes meanwhile and what has to be up to date is not, or no warning. The call is on line 5.
func TestCP28(t *testing.T) {
	const (
		handler  = "func (s *server) handle(w http.ResponseWriter, r *http.Request) { // 3\n\tdo(r)\n\tlist := s.rank(s.goods) // 5\n\tshow(w, list)\n}\n"
		ranks    = "\nfunc (s *server) rank(goods []string) string { // 9\n\treturn sum(goods)\n}\n"
		rest     = "\nfunc sum(goods []string) (all string) {\n\tfor _, g := range goods {\n\t\tall += strings.ToUpper(g)\n\t}\n\treturn all\n}\n\ntype server struct {\n\tlang string\n\tmu sync.RWMutex\n\tonce sync.Once\n\tgoods []string\n}\n\nfunc do(any) {}\n\nfunc show(http.ResponseWriter, string) {}\n"
		function = `{"name":"main.(*server).rank","file":"/src/main.go","line":9,"calls":200,"time_ns":700000000,"everywhere":{"calls":200,"time_ns":700000000,"distinct":1,"again":199,"again_ns":690000000%s}}`
	)
	// between is the handler that calls another function, which calls rank on line 5 and has a literal there.
	between := func(given, param, used string) string {
		return "func (s *server) via(goods []string, " + param + ") { // 3\n\t// as it says\n\teach(s.rank(" + used + "), func(x string) { do(x) }) // 5\n}\n\n" + ranks + "\nfunc (s *server) handle(w http.ResponseWriter, r *http.Request) {\n\ts.via(" + given + ") // 14\n}\n\nfunc each(string, func(string)) {}\n"
	}
	for _, c := range []struct {
		name, source string
		rest         string // of the counts
		loaded       bool
		state        State
		severity     Severity
		says         string
	}{
		{"from a field", handler + ranks, "", true, Found, Warning, "200 calls of main.(*server).rank had the same arguments, none of them of a request by the source, and returned the same each time: all but the first take 69.0% of the time of main.(*server).handle"},
		{"what the results hold was not seen", handler + ranks, `,"vague":true`, true, Found, Warning, "returned what looks the same"},
		{"what the arguments hold was not seen", handler + ranks, `,"partial":true`, true, Found, Warning, "had arguments that look the same"},
		{"more than was looked at of the arguments", handler + ranks, `,"partial":true,"large":true`, true, Found, Info, "had arguments that look the same"},
		{"by the request", strings.Replace(handler, "s.goods", "r.URL.Path", 1) + ranks, "", true, Fine, "", "main.(*server).rank (69.0% of the time of main.(*server).handle) returned the same for the same arguments, but the source does not show whether its arguments are a request's"},
		{"by what is made of the request", strings.Replace(strings.Replace(handler, "s.goods", "key", 1), "do(r)", "key := r.URL.Query().Get(\"q\")", 1) + ranks, "", true, Fine, "", ""},
		{"a constant", strings.Replace(handler, "s.goods", "\"all\"", 1) + ranks, "", true, Found, Warning, "main.(*server).rank"},
		{"a field that another request sets", handler + ranks + "\nfunc (s *server) put(w http.ResponseWriter, r *http.Request) {\n\ts.goods = append(s.goods, r.URL.Path)\n}\n", "", true, Found, Info, "main.(*server).rank"},
		{"a field that a request sets which is named like a beginning", handler + ranks + "\nfunc (s *server) loadGoods(w http.ResponseWriter, r *http.Request) {\n\ts.goods = append(s.goods, r.URL.Path)\n}\n", "", true, Found, Info, "main.(*server).rank"},
		{"a field that is set at the beginning", handler + ranks + "\nfunc (s *server) loadGoods(name string) {\n\ts.goods = append(s.goods, name)\n}\n", "", true, Found, Warning, "main.(*server).rank"},
		{"what it returns has the request's context", strings.Replace(handler, "s.rank(s.goods)", "s.rank(r.Context(), s.goods)", 1) + strings.NewReplacer("rank(", "rank(ctx context.Context, ", "return ", "child, _ := context.WithCancel(ctx)\n\tkept = run{child}\n\treturn ").Replace(ranks), "", true, Fine, "", ""},
		{"a context that only ends it", strings.Replace(handler, "s.rank(s.goods)", "s.rank(r.Context(), s.goods)", 1) + strings.Replace(ranks, "rank(", "rank(ctx context.Context, ", 1), "", true, Found, Warning, "main.(*server).rank"},
		{"it draws a number", handler + strings.Replace(ranks, "sum(goods)", "sum(goods)+fmt.Sprint(rand.Int())", 1), "", true, Fine, "", ""},
		{"it counts in a variable", handler + strings.Replace(ranks, "return", "asked++\n\treturn", 1) + "\nvar asked int\n", "", true, Found, Info, "main.(*server).rank"},
		{"one result differs", handler + ranks, `,"differ":1`, true, Fine, "", ""},
		{"it fails", handler + ranks, `,"fails":true`, true, Fine, "", ""},
		{"a connection", handler + ranks, `,"handles":true`, true, Found, Info, "main.(*server).rank"},
		{"networks", handler + strings.NewReplacer(") string", ") []*net.IPNet", "return sum(goods)", "_, n, _ := net.ParseCIDR(goods[0])\n\treturn []*net.IPNet{n}").Replace(ranks), `,"handles":true`, true, Found, Warning, "main.(*server).rank"},
		{"a listener", handler + strings.NewReplacer(") string", ") net.Listener", "return sum(goods)", "l, _ := net.Listen(goods[0], goods[1])\n\treturn l").Replace(ranks), `,"handles":true`, true, Found, Info, "main.(*server).rank"},
		{"a copy of the receiver, set by the request", "func (s server) handle(w http.ResponseWriter, r *http.Request) { // 3\n\ts.lang = r.Host\n\tlist := s.rank(s.goods) // 5\n\tshow(w, list)\n}\n" + strings.Replace(ranks, "(s *server)", "(s server)", 1), "", true, Fine, "", ""},
		{"in a run", handler + ranks, "", false, Fine, "", ""},
		{"without the source", "", "", true, Fine, "", ""},
		{"a helper changes an element by its address", handler + ranks + "\nfunc (s *server) put(w http.ResponseWriter, r *http.Request) {\n\tset(&s.goods[0], r.URL.Path)\n}\n\nfunc set(at *string, to string) { *at = to }\n", "", true, Found, Info, "main.(*server).rank"},
		{"a part of it is sorted", handler + ranks + "\nfunc (s *server) put(w http.ResponseWriter, r *http.Request) {\n\tx := s.goods[1:]\n\tsort(x)\n}\n\nfunc sort(x []string) { x[0] = x[1] }\n", "", true, Found, Info, "main.(*server).rank"},
		{"others only read it", handler + ranks + "\nfunc (s *server) get(w http.ResponseWriter, r *http.Request) {\n\tx := s.goods[1:]\n\tfor _, g := range x {\n\t\tshow(w, g)\n\t}\n}\n", "", true, Found, Warning, "main.(*server).rank"},
		{"by a function in a field", handler + strings.Replace(ranks, "sum(goods)", "s.by(goods)", 1) + "\ntype byName struct{ by func([]string) string }\n", "", true, Found, Info, "main.(*server).rank"},
		{"it asks the clock", handler + strings.Replace(ranks, "sum(goods)", "sum(goods) + time.Now().Format(\"2006\")", 1), "", true, Found, Info, "main.(*server).rank"},
		{"it asks the environment", handler + strings.Replace(ranks, "sum(goods)", "sum(goods) + os.Getenv(\"X\")", 1), "", true, Found, Info, "main.(*server).rank"},
		{"it waits for another", handler + strings.Replace(ranks, "return", "go do(s)\n\treturn", 1), "", true, Found, Info, "main.(*server).rank"},
		// A call of which the line has a function literal is not in that one.
		{"by the request, through another function, beside a literal", between("s.goods, r.PathValue(\"q\")", "q string", "q"), "", true, Fine, "", ""},
		{"a constant through another function, beside a literal", between("s.goods, \"all\"", "q string", "q"), "", true, Found, Warning, "main.(*server).rank"},
		{"by a form's value", strings.Replace(handler, "s.goods", "r.FormValue(\"q\")", 1) + ranks, "", true, Fine, "", ""},
		{"by a query", strings.Replace(handler, "s.goods", "r.URL.Query()[\"q\"]", 1) + ranks, "", true, Fine, "", ""},
		{"by a header", strings.Replace(handler, "s.goods", "r.Header[\"Q\"]", 1) + ranks, "", true, Fine, "", ""},
		{"by a cookie", strings.Replace(strings.Replace(handler, "s.goods", "c.Value", 1), "do(r)", "c, _ := r.Cookie(\"q\")", 1) + ranks, "", true, Fine, "", ""},
		{"by the body", strings.Replace(strings.Replace(handler, "s.goods", "body", 1), "do(r)", "body, _ := io.ReadAll(r.Body)", 1) + ranks, "", true, Fine, "", ""},
		{"by the variables of a router", strings.Replace(handler, "s.goods", "mux.Vars(r)[\"q\"]", 1) + ranks, "", true, Fine, "", ""},
		{"by a parameter of a router", strings.Replace(handler, "s.goods", "chi.URLParam(r, \"q\")", 1) + ranks, "", true, Fine, "", ""},
		{"by an element that the request chooses", strings.Replace(handler, "s.goods", "s.shelves[r.Host].goods", 1) + ranks, "", true, Fine, "", ""},
		{"an element by a constant", strings.Replace(handler, "s.goods", "s.shelves[\"all\"].goods", 1) + ranks, "", true, Found, Warning, "main.(*server).rank"},
		{"another call on the line is by the request", strings.Replace(handler, "s.rank(s.goods)", "s.rank(s.goods) + s.rank(r.URL.Path)", 1) + ranks, "", true, Fine, "", ""},
		{"others only read it, behind an interface", handler + ranks + "\ntype reader interface{ read([]string) int }\n\ntype view struct{}\n\nfunc (view) read(all []string) int { return len(all) }\n\nvar v reader = view{}\n\nfunc (s *server) get(w http.ResponseWriter, r *http.Request) {\n\tdo(v.read(s.goods))\n}\n", "", true, Found, Warning, "main.(*server).rank"},
		{"others change it behind an interface", handler + ranks + "\ntype reader interface{ read([]string) int }\n\ntype view struct{}\n\nfunc (view) read(all []string) int { all[0] = \"\"; return len(all) }\n\nvar v reader = view{}\n\nfunc (s *server) get(w http.ResponseWriter, r *http.Request) {\n\tdo(v.read(s.goods))\n}\n", "", true, Found, Info, "main.(*server).rank"},
		{"another line gives it what differs", strings.Replace(handler, "s.goods", "\"all\"", 1) + ranks + "\nfunc (s *server) other(w http.ResponseWriter, r *http.Request) {\n\tshow(w, s.rank(r.URL.Path))\n}\n", `,"distinct":9`, true, Fine, "", ""},
		{"another line calls it, of which nothing came", strings.Replace(handler, "s.goods", "\"all\"", 1) + ranks + "\nfunc (s *server) other(w http.ResponseWriter, r *http.Request) {\n\tshow(w, s.rank(r.URL.Path))\n}\n", "", true, Found, Warning, "main.(*server).rank"},
		{"it reads under a lock", strings.Replace(handler, "s.goods", "\"all\"", 1) + strings.Replace(ranks, "return sum(goods)", "s.mu.RLock()\n\tdefer s.mu.RUnlock()\n\treturn sum(s.goods)", 1), "", true, Found, Warning, "main.(*server).rank"},
		{"it does it once", strings.Replace(handler, "s.goods", "\"all\"", 1) + strings.Replace(ranks, "return", "s.once.Do(s.begin)\n\treturn", 1), "", true, Found, Info, "main.(*server).rank"},
		{"it is done for its time", strings.Replace(handler, "list := s.rank(s.goods)", "_ = s.rank(s.goods)", 1) + ranks, "", true, Found, Info, "main.(*server).rank"},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte("package main; import (\"net\"; \"net/http\"; \"strings\"; \"sync\")\n\n"+c.source+rest))
		way := "main.(*server).handle:/src/main.go:5"
		if strings.Contains(c.source, ") via(") {
			way = "main.(*server).handle:/src/main.go:14 main.(*server).via:/src/main.go:5"
		}
		withProfile(r, recording.CPU, "cpu", column{"net/http.(*conn).serve:/go/server.go:1 " + way + " main.(*server).rank:/src/main.go:10 main.sum:/src/sum.go:5", []int64{70}},
			column{"net/http.(*conn).serve:/go/server.go:1 main.(*server).handle:/src/main.go:6", []int64{30}})
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","loaded":%v,"ns":4000000000,"functions":[{"name":"main.(*server).handle","file":"/src/main.go","line":3,"calls":200,"time_ns":1000000000},%s],
"within":[{"in":0,"call":1,"around":200,"around_ns":1000000000,"calls":200,"time_ns":700000000,"distinct":200,"again":0,"again_ns":0,"most":1,"most_one":1}]}`, c.loaded, fmt.Sprintf(function, c.rest)))
		f := answers(t, r, "CP28")[0]
		if f.State != c.state || !strings.Contains(f.Summary, c.says) || f.State == Found && f.Severity != c.severity {
			t.Errorf("%s: %s %s: %s %q", c.name, f.State, f.Severity, f.Summary, f.Doubts)
		}
	}
}

// TestGivesRows: rows of a database are kept as the values that were scanned; other results are kept as they are.
func TestGivesRows(t *testing.T) {
	source := "package main\n\nimport \"database/sql\"\n\nfunc (s *store) one() *sql.Row { return nil }\nfunc (s *store) all() (*sql.Rows, error) { return nil, nil }\nfunc (s *store) names() ([]string, error) { return nil, nil }\nfunc (s *store) result() sql.Result { return nil }\n\ntype store struct{}\n"
	c := codeOf(source)
	for name, want := range map[string]string{
		"main.(*store).one": "sql.Row", "main.(*store).all": "sql.Rows", "main.(*store).names": "", "main.(*store).result": "",
		"database/sql.(*DB).QueryRowContext": "sql.Row", "database/sql.(*Stmt).Query": "sql.Rows", "database/sql.(*DB).Exec": "", "main.Query": "",
	} {
		line := 1 + strings.Count(source[:max(0, strings.Index(source, ") "+name[strings.LastIndexByte(name, '.')+1:]+"("))], "\n")
		if got := givesRows(c, name, stack.Frame{Func: name, File: "a.go", Line: line}); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

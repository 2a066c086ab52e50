package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestCP28: a function that returns the same in all requests is told where its arguments were there before the request; what a request
// decides, what changes meanwhile and what has to be up to date is not, or no warning. The call is on line 5.
func TestCP28(t *testing.T) {
	const (
		handler  = "func (s *server) handle(w http.ResponseWriter, r *http.Request) { // 3\n\tdo(r)\n\tlist := s.rank(s.goods) // 5\n\tshow(w, list)\n}\n"
		ranks    = "\nfunc (s *server) rank(goods []string) string { // 9\n\treturn sum(goods)\n}\n"
		function = `{"name":"main.(*server).rank","file":"/src/main.go","line":9,"calls":200,"time_ns":700000000,"everywhere":{"calls":200,"time_ns":700000000,"distinct":1,"again":199,"again_ns":690000000%s}}`
	)
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
		{"by the request", strings.Replace(handler, "s.goods", "r.URL.Path", 1) + ranks, "", true, Fine, "", ""},
		{"by what is made of the request", strings.Replace(strings.Replace(handler, "s.goods", "key", 1), "do(r)", "key := r.URL.Query().Get(\"q\")", 1) + ranks, "", true, Fine, "", ""},
		{"a constant", strings.Replace(handler, "s.goods", "\"all\"", 1) + ranks, "", true, Found, Warning, "main.(*server).rank"},
		{"a field that another request sets", handler + ranks + "\nfunc (s *server) put(w http.ResponseWriter, r *http.Request) {\n\ts.goods = append(s.goods, r.URL.Path)\n}\n", "", true, Found, Info, "main.(*server).rank"},
		{"it draws a number", handler + strings.Replace(ranks, "sum(goods)", "sum(goods)+fmt.Sprint(rand.Int())", 1), "", true, Fine, "", ""},
		{"it counts in a variable", handler + strings.Replace(ranks, "return", "asked++\n\treturn", 1) + "\nvar asked int\n", "", true, Found, Info, "main.(*server).rank"},
		{"one result differs", handler + ranks, `,"differ":1`, true, Fine, "", ""},
		{"it fails", handler + ranks, `,"fails":true`, true, Fine, "", ""},
		{"a connection", handler + ranks, `,"handles":true`, true, Found, Info, "main.(*server).rank"},
		{"in a run", handler + ranks, "", false, Fine, "", ""},
		{"without the source", "", "", true, Fine, "", ""},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte("package main\n\n"+c.source))
		withProfile(r, recording.CPU, "cpu", column{"net/http.(*conn).serve:/go/server.go:1 main.(*server).handle:/src/main.go:5 main.(*server).rank:/src/main.go:10 main.sum:/src/sum.go:5", []int64{70}},
			column{"net/http.(*conn).serve:/go/server.go:1 main.(*server).handle:/src/main.go:6", []int64{30}})
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","loaded":%v,"ns":4000000000,"functions":[{"name":"main.(*server).handle","file":"/src/main.go","line":3,"calls":200,"time_ns":1000000000},%s],
"within":[{"in":0,"call":1,"around":200,"around_ns":1000000000,"calls":200,"time_ns":700000000,"distinct":200,"again":0,"again_ns":0,"most":1,"most_one":1}]}`, c.loaded, fmt.Sprintf(function, c.rest)))
		f := answers(t, r, "CP28")[0]
		if f.State != c.state || !strings.Contains(f.Summary, c.says) || f.State == Found && f.Severity != c.severity {
			t.Errorf("%s: %s %s: %s %q", c.name, f.State, f.Severity, f.Summary, f.Doubts)
		}
	}
}

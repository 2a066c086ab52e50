package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/analysis/account/accounttest"
	"loupe/format/exectrace/fixture"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestWT08Counted: calls that go on at once with the same arguments are told where others that ask for the same do without; not
// where each request makes the call, one does the work for the others, or results differ.
func TestWT08Counted(t *testing.T) {
	const source = "package main\n\nfunc tile() { // 3\n\tget(1)\n}\n\nfunc get(k int) img { // 7\n\tif x, ok := kept[k]; ok {\n\t\treturn x\n\t}\n\treturn make(k) // 11\n}\n\nfunc make(k int) img { // 14\n\treturn fetch(k)\n}\n"
	const renewing = "package main\n\nfunc tile() { // 3\n\tget(1)\n}\n\nfunc get(s *store) img { // 7\n\tif time.Now().After(s.expires) {\n\n\n\t\ts.make() // 11\n\t}; return s.all }\n\nfunc (s *store) make() { // 14\n\ts.all = fetch()\n\ts.expires = later()\n}\n"
	const own = "package main\n\nfunc tile() { // 3\n\tget(1)\n}\n\nfunc get(k int) img { // 7\n\tif x, ok := store.Get(k); ok {\n\t\treturn x\n\t}\n\treturn make(k) // 11\n}\n\nfunc make(k int) img { // 14\n\tx := fetch(k)\n\tstore.SetDefault(k, x)\n\treturn x\n}\n\nvar store = gocache.New()\n"
	const around = "package main\n\nfunc tile() { // 3\n\tget(1)\n}\n\nfunc get(k int) img { // 7\n\tif x, ok := find(k); ok { return x }\n\n\n\tx := make(k) // 11\n\tstore.Set(k, x, 0); return x }\n\nfunc make(k int) img { // 14\n\treturn fetch(k)\n}\n\nfunc find(k int) (img, bool) { x, ok := store.Get(k); return x, ok }\n\nvar store = gocache.New()\n"
	const functions = `{"name":"main.tile","file":"/src/main.go","line":3,"calls":%CALLS,"time_ns":10000000000},{"name":"main.get","file":"/src/main.go","line":7,"calls":3000,"time_ns":9900000000},` +
		`{"name":"main.make","file":"/src/main.go","line":14,"calls":300,"time_ns":9000000000,"together":%TOGETHER,"together_ns":8000000000,"apart":%APART,"at_once":9},` +
		`{"name":"main.fetch","file":"/src/main.go","line":20,"calls":%WORKS,"time_ns":8000000000,"together":200,"together_ns":7000000000,"at_once":9}`
	const rows = `{"in":0,"call":2,"around":300,"around_ns":10000000000,"calls":300,"time_ns":9000000000,"distinct":300,"most":1,"most_one":1%TRAITS},` +
		`{"in":1,"call":2,"around":300,"around_ns":9000000000,"calls":300,"time_ns":9000000000,"distinct":300,"most":1,"most_one":1,"same":%SAME,"made":290%TRAITS},` +
		`{"in":2,"call":3,"around":300,"around_ns":9000000000,"calls":%WORKS,"time_ns":8000000000,"distinct":%WORKS,"most":1,"most_one":1}`
	gave := func(with *strings.Replacer) string {
		switch {
		case strings.Contains(with.Replace("%TRAITS"), "void"):
			return "did the same"
		case with.Replace("%APART") != "0":
			return "the result of each is kept by its key"
		}
		return "returned the same"
	}
	for _, c := range []struct {
		name     string
		with     []string
		source   string
		severity Severity // empty where nothing is said
	}{
		{"a cache in front of it", nil, source, Warning},
		{"each request makes it", []string{"%CALLS", "300"}, source, ""},
		{"hardly any at once", []string{"%TOGETHER", "20"}, source, ""},
		{"the results differ", []string{"%APART", "100"}, source, ""},
		{"the results differ, and it puts them into a cache", []string{"%APART", "100"}, own, Warning},
		{"the results differ, and the function around does", []string{"%APART", "100"}, around, Warning},
		{"the results differ, and something else is put there", []string{"%APART", "100"}, strings.Replace(own, "SetDefault(k, x)", "SetDefault(k, 1)", 1), ""},
		{"the results differ, and nobody looks there", []string{"%APART", "100"}, strings.Replace(own, "store.Get(k)", "other.Get(k)", 1), ""},
		{"the results differ, and they are put into what it makes itself", []string{"%APART", "100"}, strings.Replace(own, "\tx := fetch(k)", "\tstore := gocache.New(); x := fetch(k)", 1), ""},
		{"the results differ, and another one is returned", []string{"%APART", "100"}, strings.Replace(own, "return x\n}\n\nvar", "return fetch(k)\n}\n\nvar", 1), ""},
		{"nobody does without", []string{"%SAME", "290"}, source, ""},
		{"one works for the others", []string{"%WORKS", "60"}, source, ""},
		{"it returns nothing", []string{"%TRAITS", `,"void":true`}, source, ""},
		{"it returns nothing, and renews what is asked for", []string{"%TRAITS", `,"void":true`}, renewing, Warning},
		{"the same, by a function that asks", []string{"%TRAITS", `,"void":true`}, strings.Replace(renewing, "if time.Now().After(s.expires) {", "if s.expired() {", 1) + "\nfunc (s *store) expired() bool { return now > s.expires }\n", Warning},
		{"it returns nothing, and reports", []string{"%TRAITS", `,"void":true`}, strings.Replace(renewing, "s.expires = later()", "send(later())", 1), ""},
		{"it fails, and that is not kept", []string{"%TRAITS", `,"fails":true`}, source, ""},
		{"it asks the context who it is for", nil, strings.Replace(source, "return fetch(k)", "return fetch(k, ctx.Value(user))", 1), Info},
		{"it was counted no longer", []string{"%TOGETHER", `240,"cut":true`}, source, ""},
		{"a client's method", nil, strings.Replace(source, "return fetch(k)", "return kv.Do(\"GET\", k)", 1) + "\nfunc (c *client) Do(what string, k int) img { return 0 }\n", Warning},
		{"a group's method", nil, strings.Replace(source, "return fetch(k)", "return group.Do(key, load)", 1), Info},
		{"it takes a lock to set what is kept", nil, strings.Replace(source, "return fetch(k)", "x := fetch(k)\nmu.Lock()\nkept[k] = x\nmu.Unlock()\nreturn x", 1), Warning},
		{"it looks again under the lock", nil, strings.Replace(source, "return fetch(k)", "mu.Lock()\ndefer mu.Unlock()\nif x, ok := kept[k]; ok {\nreturn x\n}\nreturn fetch(k)", 1), Info},
		{"it may wait for who has begun", nil, strings.Replace(source, "return fetch(k)", "return <-begun(k)", 1), Info},
	} {
		with := strings.NewReplacer(append(c.with, "%CALLS", "3000", "%TOGETHER", "240", "%APART", "0", "%WORKS", "300", "%SAME", "2900", "%TRAITS", "")...)
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase trace 5s..7s profiler=trace\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(c.source))
		p := accounttest.New()
		p.Create(7, "main.idle", "main.main@main.go:1")
		p.Pass(500e6)
		r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, p.Text()))
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","loaded":true,"ns":4000000000,"functions":[%s],"within":[%s]}`, with.Replace(functions), with.Replace(rows)))
		f := answers(t, r, "WT08")[0]
		if told := f.State == Found; told != (c.severity != "") || told && f.Severity != c.severity {
			t.Errorf("%s: %s %s: %s", c.name, f.State, f.Severity, f.Summary)
		} else if told && !strings.Contains(f.Summary, "240 of 300 calls of main.make began while another goroutine was in one with the same arguments, up to 9 at once, and "+gave(with)+"; of 2,900 calls of main.get that had the arguments of others 290 made the call") {
			t.Errorf("%s: %s", c.name, f.Summary)
		} else if told && (len(f.Evidence) == 0 || f.Evidence[0].Line != 11) {
			t.Errorf("%s: %+v", c.name, f.Evidence)
		}
	}
}

// TestWithinRepeated: work of which most is that of calls that several make at once for the same goes under these; other work, what is more
// serious, and what counts do not tell, does not.
func TestWithinRepeated(t *testing.T) {
	many := Finding{Rule: "WT08", Severity: Warning, saves: true}
	for _, c := range []struct {
		name  string
		a, b  Finding
		marks [2][]bool
		under bool
	}{
		{"files that are read again", Finding{Rule: "CP25", Severity: Warning}, many, [2][]bool{{true, true, false}, {true, true, true}}, true},
		{"most of it is elsewhere", Finding{Rule: "CP25", Severity: Warning}, many, [2][]bool{{true, true, true}, {true, false, false}}, false},
		{"more serious", Finding{Rule: "CP25", Severity: Critical}, many, [2][]bool{{true, true, false}, {true, true, true}}, false},
		{"no work", Finding{Rule: "GC08", Severity: Warning}, many, [2][]bool{{true, true, false}, {true, true, true}}, false},
		{"of the trace alone", Finding{Rule: "CP25", Severity: Warning}, Finding{Rule: "WT08", Severity: Warning}, [2][]bool{{true, true, false}, {true, true, true}}, false},
	} {
		x := &causal{all: []Finding{c.a, c.b}, marks: map[int][]bool{0: c.marks[0], 1: c.marks[1]}, spent: &spent{counts: []int64{1, 1, 1}}}
		if got := withinRepeated(two{x, 0, 1, &x.all[0], &x.all[1]}); got != c.under {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

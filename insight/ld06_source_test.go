package insight

import (
	"strings"
	"testing"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// sourceOf is a recording's source of one file, a.go.
func sourceOf(text string) *code { return sourceInput(text).code }

// sourceInput is a recording with nothing but one source.
func sourceInput(text string) *Input {
	r := recordingtest.New("title x")
	r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(text))
	return NewInput(session.New(r.Open()))
}

// TestTellSettings: what the source sets is told first where it is that of the calls, with a
// condition where it may be, and not for others.
func TestTellSettings(t *testing.T) {
	const head = "package main\n\nimport \"net/http\"\n\n"
	frames := []stack.Frame{{Func: "main.fetch", File: "a.go", Line: 7}, {Func: "main.handle", File: "a.go", Line: 10}}
	const use = "func fetch(c *http.Client) {\nc.Get(url)\n}\nfunc handle() {\nfetch(mine)\n}\n"
	for _, c := range []struct{ name, declares, says, doubts string }{
		{"keep-alive is off", "var mine = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}", "The source turns keep-alive off (a.go:5): remove it", ""},
		{"that of another client", "var other = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}", "Reuse. One in the source turns keep-alive off (a.go:5): if that is the one in use here, remove it", ""},
		{"few idle ones of another", "var tr = &http.Transport{MaxIdleConns: 20}; var c = &http.Client{Transport: tr}", "Reuse", "one in the source keeps at most 20 idle connections to all hosts together (a.go:5)"},
		{"few idle ones", "var mine = &http.Client{Transport: &http.Transport{MaxIdleConns: 20, MaxIdleConnsPerHost: 16}}", "The source keeps at most 20 idle connections to all hosts together (a.go:5): if the program talks to more hosts", ""},
		{"none of one host", "var mine = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: -1}}", "The source keeps no idle connection (a.go:5)", ""},
		{"nothing", "var mine = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16, DisableKeepAlives: false}}", "Reuse", ""},
		{"a field of something else", "var mine = pool.Options{DisableKeepAlives: true, MaxIdleConns: 3}", "Reuse", ""},
	} {
		f := Finding{Advice: "Reuse."}
		code := connSources{sourceOf(head + c.declares + "\n" + use)}
		tellSettings(&f, code, frames, code.httpSettings())
		if doubts := strings.Join(f.Doubts, "; "); !strings.HasPrefix(f.Advice, c.says) || !strings.Contains(doubts, c.doubts) || c.doubts == "" && doubts != "" {
			t.Errorf("%s: %s; doubts %s", c.name, f.Advice, doubts)
		}
		if strings.HasPrefix(f.Advice, "The source") && (len(f.Evidence) == 0 || f.Evidence[0].Line != 5) {
			t.Errorf("%s: evidence %+v", c.name, f.Evidence)
		}
	}
	client := connSources{sourceOf(head + "var tr = &http.Transport{DisableKeepAlives: true}; var mine = &http.Client{Transport: tr}\n" + use)}
	if some, named := client.settingsOn(frames, client.httpSettings()); !named || len(some) != 1 {
		t.Errorf("the transport of the client: %v %+v", named, some)
	}
	other := connSources{sourceOf(head + "var off = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}\nfunc fetch(c *http.Client) {\nc.Get(url)\n}\nfunc handle() {\nc := off; fetch(c)\n}\n")}
	if some, named := other.settingsOn(frames, other.httpSettings()); !named || len(some) != 1 {
		t.Errorf("by another name: %v %+v", named, some)
	}
	idle := connSources{sourceOf("package main\n\nfunc main() {\na.SetMaxIdleConns(0)\nb.SetMaxIdleConns(-1)\nc.SetMaxIdleConns(16)\nb.Query(1)\n}\n")}
	if some, named := idle.settingsOn([]stack.Frame{{Func: "main.main", File: "a.go", Line: 7}}, idle.idleSettings()); !named || len(some) != 1 || some[0].at.Line != 5 {
		t.Errorf("the handle of the query: %v %+v", named, some)
	}
}

// TestUnsetPerHost: a Transport that leaves open how many idle connections to one host it keeps is named where it is
// that of the calls, before what it keeps in all.
func TestUnsetPerHost(t *testing.T) {
	const use = "}\nfunc (c *client) get() {\nc.http.Get(url)\n}\n"
	for _, c := range []struct{ name, makes, says string }{
		{"unset", "tr := &http.Transport{MaxIdleConns: 1000}\nreturn &client{http: &http.Client{Transport: tr}}", "The source keeps two idle connections to each host, since MaxIdleConnsPerHost is unset (a.go:6): set it"},
		{"set", "tr := &http.Transport{MaxIdleConns: 1000, MaxIdleConnsPerHost: 64}\nreturn &client{http: &http.Client{Transport: tr}}", "The source keeps at most 1000"},
		{"set later", "tr := &http.Transport{}; tr.MaxIdleConnsPerHost = 64\nreturn &client{http: &http.Client{Transport: tr}}", "Reuse"},
		{"set on a condition", "tr := &http.Transport{}; if n > 0 { tr.MaxIdleConnsPerHost = n }\nreturn &client{http: &http.Client{Transport: tr}}", "The source keeps two"},
		{"of another client", "tr := &http.Transport{}\nreturn &client{other: &http.Client{Transport: tr}}", "Reuse"},
	} {
		f := Finding{Advice: "Reuse."}
		code := connSources{sourceOf("package main\n\nimport \"net/http\"\n\nfunc new() *client {\n" + c.makes + "\n" + use)}
		tellSettings(&f, code, []stack.Frame{{Func: "main.(*client).get", File: "a.go", Line: 10}}, append(code.unsetPerHost(), code.httpSettings()...))
		if !strings.HasPrefix(f.Advice, c.says) {
			t.Errorf("%s: %s %q", c.name, f.Advice, f.Doubts)
		}
	}
}

// TestReadsBodies: a body is read to its end on each path where nothing but an error of the call leaves before that.
func TestReadsBodies(t *testing.T) {
	for text, want := range map[string]bool{
		"if err != nil {\nreturn err\n}\ndefer resp.Body.Close()\nb, err := io.ReadAll(resp.Body)":                          true,
		"if err != nil {\nreturn err\n}\nio.Copy(io.Discard, resp.Body)\nresp.Body.Close()":                                 true,
		"if err != nil {\nreturn err\n}\nif resp.StatusCode != 200 {\nreturn errStatus\n}\nb, err := io.ReadAll(resp.Body)": false,
		"if err != nil {\nreturn err\n}\nif resp.StatusCode == 200 {\nb, err = io.ReadAll(resp.Body)\n}":                    false,
		"if err != nil {\nreturn err\n}\nb, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))":                            false,
		"if err != nil {\nreturn err\n}\njson.NewDecoder(resp.Body).Decode(&v)":                                             false,
	} {
		code := sourceOf("package main\n\nfunc get() {\nresp, err := hc.Get(url)\n" + text + "\n}\n")
		if got := readsBodies(code, stack.Frame{Func: "main.get", File: "a.go", Line: 4}); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestTellKept: bodies that are kept for later need a connection each.
func TestTellKept(t *testing.T) {
	for text, want := range map[string]bool{
		"bodies = append(bodies, resp.Body)": true,
		"open[id] = resp":                    true,
		"streams <- resp.Body":               true,
		"go follow(resp.Body)":               true,
		"defer resp.Body.Close()\nb, err := io.ReadAll(resp.Body)\nall = append(all, b)": false,
		"return resp, nil": false,
	} {
		f := Finding{Severity: Warning, Advice: "Read it."}
		tellKept(&f, sourceOf("package main\n\nfunc get() {\nresp, err := hc.Get(url)\n"+text+"\n}\n"), stack.Frame{Func: "main.get", File: "a.go", Line: 4})
		if got := f.Severity == Info; got != want {
			t.Errorf("%s: %s", text, f.Advice)
		}
	}
}

// TestTellIdleSettings: what a handle is told to keep: none, some, none in a branch, or what another one
// keeps.
func TestTellIdleSettings(t *testing.T) {
	for _, c := range []struct{ name, sets, says string }{
		{"none", "a.SetMaxIdleConns(0)", "The source keeps no idle connection (a.go:4): set it"},
		{"some", "a.SetMaxIdleConns(16)", "The source lets the handle keep 16 idle connections (a.go:4). If no more are in use at once"},
		{"as many as are permitted", "a.SetMaxIdleConns(limit)", "The source lets the handle keep as many idle connections as limit says (a.go:4). If no more"},
		{"a constant, fewer than are in use", "a.SetMaxIdleConns(few)", "Raise the limit of idle connections (SetMaxIdleConns) to as many as may be open (SetMaxOpenConns): the source lets the handle keep 4 idle connections (few) (a.go:4), and at least 12.0 are in use at once"},
		{"a constant, more than are in use", "a.SetMaxIdleConns(enough)", "The source lets the handle keep 64 idle connections (enough) (a.go:4). If no more"},
		{"a variable that is one or the other", "n := few; if big { n = size() }; a.SetMaxIdleConns(n)", "Raise the limit of idle connections (SetMaxIdleConns) to as many as may be open (SetMaxOpenConns): the source lets the handle keep as many idle connections as n says (4, or as many as size() says) (a.go:4)"},
		{"a variable that is enough, or another", "n := enough; if big { n = size() }; a.SetMaxIdleConns(n)", "The source lets the handle keep as many idle connections as n says (64, or as many as size() says) (a.go:4). If no more"},
		{"a variable of another function", "f := func(n int) { a.SetMaxIdleConns(n) }; f(2)", "The source lets the handle keep as many idle connections as n says (a.go:4)"},
		{"none in a branch", "switch mode { case 1: a.SetMaxIdleConns(0)\n}", "Keep some. One in the source keeps no idle connection (a.go:4): if that is the one in use here, set it"},
		{"some in a branch", "if proxy { a.SetMaxIdleConns(16) }", "Keep some."},
		{"none of another", "b.SetMaxIdleConns(0)", "Keep some. One in the source keeps no idle connection (a.go:4): if that is"},
		{"some of another", "b.SetMaxIdleConns(16)", "Keep some."},
	} {
		f := Finding{Advice: "Keep some."}
		code := connSources{sourceOf("package main\n\nfunc main() {\n" + c.sets + "\na.Query(1)\n}\n\nconst (\n\tfew = 4\n\tenough = 64\n)\n")}
		line := 5 + strings.Count(c.sets, "\n")
		tellIdleSettings(&f, code, []stack.Frame{{Func: "main.main", File: "a.go", Line: line}}, code.idleSettings(), 12)
		if c.says == "Keep some." && f.Advice != c.says || !strings.HasPrefix(f.Advice, c.says) {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}

// TestTellOnlyCall: the only call that says how many idle connections the only handle may keep is where the advice begins.
func TestTellOnlyCall(t *testing.T) {
	const one, two = "func main() {\n\tdb := sql.OpenDB(c)\n", "func main() {\n\tdb, other := sql.OpenDB(c), sql.OpenDB(d)\n"
	for _, c := range []struct{ name, text, says string }{
		{"on a condition", one + "\tif n > 0 {\n\t\tdb.SetMaxIdleConns(n)\n\t}\n}\n", "The source calls SetMaxIdleConns at a.go:6, on a condition; without it, it stays two: see how many that is. Keep some."},
		{"a number that nobody shows", one + "\tdb.SetMaxIdleConns(read())\n}\n", "The source calls SetMaxIdleConns at a.go:5: see how many that is. Keep some."},
		{"one of two handles", two + "\tother.SetMaxIdleConns(read())\n}\n", "Keep some."},
		{"two calls", one + "\tdb.SetMaxIdleConns(read())\n\tdb.SetMaxIdleConns(n)\n}\n", "Keep some."},
	} {
		f := Finding{Advice: "Keep some."}
		code := connSources{sourceOf("package main\n\n" + c.text)}
		if tellOnlyCall(&f, code, code.idleSettings()); f.Advice != c.says {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}

// TestTellPart: who reads a part of a body on purpose is not told to read all of it.
func TestTellPart(t *testing.T) {
	for text, part := range map[string]bool{
		"head := make([]byte, 512)\nio.ReadFull(resp.Body, head)":      true,
		"io.ReadFull(resp.Body, head)\nio.Copy(io.Discard, resp.Body)": false,
		"json.NewDecoder(resp.Body).Decode(&v)":                        false,
		"b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))":       false,
		"io.ReadFull(r, head)":                                         false,
	} {
		f := Finding{Severity: Warning, Advice: "Read it."}
		tellPart(&f, sourceOf("package main\n\nfunc preview() {\nresp, err := hc.Get(url)\n"+text+"\n}\n"), stack.Frame{Func: "main.preview", File: "a.go", Line: 4})
		if got := f.Severity == Info && strings.Contains(f.Advice, "a Range header"); got != part {
			t.Errorf("%s: %v %s", text, f.Severity, f.Advice)
		}
	}
}

// TestOpensWith: a handle for each database is told from one for each request.
func TestOpensWith(t *testing.T) {
	const open = "package main\n\nfunc open(name string) {\nsql.Open(\"x\", name)\n}\n"
	for text, want := range map[string]dsn{
		"func handle() {\nopen(\"shop\")\n}":              dsnSame,
		"func handle() {\nopen(tenantOf(request))\n}":     dsnOther,
		"func handle() {\nfind(func() { open(name) })\n}": dsnSame, // of the package
	} {
		got := connSources{sourceOf(open + text)}.opensWith([]stack.Frame{{Func: "database/sql.Open", File: "sql.go", Line: 1}, {Func: "main.open", File: "a.go", Line: 4}, {Func: "main.handle", File: "a.go", Line: 7}})
		if got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if got := (connSources{sourceOf(open)}).opensWith([]stack.Frame{{Func: "main.connect", File: "b.go", Line: 4}}); got != dsnUnknown {
		t.Errorf("without its source: %v", got)
	}
}

// TestAnswersAt: two waits for one answer are one answer.
func TestAnswersAt(t *testing.T) {
	s := newScene(t)
	reads, writes := s.stack("runtime.selectgo", readLoop), s.stack("runtime.chansend1", writeLoop)
	ends := s.stack("runtime.closechan", "context.(*cancelCtx).cancel", "context.WithDeadlineCause.func2")
	for _, c := range []struct {
		wakers []sched.Waker
		want   int64
	}{
		{[]sched.Waker{{Stack: reads, Count: 90}, {Stack: writes, Count: 100}}, 100},
		{[]sched.Waker{{Stack: reads, Count: 100}, {Stack: writes, Count: 20}, {Stack: 0, Count: 5}}, 100},
		{nil, 200},
		{[]sched.Waker{{Stack: reads, Count: 50}, {Stack: writes, Count: 100}, {Stack: ends, Count: 50}}, 50},
		{[]sched.Waker{{Stack: reads, Count: 30}, {Stack: writes, Count: 100}, {Stack: 0, Count: 60}}, 40},
		{[]sched.Waker{{Stack: 0, Count: 200}}, 0}, // each by its time limit
	} {
		b := s.block("main.serve", exectrace.NameSelect, 200, 1, s.stack("runtime.selectgo", roundTrip, "main.serve"), 0)
		b.Wakers = c.wakers
		if got := s.input().trace().answersAt(b); got != c.want {
			t.Errorf("%+v: %d answers, want %d", c.wakers, got, c.want)
		}
	}
}

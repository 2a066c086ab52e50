package insight

import (
	"fmt"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// needsOf says which calls in the body of a function, those of call, need which: "1<0 2<01".
func needsOf(t *testing.T, body string) string {
	t.Helper()
	text := "package p\nfunc f() {\n" + body + "\n}\n"
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	c := &code{parsed: map[string]*syntax{"f.go": {fset: fset, file: file}}}
	var lines []int
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "call(") {
			lines = append(lines, i+1)
		}
	}
	needs, _, known := callNeeds(c, stack.Frame{File: "f.go"}, lines)
	return needsText(needs, known)
}

// needsText is what calls need, as a text.
func needsText(needs []callSet, known bool) string {
	if !known {
		return "unknown"
	}
	var words []string
	for i, set := range needs {
		word := ""
		for j := range needs {
			if set.has(j) {
				word += fmt.Sprint(j)
			}
		}
		if word != "" {
			words = append(words, fmt.Sprintf("%d<%s", i, word))
		}
	}
	return strings.Join(words, " ")
}

func TestNeeds(t *testing.T) {
	for body, want := range map[string]string{
		"a := call(1)\nb := call(2)\nuse(a, b)": "",
		"a, err := call(1)\nif err != nil { return }\nb, err := call(2)\nif err != nil { return }\nuse(a, b)": "",
		"a := call(1)\nb := call(a)":                                    "1<0",
		"a := call(1)\nid := a.ID\nb := call(id)\nc := call(3)":         "1<0",
		"a := call(1)\nb := call(a.ID)\nc := call(a.Name)":              "1<0 2<0",
		"a := call(1)\nb := call(a)\nc := call(a)":                      "1<0 2<01",
		"a := call(1)\nif a.Banned { return }\nb := call(2)":            "1<0",
		"a := call(1)\nif a.Wants { b := call(2) }\nc := call(3)":       "1<0",
		"if !call(1) { return }\nb := call(2)":                          "1<0",
		"if err := call(1); err != nil { return }\nb := call(2)":        "1<0",
		"if err := call(1, &a); err != nil { return }\nb := call(2)":    "",
		"if err := call(1, &a); err != nil { return }\nb := call(a.ID)": "1<0",
		"call(1)\nb := call(2)":                                         "1<0",
		"print(w, call(1))\nb := call(2)":                               "",
		"tx := call(1)\na := tx.call(2)\nb := tx.call(3)":               "1<0 2<01",
		"a := s.client.call(1)\nb := s.client.call(2)":                  "",
		"s.user = call(1)\nb := call(s.user.ID)":                        "1<0",
		"s.user = call(1)\nb := call(s)":                                "1<0",
		"s.user = call(1)\nb := call(s.other)":                          "",
		"for _, x := range call(1) {\ny := call(x)\n}":                  "1<0",
		"switch call(1) {\ncase 1:\nb := call(2)\n}":                    "1<0",
		"m := map[int]int{}\nm[1] = call(1)\nb := call(m[1])":           "1<0",
		"go func() {\ncall(1)\n}()\nb := call(2)":                       "",
	} {
		if got := needsOf(t, body); got != want {
			t.Errorf("%s\nneeds %q, want %q", body, got, want)
		}
	}
	if got := needsOf(t, ""); got != "unknown" {
		t.Errorf("no calls need %q", got)
	}
}

func TestLongestWay(t *testing.T) {
	for want, needs := range map[int64][]callSet{5: {0, 0, 0}, 12: {0, 1, 2}, 9: {0, 1, 0}, 8: {0, 0, 2}} {
		if got := longestWay([]int64{4, 5, 3}, needs); got != want {
			t.Errorf("%v: %d, want %d", needs, got, want)
		}
	}
}

// TestNeedsLeftBehind: what a call leaves behind in a field, a variable of a package or a file, and another one finds, is
// needed by that.
func TestNeedsLeftBehind(t *testing.T) {
	const types = "type user struct { token string; n, last int; mu sync.Mutex; hdr map[string]string; h http.Header; cache map[string]int; dir string; conn net.Conn; kv sync.Map; sub *user; buf []byte }\n" +
		"var site atomic.Value\nvar shared string\nvar client *http.Client\n"
	for name, c := range map[string]struct{ body, funcs, want string }{
		"a field":                          {"a := u.call1()\nb := u.call2()", "func (u *user) call1() (n int) { n, u.token = ask(0); return n }\nfunc (u *user) call2() int { return ask(u.token) }", "1<0"},
		"a field, further down":            {"a := u.call1()\nb := call2(u)", "func (u *user) call1() int { return u.do() }\nfunc (u *user) do() int { u.set(ask(0)); return 1 }\nfunc (u *user) set(t string) { u.token = t }\nfunc call2(x *user) int { return x.sub2() }\nfunc (u *user) sub2() int { t := u.token; return ask(t) }", "1<0"},
		"of a part":                        {"a := u.sub.call1()\nb := u.call2()", "func (u *user) call1() (n int) { n, u.token = ask(0); return n }\nfunc (u *user) call2() int { return ask(u.sub.token) }", "1<0"},
		"a field of two":                   {"v := &user{}\na := u.call1()\nb := v.call2()", "func (u *user) call1() (n int) { n, u.token = ask(0); return n }\nfunc (u *user) call2() int { return ask(u.token) }", ""},
		"other fields":                     {"a := u.call1()\nb := u.call2()", "func (u *user) call1() (n int) { n, u.token = ask(0); return n }\nfunc (u *user) call2() int { return ask(u.dir) }", ""},
		"a field that was read":            {"a := u.call1()\nb := u.call2()", "func (u *user) call1() int { return ask(u.token) }\nfunc (u *user) call2() (n int) { n, u.token = ask(0); return n }", "1<0"},
		"a field of a copy":                {"a := u.call1()\nb := u.call2()", "func (u user) call1() (n int) { n, u.token = ask(0); return n }\nfunc (u *user) call2() int { return ask(u.token) }", ""},
		"a map":                            {"a := u.call1()\nb := u.call1()", "func (u *user) call1() int { for k, v := range u.hdr { use(k, v) }; x := ask(0); u.hdr[\"s\"] = x.s; return x.n }", "1<0"},
		"a header":                         {"a := u.call1()\nb := u.call1()", "func (u *user) call1() int { r := req{Header: u.h}; x := ask(r); u.h.Set(\"s\", x.s); return x.n }", "1<0"},
		"other entries":                    {"a := u.call1()\nb := u.call2()", "func (u *user) call1() int { u.hdr[\"a\"] = ask(0); return 1 }\nfunc (u *user) call2() int { return ask(u.hdr[\"b\"]) }", ""},
		"a cache":                          {"a := u.call(1)\nb := u.call(2)", "func (u *user) call(k string) int { if n, ok := u.cache[k]; ok { return n }; n := ask(k); u.cache[k] = n; return n }", "races for u.cache[]"},
		"a cache under a lock":             {"a := u.call(1)\nb := u.call(2)", "func (u *user) call(k string) int { if n, ok := u.cache[k]; ok { return n }; n := ask(k); u.mu.Lock(); u.cache[k] = n; u.mu.Unlock(); return n }", ""},
		"a cache of both":                  {"a := u.call1(1)\nb := u.call2(2)", "func (u *user) call1(k string) int { u.cache[k] = ask(k); return 1 }\nfunc (u *user) call2(k string) int { return ask(u.cache[k]) }", "1<0"},
		"a sync.Map as a cache":            {"a := u.call(1)\nb := u.call(2)", "func (u *user) call(k string) int { if n, ok := u.kv.Load(k); ok { return n.(int) }; n := ask(k); u.kv.Store(k, n); return n }", ""},
		"a token that expires":             {"a := u.call(1)\nb := u.call(2)", "func (u *user) call(k int) int { return ask(u.auth(), k) }\nfunc (u *user) auth() string { u.mu.Lock(); defer u.mu.Unlock(); if now() > u.last { u.token, u.last = ask(0), now()+9 }; return u.token }", ""},
		"a token that one makes":           {"a := u.call1()\nb := u.call2()", "func (u *user) call1() int { if u.token == \"\" { u.token = ask(0) }; return 1 }\nfunc (u *user) call2() int { return ask(u.token) }", "1<0"},
		"a counter":                        {"a := u.call(1)\nb := u.call(2)", "func (u *user) call(k int) int { u.mu.Lock(); u.n++; id := u.n; u.mu.Unlock(); return ask(id, k) }", ""},
		"a counter that nobody reads":      {"a := u.call(1)\nb := u.call(2)", "func (u *user) call(k int) int { u.n++; return ask(k) }", "races for u.n"},
		"a page":                           {"a := u.call(1)\nb := u.call(2)", "func (u *user) call(k int) int { u.n++; return ask(u.n, k) }", "1<0"},
		"a list that grows":                {"a := u.call(1)\nb := u.call(2)", "func (u *user) call(k int) int { x := ask(k); u.buf = append(u.buf, x); return x }", "races for u.buf"},
		"a buffer under a lock":            {"a := u.call(1)\nb := u.call(2)", "func (u *user) call(k int) int { u.log(k); return ask(k) }\nfunc (u *user) log(k int) { u.mu.Lock(); defer u.mu.Unlock(); u.buf = u.buf[:0]; u.buf = append(u.buf, k); out.Write(u.buf) }", ""},
		"what failed":                      {"a := u.call(1)\nb := u.call(2)", "func (u *user) call(k int) int { if u.n == 1 { return 0 }; x, err := ask(k); if err != nil { u.n = 1 }; return x }", ""},
		"a client":                         {"a := u.call(1)\nb := u.call(2)", "func (u *user) call(k int) int { return client.Do(u.dir, k) }", ""},
		"one connection":                   {"a := u.call(1)\nb := u.call(2)", "func (u *user) call(k int) int { u.conn.Write(k); return u.conn.Read(k) }", "1<0"},
		"a variable of closures":           {"var t string\nf := func() (n int) { n, t = ask(0); return n }\ng := func() int { return ask(t) }\na := call(f())\nb := call(g())", "func call(n int) int { return n }", "1<0"},
		"closures with their own":          {"f := func(x string) (n int) { var t string; n, t = ask(x); return n }\ng := func(t string) int { return ask(t) }\na := call(f(p))\nb := call(g(q))", "func call(n int) int { return n }", ""},
		"a closure with a counter":         {"n := 0\nf := func() int { n++; return ask(0) }\na := call(f())\nb := call(f())", "func call(n int) int { return n }", "races for n"},
		"an atomic of the package":         {"a := call1()\nb := call2()", "func call1() int { n, t := ask(0); site.Store(t); return n }\nfunc call2() int { return ask(site.Load().(string)) }", "1<0"},
		"a variable of the package":        {"a := call1()\nb := call2()", "func call1() (n int) { n, shared = ask(0); return n }\nfunc call2() int { return ask(shared) }", "1<0"},
		"set between":                      {"a := call1()\nu.set(a)\nb := u.call2()", "func call1() string { return ask(0) }\nfunc (u *user) set(t string) { u.token = t }\nfunc (u *user) call2() int { return ask(u.token) }", "1<0"},
		"a field that is set between":      {"a := call1()\nu.token = a\nb := u.call2()", "func call1() string { return ask(0) }\nfunc (u *user) call2() int { return ask(u.token) }", "1<0"},
		"something else between":           {"a := call1()\nu.set(a)\nb := u.call2()", "func call1() string { return ask(0) }\nfunc (u *user) set(t string) { u.token = t }\nfunc (u *user) call2() int { return ask(u.dir) }", ""},
		"a file":                           {"a := u.call1(2)\nb := u.call2(3)", "func (u *user) call1(id int) int { f, err := os.Create(filepath.Join(u.dir, \"src\")); return ask(f, id, err) }\nfunc (u *user) call2(x int) int { p := filepath.Join(u.dir, \"src\"); f, err := os.Open(p); return ask(f, err, x) }", "1<0"},
		"another file":                     {"a := u.call1(2)\nb := u.call2(3)", "func (u *user) call1(id int) int { f, err := os.Create(filepath.Join(u.dir, \"src\")); return ask(f, id, err) }\nfunc (u *user) call2(x int) int { f, err := os.Open(filepath.Join(u.dir, \"dst\")); return ask(f, err, x) }", ""},
		"files of each":                    {"a := call1(p)\nb := call1(q)", "func call1(path string) int { f, err := os.Create(path + \".tmp\"); return ask(f, err) }", ""},
		"the same file of each":            {"a := call1(p)\nb := call2(p)", "func call1(path string) int { f, err := os.Create(path + \".tmp\"); return ask(f, err) }\nfunc call2(path string) int { return ask(os.ReadFile(path + \".tmp\")) }", "1<0"},
		"temporary files":                  {"a := call1(1)\nb := call1(2)", "func call1(n int) int { f, err := os.CreateTemp(); defer os.Remove(f.Name()); return ask(f, err, n) }", ""},
		"fields that an if fills":          {"if err = call(p, &u.token); err != nil { return }\nif err = call(q, &u.dir); err != nil { return }", "var err error\nfunc call(k string, into *string) error { return ask(k, into) }", ""},
		"a field that an if looks at":      {"if u.token = call1(); u.token == \"\" { return }\na := call2()", "func call1() string { return ask(0) }\nfunc call2() int { return ask(1) }", "1<0"},
		"what an if looks at, by a method": {"if err = u.call1(); u.fails() { return }\na := call2()", "var err error\nfunc (u *user) call1() (err error) { u.n, err = ask(0); return err }\nfunc (u *user) fails() bool { return u.n > 0 }\nfunc call2() int { return ask(1) }", "1<0"},
		"a log that both append to":        {"a := call1(1)\nb := call1(2)", "func call1(n int) int { f, err := os.OpenFile(\"log\", os.O_APPEND|os.O_WRONLY, 0); return ask(f, err, n) }", ""},
	} {
		text := "package main; import (\"net\"; \"net/http\"; \"os\"; \"path/filepath\"; \"sync\"; \"sync/atomic\")\nfunc f(u *user, p, q string) {\n" + c.body + "\n}\n" + types + c.funcs + "\n"
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1")
		r.Put(recording.Entry{Path: "source/f.go", Kind: recording.Source, Source: "f.go"}, []byte(text))
		code := NewInput(session.New(r.Open())).code
		if got := needsIn(code, strings.Split(c.body, "\n")); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// needsIn is what needsOf says of the function at the begin of a source, for the lines of its body; where no call needs another one, what
// they would race for.
func needsIn(c *code, body []string) string {
	var lines []int
	for i, line := range body {
		if strings.Contains(line, "call") {
			lines = append(lines, i+3)
		}
	}
	needs, raced, known := callNeeds(c, stack.Frame{Func: "main.f", File: "f.go", Line: 3}, lines)
	text := needsText(needs, known)
	if text == "" && raced != "" {
		text = "races for " + raced
	}
	return text
}

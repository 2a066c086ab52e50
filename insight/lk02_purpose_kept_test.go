package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestKeptByOthers: a cache is looked up and stored to in two steps without a condition only where nobody else changes what is kept.
func TestKeptByOthers(t *testing.T) {
	const look = "\tif v, ok := s.m[k]; ok {\n\t\treturn v, nil\n\t}\n\tv, err := get(k) // call\n\tif err == nil {\n\t\ts.m[k] = v\n\t}\n\treturn v, err\n"
	const token = "\tif s.token != \"\" {\n\t\treturn s.token, nil\n\t}\n\tv, err := get(\"/token\") // call\n\ts.token = v\n\treturn v, err\n"
	const boxes = "\tif b, ok := kept[k]; ok {\n\t\treturn b.v, nil\n\t}\n\tv, err := get(k) // call\n\tb := &box{v: v}\n\tkept[k] = b\n\treturn b.v, err\n"
	const box = "}\n\ntype box struct {\n\tv string\n\tseen int\n\tused time.Time\n\tall []string\n}\n\nvar kept = map[string]*box{}\n\n"
	method := func(body string) string { return "}\n\nfunc (s *svc) other(k, v string) {\n" + body }
	const proven = "Do the I/O without the lock: look up"
	for _, c := range []struct{ name, body, want string }{
		{"an entry is deleted", look + method("\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\tdelete(s.m, k)\n"), "an entry is deleted (delete(s.m, k)) at a.go:"},
		{"it is cleared", look + method("\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\tclear(s.m)\n"), "clear(s.m) is called at a.go:"},
		{"it is replaced", look + method("\ts.mu.Lock()\n\ts.m = map[string]string{}\n\ts.mu.Unlock()\n"), "s.m is set at a.go:"},
		{"it is set to nil", look + method("\ts.mu.Lock()\n\ts.m = nil\n\ts.mu.Unlock()\n"), "whether s.m is nil as well: a store would panic"},
		{"it is written through", look + method("\ts.mu.Lock()\n\ts.m[k] = v\n\ts.mu.Unlock()\n"), "s.m[k] is set at a.go:"},
		{"it is written through by the method that stores", "\tif v, ok := s.find(k); ok {\n\t\treturn v, nil\n\t}\n\tv, err := get(k) // call\n\ts.keep(k, v)\n\treturn v, err\n" + method("\ts.keep(k, v)\n"), "s.m[k] is set at a.go:"},
		{"an entry is deleted by another name", look + method("\tm := s.m\n\tdelete(m, k)\n"), "an entry is deleted (delete(m, k))"},
		{"an entry is deleted by a condition", look + method("\tfor x := range s.m {\n\t\tif strings.HasPrefix(x, k) {\n\t\t\tdelete(s.m, x)\n\t\t}\n\t}\n"), "an entry is deleted"},
		{"a token that is refused", token + method("\ts.mu.Lock()\n\ts.token = \"\"\n\ts.mu.Unlock()\n"), "s.token is set at a.go:"},
		{"what is kept is changed", boxes + box + "func (b *box) add(x string) { b.all = append(b.all, x) }\n\nfunc end() {\n", "change it (all is changed at a.go:"},

		{"by the time of something else", look + method("\tfor _, x := range s.list() {\n\t\tif time.Now().After(until(x)) {\n\t\t\tdelete(s.m, x)\n\t\t}\n\t}\n"), "an entry is deleted"},
		{"one entry, at a time", look + method("\tif time.Now().After(until(v)) {\n\t\tdelete(s.m, k)\n\t}\n"), "an entry is deleted"},
		{"by another condition than the time", look + method("\tfor x, y := range s.m {\n\t\tif y == v {\n\t\t\tdelete(s.m, x)\n\t\t}\n\t}\n"), "an entry is deleted"},
		{"one that looks up, and stores anyway", look + method("\tif _, ok := s.m[k]; ok {\n\t\tprintln(k)\n\t}\n\tx, _ := get(k)\n\ts.m[k] = x\n"), "s.m[k] is set at a.go:"},
		{"one that looks something else up", look + method("\tif _, ok := names[k]; ok {\n\t\treturn\n\t}\n\tx, _ := get(k)\n\ts.m[k] = x\n}\n\nvar names = map[string]bool{}\n\nfunc end() {\n"), "s.m[k] is set at a.go:"},
		{"one that looks up afterwards", look + method("\tx, _ := get(k)\n\ts.m[k] = x\n\tif _, ok := s.m[v]; ok {\n\t\treturn\n\t}\n"), "s.m[k] is set at a.go:"},
		{"one that leaves where there is none", look + method("\tif _, ok := s.m[k]; !ok {\n\t\treturn\n\t}\n\ts.m[k] = v\n"), "s.m[k] is set at a.go:"},
		{"the program begins, with others", boxes + box + "func main() {\n\tgo end()\n\tkept = map[string]*box{}\n}\n\nfunc end() {\n", "kept is set at a.go:"},
		{"the program begins, in a loop", boxes + box + "func main() {\n\tfor {\n\t\tkept = map[string]*box{}\n\t}\n}\n\nfunc end() {\n", "kept is set at a.go:"},
		{"the program begins, in a literal", boxes + box + "func main() {\n\ttime.AfterFunc(9, func() { kept = map[string]*box{} })\n}\n\nfunc end() {\n", "kept is set at a.go:"},
		{"a method that is called elsewhere, too", "\tif v, ok := s.m[k]; ok {\n\t\treturn v, nil\n\t}\n\ts.room()\n\tv, err := get(k) // call\n\ts.m[k] = v\n\treturn v, err\n}\n\nfunc (s *svc) room() { clear(s.m) }\n\nfunc (s *svc) other() {\n\ts.room()\n", "clear(s.m) is called at a.go:"},

		{"the program begins", boxes + box + "func main() {\n\tkept = map[string]*box{}\n\tgo end()\n}\n\nfunc end() {\n", proven},
		{"old ones are deleted, by Before", look + method("\tnow := time.Now()\n\tfor x, y := range s.m {\n\t\tif until(y).Before(now) {\n\t\t\tdelete(s.m, x)\n\t\t}\n\t}\n"), proven},
		{"old ones are deleted, by Since", look + method("\tfor x, y := range s.m {\n\t\tif time.Since(until(y)) > 0 {\n\t\t\tdelete(s.m, x)\n\t\t}\n\t}\n"), proven},
		{"old ones are deleted, by After", look + method("\tnow := time.Now()\n\tfor x, y := range s.m {\n\t\tif now.After(until(y)) {\n\t\t\tdelete(s.m, x)\n\t\t}\n\t}\n"), proven},
		{"nobody else", look + method("\tprintln(len(s.m), s.m[k])\n"), proven},
		{"it is gone through", look + method("\tfor x, y := range s.m {\n\t\tprintln(x, y)\n\t}\n"), proven},
		{"another map", look + method("\to := &other{}\n\tdelete(o.m, k)\n}\n\ntype other struct{ m map[string]string }\n\nfunc end() {\n"), proven},
		{"a new one is made", look + "}\n\nfunc newSvc() *svc {\n\ts := &svc{}\n\ts.m = map[string]string{}\n\treturn s\n", proven},
		{"old ones are deleted", look + method("\tfor x, y := range s.m {\n\t\tif time.Now().After(until(y)) {\n\t\t\tdelete(s.m, x)\n\t\t}\n\t}\n"), proven},
		{"there is a limit", "\tif v, ok := s.m[k]; ok {\n\t\treturn v, nil\n\t}\n\tv, err := get(k) // call\n\tif len(s.m) > 1000 {\n\t\tclear(s.m)\n\t}\n\ts.m[k] = v\n\treturn v, err\n", proven},
		{"two that look up", look + method("\tif _, ok := s.m[k]; ok {\n\t\treturn\n\t}\n\tx, _ := get(k)\n\ts.m[k] = x\n"), proven},
		{"the token stays", token + method("\tprintln(s.token)\n"), proven},
		{"what is kept stays", boxes + box + "func (b *box) text() string { return b.v }\n\nfunc end() {\n", proven},
		{"when it was used is noted", boxes + box + "func (b *box) touch() { b.used = time.Now() }\n\nfunc end() {\n", proven},
		{"a new one is filled", boxes + box + "func newBox() *box {\n\tb := &box{}\n\tb.all = append(b.all, \"\")\n\treturn b\n}\n\nfunc end() {\n", proven},
	} {
		code, waiter, holder := lockCode(c.body)
		got := purposeOf(code, waiter, holder).advice(doingCall)
		if !strings.Contains(got, c.want) || strings.HasPrefix(got, proven) != (c.want == proven) || c.want != proven && !strings.Contains(got, "If ") {
			t.Errorf("%s: %s", c.name, got)
		}
		if strings.Contains(got, "change it (") != strings.HasPrefix(c.want, "change it") {
			t.Errorf("%s: what is kept is changed: %s", c.name, got)
		}
	}
	const before = "}\n\nfunc (s *svc) load(k string) (string, error) {\n\tBEFORE\ts.mu.Lock() // take\n\tdefer s.mu.Unlock()\n\tif v, ok := s.m[k]; ok {\n\t\treturn v, nil\n\t}\n\tWITHIN\tv, err := get(k) // work\n\ts.m[k] = v\n\treturn v, err\n"
	const line = "delete(s.m, \"old\")\n"
	for body, want := range map[string]string{
		strings.NewReplacer("BEFORE", line, "WITHIN", "").Replace(before): "an entry is deleted",
		strings.NewReplacer("BEFORE", "", "WITHIN", line).Replace(before): proven,
	} {
		code, waiter, holder := lockCodeIn(body, "main.(*svc).load", "// take", "// work")
		if got := purposeOf(code, waiter, holder).advice(doingCall); !strings.Contains(got, want) {
			t.Errorf("in the same function: %s, want %s", got, want)
		}
	}
}

// TestKnownUnderLock: of what libraries are known to do, a condition names only what others may see.
func TestKnownUnderLock(t *testing.T) {
	const handler = "}\n\nfunc (s *svc) serve(w http.ResponseWriter, r *http.Request) {\n\ts.mu.Lock() // take\n\tdefer s.mu.Unlock()\n"
	const plain = "Make the call without the lock: "
	for _, c := range []struct{ name, body, want, not string }{
		{"a count before the call", handler + "\ts.hits++\n\tv, err := get(r.URL.Query().Get(\"city\")) // work\n\tif err != nil {\n\t\thttp.Error(w, err.Error(), 502)\n\t\treturn\n\t}\n\tfmt.Fprintln(w, v)\n", plain + "by the source, only s.hits needs it", ""},
		{"a count that is asked for", handler + "\ts.hits++\n\tif s.hits > 9 {\n\t\treturn\n\t}\n\tget(r.URL.Path) // work\n", "Find out first", plain},
		{"a count up and down", handler + "\ts.hits++\n\tget(r.URL.Path) // work\n\ts.hits--\n", "Find out first", plain},
		{"a count behind the call", handler + "\tget(r.URL.Path) // work\n\ts.hits++\n", "Find out first", plain},
		{"nothing but the answer", handler + "\tv, _ := get(r.FormValue(\"k\")) // work\n\tw.Header().Set(\"A\", \"b\")\n\tw.Write([]byte(v))\n", plain + "nothing under it is shared", ""},
		{"a helper answers", handler + "\tv, _ := get(r.FormValue(\"k\")) // work\n\tanswer(w, v)\n}\n\nfunc answer(w http.ResponseWriter, v string) {\n\tfmt.Fprint(w, v)\n", plain, ""},
		{"an encoder answers", handler + "\tv, _ := get(r.FormValue(\"k\")) // work\n\tjson.NewEncoder(w).Encode(v)\n", plain, ""},
		{"a text answers", handler + "\tv, _ := get(r.FormValue(\"k\")) // work\n\tio.WriteString(w, v)\n", plain, ""},
		{"a helper that is given a request, and something else to write to", handler + "\tv, _ := get(r.FormValue(\"k\")) // work\n\tnote(kept, r, v)\n}\n\nvar kept io.Writer\n\nfunc note(out io.Writer, r *http.Request, v string) {\n\tfmt.Fprint(out, r.URL.Path, v)\n", "something is written (fmt.Fprint)", plain},
		{"a helper that answers one that is kept, by another name", handler + "\tv, _ := get(r.FormValue(\"k\")) // work\n\tto := s.follower\n\tanswer(to, v)\n}\n\nfunc answer(w http.ResponseWriter, v string) {\n\tfmt.Fprint(w, v)\n", "something is written (fmt.Fprint)", plain},
		{"what is set before the call", handler + "\ts.token = r.URL.Path\n\tget(r.URL.Path) // work\n", "Find out first", plain},
		{"two counts before the call", handler + "\ts.hits++\n\ts.left++\n\tget(r.URL.Path) // work\n", "Find out first", plain},
		{"a count by a method in front", "}\n\nfunc (s *svc) tick() { s.hits++ }\n" + strings.TrimPrefix(handler, "}\n") + "\ts.tick()\n\tget(r.URL.Path) // work\n", "Find out first", plain},
		{"a count, and what is not seen", handler + "\ts.hits++\n\tpeerlib.Exchange(r.URL.Path) // work\n", "", plain},
		{"a client that is kept", handler + "\tv, _ := get(r.FormValue(\"k\")) // work\n\tfmt.Fprint(s.follower, v)\n}\n\nfunc end() {\n", "something is written (fmt.Fprint)", plain},
		{"all that follow", handler + "\tv, _ := get(r.FormValue(\"k\")) // work\n\tfor f := range followers {\n\t\tfmt.Fprint(f, v)\n\t}\n}\n\nvar followers = map[http.ResponseWriter]bool{}\n\nfunc end() {\n", "something is written (fmt.Fprint)", plain},
		{"a helper that answers one that is kept", handler + "\tv, _ := get(r.FormValue(\"k\")) // work\n\tanswer(s.follower, v)\n}\n\nfunc answer(w http.ResponseWriter, v string) {\n\tfmt.Fprint(w, v)\n", "something is written (fmt.Fprint)", plain},
		{"a file is written", handler + "\tf, _ := os.OpenFile(s.dir, os.O_APPEND|os.O_WRONLY, 0o644) // work\n\tfmt.Fprintln(f, r.URL.Path)\n", "a file is opened to be written to (os.OpenFile)", "is not seen"},
		{"a file is read", handler + "\tf, _ := os.OpenFile(r.URL.Path, os.O_RDONLY, 0) // work\n\tf.Close()\n", plain, ""},
		{"what a library does is not known", handler + "\tpeerlib.Exchange(r.URL.Path) // work\n", "what peerlib.Exchange does is not seen", plain},
		{"a database that the program begins with", handler + "\tvar v string\n\tpool.QueryRow(\"SELECT v FROM t WHERE k = ?\", r.URL.Path).Scan(&v) // work\n}\n\nvar pool *sql.DB\n\nfunc main() {\n\tpool, _ = sql.Open(\"x\", \"y\")\n", plain + "nothing under it is shared", ""},
		{"a database that is opened again", handler + "\tvar v string\n\tpool.QueryRow(\"SELECT v FROM t WHERE k = ?\", r.URL.Path).Scan(&v) // work\n}\n\nvar pool *sql.DB\n\nfunc again() {\n\tpool, _ = sql.Open(\"x\", \"y\")\n", "Find out first", plain},
	} {
		body := strings.ReplaceAll(c.body, "s.follower", "last.w") + "}\n\nvar last = struct{ w http.ResponseWriter }{}\n\nfunc unused() {\n"
		code, waiter, holder := lockCodeIn(body, "main.(*svc).serve", "// take", "// work")
		got := purposeOf(code, waiter, holder).advice(doingCall)
		if !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// TestWithoutDriver: what a database's driver does with its connection is nobody else's.
func TestWithoutDriver(t *testing.T) {
	frames := func(names ...string) (all []stack.Frame) {
		for _, name := range names {
			all = append(all, stack.Frame{Func: name})
		}
		return all
	}
	got := withoutDriver(frames("net.(*conn).Read", "drv.(*conn).ask", "database/sql.ctxDriverPrepare", "database/sql.(*DB).queryDC", "database/sql.(*DB).QueryRowContext", "main.price"), frames("sync.(*Mutex).Lock", "main.price"))
	if len(got) != 2 || got[0].Func != "database/sql.(*DB).QueryRowContext" {
		t.Errorf("%v", got)
	}
	if got := withoutDriver(frames("net.(*conn).Read", "main.(*conn).ask", "main.price"), nil); len(got) != 3 {
		t.Errorf("%v", got)
	}
	got = withoutDriver(frames("net.(*conn).Read", "drv.(*conn).ask", "database/sql.(*DB).queryDC", "main.price"), frames("sync.(*Mutex).Lock", "drv.(*conn).ask", "database/sql.(*DB).queryDC", "main.price"))
	if len(got) != 4 {
		t.Errorf("a lock of the driver: %v", got)
	}
}

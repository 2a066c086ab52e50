package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestProtectedBy: the source shows what a lock has to be held across a call for. The lock is
// taken on the line with // lock, the call made on that with // call.
func TestProtectedBy(t *testing.T) {
	const types = "type stock struct {\n\tmu sync.Mutex\n\tqty map[string]int\n\tn int\n\ttoken string\n\tc net.Conn\n\tr *bufio.Reader\n\tf *os.File\n\tbal sync.Map\n\tlog []int\n}\n\n"
	const methods = "\nvar global string\n\nfunc (s *stock) current() string { return s.token }\nfunc (s *stock) save(t string) { s.token = t }\nfunc (s *stock) now() string { t := s.current(); return t }\nfunc (s *stock) keep(v string) { s.save(v) }\n" +
		"func (s *stock) left() int { return s.n }\nfunc (s *stock) take() { s.n-- }\nfunc (s *stock) next() int { s.n++; return s.n }\nfunc (s *stock) find(k string) (int, bool) { v, ok := s.qty[k]; return v, ok }\nfunc (s *stock) put(k string, v int) { s.qty[k] = v }\n"
	const lock, unlock = "\ts.mu.Lock() // lock\n", "\tdefer s.mu.Unlock()\n"
	for _, c := range []struct{ name, body, says, advice string }{
		{"read, modify, write", lock + unlock + "\tn := s.qty[k]\n\tif n == 0 {\n\t\treturn errSold\n\t}\n\tif err := post(k); err != nil { // call\n\t\treturn err\n\t}\n\ts.qty[k] = n - 1\n", "s.qty[k] is read at line 18", "undo the change"},
		{"the number is sent, too", lock + unlock + "\tn := s.n + 1\n\tship(n) // call\n\ts.n = n\n", "s.n is read", "in this order"},
		{"in a sync.Map", lock + unlock + "\tv, _ := s.bal.Load(k)\n\tb := v.(int)\n\tpost(k) // call\n\ts.bal.Store(k, b-1)\n", "s.bal is read", "undo the change"},
		{"checked, then counted", lock + unlock + "\tif s.n >= limit {\n\t\treturn errFull\n\t}\n\tpost(k) // call\n\ts.n++\n", "s.n is read", "undo the change"},
		{"one connection", lock + unlock + "\tfmt.Fprintf(s.c, \"%s\", k)\n\treturn s.r.ReadString('\\n') // call\n", "s.r and the lock are of the same stock", "a pool"},
		{"under a lock for reading", "\ts.mu.RLock() // lock\n\tdefer s.mu.RUnlock()\n\tn := s.qty[k]\n\tif n == 0 {\n\t\treturn errSold\n\t}\n\tif err := post(k); err != nil { // call\n\t\treturn err\n\t}\n\ts.qty[k] = n - 1\n", "", ""},
		{"one connection, locked for reading", "\ts.mu.RLock() // lock\n\tdefer s.mu.RUnlock()\n\tfmt.Fprintf(s.c, \"%s\", k)\n\treturn s.r.ReadString('\\n') // call\n", "", ""},
		{"a cache", lock + unlock + "\tif v, ok := s.qty[k]; ok {\n\t\treturn v\n\t}\n\tv := fetch(k) // call\n\ts.qty[k] = v\n\treturn v\n", "", ""},
		{"a cache, into the same variable", lock + unlock + "\tv, ok := s.qty[k]\n\tif !ok {\n\t\tv = fetch(k) // call\n\t\ts.qty[k] = v\n\t}\n\treturn v\n", "", ""},
		{"a cache, into a result of the same name", lock + unlock + "\tif id, ok := s.qty[k]; ok {\n\t\treturn id\n\t}\n\tu := fetch(k) // call\n\tid.uid = u.ID\n\ts.qty[k] = id\n\treturn id\n", "", ""},
		{"a cache that counts", lock + unlock + "\tif v, ok := s.qty[k]; ok {\n\t\treturn v\n\t}\n\tv := fetch(k) // call\n\ts.qty[k] = v\n\ts.n++\n\treturn v\n", "", ""},
		{"a token that is old", lock + unlock + "\tif old(s.token) {\n\t\ts.token = fetch(k) // call\n\t}\n\treturn s.token\n", "", ""},
		{"read again behind the call", lock + unlock + "\tv := fetch(k) // call\n\tn := s.n\n\ts.n = n + v\n", "", ""},
		{"stored when the lock is released", lock + "\tn := s.n\n\tpost(n) // call\n\ts.mu.Unlock()\n\ts.log[0] = n\n", "", ""},
		{"a file", lock + unlock + "\ts.f.Write(k) // call\n", "", ""},
		{"a client of many connections", lock + unlock + "\ts.http.Get(k) // call\n", "", ""},
		{"by methods", lock + unlock + "\told := s.current()\n\ts.save(post(old)) // call\n", "s.token is read at line 18", "in this order"},
		{"on one line", lock + unlock + "\ts.token = post(s.token) // call\n", "s.token is read at line 18", "in this order"},
		{"by methods of methods", lock + unlock + "\tv, err := post(s.now()) // call\n\tif err != nil {\n\t\treturn err\n\t}\n\ts.keep(v)\n", "s.token is read at line 18", "in this order"},
		{"a count by methods", lock + unlock + "\tif s.left() == 0 {\n\t\treturn errSold\n\t}\n\tpost(k) // call\n\ts.take()\n", "s.n is read at line 18", "undo the change"},
		{"a variable of the package", lock + unlock + "\tglobal = post(global) // call\n", "global is read", "in this order"},
		{"a cache by methods", lock + unlock + "\tif v, ok := s.find(k); ok {\n\t\treturn v\n\t}\n\tv := fetch(k) // call\n\ts.put(k, v)\n\treturn v\n", "", ""},
		{"a local variable", lock + unlock + "\tv := k\n\tv = fetch(v) // call\n\treturn v\n", "", ""},
		{"a sequence number", lock + unlock + "\ts.n++\n\tpost(fmt.Sprint(s.n, k)) // call\n", "keeps the calls in order: s.n is advanced at line 18", "Do not just move"},
		{"a sequence number by a method", lock + unlock + "\tid := s.next()\n\terr := post(id, k) // call\n\treturn err\n", "s.n is advanced at line 18", "a batch"},
		{"a count that is not sent", lock + unlock + "\ts.n++\n\tpost(k) // call\n", "", ""},
		{"a cache that asks with a count", lock + unlock + "\ts.n++\n\tid := fmt.Sprint(k, s.n%50)\n\tv := fetch(id) // call\n\ts.qty[id] = v\n\treturn v\n", "", ""},
		{"an entry", "\te := s.entry(k)\n\te.mu.Lock() // lock\n\tdefer e.mu.Unlock()\n\tif e.val == nil {\n\t\te.val = fetch(k) // call\n\t}\n", "that of one entry (e)", "in the background"},
		{"a shard", "\te := s.shards[hash(k)%16]\n\te.mu.Lock() // lock\n\tdefer e.mu.Unlock()\n\te.val = fetch(k) // call\n", "", ""},
		{"a part with keys of its own", "\te := s.part(k)\n\te.mu.Lock() // lock\n\tdefer e.mu.Unlock()\n\te.m[k] = fetch(k) // call\n", "", ""},
	} {
		text := "package main\n\n" + types + "func (s *stock) do(k string) error {\n" + c.body + "}\n" + methods
		line := func(mark string) stack.Frame {
			return stack.Frame{Func: "main.(*stock).do", File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, mark)], "\n")}
		}
		r := recordingtest.New("title x")
		withSource(r, "a.go", text)
		code := NewInput(session.New(r.Open())).code
		p := protectedBy(code, []stack.Frame{{Func: "sync.(*Mutex).Lock"}, line("// lock")}, []stack.Frame{{Func: "net.(*conn).Read"}, line("// call")})
		switch {
		case p == nil && c.says != "":
			t.Errorf("%s: nothing", c.name)
		case p != nil && (c.says == "" || !strings.Contains(p.says, c.says) || !strings.Contains(p.advice, c.advice)):
			t.Errorf("%s: %s: %s", c.name, p.says, p.advice)
		}
	}
}

// TestProtectedByOnce: who waits for a sync.Once waits for what is wanted, and nothing else.
func TestProtectedByOnce(t *testing.T) {
	code := NewInput(session.New(recordingtest.New("title x").Open())).code
	waiter := []stack.Frame{{Func: "sync.(*Mutex).Lock"}, {Func: "sync.(*Once).doSlow"}, {Func: "main.get"}}
	holder := []stack.Frame{{Func: "main.load"}, {Func: "main.get.func1"}, {Func: "sync.(*Once).doSlow"}, {Func: "main.get"}}
	if p := protectedBy(code, waiter, holder); p == nil || !p.info || !strings.Contains(p.title, "sync.Once") {
		t.Errorf("%+v", p)
	}
	if p := protectedBy(code, waiter[2:], holder[:1]); p != nil {
		t.Errorf("%+v", p)
	}
}

// TestProtectedWithin: what is read and stored in a method that the holder calls under the lock is
// under it, too, and so is what it is given to store.
func TestProtectedWithin(t *testing.T) {
	const head = "package main\n\ntype session struct {\n\tmu sync.Mutex\n\tvalue string\n}\n\nfunc (s *session) use() string {\n\ts.mu.Lock() // lock\n\tdefer s.mu.Unlock()\n\t%s // call\n}\n\n%s\n"
	for _, c := range []struct{ name, call, method, says string }{
		{"in the method", "return s.renew()", "func (s *session) renew() string {\n\tv := get(s.value) // goes on\n\ts.value = v\n\treturn v\n}", "s.value is read at line 15"},
		{"given to the method", "return s.renew(s.value)", "func (s *session) renew(old string) string {\n\tv := get(old) // goes on\n\ts.value = v\n\treturn v\n}", "s.value is read at line 11"},
		{"stored in front of the call", "return s.renew(s.value)", "func (s *session) renew(old string) string {\n\ts.value = old + \"x\"\n\treturn get(k) // goes on\n}", ""},
		{"added to what is there", "s.value = merge(s.value, s.renew(k))", "func (s *session) renew(k string) string {\n\treturn get(k) // goes on\n}", ""},
		{"made of what is there", "s.value = merge(k, s.renew(s.value))", "func (s *session) renew(k string) string {\n\treturn get(k) // goes on\n}", "s.value is read at line 11"},
		{"a new one", "return s.renew()", "func (s *session) renew() string {\n\tv := get(k) // goes on\n\ts.value = v\n\treturn v\n}", ""},
	} {
		text := fmt.Sprintf(head, c.call, c.method)
		line := func(fn, mark string) stack.Frame {
			return stack.Frame{Func: "main.(*session)." + fn, File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, mark)], "\n")}
		}
		r := recordingtest.New("title x")
		withSource(r, "a.go", text)
		code := NewInput(session.New(r.Open())).code
		p := protectedBy(code, []stack.Frame{line("use", "// lock")}, []stack.Frame{{Func: "net.(*conn).Read"}, line("renew", "// goes on"), line("use", "// call")})
		if p == nil != (c.says == "") || p != nil && !strings.Contains(p.says, c.says) {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

// TestEntryOfCaller: the lock of a method's receiver is that of one entry where the caller has looked that up.
func TestEntryOfCaller(t *testing.T) {
	for call, want := range map[string]bool{
		"ts[u].get(u)":                    true,
		"t := ts[u]\nt.get(u)":            true,
		"t := all.load(u)\nt.get(u)":      true,
		"one.get(u)":                      false,
		"t := New()\nt.get(u)":            false,
		"shards[hash(u)%16].get(u)":       false,
		"t := all.shardOf(u)\nt.get(u)":   false,
		"t := ts[u]\nt.log()\none.get(u)": false,
	} {
		text := "package main\n\nfunc (t *token) get(u int) string {\n\tt.mu.Lock()\n\tdefer t.mu.Unlock()\n\tt.text = renew(u)\n\treturn t.text\n}\n\nfunc handle(u int) {\n" + call + "\n}\n"
		r := recordingtest.New("title x")
		withSource(r, "a.go", text)
		code := NewInput(session.New(r.Open())).code
		by := stack.Frame{Func: "main.handle", File: "a.go", Line: 11 + strings.Count(call, "\n")}
		get := func(line int) stack.Frame { return stack.Frame{Func: "main.(*token).get", File: "a.go", Line: line} }
		p := protectedBy(code, []stack.Frame{{Func: "sync.(*Mutex).Lock"}, get(4), by}, []stack.Frame{{Func: "net.(*conn).Read"}, get(6), by})
		if got := p != nil && strings.Contains(p.says, "that of one entry"); got != want {
			t.Errorf("%s: %+v", call, p)
		}
	}
}

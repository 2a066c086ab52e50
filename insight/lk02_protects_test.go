package insight

import (
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
	const lock, unlock = "\ts.mu.Lock() // lock\n", "\tdefer s.mu.Unlock()\n"
	for _, c := range []struct{ name, body, says, advice string }{
		{"read, modify, write", lock + unlock + "\tn := s.qty[k]\n\tif n == 0 {\n\t\treturn errSold\n\t}\n\tif err := post(k); err != nil { // call\n\t\treturn err\n\t}\n\ts.qty[k] = n - 1\n", "s.qty[k] is read at line 18", "undo the change"},
		{"the number is sent, too", lock + unlock + "\tn := s.n + 1\n\tship(n) // call\n\ts.n = n\n", "s.n is read", "in this order"},
		{"in a sync.Map", lock + unlock + "\tv, _ := s.bal.Load(k)\n\tb := v.(int)\n\tpost(k) // call\n\ts.bal.Store(k, b-1)\n", "s.bal is read", "undo the change"},
		{"checked, then counted", lock + unlock + "\tif s.n >= limit {\n\t\treturn errFull\n\t}\n\tpost(k) // call\n\ts.n++\n", "s.n is read", "undo the change"},
		{"one connection", lock + unlock + "\tfmt.Fprintf(s.c, \"%s\", k)\n\treturn s.r.ReadString('\\n') // call\n", "s.r and the lock are of the same stock", "a pool"},
		{"a cache", lock + unlock + "\tif v, ok := s.qty[k]; ok {\n\t\treturn v\n\t}\n\tv := fetch(k) // call\n\ts.qty[k] = v\n\treturn v\n", "", ""},
		{"a cache, into the same variable", lock + unlock + "\tv, ok := s.qty[k]\n\tif !ok {\n\t\tv = fetch(k) // call\n\t\ts.qty[k] = v\n\t}\n\treturn v\n", "", ""},
		{"a cache, into a result of the same name", lock + unlock + "\tif id, ok := s.qty[k]; ok {\n\t\treturn id\n\t}\n\tu := fetch(k) // call\n\tid.uid = u.ID\n\ts.qty[k] = id\n\treturn id\n", "", ""},
		{"a cache that counts", lock + unlock + "\tif v, ok := s.qty[k]; ok {\n\t\treturn v\n\t}\n\tv := fetch(k) // call\n\ts.qty[k] = v\n\ts.n++\n\treturn v\n", "", ""},
		{"a token that is old", lock + unlock + "\tif old(s.token) {\n\t\ts.token = fetch(k) // call\n\t}\n\treturn s.token\n", "", ""},
		{"read again behind the call", lock + unlock + "\tv := fetch(k) // call\n\tn := s.n\n\ts.n = n + v\n", "", ""},
		{"stored when the lock is released", lock + "\tn := s.n\n\tpost(n) // call\n\ts.mu.Unlock()\n\ts.log[0] = n\n", "", ""},
		{"a file", lock + unlock + "\ts.f.Write(k) // call\n", "", ""},
		{"a client of many connections", lock + unlock + "\ts.http.Get(k) // call\n", "", ""},
		{"an entry", "\te := s.entry(k)\n\te.mu.Lock() // lock\n\tdefer e.mu.Unlock()\n\tif e.val == nil {\n\t\te.val = fetch(k) // call\n\t}\n", "that of one entry (e)", "in the background"},
		{"a shard", "\te := s.shards[hash(k)%16]\n\te.mu.Lock() // lock\n\tdefer e.mu.Unlock()\n\te.val = fetch(k) // call\n", "", ""},
		{"a part with keys of its own", "\te := s.part(k)\n\te.mu.Lock() // lock\n\tdefer e.mu.Unlock()\n\te.m[k] = fetch(k) // call\n", "", ""},
	} {
		text := "package main\n\n" + types + "func (s *stock) do(k string) error {\n" + c.body + "}\n"
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

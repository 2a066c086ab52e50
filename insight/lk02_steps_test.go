package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestActsByAnswer: two calls of a peer, of which one decides about the other, are one step; a cache that is filled, calls of different peers, and a
// failure that ends the function are none.
func TestActsByAnswer(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"net/http\"\n\t\"os\"\n\t\"sync\"\n)\n\ntype shop struct {\n\tmu sync.Mutex\n\tstore, near *client\n\thttp *http.Client\n\tkeys map[string]bool\n}\n\n"
	const lock = "func (s *shop) do(k, v string) error {\n\ts.mu.Lock() // lock\n\tdefer s.mu.Unlock()\n"
	const methods = "\nfunc (s *shop) has(k string) bool {\n\tr, err := s.http.Get(k)\n\treturn err == nil && r.OK\n}\n\nfunc (s *shop) put(k, v string) error {\n\t_, err := s.http.Post(k, v)\n\treturn err\n}\n\nfunc (s *shop) call(verb, k string) (bool, error) {\n\tr, err := s.http.Do(verb, k)\n\treturn r.OK, err\n}\n\nfunc (s *shop) known(k string) bool { return s.keys[k] }\n"
	const step = "makes one step of two calls"
	for _, c := range []struct{ name, body, says string }{
		{"asks, then puts", "\texists := s.store.Has(k) // call\n\tif !exists {\n\t\treturn s.store.Put(k, v)\n\t}\n\treturn nil\n", step},
		{"the second is waited for", "\tif s.store.Has(k) {\n\t\treturn nil\n\t}\n\treturn s.store.Put(k, v) // call\n", step},
		{"with an error beside it", "\tok, err := s.store.Has(k) // call\n\tif err != nil {\n\t\treturn err\n\t}\n\tif ok {\n\t\treturn nil\n\t}\n\treturn s.store.Put(k, v)\n", step},
		{"an error says that there is none", "\t_, err := s.store.Get(k) // call\n\tif errors.Is(err, errNone) {\n\t\treturn s.store.Put(k, v)\n\t}\n\treturn err\n", step},
		{"made because the other failed", "\t_, err := s.store.Get(k) // call\n\tif err != nil {\n\t\treturn s.store.Put(k, v)\n\t}\n\treturn nil\n", step},
		{"in a switch", "\tswitch s.store.Has(k) { // call\n\tcase false:\n\t\treturn s.store.Put(k, v)\n\t}\n\treturn nil\n", step},
		{"by one method", "\tok, err := s.call(\"HAS\", k) // call\n\tif err != nil || ok {\n\t\treturn err\n\t}\n\t_, err = s.call(\"PUT\", k)\n\treturn err\n", step},
		{"by methods of its own that ask the peer", "\tif s.has(k) { // call\n\t\treturn nil\n\t}\n\treturn s.put(k, v)\n", step},
		{"files", "\tif _, err := os.Stat(k); os.IsNotExist(err) {\n\t\treturn os.WriteFile(k, v) // call\n\t}\n\treturn nil\n", step},
		{"a count of all", "\tif s.store.Len() < 5 { // call\n\t\ts.store.Put(k, v)\n\t}\n\treturn nil\n", step},

		{"what failed tells what is there", "\tif err := s.store.Rename(k, v); errors.Is(err, errThere) { // call\n\t\treturn s.store.Remove(k)\n\t}\n\treturn nil\n", step},
		{"removed where it is there", "\tif s.store.Has(k) { // call\n\t\treturn s.store.Remove(k)\n\t}\n\treturn nil\n", step},

		{"closed where the sync failed", "\tif err := s.store.Sync(); err != nil { // call\n\t\ts.store.Close()\n\t\treturn err\n\t}\n\treturn s.store.Close()\n", ""},
		{"closed where it is not there", "\tif !s.store.Has(k) { // call\n\t\ts.store.Close(k)\n\t}\n\treturn nil\n", ""},
		{"rolled back where the write failed", "\tif _, err := s.store.Exec(k); err != nil { // call\n\t\ts.store.Rollback(k)\n\t\treturn err\n\t}\n\treturn nil\n", ""},
		{"removed where the write failed", "\tif err := os.WriteFile(k, v); err != nil { // call\n\t\tos.Remove(k)\n\t\treturn err\n\t}\n\treturn nil\n", ""},
		{"removed where it could not be read", "\tif _, err := s.store.Get(k); err != nil { // call\n\t\ts.store.Delete(k)\n\t\treturn err\n\t}\n\treturn nil\n", ""},
		{"written short", "\tn, err := s.store.Write(k) // call\n\tif err != nil || n < len(k) {\n\t\ts.store.Truncate(k)\n\t}\n\treturn nil\n", ""},
		{"counted and tried again where the write failed", "\tif err := s.store.Put(k, v); err != nil { // call\n\t\treturn s.store.Put(k, v)\n\t}\n\treturn nil\n", ""},

		{"a cache at a peer", "\tv, ok := s.near.Get(k) // call\n\tif !ok {\n\t\tv = s.store.Fetch(k)\n\t\ts.near.Put(k, v)\n\t}\n\treturn nil\n", ""},
		{"of different peers", "\tif s.near.Has(k) { // call\n\t\treturn nil\n\t}\n\treturn s.store.Put(k, v)\n", ""},
		{"only a failure", "\tif err := s.store.Ping(k); err != nil { // call\n\t\treturn err\n\t}\n\treturn s.store.Put(k, v)\n", ""},
		{"only if it went well", "\tif _, err := s.store.Get(k); err == nil { // call\n\t\treturn s.store.Put(k, v)\n\t}\n\treturn nil\n", ""},
		{"of different keys", "\tif s.store.Has(k) { // call\n\t\treturn s.store.Put(v, v)\n\t}\n\treturn nil\n", ""},
		{"decided by something else", "\ts.store.Has(k) // call\n\tif v != k {\n\t\treturn s.store.Put(k, v)\n\t}\n\treturn nil\n", ""},
		{"two questions", "\tif !s.store.Has(k) { // call\n\t\treturn s.store.Check(k)\n\t}\n\treturn nil\n", ""},
		{"asked in memory", "\tif s.known(k) {\n\t\treturn nil\n\t}\n\treturn s.put(k, v) // call\n", ""},
		{"after the lock", "\tok := s.store.Has(k) // call\n\ts.mu.Unlock()\n\tif !ok {\n\t\ts.store.Put(k, v)\n\t}\n\ts.mu.Lock()\n\treturn nil\n", ""},
	} {
		p := protectionOf(head+lock+c.body+"}\n"+methods, "(*shop).do", "(*shop).do")
		switch {
		case p == nil && c.says != "" || p != nil && !strings.Contains(p.says, c.says):
			t.Errorf("%s: %+v", c.name, p)
		case p != nil && p.says != "" && (c.says == "" || !strings.Contains(p.advice, "Do not unlock between") || !p.slow):
			t.Errorf("%s: %+v", c.name, p)
		}
	}
	p := protectionOf(head+"func (s *shop) do(k, v string) error {\n\ts.mu.Lock() // lock\n\tdefer s.mu.Unlock()\n\treturn s.ensure(k, v)\n}\n\nfunc (s *shop) ensure(k, v string) error {\n\tif !s.store.Has(k) { // call\n\t\treturn s.store.Put(k, v)\n\t}\n\treturn nil\n}\n", "(*shop).do", "(*shop).do")
	if p != nil && strings.Contains(p.says, step) {
		t.Errorf("a line of another function than the stack has: %+v", p)
	}
}

// TestDecidesWrites: what is written under a lock may decide about the next write; a failure that stays, or what only says whether to begin another
// file, does not.
func TestDecidesWrites(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"os\"\n\t\"sync\"\n)\n\ntype wal struct {\n\tmu sync.Mutex\n\tf *os.File\n\tkeys map[string]bool\n\tsize, n int\n\terr error\n\tfailed, closed bool\n}\n\n"
	const lock = "func (l *wal) do(k string) error {\n\tl.mu.Lock() // lock\n\tdefer l.mu.Unlock()\n"
	const write = "\tl.f.Write(k)\n\tl.f.Sync() // call\n"
	for _, c := range []struct {
		name, body string
		decides    bool
	}{
		{"there already", "\tif l.keys[k] {\n\t\treturn errThere\n\t}\n" + write + "\tl.keys[k] = true\n\treturn nil\n", true},
		{"around it", "\tif !l.keys[k] {\n\tl.f.Sync() // call\n\t\tl.keys[k] = true\n\t}\n\treturn nil\n", true},
		{"as many as there may be", "\tif l.n > 9 {\n\t\treturn errFull\n\t}\n" + write + "\tl.n++\n\treturn nil\n", true},
		{"only written", write + "\tl.keys[k] = true\n\treturn nil\n", false},
		{"a failure that stays", "\tif l.err != nil {\n\t\treturn l.err\n\t}\n\tif err := l.f.Sync(); err != nil { // call\n\t\tl.err = err\n\t}\n\treturn nil\n", false},
		{"that it failed", "\tif l.failed {\n\t\treturn errFailed\n\t}\n\tif err := l.f.Sync(); err != nil { // call\n\t\tl.failed = true\n\t}\n\treturn nil\n", false},
		{"whether it is closed", "\tif l.closed {\n\t\treturn errClosed\n\t}\n" + write + "\tl.n++\n\treturn nil\n", false},
		{"another file", "\tif l.size > 9 {\n\t\tl.next()\n\t}\n" + write + "\tl.size += 9\n\treturn nil\n", false},
	} {
		text := head + lock + c.body + "}\n"
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1")
		withSource(r, "a.go", text)
		in := NewInput(session.New(r.Open()))
		at := func(mark string) stack.Frame {
			return stack.Frame{Func: "main.(*wal).do", File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, mark)], "\n")}
		}
		p := protectedBy(in.code, []stack.Frame{{Func: "sync.(*Mutex).Lock"}, at("// lock")}, []stack.Frame{{Func: "syscall.Fsync"}, {Func: "os.(*File).Sync"}, at("// call")})
		f := Finding{Advice: syncAdvice, Severity: Warning}
		if p.tellSync(&f); (f.Advice != syncAdvice) != c.decides || f.Severity != Warning {
			t.Errorf("%s: %s %s", c.name, f.Severity, f.Advice)
		}
		if c.decides && !strings.Contains(f.Advice, "only if who comes next already finds the change") {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}

// TestBesideOthers: another function may need the lock across several calls of the same thing; one call alone, of another thing, or under another
// lock does not.
func TestBesideOthers(t *testing.T) {
	const head = "package main\n\nimport \"sync\"\n\ntype shop struct {\n\tmu, other sync.Mutex\n\tstore, near *client\n}\n\n"
	const writes = "func (s *shop) do(k, v string) error {\n\ts.mu.Lock() // lock\n\tdefer s.mu.Unlock()\n\treturn s.store.Put(k, v) // call\n}\n\n"
	reads := strings.Replace(writes, "Put(k, v)", "Get(k)", 1)
	const move = "func (s *shop) move(k, v string) {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n"
	const ask, pair = move + "\tif s.store.Has(k) {\n\t\ts.store.Put(k, v)\n\t}\n}\n", move + "\ts.store.Put(k, v)\n\ts.store.Put(v, k)\n}\n"
	for _, c := range []struct{ name, source, says, doubt string }{
		{"a write between question and answer", writes + ask, "move needs the same lock across two calls of s.store", ""},
		{"a write between read and write", writes + move + "\tn := s.store.Get(k)\n\ts.store.Put(k, n+1)\n}\n", "move needs the same lock across two calls", ""},
		{"a read between two writes", reads + pair, "", "move holds the same lock across several calls of s.store (lines 19 and 20 of a.go)"},
		{"a write between two writes", writes + pair, "", "move holds the same lock across several calls"},
		{"a read between read and write", reads + ask, "", ""},
		{"reads alone", writes + move + "\ts.store.Get(k)\n\ts.store.Get(v)\n}\n", "", ""},
		{"of another thing", writes + strings.ReplaceAll(ask, "s.store", "s.near"), "", ""},
		{"under another lock", writes + strings.ReplaceAll(ask, "s.mu", "s.other"), "", ""},
		{"one call", writes + move + "\ts.store.Put(k, v)\n}\n", "", ""},
		{"at the end", reads + strings.Replace(pair, ") move(", ") Close(", 1), "", ""},
	} {
		p := protectionOf(head+c.source, "(*shop).do", "(*shop).do")
		if p == nil {
			p = &protected{}
		}
		if !strings.Contains(p.says, c.says) || (p.says == "") != (c.says == "") || !strings.Contains(p.doubt, c.doubt) || (p.doubt == "") != (c.doubt == "") {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

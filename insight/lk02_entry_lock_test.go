package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestEntryLock: a lock for each key is advised only where there is none yet.
func TestEntryLock(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"net/http\"\n\t\"sync\"\n)\n\ntype entry struct {\n\tmu sync.Mutex\n\tn int\n}\n\ntype svc struct {\n\tmu sync.Mutex\n\tn int\n\tall map[string]*entry\n\tshards []entry\n\tlocks map[string]*sync.Mutex\n}\n\nfunc post(k string, n int) {\n\thttp.Post(\"http://peer/\"+k, \"\", nil)\n}\n\nfunc (s *svc) do(k string, i int) {\n"
	for _, c := range []struct {
		name, body string
		each       bool // "have a lock for each key" is said
	}{
		{"one lock for all", "\ts.mu.Lock() // lock\n\tdefer s.mu.Unlock()\n\ts.n++\n\tif s.n > 9 {\n\t\tpost(k, s.n) // call\n\t}\n", true},
		{"one lock for each part", "\ts.shards[i].mu.Lock() // lock\n\tdefer s.shards[i].mu.Unlock()\n\ts.shards[i].n++\n\tif s.shards[i].n > 9 {\n\t\tpost(k, 1) // call\n\t}\n", true},
		{"that of an entry", "\te := s.all[k]\n\te.mu.Lock() // lock\n\tdefer e.mu.Unlock()\n\te.n++\n\tif e.n > 9 {\n\t\tpost(k, e.n) // call\n\t}\n", false},
		{"that of an entry, if there is one", "\te, ok := s.all[k]\n\tif !ok {\n\t\treturn\n\t}\n\te.mu.Lock() // lock\n\tdefer e.mu.Unlock()\n\te.n++\n\tif e.n > 9 {\n\t\tpost(k, e.n) // call\n\t}\n", false},
		{"an element of a map of locks", "\ts.locks[k].Lock() // lock\n\tdefer s.locks[k].Unlock()\n\ts.n++\n\tif s.n > 9 {\n\t\tpost(k, s.n) // call\n\t}\n", false},
	} {
		text := head + c.body + "}\n"
		at := func(mark string) stack.Frame {
			return stack.Frame{Func: "main.(*svc).do", File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, mark)], "\n")}
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1")
		withSource(r, "a.go", text)
		in := NewInput(session.New(r.Open()))
		why := purposeOf(in.code, []stack.Frame{{Func: "sync.(*Mutex).Lock"}, at("// lock")}, []stack.Frame{{Func: "net.(*conn).Read"}, at("// call")})
		for _, of := range []lockDoing{doingCall, doingWork} {
			if advice := why.advice(of); strings.Contains(advice, "lock for each") != c.each {
				t.Errorf("%s: %s", c.name, advice)
			}
		}
	}
}

// TestEntryLockOfSteps: the same holds where the lock keeps a change together, or makes one step of two calls.
func TestEntryLockOfSteps(t *testing.T) {
	const head = "package main\n\nimport \"sync\"\n\ntype entry struct {\n\tmu sync.Mutex\n\tqty map[string]int\n\tstore *client\n}\n\ntype svc struct {\n\tmu sync.Mutex\n\tqty map[string]int\n\tstore *client\n\tall map[string]*entry\n}\n\nfunc (s *svc) do(k, j, v string) error {\n"
	const change = "\tn := s.qty[k]\n\tif n == 0 {\n\t\treturn errSold\n\t}\n\tif err := post(k); err != nil { // call\n\t\treturn err\n\t}\n\ts.qty[k] = n - 1\n\treturn nil\n"
	const step = "\tif !s.store.Has(k) { // call\n\t\treturn s.store.Put(k, v)\n\t}\n\treturn nil\n"
	const all, entry = "\ts.mu.Lock() // lock\n\tdefer s.mu.Unlock()\n", "\te := s.all[k]\n\te.mu.Lock() // lock\n\tdefer e.mu.Unlock()\n"
	ofEntry := strings.NewReplacer("s.qty[k]", "e.qty[j]", "s.store", "e.store")
	for _, c := range []struct{ name, body, says, not string }{
		{"a change under one lock for all", all + change, "one lock for each key", "lock for each entry already"},
		{"a change under that of an entry", entry + ofEntry.Replace(change), "ake the call shorter", "lock for each key"},
		{"two calls under one lock for all", all + step, "Have one lock for each k", "lock for each entry already"},
		{"two calls under that of an entry", entry + ofEntry.Replace(step), "There is a lock for each entry already", "Have one lock for each"},
	} {
		p := protectionOf(head+c.body+"}\n", "(*svc).do", "(*svc).do")
		if p == nil || !strings.Contains(p.advice, c.says) || strings.Contains(p.advice, c.not) {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

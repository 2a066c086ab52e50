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

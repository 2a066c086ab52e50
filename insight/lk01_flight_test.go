package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestFlight: a lock under which what was looked for before is looked for again, and then made and put there, lets one work for all.
func TestFlight(t *testing.T) {
	const head = "package main\n\ntype shop struct {\n\tmu sync.Mutex\n\trw sync.RWMutex\n\tcache *gocache.Cache\n\tm map[string]int\n\tval int\n\tuntil time.Time\n\tcfg atomic.Pointer[int]\n\tclosed bool\n\tlocks map[string]*sync.Mutex\n}\n\n" +
		"const key = \"res\"\n\nfunc (s *shop) cached() (int, bool) { v, ok := s.cache.Get(key); return v, ok }\nfunc (s *shop) run() int {\n\tv := work() // call\n\ts.cache.SetDefault(key, v)\n\treturn v\n}\nfunc (s *shop) keep(v int) { s.cache.Set(key, v, 0) }\n" +
		"func (s *shop) find(k string) (int, bool) { v, ok := s.m[k]; return v, ok }\nfunc newEntry(k string) *entry { return &entry{key: k, at: time.Now()} }\n\n"
	const lock, unlock = "\ts.mu.Lock() // lock\n", "\tdefer s.mu.Unlock()\n"
	const look = "\tif v, ok := s.cached(); ok {\n\t\treturn v\n\t}\n"
	const find = "\tif v, ok := s.m[k]; ok {\n\t\treturn v\n\t}\n"
	const all, keyed = "in the background before it expires", "one lock for each key"
	for _, c := range []struct{ name, body, advice string }{
		{"behind helpers", look + lock + unlock + look + "\treturn s.run() // goes on\n", all},
		{"the helper that looks calls the work", look + lock + unlock + look + "\tv := work() // call here\n\ts.keep(v)\n\treturn v\n", all},
		{"unless it is there", look + lock + unlock + "\tv, ok := s.cached()\n\tif !ok {\n\t\tv = s.run() // goes on\n\t}\n\treturn v\n", all},
		{"a time", "\tif time.Now().Before(s.until) {\n\t\treturn s.val\n\t}\n" + lock + unlock + "\tif time.Now().Before(s.until) {\n\t\treturn s.val\n\t}\n\ts.val = work() // call here\n\ts.until = time.Now().Add(ttl)\n\treturn s.val\n", all},
		{"an atomic pointer", "\tif p := s.cfg.Load(); p != nil {\n\t\treturn *p\n\t}\n" + lock + unlock + "\tif p := s.cfg.Load(); p != nil {\n\t\treturn *p\n\t}\n\tv := work() // call here\n\ts.cfg.Store(&v)\n\treturn v\n", all},
		{"from reading to writing", "\ts.rw.RLock()\n\tv, ok := s.m[key]\n\ts.rw.RUnlock()\n\tif ok {\n\t\treturn v\n\t}\n\ts.rw.Lock() // lock\n\tdefer s.rw.Unlock()\n\tif v, ok := s.m[key]; ok {\n\t\treturn v\n\t}\n\tv = work() // call here\n\ts.m[key] = v\n\treturn v\n", all},
		{"one lock, many keys", find + lock + unlock + find + "\tv := work() // call here\n\ts.m[k] = v\n\treturn v\n", keyed},
		{"a lock for each key", "\tif v, ok := s.find(k); ok {\n\t\treturn v\n\t}\n\tl := s.locks[k]\n\tl.Lock() // lock\n\tdefer l.Unlock()\n\tif v, ok := s.find(k); ok {\n\t\treturn v\n\t}\n\tv := work() // call here\n\ts.m[k] = v\n\treturn v\n", all},

		{"what is made may cost something", find + lock + unlock + find + "\tv := New(fetch(k)) // call here\n\ts.m[k] = v\n\treturn v\n", keyed},
		{"made in a loop", find + lock + unlock + find + "\tv := New(k) // call here\n\tfor i := range 1000 {\n\t\tv += i\n\t}\n\ts.m[k] = v\n\treturn v\n", keyed},
		{"made with a context", find + lock + unlock + find + "\tv := NewSession(ctx, k) // call here\n\ts.m[k] = v\n\treturn v\n", keyed},
		{"a pattern", find + lock + unlock + find + "\tv := regexp.MustCompile(k) // call here\n\ts.m[k] = v\n\treturn v\n", keyed},

		{"a small value", find + lock + unlock + find + "\tv := rate.NewLimiter(rate.Limit(5), 10) // call here\n\ts.m[k] = v\n\treturn v\n", ""},
		{"a struct", find + lock + unlock + find + "\tv := &entry{at: time.Now()} // call here\n\ts.m[k] = v\n\treturn v\n", ""},
		{"a small value of the program's own", find + lock + unlock + find + "\tv := newEntry(k) // call here\n\ts.m[k] = v\n\treturn v\n", ""},
		{"into a cache", look + lock + unlock + look + "\tv := &entry{at: time.Now()} // call here\n\ts.cache.Set(key, v, 0)\n\treturn v\n", ""},
		{"not looked again", look + lock + unlock + "\treturn s.run() // goes on\n", ""},
		{"looked only under the lock", lock + unlock + look + "\treturn s.run() // goes on\n", ""},
		{"something else is asked again", "\tif s.closed {\n\t\treturn 0\n\t}\n" + lock + unlock + "\tif s.closed {\n\t\treturn 0\n\t}\n\tv := work() // call here\n\ts.m[k] = v\n\treturn v\n", ""},
		{"closed once", "\tif s.closed {\n\t\treturn 0\n\t}\n" + lock + unlock + "\tif s.closed {\n\t\treturn 0\n\t}\n\twork() // call here\n\ts.closed = true\n\treturn 0\n", ""},
		{"not kept", look + lock + unlock + look + "\treturn work() // call here\n", ""},
		{"asked, and done in any case", look + lock + unlock + "\tif v, ok := s.cached(); ok {\n\t\thits++\n\t}\n\tv := work() // call here\n\ts.keep(v)\n\treturn v\n", ""},
		{"let go before the work", look + lock + "\tv, ok := s.cached()\n\ts.mu.Unlock()\n\tif ok {\n\t\treturn v\n\t}\n\tv = work() // call here\n\ts.keep(v)\n\treturn v\n", ""},
	} {
		text := head + "func (s *shop) get(k string) int {\n" + c.body + "}\n"
		at := func(fn, mark string) stack.Frame {
			return stack.Frame{Func: "main.(*shop)." + fn, File: "a.go", Line: 1 + strings.Count(text[:max(0, strings.Index(text, mark))], "\n")}
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1")
		withSource(r, "a.go", text)
		code := NewInput(session.New(r.Open())).code
		holder := []stack.Frame{{Func: "main.work"}, at("get", "// call here")}
		if strings.Contains(c.body, "// goes on") {
			holder = []stack.Frame{{Func: "main.work"}, at("run", "// call"), at("get", "// goes on")}
		}
		waiter := []stack.Frame{{Func: "sync.(*Mutex).Lock"}, at("get", "// lock")}
		p, here := flightAt(code, waiter, holder), Finding{Severity: Warning}
		told := tellFlight(code, waiter, &here)
		switch {
		case c.advice == "" && (p != nil || told):
			t.Errorf("%s: %v; without a holder: %s", c.name, p, here.Summary)
		case c.advice == "":
		case p == nil || !strings.Contains(p.advice, c.advice) || p.info != (c.advice == all) || !strings.Contains(p.says, "the lock lets one make the result for all: "):
			t.Errorf("%s: %+v", c.name, p)
		case !told || here.Advice != p.advice || here.Severity == Info != (c.advice == all):
			t.Errorf("%s, without a holder: %s", c.name, here.Advice)
		}
		if by := protectedBy(code, waiter, holder); p != nil && (by == nil || by.says != p.says) {
			t.Errorf("%s: during I/O it says %v", c.name, by)
		}
	}
	// Looked for first by the function that calls the one which takes the lock.
	text := head + "func (s *shop) get(k string) int {\n\tif v, ok := s.cached(); ok {\n\t\treturn v\n\t}\n\treturn s.fill() // fill\n}\n\nfunc (c *shop) fill() int {\n\tc.mu.Lock() // lock\n\tdefer c.mu.Unlock()\n\tif v, ok := c.cached(); ok {\n\t\treturn v\n\t}\n\treturn c.run() // goes on\n}\n"
	at := func(fn, mark string) stack.Frame {
		return stack.Frame{Func: "main.(*shop)." + fn, File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, mark)], "\n")}
	}
	r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1")
	withSource(r, "a.go", text)
	get := at("get", "// fill")
	if p := flightAt(NewInput(session.New(r.Open())).code, []stack.Frame{{Func: "sync.(*Mutex).Lock"}, at("fill", "// lock"), get}, []stack.Frame{at("run", "// call"), at("fill", "// goes on"), get}); p == nil || !p.info {
		t.Errorf("looked for first by the caller: %v", p)
	}
}

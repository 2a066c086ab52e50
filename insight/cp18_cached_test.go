package insight

import (
	"testing"

	"loupe/value/stack"
)

// TestCachedCall: a call between a look-up that leaves the function and a put into the same cache is what the misses take;
// a cache that throws all away when it is full is told from one that evicts an entry.
func TestCachedCall(t *testing.T) {
	const head = "package main\n\ntype cache struct {\nkeys map[string]bool\nmax int\n}\n\nfunc (c *cache) Contains(k string) bool { return c.keys[k] }\n\ntype server struct{ known, other *cache }\n\n"
	const check = "func (s *server) check(k string) bool {\nif s.known.Contains(k) {\nreturn true\n}\nif !slow(k) { // A\nreturn false\n}\ns.known.Put(k)\nreturn true\n}\n"
	put := func(full string) string {
		return "func (c *cache) Put(k string) {\nif len(c.keys) >= c.max {\n" + full + "\n}\nc.keys[k] = true\n}\n"
	}
	for _, c := range []struct {
		name, source    string
		cached, emptied bool
	}{
		{"a new map", check + put("c.keys = map[string]bool{}"), true, true},
		{"made anew", check + put("c.keys = make(map[string]bool, c.max)"), true, true},
		{"cleared", check + put("clear(c.keys)"), true, true},
		{"one goes", check + put("for x := range c.keys {\ndelete(c.keys, x)\nbreak\n}"), true, false},
		{"nothing more is put", check + put("return"), true, false},
		{"another map is cleared", check + put("clear(others)"), true, false},
		{"put into another one", "func (s *server) check(k string) bool {\nif s.known.Contains(k) {\nreturn true\n}\nif !slow(k) { // A\nreturn false\n}\ns.other.Put(k)\nreturn true\n}\n" + put("clear(c.keys)"), false, true},
		{"asked for something else", "func (s *server) check(k string) bool {\nif s.known.Contains(k) {\nlog(k)\n}\nif !slow(k) { // A\nreturn false\n}\ns.known.Put(k)\nreturn true\n}\n" + put("clear(c.keys)"), false, true},
		{"no put", "func (s *server) check(k string) bool {\nif s.known.Contains(k) {\nreturn true\n}\nreturn slow(k) // A\n}\n" + put("clear(c.keys)"), false, true},
	} {
		text := head + c.source
		d := newDerivations(sourceOf(text))
		_, cached := cachedAt(d, stack.Frame{Func: "main.(*server).check", File: "a.go", Line: lineOfMark(text, "A")})
		lines, _ := emptiedWhenFull(d, "Put")
		if cached != c.cached || len(lines) > 0 != c.emptied {
			t.Errorf("%s: cached %v, emptied at %v", c.name, cached, lines)
		}
	}
}

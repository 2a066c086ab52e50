package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestEagerStore: work for an argument of what stores where nothing is there is told from work that is done on a miss alone.
func TestEagerStore(t *testing.T) {
	const helpers = `
func (c *cache) put(k string, v *T) *T {
	if old, ok := c.m[k]; ok {
		return old
	}
	c.m[k] = v
	return v
}
func (c *cache) fill(k string, v *T) {
	if _, ok := c.m[k]; !ok {
		c.m[k] = v
	}
}
func (c *cache) replace(k string, v *T) {
	c.m[k] = v
}
`
	for _, c := range []struct {
		body string
		want string
	}{
		{"v, _ := m.LoadOrStore(k, compile(k)) // here", "LoadOrStore"},
		{"return cache.GetOrSet(k, wrap(compile(k))) // here", "GetOrSet"},
		{"v := cmp.Or(known, compile(k)) // here", "cmp.Or"},
		{"return c.put(k, compile(k)) // here", "put"},
		{"c.fill(k, compile(k)) // here", "fill"},
		{"c.replace(k, compile(k)) // here", ""},
		{"if v, ok := m.Load(k); ok {\nreturn v\n}\nv, _ := m.LoadOrStore(k, compile(k)) // here", ""},
		{"v := cache.GetOrSet(k, func() *T { return compile(k) }) // here", ""},
		{"v, _ := m.LoadOrStore(compile(k), k) // here", ""},
		{"v := cache.GetOrCreate(ctx, compile(k), load) // here", ""},
		{"v := cache.GetOrCreate(ctx, compile(k), func() *T { return load(k) }) // here", ""},
		{"m.Store(k, compile(k)) // here", ""},
		{"if _, ok := c.m[k]; !ok {\nc.m[k] = compile(k) // here\n}", ""},
		{"v := cmp.Or(compile(k), known) // here", ""},
	} {
		text := "package main\n\nfunc f(k string) any {\n" + c.body + "\n}\n" + helpers
		line := 1 + strings.Count(text[:strings.Index(text, "// here")], "\n")
		e, ok := eagerStoreOn(sourceOf(text), []stack.Frame{{Func: "main.f", File: "a.go", Line: line}}, "lib.compile")
		if e.call != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, want %q", c.body, e.call, c.want)
		}
	}
}

// TestEagerRegexp: the advice to cache is not given where the line is that of a cache.
func TestEagerRegexp(t *testing.T) {
	r := spentIn("shop.f:/src/a.go:6 shop.g:/src/b.go:1\nregexp.MustCompile\nregexp.compile\n= 60                40\n")
	sourceIn(r, "/src/a.go", "package main\n\nvar m sync.Map\n\nfunc f(k string) any {\n\tv, _ := m.LoadOrStore(k, regexp.MustCompile(k))\n\treturn v\n}\n")
	f := expect(t, "a cache", r, "AL14", Found, "regular expressions")
	if strings.Contains(f.Advice, "keyed by") || !strings.Contains(f.Advice, "Look it up first (Load)") {
		t.Errorf("%q", f.Advice)
	}
}

package insight

import (
	"go/ast"
	"testing"
)

// TestEndOfResult: what a user of a result closes, releases or gives back can be neither shared nor kept; what is closed only when it is broken, what is
// stored, a lock that was taken before, and names that ask for a value are no end of it.
func TestEndOfResult(t *testing.T) {
	const head = "package main\n\nimport (\"context\"; \"sync\")\n\ntype session struct { conn *conn; mu sync.Mutex }\ntype conn struct{}\nfunc (c *conn) Close() error { return nil }\nfunc (s *session) Close() error { return nil }\nfunc (s *session) Release() {}\nfunc (s *session) End() int { return 1 }\nfunc (s *session) Broken() bool { return false }\n\nfunc get() (*session, error) { return &session{}, nil }\nfunc use(s *session) {}\n"
	for _, c := range []struct {
		what, body string
		want       string // the call that ends its use; empty where there is none
	}{
		{"closed", "s, err := get()\nif err != nil { return }\ndefer s.Close()\nuse(s)", "s.Close()"},
		{"a part of it is closed", "s, _ := get()\ndefer s.conn.Close()\nuse(s)", "s.conn.Close()"},
		{"released", "s, _ := get()\nuse(s)\ns.Release()", "s.Release()"},
		{"closed by a deferred literal", "s, _ := get()\ndefer func() { s.Close() }()", "s.Close()"},
		{"where there is one", "s, _ := get()\nif s != nil { s.Close() }", "s.Close()"},
		{"with its error", "s, _ := get()\nif err := s.Close(); err != nil { return }", "s.Close()"},
		{"given back", "s, _ := get()\npool.Put(s)", "pool.Put(s)"},
		{"given back with a context", "s, _ := get()\npool.put(ctx, s)", "pool.put(ctx, s)"},
		{"by a function that is handed on", "s, _ := get()\nt.Cleanup(s.Release)", "s.Release"},
		{"in a helper", "s, _ := get()\nover(s)\n}\n\nfunc over(x *session) {\nx.Close()", "x.Close()"},
		{"behind the function that returns it", "run(nil)\n}\n\nfunc open() *session {\ns, _ := get()\nreturn s\n}\n\nfunc run(x any) {\ns := open()\ndefer s.Close()", "s.Close()"},
		{"in something that is returned", "}\n\ntype both struct{ s *session }\n\nfunc (b *both) Close() {}\n\nfunc open() *both {\ns, _ := get()\nreturn &both{s}\n}\n\nfunc run(x any) {\nb := open()\ndefer b.Close()", "b.Close()"},

		{"used", "s, _ := get()\nuse(s)", ""},
		{"another one is closed", "s, _ := get()\nuse(s)\nc := dial()\nc.Close()", ""},
		{"another one in the same variable", "s, _ := get()\nuse(s)\ns = other()\ns.Close()", ""},
		{"closed before", "var s *session\ns.Close()\ns, _ = get()\nuse(s)", ""},
		{"only when it is broken", "s, _ := get()\nif s.Broken() { s.Close(); return }\nuse(s)", ""},
		{"a lock in it", "s, _ := get()\ns.mu.Lock()\nuse(s)\ns.mu.Unlock()", ""},
		{"stored under a key", "s, _ := get()\ncache.Put(key, s)", ""},
		{"asked for its end", "s, _ := get()\nn := s.End()\n_ = n", ""},
		{"a channel of it", "s, _ := get()\n<-s.Done()", ""},
	} {
		d := newDerivations(sourceOf(head + "\nfunc run0(ctx context.Context, t, pool, cache, key any) {\n" + c.body + "\n}\n"))
		var decl *ast.FuncDecl
		for _, x := range declsInOrder(d) {
			if x.Name.Name == "get" {
				decl = x
			}
		}
		if e, ok := endOfResult(d, decl, 0); ok != (c.want != "") || e.call != c.want {
			t.Errorf("%s: %v %+v", c.what, ok, e)
		}
	}
}

// TestEndOfFunctionResult: a function that is returned and called at the end of the use cancels or takes back.
func TestEndOfFunctionResult(t *testing.T) {
	for body, want := range map[string]string{
		"ctx, cancel := begin()\ndefer cancel()\nuse(ctx)": "cancel()",
		"defer begin()()":                     "begin()()",
		"x, compare := begin()\ncompare(x)":   "",
		"_, release := begin()\nuse(release)": "",
		"_, release := begin()\nrelease()":    "release()",
		"x, _ := begin()\n<-x.Done()":         "",
	} {
		d := newDerivations(sourceOf("package main\n\nfunc begin() (ctx, func()) { return ctx{}, nil }\n\ntype ctx struct{}\n\nfunc use(x any) {}\n\nfunc run() {\n" + body + "\n}\n"))
		for _, x := range declsInOrder(d) {
			if x.Name.Name != "begin" {
				continue
			}
			if e, _ := endOfResult(d, x, 0); e.call != want {
				t.Errorf("%s: %+v", body, e)
			}
		}
	}
}

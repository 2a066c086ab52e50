package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// TestConnectionOfCalls: calls that all go over one connection are told from those that have one each, or take one out of several.
func TestConnectionOfCalls(t *testing.T) {
	const types = "import (\n\"bufio\"\n\"database/sql\"\n\"net\"\n\"net/http\"\n)\n\ntype Conn struct { rw *bufio.ReadWriter; k *codec; db *sql.DB; http *http.Client }\ntype codec struct { r *bufio.Reader }\n" +
		"func (k *codec) read() string { s, _ := k.r.ReadString(1); return s } // codec\n\n"
	const get = "func (c *Conn) Get(x string) string {\ns, _ := c.rw.ReadString(1) /*1*/\nreturn s\n}\n"
	for _, c := range []struct{ name, body, want string }{
		{"a field", get + "func f(c *Conn) {\nfor _, x := range all {\nc.Get(x) /*2*/\n}\n}", "c.rw"},
		{"that of one that is dialled before", get + "func f() {\nc, _ := dial()\nfor _, x := range all {\nc.Get(x) /*2*/\n}\n}", "c.rw"},
		{"that of one that is dialled for each", get + "func f() {\nfor _, x := range all {\nc, _ := dial()\nc.Get(x) /*2*/\n}\n}", ""},
		{"that of each of several", get + "func f(conns []*Conn) {\nfor _, c := range conns {\nc.Get(x) /*2*/\n}\n}", ""},
		{"that of one out of several", get + "func f(conns []*Conn) {\nfor i := range all {\nconns[i%4].Get(x) /*2*/\n}\n}", ""},
		{"that of one out of a pool", get + "func one(x string) string {\nc := pool.Get()\ndefer pool.Put(c)\nreturn c.Get(x) /*2*/\n}\nfunc f() {\nfor _, x := range all {\none(x) /*3*/\n}\n}", ""},
		{"a variable of the package", get + "var shared *Conn\nfunc one(x string) string { return shared.Get(x) /*2*/ }\nfunc f() {\nfor _, x := range all {\none(x) /*3*/\n}\n}", "c.rw"},
		{"through a codec", "func (k *codec) next() string {\ns, _ := k.r.ReadString(1) /*1*/\nreturn s\n}\nfunc (c *Conn) Get(x string) string { return c.k.next() /*2*/ }\nfunc f(c *Conn) {\nfor _, x := range all {\nc.Get(x) /*3*/\n}\n}", "k.r"},
		{"a local one", "func f() {\nc, _ := net.Dial(`tcp`, `a`)\nr := bufio.NewReader(c)\nfor _, x := range all {\nr.ReadString(1) /*1*/\n}\n}", "r"},
		{"a client of HTTP", "func (c *Conn) Get(x string) { c.http.Get(x) /*1*/ }\nfunc f(c *Conn) {\nfor _, x := range all {\nc.Get(x) /*2*/\n}\n}", ""},
		{"a pool of database/sql", "func (c *Conn) Get(x string) { c.db.QueryRow(x) /*1*/ }\nfunc f(c *Conn) {\nfor _, x := range all {\nc.Get(x) /*2*/\n}\n}", ""},
	} {
		text := "package main\n\n" + types + c.body + "\n"
		path := numbered(text)
		for i := range path { // the functions by their marks
			path[i].Func = "main." + codeOf(text).function(path[i]).Name.Name
		}
		if got := connectionOfCalls(codeOf(text), path); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestWT02Connection: over one connection no concurrent calls are advised; over a client's pool they are.
func TestWT02Connection(t *testing.T) {
	for _, c := range []struct {
		name, field, call string
		one               bool
	}{
		{"a connection", "rw *bufio.ReadWriter", "c.rw.ReadString(1)", true},
		{"a client", "rw *http.Client", "c.rw.Get(x)", false},
	} {
		r := served(t, 20, func(p *accounttest.Program) {
			for range 8 {
				ask(p, 2*time.Millisecond, "main.(*Conn).get@b.go:8", "main.handle@a.go:5")
			}
		})
		withSource(r, "a.go", "package main\n\nfunc handle(c *Conn) {\nfor _, x := range all {\nc.get(x)\n}\n}\n")
		withSource(r, "b.go", "package main\n\nimport (\"bufio\"; \"net/http\")\n\ntype Conn struct { "+c.field+" }\n\nfunc (c *Conn) get(x string) {\n"+c.call+"\n}\n")
		f := answers(t, r, "WT02")[0]
		if f.State != Found || f.Severity != Warning || strings.Contains(f.Advice, "errgroup") == c.one || strings.Contains(f.Advice, "one connection (c.rw)") != c.one || !strings.Contains(f.Advice, "a pipeline") {
			t.Errorf("%s: %s %s: %s", c.name, f.State, f.Severity, f.Advice)
		}
	}
}

package insight

import "testing"

// TestOneConnectionLimit: a limit of one connection is told where the source shows that it holds for all calls: there is one client, and nothing else sets it.
func TestOneConnectionLimit(t *testing.T) {
	const open = "db, _ := sql.Open(\"x\", \"y\")\n"
	for _, c := range []struct{ name, body, database, requests string }{
		{"a database", open + "db.SetMaxOpenConns(1)", "db.SetMaxOpenConns(1)", ""},
		{"by a constant", open + "db.SetMaxOpenConns(one)", "db.SetMaxOpenConns(one)", ""},
		{"by OpenDB", "db := sql.OpenDB(nil)\ndb.SetMaxOpenConns(1)", "db.SetMaxOpenConns(1)", ""},
		{"a transport", "c := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}\nc.Get(\"x\")", "", "MaxConnsPerHost: 1"},
		{"it is set", "tr := &http.Transport{}\ntr.MaxConnsPerHost = 1", "", "tr.MaxConnsPerHost = 1"},

		{"more connections", open + "db.SetMaxOpenConns(2)", "", ""},
		{"a number that is not known", open + "db.SetMaxOpenConns(n)", "", ""},
		{"another limit", open + "db.SetMaxIdleConns(1)", "", ""},
		{"two databases", open + "other, _ := sql.Open(\"x\", \"z\")\nother.Ping()\ndb.SetMaxOpenConns(1)", "", ""},
		{"it is set to something else as well", open + "db.SetMaxOpenConns(1)\ndb.SetMaxOpenConns(n)", "", ""},
		{"a database that is opened elsewhere", "given.SetMaxOpenConns(1)", "", ""},
		{"more connections of a transport", "tr := &http.Transport{}\ntr.MaxConnsPerHost = n", "", ""},
		{"another field", "tr := &http.Transport{MaxIdleConnsPerHost: 1}\ntr.MaxIdleConns = 1", "", ""},
		{"two transports", "tr := &http.Transport{MaxConnsPerHost: 1}\nother := &http.Transport{}\nuse(tr, other)", "", ""},
		{"the default client as well", "tr := &http.Transport{MaxConnsPerHost: 1}\nhttp.DefaultClient.Get(\"x\")\nuse(tr)", "", ""},
		{"a function of the package as well", "tr := &http.Transport{MaxConnsPerHost: 1}\nhttp.Get(\"x\")\nuse(tr)", "", ""},
		{"a client without a transport", "tr := &http.Transport{MaxConnsPerHost: 1}\nc := &http.Client{Timeout: 9}\nuse(tr, c)", "", ""},
	} {
		d := derivationsOf(sourceOf("package main\n\nimport (\n\"database/sql\"\n\"net/http\"\n)\n\nconst one = 1\n\nvar given *sql.DB\n\nfunc use(...any) {}\n\nfunc f(n int) {\n" + c.body + "\n}\n"))
		if l, ok := limitOfDatabases(d); ok != (c.database != "") || ok && (l.text != c.database || l.host) {
			t.Errorf("%s: of a database: %v %+v", c.name, ok, l)
		}
		if l, ok := limitOfTransports(d); ok != (c.requests != "") || ok && (l.text != c.requests || !l.host) {
			t.Errorf("%s: of a transport: %v %+v", c.name, ok, l)
		}
	}
}

package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestProbe: what is opened to find out whether that works is told from what is opened to be used. It
// is opened on the line with // open.
func TestProbe(t *testing.T) {
	const open = "func work(w http.ResponseWriter, r *http.Request) {\n\tdb, err := sql.Open(\"x\", dsn) // open\n\tif err != nil {\n\t\treturn\n\t}\n\tdefer db.Close()\n"
	for _, c := range []struct {
		name, text string
		sure       bool
		by         string
	}{
		{"asked and closed", open + "\tdb.SetMaxOpenConns(1)\n\tif err := db.PingContext(r.Context()); err != nil {\n\t\treturn\n\t}\n}", true, ""},
		{"asked, closed in a function", "func work() {\n\tdb, err := sql.Open(\"x\", dsn) // open\n\tdefer func() { db.Close() }()\n\tif db != nil {\n\t\treturn db.Ping()\n\t}\n}", true, ""},
		{"by a function of its own", open + "\tif !pingDB(ctx, db) {\n\t\treturn\n\t}\n}\nfunc pingDB(ctx context.Context, db *sql.DB) bool { return db.PingContext(ctx) == nil }", true, ""},
		{"asked, then used", open + "\tif err := db.Ping(); err != nil {\n\t\treturn\n\t}\n\tdb.Query(q)\n}", false, ""},
		{"used", open + "\tdb.Query(q)\n}", false, ""},
		{"given away", open + "\tdb.Ping()\n\tuse(db)\n}", false, ""},
		{"kept", open + "\tdb.Ping()\n\tall[name] = db\n}", false, ""},
		{"closed only", open + "}", false, ""},
		{"not closed", "func work() {\n\tdb, _ := sql.Open(\"x\", dsn) // open\n\tdb.Ping()\n}", false, ""},
		{"used by a check", strings.Replace(open, "work", "checkLogin", 1) + "\tdb.Query(q)\n}", false, "main.checkLogin"},
		{"used by what serves /healthz", "func work() {\n\tmux.HandleFunc(\"GET /healthz\", func(w http.ResponseWriter, r *http.Request) {\n\t\tdb, _ := sql.Open(\"x\", dsn) // open\n\t\tdb.Query(q)\n\t})\n}", false, "\"GET /healthz\""},
		{"used by what serves /ready-orders", "func work() {\n\tmux.HandleFunc(\"/orders\", func(w http.ResponseWriter, r *http.Request) {\n\t\tdb, _ := sql.Open(\"x\", dsn) // open\n\t\tdb.Query(q)\n\t})\n}", false, ""},
	} {
		text := "package main\n\n" + c.text + "\n"
		fn := "main.work"
		if strings.Contains(text, "checkLogin") {
			fn = "main.checkLogin"
		}
		way := []stack.Frame{{Func: fn, File: "a.go", Line: strings.Count(text[:strings.Index(text, "// open")], "\n") + 1}}
		p := probeOf(sourceOf(text), way, "database/sql.Open")
		f := Finding{Severity: Warning, Advice: "Open it once."}
		p.tell(&f)
		if p.sure != c.sure || p.name != c.by || (f.Severity == Info) != (c.sure || c.by != "") || c.sure != strings.Contains(f.Advice, "leave it so") {
			t.Errorf("%s: %+v %+v", c.name, p, f)
		}
	}
	// What another function hands on is followed to the one that uses it.
	text := "package main\n\nfunc open() (*sql.DB, error) {\n\tdb, err := sql.Open(\"x\", dsn)\n\treturn db, err\n}\nfunc work() {\n\tdb, err := open()\n\tdefer db.Close()\n\tdb.Ping()\n}\n"
	way := []stack.Frame{{Func: "main.open", File: "a.go", Line: 4}, {Func: "main.work", File: "a.go", Line: 8}}
	if p := probeOf(sourceOf(text), way, "database/sql.Open"); !p.sure || p.at.Line != 10 {
		t.Errorf("%+v", p)
	}
	if p := probeOf(sourceOf(strings.Replace(text, "db.Ping()", "db.Query(q)", 1)), way, "database/sql.Open"); p.sure {
		t.Errorf("%+v", p)
	}
}

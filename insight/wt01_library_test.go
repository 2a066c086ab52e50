package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/format/loadlog"
	"loupe/format/loadlog/loadlogtest"
	"loupe/recording"
	"loupe/value/stack"
)

// sentWith adds to a recording a load of some methods.
func sentWith(methods ...string) *loadlog.Log {
	h := loadlogtest.Log("begin late service").Header
	h.Elapsed = time.Second
	for _, m := range methods {
		h.Targets = append(h.Targets, loadlog.Target{Method: m, URL: "http://a/" + m})
	}
	var rows []loadlog.Request
	for i := range 200 {
		rows = append(rows, loadlog.Request{Service: ms, Status: 200, Target: uint16(i % max(1, len(methods)))})
	}
	return loadlog.New(h, rows)
}

// TestWT01Library: a wait within a library is told as what the program's line calls, and a statement that changes rows in requests that only read as that.
func TestWT01Library(t *testing.T) {
	const touch = "database/sql.(*DB).ExecContext@sql.go:2;main.(*store).touch@a.go:6;main.handle@a.go:11"
	const busy = "runtime.selectgo@select.go:1;modernc.org/sqlite.busyHandler@busy.go:82;modernc.org/sqlite.(*conn).exec@c.go:3;"
	const update = "s.db.ExecContext(ctx, `\n\tUPDATE t SET at = ? WHERE id = ?`, id)"
	source := func(line, more string) string {
		return "package main\n\n\n\nfunc (s *store) touch(ctx context.Context, q string) {\n\t" + line + "\n}\n" + strings.Repeat("\n", 2-strings.Count(line, "\n")) + "func handle() {\n\tstore.touch(ctx, " + more + ")\n}\n"
	}
	const reads, timers, together = "Do not write in these requests", "Let the event itself end the wait", "in one transaction"
	for _, c := range []struct {
		name, leaf, source string
		methods            []string
		says, advises      string
		not                string // what it must not say
		severity           Severity
	}{
		{"an update in a GET", busy + touch, source(update, `""`), []string{"GET", "HEAD"}, "waiting for an UPDATE of a database (sql.(*DB).ExecContext) in main.(*store).touch at a.go:6", reads, "a timer in main", Warning},
		{"it says what the driver does", busy + touch, source(update, `""`), []string{"GET"}, "meanwhile the library is waiting for a timer in sqlite.busyHandler, 15.0 ms at a time, and then tries again: by its name, because another connection has the database locked; the requests that were sent only read (GET)", reads, "", Warning},
		{"the text comes from the caller", busy + touch, source("s.db.ExecContext(ctx, q, 1)", `"insert into t values (?)"`), []string{"GET"}, "waiting for an INSERT of a database", reads, "", Warning},
		{"a text that is put together", busy + touch, source("s.db.ExecContext(ctx, `DELETE FROM t WHERE id IN (?`+more(n)+`)`, ids)", `""`), []string{"GET"}, "waiting for a DELETE of a database", reads, "", Warning},
		{"a statement that was prepared", strings.ReplaceAll(busy+touch, "(*DB).ExecContext", "(*Stmt).ExecContext"), source("st, _ := s.db.PrepareContext(ctx, `REPLACE INTO t VALUES (?)`); st.ExecContext(ctx, id)", `""`), []string{"GET"}, "waiting for a REPLACE of a database", reads, "", Warning},
		{"in requests that write", busy + touch, source(update, `""`), []string{"GET", "POST"}, "waiting for an UPDATE of a database", together, "Do not write", Warning},
		{"a query", busy + touch, source("s.db.ExecContext(ctx, `SELECT 'UPDATE'`)", `""`), []string{"GET"}, "waiting for a database (sql.(*DB).ExecContext)", together, "Do not write", Warning},
		{"an argument that looks like a statement", busy + touch, source("s.db.ExecContext(ctx, text(), `UPDATE`)", `""`), []string{"GET"}, "waiting for a database (sql.(*DB).ExecContext)", together, "Do not write", Warning},
		{"without a load", busy + touch, source(update, `""`), nil, "waiting for an UPDATE of a database", together, "Do not write", Warning},
		{"another driver", "runtime.selectgo@select.go:1;example.org/db.(*conn).next@c.go:3;" + touch, source(update, `""`), []string{"POST"}, "waiting for an UPDATE of a database", "look at what its statements wait for there", "one connection write", Warning},
		{"the driver is the program's own", "runtime.selectgo@select.go:1;main.(*conn).Exec@b.go:3;" + touch, source(update, `""`), []string{"GET"}, "waiting for a timer in main.(*conn).Exec at b.go:3", timers, "Do not write", Warning},
		{"another library", "runtime.selectgo@select.go:1;example.org/lock.(*Mutex).Lock@l.go:3;main.(*store).touch@a.go:6;main.handle@a.go:11", source("s.l.Lock()", `""`), []string{"GET"}, "waiting in a call of lock.(*Mutex).Lock in main.(*store).touch at a.go:6", "set in the library, not in the program", "Let the event", Warning},
		{"a library that keeps a rate", "runtime.selectgo@select.go:1;golang.org/x/time/rate.(*Limiter).WaitN@rate.go:3;main.(*store).touch@a.go:6;main.handle@a.go:11", source("s.l.Wait(ctx)", `""`), []string{"GET"}, "waiting for a timer in main.(*store).touch at a.go:6", "A limiter makes it wait", "set in the library", Info},
		{"a library that pauses between tries", "runtime.selectgo@select.go:1;github.com/cenkalti/backoff/v4.RetryNotify@retry.go:3;main.(*store).touch@a.go:6;main.handle@a.go:11", source("backoff.RetryNotify(f)", `""`), []string{"GET"}, "waiting for a timer", timers, "set in the library", Warning},
		{"the program's own timer", "runtime.selectgo@select.go:1;main.(*store).touch@a.go:6;main.handle@a.go:11", source("<-time.After(d)", `""`), []string{"GET"}, "waiting for a timer", timers, "set in the library", Warning},
	} {
		r := served(t, 20, func(p *accounttest.Program) {
			p.Block("select", accounttest.In(strings.Split(c.leaf, ";")...))
			p.Pass(15 * time.Millisecond)
			p.Wake(5, "")
			p.Start(5)
		})
		withSource(r, "a.go", c.source)
		if c.methods != nil {
			r.Manifest.Phases = append(r.Manifest.Phases, recording.Phase{Name: "bare"})
			r.Put(recording.Entry{Path: "load-bare.requests", Kind: recording.Load, Phase: "bare"}, loadlogtest.Encode(sentWith(c.methods...)))
		}
		f := answers(t, r, "WT01")[0]
		if text := f.Title + ": " + f.Summary + "\n" + f.Advice; f.State != Found || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Advice, c.advises) || c.not != "" && strings.Contains(text, c.not) ||
			(f.Title == readWritesTitle) != (c.advises == reads) {
			t.Errorf("%s: %s %s\n%s", c.name, f.State, f.Severity, text)
		}
	}
}

// TestStatementChanging: the word is that of the constant text that reaches the line.
func TestStatementChanging(t *testing.T) {
	for text, want := range map[string]string{
		"db.Exec(`update t`)":                                "UPDATE",
		"db.MustExec(`  -- of a user\n\tInsert into t`)":     "INSERT",
		"db.QueryRow(`INSERT INTO t RETURNING id`)":          "INSERT",
		"const q = `DELETE FROM t`; db.Exec(q)":              "DELETE",
		"q := `DELETE FROM t`; db.Exec(q, x)":                "DELETE",
		"db.Exec(fmt.Sprintf(`UPDATE %s SET a = 1`, table))": "UPDATE",
		"db.Query(`SELECT * FROM updates`)":                  "",
		"db.Exec(`PRAGMA wal_checkpoint`)":                   "",
		"db.Exec(`updated`)":                                 "",
		"log.Print(`UPDATE t`)":                              "",
		"db.Exec(q)":                                         "",
	} {
		source := "package main\n\nfunc f() {\n" + text + "\n}\n"
		at := stack.Frame{Func: "main.f", File: "a.go", Line: 4}
		if got := statementChanging(codeOf(source), []stack.Frame{at}); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestOneWriter: more connections are advised unless the database is within the program and lets one connection write at a time.
func TestOneWriter(t *testing.T) {
	for _, c := range []struct {
		name, imports, opens string
		embedded             bool
	}{
		{"modernc", `_ "modernc.org/sqlite"`, `sql.Open("sqlite", path)`, true},
		{"mattn", `_ "github.com/mattn/go-sqlite3"`, `sql.Open("sqlite3", path)`, true},
		{"ncruces", `_ "github.com/ncruces/go-sqlite3/driver"`, `sql.Open(driver, path)`, true},
		{"a constant", `_ "github.com/glebarez/go-sqlite"`, "sqlx.Connect(name, path)", true},
		{"a server", `_ "github.com/lib/pq"`, `sql.Open("postgres", dsn)`, false},
		{"a server, beside SQLite for the tests", "_ \"github.com/lib/pq\"\n_ \"modernc.org/sqlite\"", `sql.Open(driver, dsn)`, false},
		{"a server by its name", `_ "modernc.org/sqlite"`, `sql.Open("mysql", dsn)`, false},
		{"an unknown one", `_ "example.org/driver"`, `sql.Open(driver, dsn)`, false},
		{"bbolt is none of database/sql", `"go.etcd.io/bbolt"`, `sql.Open(driver, dsn)`, false},
	} {
		const query = "shop.serve:/src/shop.go:3 shop/store.find:/src/find.go:8 database/sql.(*DB).QueryRow database/sql.(*DB).conn runtime.selectgo"
		r := blocking(stored(), column{idle, values(10, 9*time.Second)}, column{query, values(100, 3*time.Second)})
		withSource(r, "db.go", "package main\n\nimport (\n\"database/sql\"\n"+c.imports+"\n)\n\nconst name = \"sqlite\"\n\nfunc open(driver, dsn string) {\n\tdb, _ := "+c.opens+"\n}\n")
		f := expect(t, c.name, r, "LK06", Found)
		if one := strings.HasPrefix(f.Advice, "The database is within the program"); one != c.embedded || one == strings.Contains(f.Advice, "Allow more connections") {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
		if strings.Contains(f.Advice, "Write less often") { // nobody is seen to write
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}

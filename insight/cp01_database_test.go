package insight

import (
	"strings"
	"testing"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestQueryInProcess: a statement that goes from row to row in a database within the program is told with its line, text and index; one that mostly hands rows over,
// one of a server and one that writes are not.
func TestQueryInProcess(t *testing.T) {
	const (
		top    = "net/http.(*conn).serve main.list@A database/sql.(*Rows).Next "
		lite   = "modernc.org/sqlite.(*rows).Next modernc.org/sqlite/lib.Xsqlite3_step modernc.org/sqlite/lib._sqlite3VdbeExec "
		walk   = lite + "modernc.org/sqlite/lib._btreeNext modernc.org/sqlite/lib._moveToLeftmost"
		exec   = lite + "modernc.org/sqlite/lib._sqlite3VdbeSerialGet"
		hands  = "modernc.org/sqlite.(*rows).Next modernc.org/sqlite.(*conn).columnText"
		rows   = "func list(db *sql.DB, who string) {\n\trows, _ := db.Query(`%s`, who)\n\tfor rows.Next() { // A\n\t\trows.Scan(&x)\n\t}\n}\n"
		direct = "func list(db *sql.DB, who string) {\n\tdb.QueryRow(`%s`, who).Scan(&x) // A\n}\n"
		where  = "SELECT a, b FROM orders WHERE owner = ? AND at > ? ORDER BY at"
	)
	for _, c := range []struct {
		name, source, text, most, rest string
		title, advice                  string
		severity                       Severity
	}{
		{"its rows are read", rows, where, top + walk, top + exec, rowsTitle, "an index on orders (owner, at)", Warning},
		{"one row", direct, "select count(*) from orders o where o.state = ?", top + walk, top + exec, rowsTitle, "an index on orders (state)", Warning},
		{"of two tables", direct, "SELECT a FROM orders JOIN people ON people.id = who WHERE owner = ?", top + walk, top + exec, rowsTitle, "an index for the columns", Warning},
		{"in C", direct, where, top + "github.com/mattn/go-sqlite3.(*SQLiteRows).Next github.com/mattn/go-sqlite3._Cfunc__sqlite3_step_row_internal runtime.cgocall", top + "github.com/mattn/go-sqlite3._Cfunc__sqlite3_step_row_internal runtime.cgocall", queryTitle, "orders (owner, at)", Warning},
		{"another one", direct, where, top + "github.com/ncruces/go-sqlite3.(*Stmt).Step example.org/wasm.run", top + "github.com/ncruces/go-sqlite3.(*Stmt).Step example.org/wasm.run", queryTitle, "orders (owner, at)", Warning},
		{"an unknown text", "func list(db *sql.DB, q string) {\n\tdb.QueryRow(q).Scan(&x) // A %.0s\n}\n", where, top + walk, top + exec, "", "", Info},

		{"rows are handed over", rows, where, top + hands, top + walk, "", "", Info},
		{"the machine computes", rows, where, top + exec, top + exec, "", "", Info},
		{"a server", rows, where, top + "github.com/lib/pq.(*rows).Next github.com/lib/pq.(*conn).step", top + "github.com/lib/pq.(*conn).step", "", "", Info},
		{"it writes", direct, "INSERT INTO orders VALUES (?)", top + walk, top + exec, "", "", Info},
	} {
		source := "package main\n\nimport \"database/sql\"\n\nvar x int\n\n" + strings.Replace(c.source, "%s", c.text, 1)
		if strings.Contains(source, "%.0s") {
			source = strings.Replace(source, " %.0s", "", 1)
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{stackAt(source, c.most), []int64{50}}, column{stackAt(source, c.rest), []int64{30}}, column{"net/http.(*conn).serve main.other:/src/other.go:3", []int64{20}})
		f := answers(t, r, "CP01")[0]
		title := c.title
		if c.name == "an unknown text" {
			title = rowsTitle
		}
		if told := ofQuery(&f); told != (title != "") || told && f.Title != title || f.Severity != c.severity || !strings.Contains(f.Advice, c.advice) {
			t.Errorf("%s: %s %q: %s", c.name, f.Severity, f.Title, f.Advice)
		}
		if c.severity == Warning && (!strings.Contains(f.Evidence[0].Text, c.text) || !strings.Contains(f.Evidence[0].Source, "Query")) {
			t.Errorf("%s: %+v", c.name, f.Evidence[0])
		}
	}
}

// TestIndexColumns: those that have to be equal come first; of what is not simple, nothing is named.
func TestIndexColumns(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT a FROM t WHERE x = ? ORDER BY y, z DESC LIMIT 3": "t x y z",
		"SELECT a FROM t WHERE b > 3 AND \"x\" = ?":              "t x b",
		"DELETE FROM t WHERE x IN (?, ?)":                        "t x",
		"UPDATE t SET a = 1 WHERE x = ?":                         "t x",
		"SELECT a FROM t WHERE lower(x) = ?":                     "",
		"SELECT a FROM t WHERE x = ? OR y = ?":                   "",
		"SELECT a FROM t, u WHERE t.x = u.x":                     "",
		"SELECT a FROM t WHERE x IN (SELECT x FROM u)":           "",
		"SELECT a FROM t":                                        "",
		"SELECT a FROM t WHERE x LIKE ?":                         "",
	} {
		table, columns := indexColumns(text)
		if got := strings.TrimSpace(table + " " + strings.Join(columns, " ")); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestQueryHoldsConnections: waits for a connection stand under the query that computes meanwhile, where this is warned of and takes most of the CPU time.
func TestQueryHoldsConnections(t *testing.T) {
	hot := func(title string, low float64) Finding {
		f := seenAt("CP01", Warning, 50, "/src/db.go", 9)
		f.Title, f.Impact, f.costs = title, &Impact{0.9, cpuSamples, low, 1}, []cost{{function: "main.list"}}
		return f
	}
	for _, c := range []struct {
		name string
		a, b Finding
		want bool
	}{
		{"the pool", seenAt("LK06", Warning, 90, "/src/db.go", 3), hot(rowsTitle, 0.8), true},
		{"in C", seenAt("LK06", Warning, 90, "/src/db.go", 3), hot(queryTitle, 0.8), true},
		{"little of the time", seenAt("LK06", Warning, 90, "/src/db.go", 3), hot(rowsTitle, 0.3), false},
		{"another hot function", seenAt("LK06", Warning, 90, "/src/db.go", 3), hot(cp01.Title, 0.8), false},
		{"a lock", seenAt("LK08", Warning, 90, "/src/db.go", 3), hot(rowsTitle, 0.8), false},
		{"another wait", seenAt("WT01", Warning, 90, "/src/db.go", 3), hot(rowsTitle, 0.8), false},
	} {
		if got := ofPoolWaits(two{a: &c.a, b: &c.b}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestHoldersOfOneWriter: what is said of writes is said where those write who have the connections; of those who read, the line is told first.
func TestHoldersOfOneWriter(t *testing.T) {
	waits := accounttest.In(poolWait+"@sql.go:1", "database/sql.(*DB).Conn@sql.go:2", "main.handle@main.go:7")
	lets := accounttest.In("database/sql.(*DB).putConnDBLocked@sql.go:3", "database/sql.(*DB).putConn@sql.go:4", "main.handle@main.go:9")
	query := accounttest.In("net.(*conn).Read@net.go:1", "example.org/driver.(*conn).QueryContext@driver.go:20", "database/sql.(*DB).QueryContext@sql.go:5", "main.handle@main.go:8")
	for text, writes := range map[string]bool{"SELECT a FROM t WHERE b = ?": false, "UPDATE t SET a = 1": true, "insert into t values (?)": true, "WITH x AS (SELECT 1) SELECT * FROM x": false} {
		r := traceOfProgram(t, oneByOneAt("select", waits, lets, query))
		withSource(r, "main.go", "package main\n\nimport (\n\t\"database/sql\"\n\t_ \"modernc.org/sqlite\"\n)\nfunc handle() { db, _ := sql.Open(\"sqlite\", path)\ndb.QueryContext(ctx, `"+text+"`)\n}\n")
		f := answers(t, r, "LK06")[0]
		if strings.Contains(f.Advice, "Write less often") != writes || strings.Contains(f.Summary, "who has one meanwhile reads") == writes || strings.Contains(f.Evidence[0].Text, "a connection is held here") == writes {
			t.Errorf("%s: %s: %s", text, f.Summary, f.Advice)
		}
	}
}

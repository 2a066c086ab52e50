package insight

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
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

// TestQueryRows: by the run that counts, a query that gives many rows to each call is no warning, as these have to be read anyway; without counts of its own loop, that
// is a doubt.
func TestQueryRows(t *testing.T) {
	const (
		list    = "func list(db *sql.DB, who string) { /*%d*/\n\trows, _ := db.Query(`SELECT a, b FROM orders WHERE owner = ?`, who)\n\tfor rows.Next() { /*%d*/ // A\n\t\trows.Scan(&x)\n\t}\n}\n"
		one     = "func list(db *sql.DB, who string) { /*%d*/\n\tdb.QueryRow(`SELECT a, b FROM orders WHERE owner = ?`, who).Scan(&x) // A\n\tfor range others { /*%d*/\n\t}\n}\n"
		walk    = "net/http.(*conn).serve main.list@A database/sql.(*Rows).Next modernc.org/sqlite.(*rows).Next modernc.org/sqlite/lib.Xsqlite3_step modernc.org/sqlite/lib._sqlite3VdbeExec modernc.org/sqlite/lib._btreeNext"
		anyway  = "which have to be read anyway"
		unknown = "if it gives many rows, or sums up many"
	)
	for _, c := range []struct {
		name, source string
		calls, rows  int
		severity     Severity
		took, doubt  string
	}{
		{"few rows", list, 10, 200, Warning, "rows in 10 calls", ""},
		{"almost many rows", list, 10, 9_990, Warning, "rows in 10 calls", ""},
		{"many rows in few calls", list, 10, 10_000, Info, "rows in 10 calls", anyway},
		{"many rows in many calls", list, 10_000, 10_000, Warning, "rows in 10,000 calls", ""},

		{"a limit", strings.Replace(list, "for rows.Next() {", "for n := 0; n < 9 && rows.Next(); n++ {", 1), 10, 20_000, Info, "rows in 10 calls", anyway},
		{"it was not called", list, 0, 0, Warning, "", unknown},
		{"it gave nothing", list, 10, 0, Warning, "", unknown},
		{"a single row", one, 10, 20_000, Warning, "", unknown},
		{"a loop over other rows", strings.Replace(list, "\tfor rows.Next()", "\trows.Next() // A\n\tfor more.Next()", 1), 10, 20_000, Warning, "", unknown},
		{"a loop of something else", strings.Replace(list, "\tfor rows.Next()", "\trows.Next() // A\n\tfor rows.Err() == nil", 1), 10, 20_000, Warning, "", unknown},
	} {
		source := "package main\n\nimport \"database/sql\"\n\nvar x int\n\n" + fmt.Sprintf(c.source, c.calls, c.rows)
		f := answers(t, countedRecording(t, source, stackAt(source, walk)), "CP01")[0]
		doubts := strings.Join(f.Doubts, "; ")
		if !ofQuery(&f) || f.Severity != c.severity || strings.Contains(f.Summary, "its loop took") != (c.took != "") || !strings.Contains(f.Summary, c.took) ||
			strings.Contains(doubts, anyway) != (c.doubt == anyway) || strings.Contains(doubts, unknown) != (c.doubt == unknown) {
			t.Errorf("%s: %s %q: %s; %q", c.name, f.Severity, f.Title, f.Summary, f.Doubts)
		}
	}
}

// TestWhichQuery: the statement that most of a hot function's time goes into is told, by the text that it was prepared with as well; it is a warning only where it takes
// much of the time, and by a text that is known.
func TestWhichQuery(t *testing.T) {
	const (
		head  = "package main\n\nimport \"database/sql\"\n\nvar x int\n\nfunc list(db *sql.DB, who string) {\n"
		lite  = " modernc.org/sqlite/lib.Xsqlite3_step modernc.org/sqlite/lib._sqlite3VdbeExec modernc.org/sqlite/lib._btreeNext"
		first = "net/http.(*conn).serve main.list@A database/sql.(*DB).QueryRow" + lite
		next  = "net/http.(*conn).serve main.list@B database/sql.(*DB).QueryRow" + lite
		own   = "net/http.(*conn).serve main.list@C main.list@C"
		two   = "\tdb.QueryRow(`SELECT a FROM orders WHERE owner = ?`, who).Scan(&x) // A\n\tdb.QueryRow(`SELECT b FROM people WHERE name = ?`, who).Scan(&x) // B\n\tx++ // C\n"
	)
	for _, c := range []struct {
		name, body    string
		first, second int64  // samples of the lines A and B
		own, rest     int64  // of line C, and elsewhere
		text          string // it begins with; empty where no query is told
		severity      Severity
	}{
		{"the first of two", two, 60, 20, 0, 20, "SELECT a FROM orders", Warning},
		{"the second of two", two, 20, 60, 0, 20, "SELECT b FROM people", Warning},
		{"a small part of all", two, 20, 0, 0, 80, "SELECT a FROM orders", Info},
		{"it was prepared", "\tst, _ := db.Prepare(`SELECT a FROM orders WHERE owner = ?`)\n\tst.QueryRow(who).Scan(&x) // A\n", 80, 0, 0, 20, "SELECT a FROM orders", Warning},
		{"by another library", "\tdb.Get(&x, `SELECT a FROM orders WHERE owner = ?`, who) // A\n", 80, 0, 0, 20, "SELECT a FROM orders", Warning},

		{"the function computes", two, 30, 0, 50, 20, "", Info},
		{"two statements, half of it in neither", two, 26, 26, 28, 20, "", Info},
		{"a word alone", "\tdb.Get(&x, `select`, who) // A\n", 80, 0, 0, 20, "database", Info},
		{"rows of two queries", "\trows, _ := db.Query(`SELECT a FROM orders WHERE owner = ?`)\n\tif x > 9 {\n\t\trows, _ = db.Query(`SELECT b FROM people WHERE name = ?`)\n\t}\n\tfor rows.Next() { // A\n\t}\n", 80, 0, 0, 20, "database", Info},
	} {
		source := head + c.body + "}\n"
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		columns := []column{{"net/http.(*conn).serve main.other:/src/other.go:3", []int64{c.rest}}}
		for _, x := range []column{{first, []int64{c.first}}, {next, []int64{c.second}}, {own, []int64{c.own}}} {
			if x.values[0] > 0 {
				columns = append(columns, column{stackAt(source, x.frames), x.values})
			}
		}
		all := answers(t, withProfile(r, recording.CPU, "cpu", columns...), "CP01")
		i := slices.IndexFunc(all, func(f Finding) bool { return ofQuery(&f) })
		if (i >= 0) != (c.text != "") {
			t.Errorf("%s: a query is told: %v", c.name, i >= 0)
		} else if i >= 0 && (all[i].Severity != c.severity || !strings.Contains(all[i].Summary+all[i].Evidence[0].Text, c.text)) {
			t.Errorf("%s: %s: %s %+v", c.name, all[i].Severity, all[i].Summary, all[i].Evidence[0])
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
	waits := func(rows ...*facts.UnitRow) Finding {
		f := seenAt("WT01", Warning, 90, "/src/db.go", 3)
		f.waits = rows
		return f
	}
	row := func(kind, cause, in string, d time.Duration) *facts.UnitRow {
		return &facts.UnitRow{Kind: kindOf(kind), Time: d, Cause: facts.UnitCause{Kind: kindOf(cause), Site: facts.UnitSite{Frame: stack.Frame{Func: in}}}}
	}
	for _, c := range []struct {
		name string
		a, b Finding
		want bool
	}{
		{"who has one runs there", waits(row("pool", "running", "main.list", 6), row("pool", "running", "main.other", 4)), hot(rowsTitle, 0.3), true},
		{"who has one mostly runs elsewhere", waits(row("pool", "running", "main.list", 4), row("pool", "running", "main.other", 6)), hot(rowsTitle, 0.8), false},
		{"nobody knows who has one", waits(row("pool", "none", "main.other", 6)), hot(rowsTitle, 0.8), true},
		{"nobody knows where that is", waits(row("pool", "running", "", 6)), hot(rowsTitle, 0.8), true},
		{"waits for something else as well", waits(row("pool", "running", "main.list", 6), row("network", "running", "main.list", 1)), hot(rowsTitle, 0.8), false},
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

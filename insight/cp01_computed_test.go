package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestComputedConditions: a statement that compares what it computes from a column is told with an index on the expression, also where most of its time goes into the
// function; not where it computes that for what it gives, for a row that it has found, or of what it is given.
func TestComputedConditions(t *testing.T) {
	const (
		top    = "net/http.(*conn).serve main.list@A database/sql.(*Rows).Next modernc.org/sqlite.(*rows).Next modernc.org/sqlite/lib.Xsqlite3_step modernc.org/sqlite/lib._sqlite3VdbeExec "
		called = top + "modernc.org/sqlite/lib._jsonExtractFunc modernc.org/sqlite/lib._jsonTranslateTextToBlob"
		walk   = top + "modernc.org/sqlite/lib._sqlite3BtreePrevious"
		exec   = top + "modernc.org/sqlite/lib._sqlite3VdbeSerialGet"
		direct = "func list(db *sql.DB, who string) {\n\tdb.QueryRow(`%s`, who).Scan(&x) // A\n}\n"
		field  = "type store struct{ byWho *sql.Stmt }\n\nfunc open(db *sql.DB) *store {\n\tbyWho, _ := db.Prepare(`%s`)\n\treturn &store{byWho: byWho}\n}\n\nfunc list(s *store, who string) {\n\ts.byWho.QueryRow(who).Scan(&x) // A\n}\n"
		plain  = "SELECT id, doc FROM orders WHERE json_extract(doc, '$.customer') = ? ORDER BY id"
		index  = "an index on orders (json_extract(doc, '$.customer'))"
	)
	for _, c := range []struct {
		name, source, text     string
		called, walk, exec     int64
		title, advice, summary string
		severity               Severity
	}{
		{"a function of a column", direct, plain, 70, 0, 10, rowsTitle, index, "goes from row to row and computes json_extract(doc, '$.customer') for each", Warning},
		{"an arrow", direct, "SELECT id FROM orders WHERE doc->>'$.customer' = ?", 70, 0, 10, rowsTitle, "an index on orders (doc->>'$.customer')", "computes doc->>'$.customer'", Warning},
		{"and a column, over many rows", direct, "SELECT id FROM orders WHERE state = 1 AND json_extract(doc, '$.customer') = ?", 70, 3, 7, rowsTitle, index, "goes from row to row", Warning},
		{"it was prepared in a field", field, plain, 70, 0, 10, rowsTitle, index, "goes from row to row", Warning},
		{"it mostly goes on", direct, plain, 10, 40, 30, rowsTitle, index, "in functions that go from row to row", Warning},

		{"and a column, for a row that is found", direct, "SELECT id FROM orders WHERE id = ? AND json_extract(doc, '$.open') = 1", 70, 0, 10, "", "", "", Info},
		{"either of two", direct, "SELECT id FROM orders WHERE json_extract(doc, '$.open') = 1 OR id = ?", 70, 0, 10, "", "", "", Info},
		{"what it gives is computed as well", direct, "SELECT json_extract(doc, '$.total') FROM orders WHERE json_extract(doc, '$.customer') = ?", 70, 0, 10, queryTitle, index, "for rows", Info},
		{"what it gives is computed", direct, "SELECT json_extract(doc, '$.total') FROM orders WHERE customer = ?", 70, 0, 10, "", "", "", Info},
		{"of what is given", direct, "SELECT id FROM orders WHERE lower(?) = name", 70, 0, 10, "", "", "", Info},
		{"of the time", direct, "SELECT id FROM orders WHERE at > datetime('now', ?)", 70, 0, 10, "", "", "", Info},
		{"the machine computes", direct, plain, 2, 0, 78, "", "", "", Info},
	} {
		source := "package main\n\nimport \"database/sql\"\n\nvar x int\n\n" + strings.Replace(c.source, "%s", c.text, 1)
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		columns := []column{{"net/http.(*conn).serve main.other:/src/other.go:3", []int64{20}}}
		for _, x := range []column{{called, []int64{c.called}}, {walk, []int64{c.walk}}, {exec, []int64{c.exec}}} {
			if x.values[0] > 0 {
				columns = append(columns, column{stackAt(source, x.frames), x.values})
			}
		}
		f := answers(t, withProfile(r, recording.CPU, "cpu", columns...), "CP01")[0]
		if told := ofQuery(&f); told != (c.title != "") || told && f.Title != c.title || f.Severity != c.severity || !strings.Contains(f.Advice, c.advice) || !strings.Contains(f.Summary, c.summary) {
			t.Errorf("%s: %s %q: %s: %s", c.name, f.Severity, f.Title, f.Summary, f.Advice)
		}
	}
}

package insight

import (
	"strings"
	"testing"
)

// TestUnclosedRows: rows that are neither closed nor read to their end are found by the line of their query; those that somebody else may close are not.
func TestUnclosedRows(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"context\"\n\t\"database/sql\"\n)\n\nvar db *sql.DB\n\ntype list struct{ rows *sql.Rows }\n\n"
	const query = "\trows, err := db.QueryContext(ctx, \"SELECT 1\") // A\n\tif err != nil {\n\t\treturn 0, err\n\t}\n"
	for _, c := range []struct {
		name, body string
		want       bool
	}{
		{"one row", query + "\tif rows.Next() {\n\t\terr = rows.Scan(&n)\n\t}\n\treturn n, err\n", true},
		{"left in the loop", query + "\tfor rows.Next() {\n\t\tif err := rows.Scan(&n); err != nil {\n\t\t\treturn 0, err\n\t\t}\n\t}\n\treturn n, nil\n", true},
		{"without a context", "\trows, err := db.Query(\"SELECT 1\") // A\n\tif err == nil && rows.Next() {\n\t\trows.Scan(&n)\n\t}\n\treturn n, err\n", true},

		{"behind a loop of something else", query + "\tfor n < 9 {\n\t\tn++\n\t}\n\tif rows.Next() {\n\t\terr = rows.Scan(&n)\n\t}\n\treturn n, err\n", true},
		{"left by a break", query + "\tfor rows.Next() {\n\t\tif n > 9 {\n\t\t\tbreak\n\t\t}\n\t}\n\treturn n, nil\n", true},

		{"another method", "\tv, err := l.All(\"q\") // A\n\tif err == nil && v.Next() {\n\t\tn++\n\t}\n\treturn n, err\n", false},
		{"the rows of another one", query + "\tif l.rows.Next() {\n\t\tn++\n\t}\n\tprintln(rows == nil)\n\treturn n, err\n", false},
		{"closed", query + "\tdefer rows.Close()\n\tif rows.Next() {\n\t\terr = rows.Scan(&n)\n\t}\n\treturn n, err\n", false},
		{"read to the end", query + "\tfor rows.Next() {\n\t\trows.Scan(&n)\n\t}\n\treturn n, rows.Err()\n", false},
		{"stored", query + "\trows.Next()\n\tl.rows = rows\n\treturn n, nil\n", false},
		{"handed on", query + "\trows.Next()\n\treturn scan(rows)\n", false},
		{"another Query", "\tv, err := l.Query(\"q\") // A\n\tuse(v.Get(\"id\"))\n\treturn n, err\n", false},
		{"of a URL", "\tid, err := r.URL.Query().Get(\"id\"), error(nil) // A\n\tuse(id)\n\treturn n, err\n", false},
	} {
		text := head + "func f(ctx context.Context, l *list) (n int, err error) {\n" + c.body + "}\n"
		all := unclosedRows(codeOf(text))
		before, _, _ := strings.Cut(text, "// A\n")
		if got := len(all) == 1 && all[0].at.Line == 1+strings.Count(before, "\n"); got != c.want || len(all) > 1 {
			t.Errorf("%s: %+v", c.name, all)
		}
	}
}

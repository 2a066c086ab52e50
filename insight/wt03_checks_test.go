package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// TestStatementReads: a statement only reads if it selects what tables have, and calls nothing unknown instead of a table.
func TestStatementReads(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT a FROM b WHERE c = $1":                     true,
		"select count(*), max(a) from b where c in (1, 2)": true,
		"SELECT my_distance(a, b) FROM places":             true,
		"SELECT now()":                                     true,
		"SELECT 1":                                         true,
		"SELECT a FROM (SELECT a FROM b) x":                true,
		"SELECT a FROM b WHERE EXISTS (SELECT 1 FROM c)":   true,
		"SHOW TABLES":                                      true,
		"SELECT finish_order($1)":                          false,
		"SELECT * FROM finish_order($1)":                   false,
		"SELECT pg_notify('a', 'b')":                       false,
		"SELECT pg_advisory_lock(1)":                       false,
		"SELECT a FROM b FOR UPDATE":                       false,
		"SELECT nextval('ids') FROM b":                     false,
		"SELECT a INTO d FROM b":                           false,
		"CALL finish_order($1)":                            false,
		"INSERT INTO a (b) VALUES (1) RETURNING c":         false,
		"SELECT 1 WHERE 2 IN (3, 4)":                       true,
		"SELECT setval('ids', 4) FROM b":                   false,
		"SELECT a FROM b JOIN finish_order(b.c) d ON true": false,
		"DELETE FROM a WHERE b = 1":                        false,
		"DROP TABLE a":                                     false,
		"":                                                 false,
	} {
		if got := statementReads(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestChecksFirst: a call that is a check stays in front; errors that are answered in different ways are looked at in the order of before; and what a
// method fills of a local struct is no check.
func TestChecksFirst(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"database/sql\"\n\t\"encoding/json\"\n\t\"fmt\"\n\t\"net/http\"\n)\n\ntype part struct{ Name string }\ntype view struct {\n\tuser, prices part\n\ttoken string\n}\n\nvar client = CLIENT\nvar db *sql.DB\n\nfunc fetch(path string, into *part) error {\n\tresp, err := client.Get(\"http://peer\" + path) // asks\n\tif err != nil {\n\t\treturn err\n\t}\n\tdefer resp.Body.Close()\n\treturn json.NewDecoder(resp.Body).Decode(into)\n}\n\nfunc getUser(id string) (*part, error) {\n\tvar p part\n\treturn &p, fetch(id, &p)\n}\n\nfunc getPrices(id string) (*part, error) {\n\tvar p part\n\treturn &p, fetch(id, &p)\n}\n\n" +
		"func (v *view) loadUser(id string) error { return fetch(id, &v.user) }\nfunc (v *view) loadPrices(id string) error { return fetch(id, &v.prices) }\nfunc (v *view) loadPricesOf(id string) error { return fetch(id+v.user.Name, &v.prices) }\nfunc (v *view) verify(id string) error { return fetch(id, &v.user) }\nfunc (v *view) fillUser(id string) error { return fetch(id, &v.user) }\nfunc (v *view) loadUserAndLock(id string) error { return fetch(id, &v.user) }\n\n"
	const fails = "\tif err != nil {\n\t\thttp.Error(w, \"\", STATUS)\n\t\treturn\n\t}\n"
	const two = "\tu, err := getUser(\"/u\") // 1\n" + fails + "\tp, err := getPrices(\"/p\") // 2\n" + fails + "\tfmt.Fprintln(w, u, p)\n"
	const plain = "Make independent calls concurrently"
	statuses := func(text string, all ...string) string {
		for _, s := range all {
			text = strings.Replace(text, "STATUS", s, 1)
		}
		return text
	}
	methods := func(second string) string {
		return statuses("\tvar v view\n\terr := v.loadUser(\"/u\") // 1\n"+fails+"\terr = v."+second+"(\"/p\") // 2\n"+fails+"\tfmt.Fprintln(w, v)\n", "500", "500")
	}
	const own, one = "&http.Client{}", "&http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}"
	for _, c := range []struct{ name, body, client, advice, not string }{
		{"the same status", statuses(two, "500", "500"), own, plain, "order of before"},
		{"other statuses", statuses(two, "http.StatusNotFound", "http.StatusBadGateway"), own, "Look at their errors in the order of before: that of getUser (line 46) is answered with http.StatusNotFound, that of getPrices (line 51) with http.StatusBadGateway", ""},
		{"who is refused", statuses(two, "http.StatusForbidden", "500"), own, "", plain},
		{"who is refused, by a number", statuses(two, "401", "500"), own, "", plain},
		{"what is thrown away", statuses("\tif _, err := getUser(r.Header.Get(\"A\")); err != nil { // 1\n\t\thttp.Error(w, \"\", 500)\n\t\treturn\n\t}\n\tp, err := getPrices(\"/p\") // 2\n"+fails+"\tfmt.Fprintln(w, p)\n", "500"), own, "", plain},
		{"fields of a local struct", methods("loadPrices"), own, plain, "does not prove"},
		{"a field that the second call needs", methods("loadPricesOf"), own, "", plain},
		{"a method that verifies", strings.Replace(methods("loadPrices"), "loadUser", "verify", 1), own, "", plain},
		{"fields of a local struct, by another name", strings.Replace(methods("loadPrices"), "loadUser", "fillUser", 1), own, plain, "does not prove"},
		{"a method that does more", strings.Replace(methods("loadPrices"), "loadUser", "loadUserAndLock", 1), own, "", plain},
		{"fields of what is kept", strings.ReplaceAll(strings.Replace(methods("loadPrices"), "\tvar v view\n", "", 1), "v.load", "kept.load") + "}\n\nvar kept view\n\nfunc end() {\n\tvar v int\n", own, "", plain},
		{"one connection", statuses(two, "500", "500"), one, "By the source, the program has one connection to each host (MaxConnsPerHost: 1 at main.go:", ""},
		{"more connections", statuses(two, "500", "500"), strings.Replace(one, "Host: 1", "Host: 10", 1), plain, "By the source"},
		{"one connection to a database", statuses(two, "500", "500") + "}\n\nfunc begin() {\n\tdb, _ = sql.Open(\"x\", \"y\")\n\tdb.SetMaxOpenConns(1)\n", own, plain, "By the source"},
		{"one connection to a database that they ask", statuses(two, "500", "500") + "}\n\nfunc begin() {\n\tdb, _ = sql.Open(\"x\", \"y\")\n\tdb.SetMaxOpenConns(1)\n", own, "By the source, the program has one connection to the database (db.SetMaxOpenConns(1) at main.go:", "to each host"},
		{"one connection to a database, and calls of something else", statuses(two, "500", "500") + "}\n\nfunc begin() {\n\tdb, _ = sql.Open(\"x\", \"y\")\n\tdb.SetMaxOpenConns(1)\n", own, plain, "By the source"},
		{"another client", statuses(two, "500", "500") + "}\n\nfunc other() {\n\thttp.Get(\"x\")\n", one, plain, "By the source"},
	} {
		text := strings.Replace(head, "CLIENT", c.client, 1) + "func page(w http.ResponseWriter, r *http.Request) {\n" + c.body + "}\n"
		leaf := "net/http.(*Client).do@client.go:1;"
		switch {
		case strings.HasSuffix(c.name, "that they ask"):
			leaf = "database/sql.(*DB).QueryContext@sql.go:1;"
		case strings.HasSuffix(c.name, "of something else"):
			leaf = ""
		}
		r := served(t, 20, func(p *accounttest.Program) {
			for _, mark := range []string{" // 1\n", " // 2\n"} {
				ask(p, 5*time.Millisecond, leaf+markedFrame("main.fetch", text, " // asks\n"), markedFrame("main.page", text, mark))
			}
		})
		withSource(r, "main.go", text)
		f := answers(t, r, "WT03")[0]
		if (c.advice == "") != (f.State == Fine) || !strings.Contains(f.Advice, c.advice) || c.not != "" && strings.Contains(f.Advice, c.not) {
			t.Errorf("%s: %s %s: %s\n%s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
		if c.name == "one connection" && (strings.Contains(f.Summary, "made concurrently") || f.Impact != nil) {
			t.Errorf("%s: a gain: %s", c.name, f.Summary)
		}
	}
}

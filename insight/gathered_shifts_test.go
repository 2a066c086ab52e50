package insight

import (
	"strings"
	"testing"
)

// TestPagesShift: pages that go by numbers are not handled as they come where the handling sends changes to where they come from.
func TestPagesShift(t *testing.T) {
	const head = "package main\n\nimport (\n\"database/sql\"\n\"net/http\"\n\"strconv\"\n)\n\ntype item struct { id int; next string }\nvar jobs *sql.DB\n" +
		"func page(base string, off int) []item {\nresp, _ := http.Get(base + \"/items?offset=\" + strconv.Itoa(off))\nreturn decode(resp)\n}\n" +
		"func after(base, key string) []item {\nresp, _ := http.Get(base + \"/items?after=\" + key)\nreturn decode(resp)\n}\n" +
		"func rowsOf(rows *sql.Rows) []item { return nil }\nfunc decode(r any) []item { return nil }\n"
	const numbered = "var all []item\nfor off := 0; ; off += 500 {\np := page(base, off)\nif len(p) == 0 {\nbreak\n}\nall = append(all, p...)\n}\n"
	const byKey = "var all []item\nkey := \"\"\nfor {\np := after(base, key)\nif len(p) == 0 {\nbreak\n}\nkey = p[len(p)-1].next\nall = append(all, p...)\n}\n"
	const offset = "var all []item\nfor off := 0; ; off += 500 {\nrows, _ := jobs.Query(\"SELECT id FROM jobs ORDER BY id LIMIT 500 OFFSET ?\", off)\np := rowsOf(rows)\nif len(p) == 0 {\nbreak\n}\nall = append(all, p...)\n}\n"
	each := func(do string) string { return "for _, it := range all {\n" + do + "\n}\n" }
	for _, c := range []struct{ name, body, want string }{ // want is "against", "maybe" or nothing
		{"posted to the same peer", numbered + each("http.Post(base+\"/done\", \"text/plain\", nil)\nprintln(it.id)"), "against"},
		{"deleted at the same peer", numbered + each("req, _ := http.NewRequest(http.MethodDelete, base+\"/items/\"+strconv.Itoa(it.id), nil)\nhttp.DefaultClient.Do(req)"), "against"},
		{"asked at the same peer", numbered + each("http.Get(base + \"/items/\" + strconv.Itoa(it.id))"), ""},
		{"posted to another peer", numbered + each("http.Post(to+\"/new\", \"text/plain\", nil)\nprintln(it.id)"), "maybe"},
		{"written", numbered + each("println(it.id)"), ""},
		{"by a key", byKey + each("http.Post(base+\"/done\", \"text/plain\", nil)\nprintln(it.id)"), ""},
		{"rows by an offset", offset + each("jobs.Exec(\"DELETE FROM jobs WHERE id = ?\", it.id)"), "against"},
		{"rows by an offset, another table", offset + each("jobs.Exec(\"INSERT INTO done VALUES (?)\", it.id)"), "maybe"},
		{"rows by an offset, by a helper", offset + each("finish(it)") + "}\nfunc finish(it item) {\njobs.Exec(\"UPDATE jobs SET done = 1 WHERE id = ?\", it.id)\n", "against"},
	} {
		d := newDerivations(sourceOf(head + "func f(base, to string) {\n" + c.body + "}\n"))
		all := gatheredLists(d, d.named["f"][0])
		if len(all) != 1 {
			t.Errorf("%s: %d lists", c.name, len(all))
			continue
		}
		got := ""
		switch {
		case strings.HasPrefix(all[0].against, "the pages go by numbers"):
			got = "against"
		case all[0].shifts != nil:
			got = "maybe"
		}
		if got != c.want || got != "against" && all[0].against != "" {
			t.Errorf("%s: %s, against %q", c.name, got, all[0].against)
		}
	}
}

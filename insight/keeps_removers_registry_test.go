package insight

import (
	"strings"
	"testing"
)

// TestRemoversOfRegistry: a map that is an element of others, all of which a loop goes through to delete from them, is deleted from; what
// only takes the map out of there, or goes through others, deletes nothing.
func TestRemoversOfRegistry(t *testing.T) {
	const field, put, drop = "calls map[int]*call", "c.calls[id] = x", "delete(c.calls, id)"
	const sweep = "func sweep(id int) {\n\tfor _, m := range every {\n\t\tdelete(m, id)\n\t}\n}\n"
	const slice, table = "var every []map[int]*call\n", "var every = map[string]map[int]*call{}\n"
	for _, c := range []struct{ name, more, unless string }{
		{"a slice of all maps", slice + sweep + "func reg(c *client) { every = append(every, c.calls) }", "sweep (a.go:18) deletes it later"},
		{"a map of maps", table + sweep + "func reg(c *client) { every[c.name] = c.calls }", "sweep (a.go:18) deletes it later"},
		{"a map of slices of maps", "var every = map[string][]map[int]*call{}\nfunc sweep(id int) {\n\tfor _, ms := range every {\n\t\tfor _, m := range ms {\n\t\t\tdelete(m, id)\n\t\t}\n\t}\n}\nfunc reg(c *client) { every[c.name] = append(every[c.name], c.calls) }", "sweep (a.go:19) deletes it later"},
		{"by an index", slice + "func sweep(id int) {\n\tfor i := range every {\n\t\tdelete(every[i], id)\n\t}\n}\nfunc reg(c *client) { every = append(every, c.calls) }", "sweep (a.go:18) deletes it later"},
		{"a function that is given all", slice + "func run(id int) { sweep(every, id) }\nfunc sweep(all []map[int]*call, id int) {\n\tfor _, m := range all {\n\t\tdelete(m, id)\n\t}\n}\nfunc reg(c *client) { every = append(every, c.calls) }", "sweep (a.go:19) deletes it later"},
		{"a literal", "func sweep(c *client, id int) {\n\tfor _, m := range []map[int]*call{c.calls, c.other} {\n\t\tdelete(m, id)\n\t}\n}\n", ""},
		{"a literal in a variable", "func sweep(c *client, id int) {\n\tall := []map[int]*call{c.calls, c.other}\n\tfor _, m := range all {\n\t\tdelete(m, id)\n\t}\n}\n", "sweep (a.go:18) deletes it later"},
		// Look-alikes.
		{"all of other maps", slice + sweep + "func reg(c *client) { every = append(every, c.other) }", ""},
		{"all are only read", slice + "func count() (n int) {\n\tfor _, m := range every {\n\t\tn += len(m)\n\t}\n\treturn n\n}\nfunc reg(c *client) { every = append(every, c.calls) }", ""},
		{"it leaves the registry alone", table + "func leave(c *client) { delete(every, c.name) }\nfunc reg(c *client) { every[c.name] = c.calls }", ""},
		{"the registry is emptied", slice + "func leave() {\n\tevery = nil\n}\nfunc reg(c *client) { every = append(every, c.calls) }", ""},
	} {
		f := saidOf(callsOf(field, put, drop, c.more))
		_, unless, _ := strings.Cut(f.Summary, ", unless ")
		if c.name == "a literal" { // it may as well be passed on
			if strings.Contains(f.Advice, "defer") {
				t.Errorf("%s: %s", c.name, f.Advice)
			}
			continue
		}
		if unless != c.unless {
			t.Errorf("%s: unless %q, want %q", c.name, unless, c.unless)
		}
	}
}

// TestTakenFromPackageMaps: maps that a variable of the package has, in a slice or a map, and that a loop over all of them deletes from.
func TestTakenFromPackageMaps(t *testing.T) {
	const head = "func f(shard, id int) {\n\tshards[shard][id] = new([1024]int)\n}\n"
	const never = "nothing in the source deletes from a map of this name"
	for _, c := range []heldCase{
		{"a loop over all", head + "var shards = []map[int]*[1024]int{{}, {}}\nfunc sweep(id int) {\n\tfor _, m := range shards {\n\t\tdelete(m, id)\n\t}\n}", "Check whether sweep (a.go:9) releases what is in it soon enough", 9, nil},
		{"a loop over all of a map", head + "var shards = map[int]map[int]*[1024]int{}\nfunc sweep(id int) {\n\tfor _, m := range shards {\n\t\tdelete(m, id)\n\t}\n}", "Check whether sweep (a.go:9)", 9, nil},
		{"none", head + "var shards = []map[int]*[1024]int{{}, {}}\nfunc count() (n int) {\n\tfor _, m := range shards {\n\t\tn += len(m)\n\t}\n\treturn n\n}", never, 0, nil},
		{"others", head + "var shards, old = []map[int]*[1024]int{{}, {}}, []map[int]*[1024]int{{}}\nfunc sweep(id int) {\n\tfor _, m := range old {\n\t\tdelete(m, id)\n\t}\n}", never, 0, nil},
	} {
		c.check(t)
	}
}

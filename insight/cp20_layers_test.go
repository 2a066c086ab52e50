package insight

import (
	"fmt"
	"strings"
	"testing"
)

// TestLayers: a loop that asks one of many indexes after another for the same key, and ends at the first that has it, is told; one over few, one that asks all,
// or for another key each time, and look-ups that change something are not.
func TestLayers(t *testing.T) {
	const (
		head = "package main\n\nimport (\n\"slices\"\n\"sync\"\n)\n\ntype entry struct{ at int }\n\ntype index struct {\nmu sync.RWMutex\nblobs map[string]*entry\nkeys []string\nhits int\nold bool\n}\n\n" +
			"func (x *index) put(key string, e *entry) {\nx.blobs[key] = e // set\n}\n\n" +
			"func (x *index) get(key string) (*entry, bool) {\nx.mu.RLock()\ndefer x.mu.RUnlock()\ne, ok := x.blobs[key] // leaf\nif !ok {\nreturn nil, false\n}\nreturn e, true\n}\n\n" +
			"func (x *index) hit(key string) (*entry, bool) {\nx.hits++\ne, ok := x.blobs[key]\nreturn e, ok\n}\n\nfunc (x *index) has(key string) bool {\n_, ok := x.blobs[key]\nreturn ok\n}\n\n" +
			"type finder interface{ find(key string) (*entry, bool) }\ntype tree struct{ of map[string]*entry }\nfunc (t *tree) find(key string) (*entry, bool) { e, ok := t.of[key]; return e, ok }\n\n" +
			"type master struct {\nall []*index\nof map[string]*index\nany []finder\nlevels []map[string]*entry\n}\n\nfunc (m *master) add(x *index) {\nm.all = append(m.all, x) // add\n}\n\nfunc (m *master) lookup(key string) (*entry, bool) {\n"
		many  = "/*5000 600 240000 1 599*/"
		short = "/*1000000 600 3000 1 599*/"
		turns = "{ /*1000000*/\n"
		found = "{ /*5000*/\nreturn e, true\n}\n}\nreturn nil, false\n}\n"
	)
	for _, c := range []struct {
		name, source   string
		says           string
		advice, doubts string
		severity       Severity
	}{
		{"a method", many + "for _, x := range m.all " + turns + "if e, ok := x.get(key); ok " + found, "one of m.all after another for the same key, by x.get(key)", "added to m.all (main.go:55). What an element has is set at main.go:19", "not overwrite it", Warning},
		{"a map of each", many + "for _, x := range m.all " + turns + "if e, ok := x.blobs[key]; ok " + found, "by x.blobs[key]", "beside m.all, from the key (key)", "first one", Warning},
		{"a list of maps", many + "for _, of := range m.levels " + turns + "if e, ok := of[key]; ok " + found, "by of[key]", "beside m.levels", "first one", Warning},
		{"from the end", many + "for i := len(m.levels) - 1; i >= 0; i-- " + turns + "if e, ok := m.levels[i][key]; ok " + found, "one of m.levels after another", "beside m.levels", "asks the last one first", Warning},
		{"before the condition", many + "for i := range m.all " + turns + "x := m.all[i]\ne, ok := x.get(key)\nif ok " + found, "by x.get(key)", "(main.go:55)", "first one", Warning},
		{"others are left out", many + "for _, x := range m.all " + turns + "e, ok := x.blobs[key]\nif !ok { /*995000*/\ncontinue\n}\nreturn e, true\n}\nreturn nil, false\n}\n", "by x.blobs[key]", "", "first one", Warning},
		{"under a lock of its own", many + "for _, x := range m.all " + turns + "x.mu.RLock()\ne, ok := x.blobs[key]\nx.mu.RUnlock()\nif ok " + found, "by x.blobs[key]", "", "first one", Warning},
		{"a value that is nil", many + "for _, x := range m.all " + turns + "if e := x.blobs[key]; e != nil " + found, "by x.blobs[key]", "", "first one", Warning},
		{"whether it is there", many + "for _, x := range m.all " + turns + "if x.has(key) { /*5000*/\nreturn nil, true\n}\n}\nreturn nil, false\n}\n", "by x.has(key)", "", "first one", Warning},
		{"a binary search", many + "for _, x := range m.all " + turns + "if _, ok := slices.BinarySearch(x.keys, key); ok { /*5000*/\nreturn nil, true\n}\n}\nreturn nil, false\n}\n", "slices.BinarySearch(x.keys, key)", "", "first one", Warning},
		{"an interface", many + "for _, x := range m.any " + turns + "if e, ok := x.find(key); ok " + found, "by x.find(key)", "beside m.any", "first one", Warning},
		{"old ones are left out", many + "for _, x := range m.all " + turns + "if x.old { /*10*/\ncontinue\n}\nif e, ok := x.get(key); ok " + found, "by x.get(key)", "", "leaves some elements out", Warning},

		{"few of them", short + "for _, x := range m.all " + turns + "if e, ok := x.get(key); ok " + found, "", "", "", ""},
		{"another key each time", many + "for _, x := range m.all " + turns + "if e, ok := x.get(key + x.keys[0]); ok " + found, "", "", "", ""},
		{"a key that is made each time", many + "for _, x := range m.all " + turns + "if e, ok := x.get(next()); ok " + found + "func next() string { return \"\" }\n", "", "", "", ""},
		{"all are asked", "n := 0\n" + many + "for _, x := range m.all " + turns + "if e, ok := x.get(key); ok { /*5000*/\nn += e.at\n}\n}\nreturn nil, n > 0\n}\n", "", "", "", ""},
		{"it counts what it finds", many + "for _, x := range m.all " + turns + "if e, ok := x.hit(key); ok " + found, "", "", "", ""},
		{"the first that has it not", many + "for _, x := range m.all " + turns + "if e, ok := x.get(key); !ok " + found, "", "", "", ""},
		{"another list each time", "/*5000 600 240000 590 0*/for _, x := range m.all " + turns + "if e, ok := x.get(key); ok " + found, "", "", "", ""},
		{"most have it", many + "for _, x := range m.all " + turns + "if e, ok := x.get(key); ok { /*900000*/\nreturn e, true\n}\n}\nreturn nil, false\n}\n", "", "", "", ""},
		{"one map for all", many + "for _, x := range m.all " + turns + "if _, ok := m.of[key]; ok && x.old { /*5000*/\nreturn nil, true\n}\n}\nreturn nil, false\n}\n", "", "", "", ""},
		{"not counted", "for _, x := range m.all {\nif e, ok := x.get(key); ok {\nreturn e, true\n}\n}\nreturn nil, false\n}\n", "", "", "", ""},
	} {
		source := head + c.source
		line := func(mark string) int { return 1 + strings.Count(source[:strings.Index(source, mark)], "\n") }
		at := line("func (m *master) lookup")
		for i, text := range strings.Split(source, "\n")[at:] {
			if strings.Contains(text, "key") {
				at += i + 1
				break
			}
		}
		r := countedRecording(t, source, fmt.Sprintf("main.main:/src/main.go:400 main.(*master).lookup:/src/main.go:%d main.(*index).get:/src/main.go:%d runtime.mapaccess2:/map.go:3", at, line("// leaf")))
		var f Finding
		n := 0
		for _, x := range answers(t, r, "CP20") {
			if x.Title == layersTitle {
				f = x
			}
			if x.State == Found {
				n++
			}
		}
		switch {
		case (f.State == Found) != (c.says != ""), !strings.Contains(f.Summary, c.says), !strings.Contains(f.Advice, c.advice):
			t.Errorf("%s: %s: %s → %s", c.name, f.State, f.Summary, f.Advice)
		case f.Severity != c.severity, !strings.Contains(strings.Join(f.Doubts, "; "), c.doubts):
			t.Errorf("%s is %q: %q", c.name, f.Severity, f.Doubts)
		case f.State == Found && n != 1:
			t.Errorf("%s is told %d times", c.name, n)
		}
	}
}

package insight

import (
	"strings"
	"testing"
)

// TestCP03Grown: what grows by one and is encoded and written as a whole each time is told as quadratic, with where it grows and the loop. A batch, what is
// made anew in each turn, what is not written and what is encoded once is not.
func TestCP03Grown(t *testing.T) {
	const head = "package main\n\nimport (\"encoding/json\"; \"os\"; \"net/http\")\n\ntype item struct { Name string }\ntype store struct { path string; Items []item; ByName map[string]item; rest []item }\nvar items []item\n"
	const loop = "func main() {\n\ts := &store{path: \"x\"}\n\tfor _, x := range items {\n\t\ts.add(x) // C\n\t}\n}\n"
	const add = "func (s *store) add(x item) error {\n\ts.Items = append(s.Items, x)\n\treturn s.save() // B\n}\n"
	const save = "func (s *store) save() error {\n\tb, _ := json.Marshal(s.Items) // A\n\treturn os.WriteFile(s.path, b, 0o600)\n}\n"
	const called = "main.main@C main.(*store).add@B main.(*store).save@A encoding/json.Marshal encoding/json.structEncoder.encode"
	const asked = "net/http.(*conn).serve main.(*store).handle@C main.(*store).add@B main.(*store).save@A encoding/json.Marshal encoding/json.structEncoder.encode"
	const handle = "func main() {\n\ts := &store{}\n\thttp.HandleFunc(\"/\", s.handle)\n}\nfunc (s *store) handle(w http.ResponseWriter, r *http.Request) {\n\ts.add(item{r.URL.Path}) // C\n}\n"
	change := func(text string, pairs ...string) string {
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Errorf("%q is not in %q", pairs[i], text)
			}
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		return text
	}
	all := loop + add + save
	for _, c := range []struct{ name, source, stack, want string }{
		{"a list", all, called, "s.Items grows by one (main.go:15) in each turn of the loop at main.go:10, and each time all of it is encoded and written"},
		{"a map", change(all, "s.Items = append(s.Items, x)", "s.ByName[x.Name] = x", "Marshal(s.Items)", "Marshal(s.ByName)"), called, "one entry of s.ByName is set (main.go:15) in each turn of the loop"},
		{"a map by its length", change(all, "s.Items = append(s.Items, x)", "s.ByName[fmt.Sprint(len(s.ByName))] = x", "Marshal(s.Items)", "Marshal(s.ByName)"), called, "one entry of s.ByName is set (main.go:15) in each turn of the loop"},
		{"all of the store", change(all, "Marshal(s.Items)", "Marshal(s)"), called, "s.Items grows by one (main.go:15)"},
		{"what is not encoded of the store", change(all, "s.Items = append(s.Items, x)", "s.rest = append(s.rest, x)", "Marshal(s.Items)", "Marshal(s)"), called, ""},
		{"a helper of any value", change(all, "return s.save()", "return save(s.path, s.Items)") + "func save(name string, v any) error {\n\tb, _ := json.Marshal(v) // D\n\treturn os.WriteFile(name, b, 0o600)\n}\n", "main.main@C main.(*store).add@B main.save@D encoding/json.Marshal encoding/json.structEncoder.encode", "s.Items grows by one (main.go:15)"},
		{"requests", handle + add + save, asked, "s.Items grows by one (main.go:16) for each request, and each time all of it is encoded and written"},
		{"made for the request", change(handle, "s.add", "(&store{}).add") + add + save, asked, ""},
		{"not written", change(all, "return os.WriteFile(s.path, b, 0o600)", "return use(b)"), called, ""},
		{"of many", change(all, "return s.save()", "if len(s.Items) < 100 {\n\t\treturn nil\n\t}\n\treturn s.save()"), called, ""},
		{"checked before", change(all, "\ts.Items = append", "\tif len(x.Name) == 0 {\n\t\treturn nil\n\t}\n\ts.Items = append"), called, "s.Items grows by one (main.go:18)"},
		{"at a length", change(all, "return s.save() // B", "if len(s.Items)%100 == 0 {\n\t\treturn s.save() // B\n\t}\n\treturn nil"), called, ""},
		{"emptied", change(all, "return os.WriteFile(s.path, b, 0o600)", "s.Items = nil\n\treturn os.WriteFile(s.path, b, 0o600)"), called, ""},
		{"a bound", change(all, "return s.save() // B", "if len(s.Items) > 9 {\n\t\ts.Items = s.Items[1:]\n\t}\n\treturn s.save() // B"), called, ""},
		{"once for all", change(loop, "\ts := &store{path: \"x\"}\n\tfor _, x := range items {\n\t\ts.add(x) // C\n\t}", "\ts := &store{path: \"x\"}\n\ts.add(items) // C") + change(add, "x item", "all []item", "\ts.Items = append(s.Items, x)", "\tfor _, x := range all {\n\t\ts.Items = append(s.Items, x)\n\t}") + save, called, ""},
		{"of its own in each turn", change(all, "\ts := &store{path: \"x\"}\n", "", "\t\ts.add(x)", "\t\ts := &store{path: x.Name}\n\t\ts.add(x)"), called, ""},
		{"no loop", change(all, "\tfor _, x := range items {\n\t\ts.add(x) // C\n\t}", "\ts.add(items[0]) // C"), called, ""},
	} {
		f := askedCP03(t, head+c.source, c.stack)
		if c.name == "a map" { // an entry may take the place of another one
			if !strings.HasPrefix(f.Title, "All of a map is encoded and written") || !strings.Contains(f.Summary, c.want) || strings.Contains(f.Advice, "square") {
				t.Errorf("%s: %s: %s → %s", c.name, f.Title, f.Summary, f.Advice)
			}
			continue
		}
		if got := strings.HasPrefix(f.Title, "Quadratic time"); got != (c.want != "") || !strings.Contains(f.Summary, c.want) {
			t.Errorf("%s: %s: %s", c.name, f.Title, f.Summary)
		}
	}
}

package insight

import (
	"strings"
	"testing"
)

// fieldImports are the imports of the sources of these tests, and fieldHead has the types that they use beside those of the others.
const fieldImports = "package main\n\nimport (\n\"bufio\"\n\"encoding/json\"\n\"fmt\"\n\"log\"\n\"net/http\"\n\"os\"\n\"os/exec\"\n\"slices\"\n\"sort\"\n)\n"

var fieldHead = strings.Replace(gatherHead, "package main\n", fieldImports, 1) + `
type page struct { rows []item; next, total int }
type result struct { rows []item; total int; by map[string]item }
type client struct { http *http.Client; last *result }
type writer interface { Write(rows []item) error }
type lines struct { k *sink; cells []string }
func (l *lines) Write(rows []item) error { for i := range rows[0].cells() { use(i) }; for _, x := range rows { for i := range l.cells { l.cells[i] = x.name }; l.k.write(x) }; return nil }
type other struct{}
func (o *other) Write(p []byte) (int, error) { return len(p), nil }
func (c *client) get(n int) (*page, error) { resp, err := c.http.Get("x"); if err != nil { return nil, err }; return decode(resp), nil }
func (r *result) len() int { return len(r.rows) }
func (r *result) show(k *sink) { for _, x := range r.rows { k.write(x) } }
func (r *result) sort() { slices.SortFunc(r.rows, less) }
func (r *result) first() item { return r.rows[0] }
func (r *result) find(name string) item { for _, x := range r.rows { if x.name == name { return x } }; return item{} }
func newResult() *result { return &result{by: map[string]item{}} }
`

// fieldPages gathers pages in a field of what it returns.
const fieldPages = "func (c *client) query() (*result, error) {\nres := &result{}\nfor n := 0; ; {\np, err := c.get(n)\nif err != nil {\nreturn nil, err\n}\nres.total = p.total\nres.rows = append(res.rows, p.rows...)\nif p.next == 0 {\nreturn res, nil\n}\nn = p.next\n}\n}\n"

// TestGatheredFields: a list in a field of what a function makes, or fills, is followed to where it is gone through; it is told from one that
// somebody else has, that is needed as a whole, or that is kept.
func TestGatheredFields(t *testing.T) {
	main := func(body string) string {
		return fieldPages + "func main() {\nc := &client{}\nres, err := c.query()\nif err != nil {\nreturn\n}\n" + body + "}\n"
	}
	fill := func(body string) string {
		return "func (r *result) load(c *client) error {\nfor n := 0; n >= 0; {\np, err := c.get(n)\nif err != nil {\nreturn err\n}\nr.rows = append(r.rows, p.rows...)\nn = p.next\n}\nreturn nil\n}\nfunc main() {\nk := &sink{}\n" + body + "}\n"
	}
	local := func(ret, body string) string {
		return "func (c *client) query() (*result, error) {\nvar all []item\nn := 0\nfor _, name := range names {\np, err := c.get(name)\nif err != nil {\nreturn nil, err\n}\nn++\nall = append(all, p.rows...)\n}\n" + ret + "}\nfunc main() {\nc := &client{}\nres, err := c.query()\n" + body + "}\n"
	}
	const each = "for _, x := range res.rows {\nk.write(x)\n}\n"
	for _, c := range []struct{ name, source, against string }{ // against is "-" where there is no such list
		{"gone through by the caller", main(each), ""},
		{"handed to a function", main("show(k, res.rows)\n"), ""},
		{"handed to a method of an interface", main("var w writer = &lines{}\nw.Write(res.rows)\n"), ""},
		{"by a method of the struct", main("res.show(k)\n"), ""},
		{"set before it is declared", strings.Replace(main(each), "res, err := c.query()\nif err", "var res *result\nvar err error\nif res, err = c.query(); err", 1), ""},
		{"through two functions", fieldPages + "func (c *client) all() (*result, error) {\nreturn c.query()\n}\nfunc main() {\nc := &client{}\nres, _ := c.all()\n" + each + "}\n", "it is returned"},
		{"through two functions, by a variable", fieldPages + "func (c *client) all() (*result, error) {\nres, err := c.query()\nif err != nil {\nreturn nil, err\n}\nreturn res, nil\n}\nfunc main() {\nc := &client{}\nres, _ := c.all()\n" + each + "}\n", ""},
		{"its number in a line", main("log.Printf(\"%d rows\", len(res.rows))\n" + each), ""},
		{"its number in a line, by a variable", main("n := len(res.rows)\nfmt.Println(n)\n" + each), ""},
		{"its number at the end", main("n := len(res.rows)\n" + each + "use(n)\n"), ""},
		{"a total that is told at the end", main("n := res.total\n" + each + "fmt.Println(n)\n"), ""},
		{"none at all", main("if len(res.rows) == 0 {\nreturn\n}\n" + each), ""},
		{"counted for a line", main("n := 0\nfor _, x := range res.rows {\nif x.size > 3 {\nn++\n}\n}\nfmt.Println(n)\n" + each), ""},
		{"added up for a line", main("n := 0\nfor _, x := range res.rows {\nn += x.size\n}\nlog.Print(n)\n" + each), ""},
		{"widths", main("n := 0\nfor _, x := range res.rows {\nn = max(n, len(x.name))\n}\n" + each), ""},
		{"the method fills it", fill("res := &result{}\nif err := res.load(c); err != nil {\nreturn\n}\n" + each), ""},
		{"the method fills it, from a constructor", fill("res := newResult()\nres.load(c)\nres.show(k)\n"), ""},
		{"a function fills it", strings.Replace(fill("var res result\nload(&res, c)\n"+each), "func (r *result) load(c *client)", "func load(r *result, c *client)", 1), ""},
		{"a function fills it again and again", strings.Replace(fill("var res result\nfor _, c := range all {\nload(&res, c)\n}\n"+each), "func (r *result) load(c *client)", "func load(r *result, c *client)", 1), ""},
		{"put into a struct", local("return &result{rows: all}, nil\n", each), ""},
		{"put into a struct with their number", local("return &result{rows: all, total: n}, nil\n", each+"log.Print(res.total)\n"), ""},
		{"put into a field", local("res := &result{}\nres.rows = all\nreturn res, nil\n", each), ""},

		{"sorted", main("slices.SortFunc(res.rows, less)\n" + each), "it needs all of them"},
		{"sorted by a method", main("res.sort()\n" + each), "it needs all of them"},
		{"indexed", main("use(res.rows[7])\n" + each), "by their number"},
		{"the first one is changed", main("res.rows[0].size = 3\n" + each), "by their number"},
		{"searched", main("use(res.find(\"a\"))\nuse(res.find(\"b\"))\n" + each), "once more behind it"},
		{"looked up by a map", strings.Replace(main(each), "res.total = p.total", "res.by[p.rows[0].name] = p.rows[0]", 1), "into res.by[p.rows[0].name] as well"},
		{"encoded", main("json.NewEncoder(w).Encode(res.rows)\n"), "all of it is handed to"},
		{"encoded with what has it", main("json.NewEncoder(w).Encode(res)\n"), "all of it is handed to"},
		{"a total that each line needs", main("for _, x := range res.rows {\nk.share(x, res.total)\n}\n"), "a turn looks at other items"},
		{"a total that is handed on with it", strings.Replace(main("list(res.rows, res.total)\n"), "func main", "func list(all []item, n int) {\nfor _, x := range all {\nuse(x, n)\n}\n}\nfunc main", 1), "its length is asked for"},
		{"each line is given what has it", main("for _, x := range res.rows {\nk.share(x, res)\n}\n"), "a turn looks at other items"},
		{"a sum that each line needs", main("n := 0\nfor _, x := range res.rows {\nn += x.size\n}\nfor _, x := range res.rows {\nk.share(x, n)\n}\n"), "once more behind it"},
		{"a number that the head needs", main("k.header(len(res.rows))\n" + each), "its length is asked for"},
		{"a number that the head needs, by a variable", main("n := len(res.rows)\nk.header(n)\n" + each), "its length is asked for"},
		{"put into a struct with a number that the head needs", local("return &result{rows: all, total: n}, nil\n", "k.header(res.total)\n"+each), "its length is asked for"},
		{"kept by another object", main("c.last = res\n" + each), "it goes on as a whole"},
		{"kept in a list", main("results = append(results, res)\n" + each), "all of it is handed to append"},
		{"of several callers", main(each) + "func again(c *client) {\nres, _ := c.query()\n" + each + "}\n", "it is returned"},
		{"by a function without a name", main("go func() {\n" + each + "}()\n" + each), "a function without a name has it"},
		{"changed later", main("res.rows = filter(res.rows)\n" + each), "it goes on as a whole"},
		{"a part is left out", main("res.rows = res.rows[3:]\n" + each), "it goes on as a whole"},
		{"again and again", main("for range 3 {\n" + each + "}\n"), "again and again"},
		{"filled by the method of a field", fill("c.last.load(c)\nfor _, x := range c.last.rows {\nk.write(x)\n}\n"), "somebody else has"},
		{"filled by several", fill("a, b := &result{}, &result{}\na.load(c)\nb.load(c)\n"), "somebody else has"},
		{"kept before it is filled", fill("res := &result{}\nc.last = res\nres.load(c)\n" + each), "somebody else has"},
		{"not empty at first", fill("res := &result{rows: old}\nres.load(c)\n" + each), "somebody else has"},
		{"never gone through", fill("res := &result{}\nres.load(c)\nuse(res.first())\n"), "nothing in the source goes through it"},
		{"a turn looks at it", strings.Replace(main(each), "res.total = p.total", "res.total = len(res.rows)", 1), "-"},
		{"not made by the function", strings.Replace(main(each), "res := &result{}", "res := c.last", 1), "-"},
		{"kept before it is complete", strings.Replace(main(each), "res := &result{}", "res := &result{}\nc.last = res", 1), "-"},
	} {
		d := newDerivations(sourceOf(fieldHead + c.source))
		g := (*gathered)(nil)
		for _, decl := range d.t.decls {
			for _, x := range gatheredLists(d, decl) {
				g = x
			}
		}
		if (g == nil) != (c.against == "-") {
			t.Errorf("%s: found is %v", c.name, g != nil)
		} else if g != nil && (!strings.Contains(g.against, c.against) || c.against == "" && g.against+g.keeps != "") {
			t.Errorf("%s: against %q, keeps %q", c.name, g.against, g.keeps)
		}
	}
}

// TestGatheredNumbers: a list that is counted for a line of output before it is handled is told from one whose number is needed.
func TestGatheredNumbers(t *testing.T) {
	const handle = "for _, x := range all {\nk.write(x)\n}\n"
	const total = "var all []item\ntotal := 0\nfor _, x := range s.items {\nall = append(all, x)\ntotal += x.size\n}\n"
	for _, c := range []struct{ name, body, against, keeps string }{
		{"a line first", gatherLoop + "fmt.Printf(\"%d items\\n\", len(all))\n" + handle, "", ""},
		{"a line to the standard error", gatherLoop + "fmt.Fprintln(os.Stderr, len(all), \"items\")\n" + handle, "", ""},
		{"a line of a logger", gatherLoop + "log.Infof(\"%d items\", len(all))\n" + handle, "", ""},
		{"how far it is", strings.Replace(gatherLoop, "x)\n}", "x)\nlog.Print(len(all))\n}", 1) + handle, "", ""},
		{"counted for a line", gatherLoop + "n := 0\nfor _, x := range all {\nif x.size == 0 {\ncontinue\n}\nn++\n}\nlog.Print(n)\n" + handle, "", ""},
		{"the first one's name", gatherLoop + "if len(all) > 0 {\nk.head(all[0].name)\n}\n" + handle, "", ""},
		{"a row used anew", gatherLoop + "row := make([]string, 2)\nfor _, x := range all {\nrow[0] = x.name\nw.Write(row)\n}\n", "", ""},
		{"a row cut anew", gatherLoop + "var row []string\nfor _, x := range all {\nrow = append(row[:0], x.name)\nw.Write(row)\n}\n", "", ""},

		{"a line of the same stream", gatherLoop + "fmt.Fprintf(w, \"%d items\\n\", len(all))\n" + handle, "its length is asked for", ""},
		{"room for as many", gatherLoop + "n := len(all)\nuse(make([]int, n))\n" + handle, "its length is asked for", ""},
		{"a function of that name here", gatherLoop + "Print(len(all))\n" + handle, "its length is asked for", ""},
		{"counted for each", gatherLoop + "n := 0\nfor _, x := range all {\nif x.size > 0 {\nn++\n}\n}\nlog.Print(n)\nfor _, x := range all {\nk.share(x, n)\n}\n", "once more behind it", ""},
		{"a progress that needs the number", gatherLoop + "n := len(all)\nfor i, x := range all {\nlog.Printf(\"%d of %d\", i, n)\nk.write(x)\n}\n", "its length is asked for", ""},
		{"a row for each by number", gatherLoop + "rows := make([]string, n)\nfor i, x := range all {\nrows[i] = x.name\n}\nuse(rows)\n", "", "goes on into rows[i]"},
		{"a row for each, appended", gatherLoop + "var row []string\nfor _, x := range all {\nrow = append(row, x.name)\n}\nuse(row)\n", "", "goes on into row"},
		{"a map of a number in the turn", gatherLoop + "for _, x := range all {\nfor i := range 3 {\nby[i] = x\n}\n}\n", "", "goes on into by[i]"},
		{"a sum in a line", total + "log.Print(total)\n" + handle, "total, which the turns set, is used before", ""},
	} {
		d := newDerivations(sourceOf(strings.Replace(gatherHead, "package main\n", fieldImports, 1) + "func Print(n int) {}\nfunc f(s *source, k *sink, w *bufio.Writer, by map[int]item) {\n" + c.body + "}\n"))
		for _, decl := range d.t.decls {
			if decl.Name.Name != "f" {
				continue
			}
			all := gatheredLists(d, decl)
			if len(all) == 0 || all[0].of.Name() != "all" {
				t.Errorf("%s: found is %d", c.name, len(all))
			} else if g := all[0]; !strings.Contains(g.against, c.against) || c.against == "" && g.against != "" || !strings.Contains(g.keeps, c.keeps) || c.keeps == "" && c.against == "" && g.keeps != "" {
				t.Errorf("%s: against %q, keeps %q", c.name, g.against, g.keeps)
			}
		}
	}
}

// TestGatheredSources: turns that each read a source of their own to its end are told from those that read on in one, and an error of such a
// reading from one that an item is bad.
func TestGatheredSources(t *testing.T) {
	loop := func(turn string) string {
		return "func f(names []string, c *client, sc *bufio.Scanner, w *bufio.Writer) error {\nvar all []item\nfor _, name := range names {\n" + turn + "\nall = append(all, x)\n}\n"
	}
	const write = "for _, x := range all {\nfmt.Fprintln(w, x.name)\n}\nreturn nil\n}\n"
	const whole = "b, err := os.ReadFile(name)\nif err != nil {\nreturn err\n}\nx := parse(b)"
	for _, c := range []struct {
		name, source       string
		own, fails, breaks bool
	}{
		{"a whole file", loop(whole) + write, true, false, true},
		{"a page", loop("p, err := c.get(3)\nif err != nil {\nreturn err\n}\nx := p.rows[0]") + write, true, false, true},
		{"what a process writes", loop("b, err := exec.Command(name).Output()\nif err != nil {\nreturn err\n}\nx := parse(b)") + write, true, false, true},
		{"a file that is opened", loop("f, err := os.Open(name)\nif err != nil {\nreturn err\n}\nx := load(f)") + write, true, false, true},
		{"no error ends it", loop("b, _ := os.ReadFile(name)\nx := parse(b)") + write, true, false, false},
		{"a bad item", loop(whole+"\nif x.size == 0 {\nreturn errForm\n}") + write, true, true, true},
		{"a bad item, checked by a call", loop(whole+"\nif err := check(x); err != nil {\nreturn err\n}") + write, true, true, true},
		{"they are booked", loop(whole) + "for _, x := range all {\ntx.Exec(q, x.name)\n}\nreturn nil\n}\n", true, true, false},
		{"they are removed", loop(whole) + "for _, x := range all {\nfmt.Println(x.name)\nos.Remove(x.name)\n}\nreturn nil\n}\n", true, true, false},
		{"an answer", strings.Replace(loop(whole), "w *bufio.Writer", "w http.ResponseWriter", 1) + write, true, true, false},
		{"an error behind the turns", loop(whole) + "if err := done(); err != nil {\nreturn err\n}\n" + write, true, true, true},

		{"a line of a file", loop("if !sc.Scan() {\nbreak\n}\nx := parse(sc.Bytes())") + write, false, false, false},
		{"a line, and a file by it", loop("sc.Scan()\nb, err := os.ReadFile(sc.Text())\nif err != nil {\nreturn err\n}\nx := parse(b)") + write, false, true, false},
		{"a value of a stream", loop("x, err := c.dec.Decode(name)\nif err != nil {\nreturn err\n}") + write, false, true, false},
	} {
		d := newDerivations(sourceOf(fieldHead + "func load(f *os.File) item { sc := bufio.NewScanner(f); for sc.Scan() {}; return item{} }\n" + c.source))
		for _, decl := range d.t.decls {
			if decl.Name.Name != "f" {
				continue
			}
			all := gatheredLists(d, decl)
			if len(all) != 1 || all[0].against != "" {
				t.Errorf("%s: %+v", c.name, all)
			} else if g := all[0]; g.ownSources(d) != c.own || (g.fails != nil) != c.fails || (g.breaks != nil) != c.breaks {
				t.Errorf("%s: own %v, fails %v, breaks %v", c.name, g.ownSources(d), g.fails != nil, g.breaks != nil)
			}
		}
	}
}

package insight

import (
	"go/ast"
	"go/types"
	"strconv"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// encodedHead are the types that the sources of these tests use.
const encodedHead = `package shop

import (
	"bytes"
	"bufio"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"slices"
)

type row struct { id int; name string }
type table struct { name string; rows []row }
type document struct { version int; tables []table; total int }
type source struct { cache map[string]row }
func (s *source) next() (row, bool) { return row{}, false }
func (s *source) pages(name string, f func([]row) error) error { return nil }
`

const (
	encodedLoop = "var all []row\nfor {\nx, ok := s.next()\nif !ok {\nbreak\n}\nall = append(all, x)\n}\n"
	encodedEnd  = "b, err := json.Marshal(all)\nif err != nil {\nreturn\n}\nw.Write(b)\n"
)

// TestEncodedWholes: what could be encoded as it comes is told from what needs all items, or whose encoding goes elsewhere.
func TestEncodedWholes(t *testing.T) {
	const tables = "doc := document{version: 3}\nfor _, name := range names {\nvar rows []row\nerr := s.pages(name, func(page []row) error {\nrows = append(rows, page...)\nreturn nil\n})\nif err != nil {\nreturn\n}\nt := table{name: name, rows: make([]row, 0, len(rows))}\nfor _, r := range rows {\nt.rows = append(t.rows, convert(r))\n}\ndoc.tables = append(doc.tables, t)\n}\n"
	for _, c := range []struct{ name, body, want string }{
		{"a list", encodedLoop + encodedEnd, "all"},
		{"indented", encodedLoop + strings.Replace(encodedEnd, "Marshal(all)", "MarshalIndent(all, \"\", \" \")", 1), "all"},
		{"to a writer", encodedLoop + "json.NewEncoder(w).Encode(all)", "all"},
		{"to a writer by a variable", encodedLoop + "enc := json.NewEncoder(w)\nenc.Encode(all)", "all"},
		{"to a file", encodedLoop + "f, err := os.Create(\"x\")\nif err != nil {\nreturn\n}\nbw := bufio.NewWriter(f)\njson.NewEncoder(bw).Encode(all)", "all"},
		{"lines", encodedLoop + "csv.NewWriter(w).WriteAll(all)", "all"},
		{"copied", encodedLoop + strings.Replace(encodedEnd, "w.Write(b)", "io.Copy(w, bytes.NewReader(b))", 1), "all"},
		{"a whole file", encodedLoop + strings.Replace(encodedEnd, "w.Write(b)", "os.WriteFile(\"x\", b, 0o644)", 1), "all"},
		{"in a document", encodedLoop + "json.NewEncoder(w).Encode(map[string]any{\"rows\": all})", "all"},
		{"in a variable", encodedLoop + "t := table{rows: all}\njson.NewEncoder(w).Encode(t)", "all"},
		{"several lists", tables + strings.Replace(encodedEnd, "all", "doc", 1), "doc"},
		{"another file anew", "in, _ := os.Open(\"y\")\ndefer in.Close()\n" + encodedLoop + strings.Replace(encodedEnd, "w.Write(b)", "os.WriteFile(\"x\", b, 0o644)", 1), "all"},
		{"put in its place", "in, _ := os.Open(\"x\")\ndefer in.Close()\n" + encodedLoop + strings.Replace(encodedEnd, "w.Write(b)", "os.WriteFile(\"y\", b, 0o644)\nos.Rename(\"y\", \"x\")", 1), "all"},
		{"the same file anew", "in, _ := os.Open(\"x\")\ndefer in.Close()\n" + encodedLoop + strings.Replace(encodedEnd, "w.Write(b)", "os.WriteFile(\"x\", b, 0o644)", 1), ""},
		{"the same file, to a writer", "in, _ := os.Open(\"x\")\ndefer in.Close()\n" + encodedLoop + "f, err := os.Create(\"x\")\nif err != nil {\nreturn\n}\njson.NewEncoder(f).Encode(all)", ""},
		{"none at all", encodedLoop + "if len(all) == 0 {\nreturn\n}\n" + encodedEnd, "all"},

		{"sorted", encodedLoop + "slices.SortFunc(all, less)\n" + encodedEnd, ""},
		{"one of them sorted", strings.Replace(tables, "t := table", "slices.SortFunc(rows, less)\nt := table", 1) + strings.Replace(encodedEnd, "all", "doc", 1), ""},
		{"its length first", encodedLoop + "json.NewEncoder(w).Encode(map[string]any{\"n\": len(all), \"rows\": all})", ""},
		{"a total with it", "doc := document{}\nfor _, name := range names {\ndoc.total++\ndoc.tables = append(doc.tables, table{name: name})\n}\njson.NewEncoder(w).Encode(doc)", ""},
		{"a total in the end", "doc := document{}\nfor _, name := range names {\ndoc.tables = append(doc.tables, table{name: name})\n}\ndoc.total = 7\njson.NewEncoder(w).Encode(doc)", ""},
		{"the last one with it", "var all []row\nvar last row\nfor {\nx, ok := s.next()\nif !ok {\nbreak\n}\nlast = x\nall = append(all, x)\n}\njson.NewEncoder(w).Encode(map[string]any{\"last\": last, \"rows\": all})", ""},
		{"by key", "by := map[string]row{}\nfor {\nx, ok := s.next()\nif !ok {\nbreak\n}\nby[x.name] = x\n}\njson.NewEncoder(w).Encode(by)", ""},
		{"gone through as well", encodedLoop + "for _, x := range all {\nuse(x)\n}\n" + encodedEnd, ""},
		{"given away", encodedLoop + "use(all)\n" + encodedEnd, ""},
		{"returned as well", encodedLoop + "json.NewEncoder(w).Encode(all)\nuse(all[0])", ""},
		{"kept as well", strings.Replace(encodedLoop, "all = append", "s.cache[x.name] = x\nall = append", 1) + encodedEnd, ""},
		{"to a buffer", encodedLoop + "var buf bytes.Buffer\njson.NewEncoder(&buf).Encode(all)\nuse(buf)", ""},
		{"the text is used", encodedLoop + strings.Replace(encodedEnd, "w.Write(b)", "sum(b)\nw.Write(b)", 1), ""},
		{"the text is sent", encodedLoop + strings.Replace(encodedEnd, "w.Write(b)", "post(bytes.NewReader(b))", 1), ""},
		{"in each turn", "for range 3 {\n" + encodedLoop + "json.NewEncoder(w).Encode(all)\n}", ""},
		{"one item", "var all []row\nall = append(all, row{})\n" + encodedEnd, ""},
		{"each by itself", "for {\nx, ok := s.next()\nif !ok {\nbreak\n}\njson.NewEncoder(w).Encode(x)\n}", ""},
	} {
		d := newDerivations(sourceOf(encodedHead + "func f(s *source, w io.Writer, names []string) {\n" + c.body + "\n}\n"))
		got := ""
		for _, decl := range d.t.decls {
			if decl.Name.Name == "f" {
				for _, x := range encodedWholes(d, decl) {
					got = x.of.Name()
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestItemsChangedLater: a turn that changes an item of an earlier one is told from one that changes what it makes itself.
func TestItemsChangedLater(t *testing.T) {
	const head = "package shop\n\nimport (\n\"encoding/json\"\n\"io\"\n)\n\ntype part struct { n int }\ntype row struct { id, n int; up *row; parts []*part }\ntype source struct { cache map[int]*row; read int; rows []*row }\nfunc (s *source) next() (*row, bool) { return &row{}, false }\nfunc (s *source) old(id int) *row { return s.cache[id] }\nfunc (r *row) count() { r.n++ }\nfunc fill(r *row) { r.id = 3 }\nfunc far1(r *row) { far2(r) }\nfunc far2(r *row) { far3(r) }\nfunc far3(r *row) { far4(r) }\nfunc far4(r *row) { far5(r) }\nfunc far5(r *row) { r.n = 1 }\nfunc (r *row) walk() {\nif r.up != nil {\nr.up.walk()\n}\nr.n++\n}\n"
	loop := func(turn string) string {
		return "var all []*row\nvar open *row\nvar sum row\nby := map[int]*row{}\nfor {\nx, ok := s.next()\nif !ok {\nbreak\n}\n" + turn + "\nall = append(all, x)\n}\n"
	}
	for _, c := range []struct {
		name, body string
		want       bool
	}{
		{"through a pointer that it has", loop("for q := x.up; q != nil; q = q.up {\nq.n++\n}"), true},
		{"of the one before", loop("if open != nil {\nopen.n++\n}\nopen = x"), true},
		{"by a map", loop("by[x.id] = x\nby[x.id/2].n = 3"), true},
		{"a variable from a map", loop("if q := by[x.id/2]; q != nil {\nq.n = 3\n}\nby[x.id] = x"), true},
		{"one that a function finds", loop("q := s.old(x.id)\nq.n = 4"), true},
		{"by a method", loop("if open != nil {\nopen.count()\n}\nopen = x"), true},
		{"a part of it", loop("if open != nil {\nopen.parts[0].n = 1\n}\nopen = x"), true},
		{"all of it", loop("if open != nil {\n*open = row{}\n}\nopen = x"), true},
		{"after the turns", loop("by[x.id] = x") + "by[3].n = 9\n", true},

		{"far from the turn", loop("far1(x)\nif open != nil {\nfar3(open)\n}\nopen = x"), true},
		{"by a method that calls itself", loop("x.walk()"), true},

		{"far from the turn that makes it", loop("far1(x)"), false},
		{"the one that it makes", loop("x.n = 5"), false},
		{"by a function that is given it", loop("fill(x)\nx.count()"), false},
		{"another name of it", loop("y := x\ny.n = 3"), false},
		{"one that it makes beside", loop("y := &row{}\ny.n = 3\nx.up = y"), false},
		{"a copy", loop("y := *x\ny.n = 3"), false},
		{"something else", loop("s.read++"), false},
		{"a part that it makes", loop("p := &part{}\np.n = 3\nx.parts = append(x.parts, p)"), false},
	} {
		d := newDerivations(sourceOf(head + "func f(s *source, w io.Writer) {\n" + c.body + "json.NewEncoder(w).Encode(all)\n}\n"))
		for _, decl := range d.t.decls {
			if decl.Name.Name != "f" {
				continue
			}
			x := &encodedWhole{d: d, decl: decl, feeds: map[types.Object]bool{}}
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if calledName(n) == "Encode" {
						x.call = n
					}
				case *ast.AssignStmt:
					if add, to := addsByAppend(n); add != nil && types.ExprString(to) == "all" {
						x.adds, x.of = add, d.variable(to)
					}
				case *ast.ForStmt:
					if n.Cond == nil {
						x.whole = n
					}
				}
				return true
			})
			if got := x.changedLater() != nil; got != c.want {
				t.Errorf("%s: %v", c.name, got)
			}
		}
	}
}

// TestGC16Encoded: what goes into a list that is encoded as a whole, and what it is encoded to, is added up.
func TestGC16Encoded(t *testing.T) {
	source := encodedHead + "func f(s *source, w io.Writer, names []string) {\n" + encodedLoop + encodedEnd + "}\n"
	first := strings.Count(encodedHead, "\n") + 1 // the line of the function
	for _, c := range []struct {
		name, source string
		mb           [3]int64 // of the items, of the text, of something else
		state        State
		title        string
		severity     Severity
	}{
		{"much", source, [3]int64{45, 40, 10}, Found, encodedTitle, Warning},
		{"it may end before the file is there", strings.NewReplacer("if !ok {", "if x.id < 0 { panic(1) }; if false { return errRow }; if !ok {", "w.Write(b)", "os.WriteFile(\"x\", b, 0o644)", ") {\nvar", ") error {\nvar").Replace(source), [3]int64{45, 40, 10}, Found, encodedTitle, Info},
		{"little", source, [3]int64{15, 15, 5}, Found, encodedTitle, Info},
		{"one line", source, [3]int64{90, 5, 5}, Found, encodedTitle, Warning},
		{"something else", source, [3]int64{20, 20, 60}, Found, gc16.Title, Info},
		{"sorted", strings.Replace(source, "b, err", "slices.SortFunc(all, less); b, err", 1), [3]int64{45, 45, 10}, Fine, "", ""},
		{"very little", source, [3]int64{5, 5, 1}, Fine, "", ""},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..9s\nphase heap 9s..10s profiler=heap\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(c.source))
		mb := func(n int64) []int64 { return []int64{100 * n, n << 20, 100 * n, n << 20} }
		at := func(line int) string { return "main.main shop.f:/src/a.go:" + strconv.Itoa(first+line) }
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap", Span: timeline.Span{Start: 9e9, End: 10e9}}, heapProfile(
			column{at(3) + " shop.(*source).next:/src/none.go:3", mb(c.mb[0])}, column{at(9) + " encoding/json.Marshal:/go/encode.go:3", mb(c.mb[1])}, column{"main.main shop.other:/src/none.go:9", mb(c.mb[2])}))
		f := answers(t, r, "GC16")[0]
		if f.State != c.state || c.title != "" && f.Title != c.title || f.Severity != c.severity {
			t.Errorf("%s: %s %s %q: %s", c.name, f.State, f.Severity, f.Title, f.Summary)
		}
		if c.title == encodedTitle && (f.Evidence[0].Line != first+7 || f.Evidence[1].Line != first+9) {
			t.Errorf("%s: %+v", c.name, f.Evidence)
		}
	}
}

package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

// TestParsedWritten: what is made of a file is followed to those who change it: what they return, what they fill, and what
// they use themselves; what belongs to making it, a copy and another value do not count.
func TestParsedWritten(t *testing.T) {
	const head = "package main\n\nimport (\"encoding/gob\"; \"encoding/json\"; \"io\"; \"os\"; \"slices\"; \"sort\"; \"strings\")\n\ntype line struct { Qty int; Parts []line }\ntype doc struct { Total int; Lines []*line; Notes map[string]string; Flat []line }\ntype server struct { cfg doc; hits int; names []string }\n"
	const load = "func load(p string) (*doc, error) {\nb, err := os.ReadFile(p)\nif err != nil {\nreturn nil, err\n}\nd := new(doc)\nerr = json.Unmarshal(b, d) // A\nreturn d, err\n}\n"
	const order = "func order(n int) int {\nd, _ := load(\"x\") // B\n"
	const two, three = "load@A order@B", "read@A load@B order@C"
	const lines = "func load(p string) map[string]int {\nb, _ := os.ReadFile(p)\nall := map[string]int{}\nfor _, l := range strings.Split(string(b), \"\\n\") {\nall[l] = len(l) // A\n}\nreturn all\n}\n"
	for _, c := range []struct {
		name, source, way string
		made              int
		written           bool
	}{
		{"only read", load + order + "for _, l := range d.Lines {\nn += l.Qty\n}\nreturn n\n}\n", two, 0, false},
		{"filled where it is made", strings.Replace(load, "return d, err", "d.Total = len(d.Lines)\nclean(d)\nreturn d, err", 1) + "func clean(d *doc) { delete(d.Notes, \"\") }\n" + order + "return d.Total\n}\n", two, 0, false},
		{"a copy of a part", load + order + "l := slices.Clone(d.Flat)\nl[0].Qty = 3\nreturn l[0].Qty\n}\n", two, 0, false},
		{"a struct of it", load + order + "for _, l := range d.Flat {\nl.Qty += n\nn += l.Qty\n}\nreturn n\n}\n", two, 0, false},
		{"another value", load + order + "e := &doc{Total: d.Total}\ne.Total += n\nreturn e.Total\n}\n", two, 0, false},
		{"what somebody else makes", load + order + "return d.Total\n}\nfunc other() { d := fresh(); d.Total = 3 }\nfunc fresh() *doc { return new(doc) }\n", two, 0, false},
		{"what the variable had before", load + "func order(n int) {\nd := new(doc)\nd.Total = n\nfor range n {\nd, _ = load(\"x\") // B\nprint(d.Total)\n}\n}\n", two, 0, false},
		{"what it has from the turn before", load + "func order(n int) {\nd := new(doc)\nfor range n {\nd.Total = n\nd, _ = load(\"x\") // B\nprint(d.Total)\n}\n}\n", two, 0, true},
		{"lines, only read", lines + "func order(n int) int {\nm := load(\"x\") // B\nreturn m[\"a\"]\n}\n", two, 0, false},
		{"by itself, only read", "func load(n int) int {\nb, _ := os.ReadFile(\"x\")\nvar d doc\njson.Unmarshal(b, &d) // A\nreturn d.Total + n\n}\nfunc order(n int) { load(n) } // B\n", two, 0, false},
		{"into a field of it, another is set", "func (s *server) load() {\nb, _ := os.ReadFile(\"x\")\njson.Unmarshal(b, &s.cfg) // A\ns.hits++\n}\nfunc order(s *server) { s.load() } // B\n", "(*server).load@A order@B", 0, false},
		{"by a helper, only read", "func load(p string, to any) {\nb, _ := os.ReadFile(p)\njson.Unmarshal(b, to) // A\n}\nfunc order(n int) int {\nvar d doc\nload(\"x\", &d) // B\nreturn d.Total\n}\nfunc other() {\nvar d doc\nload(\"y\", &d)\nd.Total = 3\n}\n", two, 0, false},

		{"through the result", load + order + "d.Total += n\nreturn d.Total\n}\n", two, 0, true},
		{"by a callee", load + order + "return fill(d, n)\n}\nfunc fill(d *doc, n int) int {\nfor _, l := range d.Lines {\nl.Qty += n\n}\nreturn d.Lines[0].Qty\n}\n", two, 0, true},
		{"a map in it, by a callee's callee", load + order + "return fill(d, n)\n}\nfunc fill(d *doc, n int) int {\nnote(d.Notes)\nreturn n\n}\nfunc note(m map[string]string) { m[\"last\"] = \"x\" }\n", two, 0, true},
		{"a list in it is sorted", load + order + "sort.Slice(d.Lines, nil)\nreturn n\n}\n", two, 0, true},
		{"lines, one is added", lines + "func order(n int) int {\nm := load(\"x\") // B\nm[\"b\"] = n\nreturn len(m)\n}\n", two, 0, true},
		{"by itself", "func load(n int) int {\nb, _ := os.ReadFile(\"x\")\nvar d doc\njson.Unmarshal(b, &d) // A\nfor _, l := range d.Lines {\nl.Qty *= n\n}\nreturn d.Lines[0].Qty\n}\nfunc order(n int) { load(n) } // B\n", two, 0, true},
		{"by itself, a field", "func load(n int) int {\nb, _ := os.ReadFile(\"x\")\nvar d doc\njson.Unmarshal(b, &d) // A\nd.Total += n\nreturn d.Total\n}\nfunc order(n int) { load(n) } // B\n", two, 0, true},
		{"by another decoder", "func load(n int) int {\nf, _ := os.Open(\"x\")\nvar d doc\ngob.NewDecoder(f).Decode(&d) // A\nd.Lines[0].Qty += n\nreturn d.Total\n}\nfunc order(n int) { load(n) } // B\n", two, 0, true},
		{"into a field, which another changes", "func (s *server) load() {\nb, _ := os.ReadFile(\"x\")\njson.Unmarshal(b, &s.cfg) // A\n}\nfunc order(s *server) {\ns.load() // B\ns.cfg.Lines[0].Qty++\n}\n", "(*server).load@A order@B", 0, true},
		{"by a helper that is given it", "func load(p string, to any) {\nb, _ := os.ReadFile(p)\njson.Unmarshal(b, to) // A\n}\nfunc order(n int) int {\nvar d doc\nload(\"x\", &d) // B\nd.Notes[\"n\"] = \"x\"\nreturn d.Total\n}\n", two, 0, true},
		{"by a function that parses what another reads", "func read(p string) []byte {\nb, _ := os.ReadFile(p) // A\nreturn b\n}\nfunc load(p string) *doc {\nd := new(doc)\njson.Unmarshal(read(p), d) // B\nreturn d\n}\nfunc order(n int) int {\nd := load(\"x\") // C\nd.Total += n\nreturn d.Total\n}\n", three, 1, true},
		{"by a wrapped one", load + "type job struct { *doc; n int }\nfunc order(n int) int {\nd, _ := load(\"x\") // B\nj := &job{d, n}\nj.run()\nreturn n\n}\nfunc (j *job) run() { j.Lines[0].Qty = j.n }\n", two, 0, true},
	} {
		source := head + c.source
		d := newDerivations(sourceOf(source))
		var way []stack.Frame
		for _, f := range strings.Fields(c.way) {
			name, mark, _ := strings.Cut(f, "@")
			at := lineWith(source, "// "+mark+"\n")
			at.Func, at.File = "main."+name, "a.go"
			way = append(way, at)
		}
		if at, written := parsedWritten(d, way, c.made); written != c.written {
			t.Errorf("%s: %v %v", c.name, written, at)
		}
	}
}

// TestFilesChanged: where what is made of a file that is read again is changed, CP18 and CP25 say that each needs a copy.
func TestFilesChanged(t *testing.T) {
	const source = "package main\n\nimport (\"encoding/json\"; \"os\")\n\ntype doc struct { Total int; Notes map[string]string }\n\nfunc load() *doc {\n\tb, _ := os.ReadFile(\"x.json\") // A\n\td := new(doc)\n\tjson.Unmarshal(b, d) // B\n\treturn d\n}\n\nfunc main() {\n\tfor i := range 9 {\n\t\td := load() // C\n\t\tDOES\n\t}\n}\n"
	for does, changed := range map[string]bool{"print(d.Total)": false, "d.Notes[\"a\"] = \"b\"": true, "d.Total += i": true} {
		text := strings.Replace(source, "DOES", does, 1)
		for _, rule := range []string{"CP18", "CP25"} {
			r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\n")
			r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
			r.Put(recording.Entry{Path: "os.ndjson", Kind: recording.OS}, []byte(`{"t_ns":2000000000,"pid":7,"looks":200,"files":[{"path":"/data/x.json","seen":90,"opened":60,"rewound":0}]}`+"\n"))
			withProfile(r, recording.CPU, "cpu", column{stackAt(text, "main.main@C main.load@A os.ReadFile os.(*File).Read syscall.read"), []int64{30}},
				column{stackAt(text, "main.main@C main.load@B encoding/json.Unmarshal"), []int64{50}}, column{"main.main:/src/other.go:9 main.other:/src/other.go:3", []int64{20}})
			f := answers(t, r, rule)[0]
			told := strings.Contains(f.Summary, "changed afterwards, as at main.go:17") && strings.Contains(f.Advice, "a copy that goes into")
			doubt := strings.Contains(strings.Join(f.Doubts, "; "), "needs a copy of his own")
			if f.State != Found || told != changed || doubt == changed || f.Severity != Warning {
				t.Errorf("%s %s: %s %s: %s %s %q", rule, does, f.State, f.Severity, f.Summary, f.Advice, f.Doubts)
			}
		}
	}
}

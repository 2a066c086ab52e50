package insight

import (
	"go/ast"
	"testing"
)

// TestMadeWhole: a list whose earlier elements later ones change, and one of which a check says whether it is to be used.
func TestMadeWhole(t *testing.T) {
	const head = "package main\n\ntype rec struct { id, n int; name string }\ntype stat struct { n int }\nfunc read(s string) (out []rec, ok bool) { return nil, false }\nfunc decode(s string) rec { return rec{} }\nfunc (r *rec) merge(o rec) { r.n += o.n }\nfunc (r *rec) size() int { return r.n }\n"
	for _, c := range []struct {
		what, text      string
		changes, judged bool
	}{
		{"nothing of that", "func list(in []string) (out []*rec) {\nfor _, s := range in {\nr := decode(s)\nr.n = 3\nout = append(out, &r)\n}\nreturn out\n}\n", false, false},
		{"the last one of a key counts", "func list(in []string) []*rec {\nvar out []*rec\nat := map[int]*rec{}\nfor _, s := range in {\nr := decode(s)\nif old := at[r.id]; old != nil {\n*old = r\ncontinue\n}\nat[r.id] = &r\nout = append(out, &r)\n}\nreturn out\n}\n", true, false},
		{"asked for with ok", "func list(in []string) []*rec {\nvar out []*rec\nat := map[int]*rec{}\nfor _, s := range in {\nr := decode(s)\nif old, ok := at[r.id]; ok {\nold.n++\ncontinue\n}\nat[r.id] = &r\nout = append(out, &r)\n}\nreturn out\n}\n", true, false},
		{"without a variable", "func list(in []string) []*rec {\nvar out []*rec\nat := map[int]*rec{}\nfor _, s := range in {\nr := decode(s)\nif at[r.id] != nil {\nat[r.id].n++\ncontinue\n}\nat[r.id] = &r\nout = append(out, &r)\n}\nreturn out\n}\n", true, false},
		{"by a method", "func list(in []string) []*rec {\nvar out []*rec\nat := map[int]*rec{}\nfor _, s := range in {\nr := decode(s)\nif old := at[r.id]; old != nil {\nold.merge(r)\ncontinue\n}\nat[r.id] = &r\nout = append(out, &r)\n}\nreturn out\n}\n", true, false},
		{"a method that changes nothing", "func list(in []string) []*rec {\nvar out []*rec\nat := map[int]*rec{}\nfor _, s := range in {\nr := decode(s)\nif old := at[r.id]; old != nil {\nprintln(old.size())\ncontinue\n}\nat[r.id] = &r\nout = append(out, &r)\n}\nreturn out\n}\n", false, false},
		{"something else is counted", "func list(in []string) []*rec {\nvar out []*rec\nat := map[int]*stat{}\nfor _, s := range in {\nr := decode(s)\nat[r.id].n++\nout = append(out, &r)\n}\nreturn out\n}\n", false, false},

		{"a truth beside it", "func list(in []string) (out []rec, ok bool) {\nsum := 0\nfor _, s := range in {\nsum += len(s)\nout = append(out, decode(s))\n}\nreturn out, sum == 9\n}\n", false, true},
		{"a sum beside it", "func list(in []string) (out []rec, ok bool) {\nsum := \"\"\nfor _, s := range in {\nsum = s\nout = append(out, decode(s))\n}\nreturn out, sum == fmt.Sprint(len(out))\n}\n", false, true},
		{"a constant beside it", "func list(in []string) (out []rec, ok bool) {\nif in == nil {\nreturn nil, false\n}\nfor _, s := range in {\nout = append(out, decode(s))\n}\nreturn out, true\n}\n", false, false},
		{"none if one is bad", "func list(in []string) (out []rec) {\nfor _, s := range in {\nr := decode(s)\nif r.n < 0 {\nreturn nil\n}\nout = append(out, r)\n}\nreturn out\n}\n", false, true},
		{"none if another one says so", "func list(s string, n int) []string {\nall, ok := read(s)\nif !ok {\nreturn nil\n}\nvar out []string\nfor _, r := range all[:n] {\nout = append(out, r.name)\n}\nreturn out\n}\n", false, true},
		{"none of nothing", "func list(in []string) (out []rec) {\nif len(in) == 0 {\nreturn nil\n}\nfor _, s := range in {\nout = append(out, decode(s))\n}\nreturn out\n}\n", false, false},
	} {
		d := newDerivations(sourceOf(head + c.text))
		var decl *ast.FuncDecl
		for _, x := range d.t.decls {
			if x.Name.Name == "list" {
				decl = x
			}
		}
		of := d.t.typeOf(decl.Type.Results.List[0].Type)
		if at := changesEarlier(d, decl, decl.Body, of); (at != nil) != c.changes {
			t.Errorf("%s: changes at %v, want %v", c.what, at, c.changes)
		}
		if at := judgesAll(d, decl, 0); (at.line > 0) != c.judged {
			t.Errorf("%s: judged at %v, want %v", c.what, at, c.judged)
		}
	}
}

package insight

import (
	"go/ast"
	"go/types"
	"strings"
	"testing"
)

// TestBegunBehind: what is written to is begun behind the turns, or before them; what is renamed at the end was never begun there.
func TestBegunBehind(t *testing.T) {
	const read = "var all []string\nfor _, n := range names {\nb, err := os.ReadFile(n)\nif err != nil {\nreturn err\n}\nall = append(all, string(b))\n}\n"
	for _, c := range []struct{ name, before, behind, want string }{
		{"a file", "", "w, _ := os.Create(name)\n", "os.Create(name)"},
		{"a headline", "w := k.w\n", "fmt.Fprintln(w, 1)\n", "fmt.Fprintln(w, 1)"},
		{"a transaction", "w := k.w\n", "k.store.BeginTx(ctx)\n", "k.store.BeginTx(ctx)"},
		{"before the turns", "w, _ := os.Create(name)\n", "", ""},
		{"renamed at the end", "", "w, _ := os.Create(tmp)\ndefer os.Rename(tmp, name)\n", ""},
		{"a temporary file", "", "w, _ := os.CreateTemp(dir, tmp)\n", ""},
	} {
		d := newDerivations(sourceOf(gatherHead + "func f(k *sink, names []string) error {\n" + c.before + read + c.behind + "for _, x := range all {\nfmt.Fprintln(w, x)\n}\nreturn nil\n}\n"))
		for _, decl := range d.t.decls {
			if decl.Name.Name != "f" {
				continue
			}
			for _, g := range gatheredLists(d, decl) {
				got := ""
				if g.begun != nil {
					got = types.ExprString(g.begun.(*ast.CallExpr))
				}
				if g.fails != nil || g.breaks == nil || g.against != "" || got != c.want {
					t.Errorf("%s: begun at %q, fails %v, breaks %v, against %q", c.name, got, g.fails, g.breaks, g.against)
				}
			}
		}
	}
}

// TestEndsEarly: what is encoded as a whole may fail before its file is created, or only when it is.
func TestEndsEarly(t *testing.T) {
	failing := strings.Replace(encodedLoop, "all = append", "if x.id < 0 {\nreturn errRow\n}\nall = append", 1)
	for _, c := range []struct {
		name, body string
		want       bool
	}{
		{"an item", failing + "f, err := os.Create(\"x\")\nif err != nil {\nreturn err\n}\njson.NewEncoder(f).Encode(all)", true},
		{"a whole file", failing + "b, err := json.Marshal(all)\nif err != nil {\nreturn err\n}\nos.WriteFile(\"x\", b, 0o644)", true},
		{"the file", encodedLoop + "f, err := os.Create(\"x\")\nif err != nil {\nreturn err\n}\njson.NewEncoder(f).Encode(all)", false},
		{"the file is there", "f, err := os.Create(\"x\")\nif err != nil {\nreturn err\n}\n" + failing + "json.NewEncoder(f).Encode(all)", false},
		{"what it was given", failing + "json.NewEncoder(w).Encode(all)", false},
	} {
		d := newDerivations(sourceOf(encodedHead + "func f(s *source, w io.Writer) error {\n" + c.body + "\nreturn nil\n}\n"))
		found := false
		for _, decl := range d.t.decls {
			if decl.Name.Name != "f" {
				continue
			}
			for _, x := range encodedWholes(d, decl) {
				found = true
				if begun, early := x.begins(); (early != nil) != c.want {
					t.Errorf("%s: begun %v, ends early %v", c.name, begun, early)
				}
			}
		}
		if !found {
			t.Errorf("%s: no list", c.name)
		}
	}
}

// TestReturnsError: that everything has been read is told from an error.
func TestReturnsError(t *testing.T) {
	for _, c := range []struct {
		name, turn string
		fails      bool
	}{
		{"an error", "if err != nil {\nreturn err\n}", true},
		{"one of its own", "if x == 0 {\nreturn errBad\n}", true},
		{"another one than the end", "if err != io.EOF {\nreturn err\n}", true},
		{"the end, or another", "if err == io.EOF || err == errBad {\nreturn err\n}", true},
		{"the end", "if x == 0 {\nreturn io.EOF\n}", false},
		{"the end of it all", "if x == 0 {\nreturn fs.SkipAll\n}", false},
		{"the end of a folder", "if x == 0 {\nreturn filepath.SkipDir\n}", false},
		{"below a condition on it", "if err != nil {\nif err == io.EOF {\nreturn err\n}\n}", false},
		{"by errors.Is", "if errors.Is(err, io.EOF) {\nreturn err\n}", false},
	} {
		d := newDerivations(sourceOf(gatherHead + "func f(k *sink) error {\nvar all []int\nfor {\nx, err := next()\n" + c.turn + "\nall = append(all, x)\n}\nfor _, x := range all {\nuse(x)\n}\nreturn nil\n}\n"))
		for _, decl := range d.t.decls {
			if decl.Name.Name != "f" {
				continue
			}
			for _, g := range gatheredLists(d, decl) {
				if (g.fails != nil) != c.fails {
					t.Errorf("%s: fails at %v", c.name, g.fails)
				}
			}
		}
	}
}

package counting_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loupe/capture/counting"
)

// TestSites: which calls of libraries are counted at their lines, and what becomes of them.
func TestSites(t *testing.T) {
	const one, two = "zz_loupe_repeats.Returns1(zz_loupe_repeats.At(1", "loupeS1 := zz_loupe_repeats.At(1"
	for _, test := range []struct{ name, body, want string }{
		{"a value", "x := strings.ToLower(a)\n\treturn x", "x := " + one + ", func() zz_loupe_repeats.Args { return zz_loupe_repeats.Args{a} }), strings.ToLower(a))"},
		{"what is returned alone", "return strings.ToLower(a)", "return " + one + ", func() zz_loupe_repeats.Args { return zz_loupe_repeats.Args{a} }), strings.ToLower(a))"},
		{"a method of what it has", "return t.re.ReplaceAllString(a, \"x\")", "return " + one + ", func() zz_loupe_repeats.Args { return zz_loupe_repeats.Args{t.re, a, \"x\"} }), t.re.ReplaceAllString(a, \"x\"))"},
		{"two values", "x, err := url.Parse(a)\n\treturn x.Path + err.Error()", two + ", func() zz_loupe_repeats.Args { return zz_loupe_repeats.Args{a} }); x, err := url.Parse(a); loupeS1.Returns(x, err)"},
		{"one of two is dropped", "x, _ := url.Parse(a)\n\treturn x.Path", ""},
		{"in a condition", "if strings.Contains(a, b) {\n\t\treturn a\n\t}\n\treturn b", "if " + one + ", func() zz_loupe_repeats.Args { return zz_loupe_repeats.Args{a, b} }), strings.Contains(a, b)) {"},
		{"two values of a condition", "if x, err := url.Parse(a); err == nil {\n\t\treturn x.Path\n\t}\n\treturn b", ""},
		{"the argument of another, which may have more", "return f(strings.ToLower(a))", ""},
		{"one of several arguments", "return g(b, strings.ToLower(a))", "g(b, " + one + ", func() zz_loupe_repeats.Args { return zz_loupe_repeats.Args{a} }), strings.ToLower(a)))"},
		{"an argument with an effect", "return strings.ToLower(f(a))", ""},
		{"an argument over two lines", "return strings.Replace(a, \"x\", a+\n\t\tb, 1)", ""},
		{"many", "return fmt.Sprint(list...)", ""},
		{"a constant of a library", "return strconv.FormatUint(math.MaxUint64, 10)", ""},
		{"a variable with the name of a package", "strings := t.other\n\treturn strings.ToLower(a)", ""},
		{"nothing is returned", "sort.Strings(list)\n\treturn a", ""},
		{"later", "defer strings.ToLower(a)\n\treturn a", ""},
		{"cheap by its name", "return t.at.Error()", ""},
		{"a constant", "const most = url.Size(3) * 2\n\treturn a", ""},
		{"the index of an element", "x := [...]string{url.Size(3): a}\n\treturn x[3]", ""},
		{"an element", "x := map[string]string{a: strings.ToLower(b)}\n\treturn x[a]", "{a: " + one + ", func() zz_loupe_repeats.Args { return zz_loupe_repeats.Args{b} }), strings.ToLower(b))}"},
		{"of the module itself", "return own.Do(a)", ""},
		{"a jump", "if a == b {\n\t\tgoto end\n\t}\n\ta = strings.ToLower(b)\nend:\n\treturn a", ""},
	} {
		src := "package p\n\nimport (\n\t\"fmt\"\n\t\"math\"\n\t\"net/url\"\n\t\"sort\"\n\t\"strconv\"\n\t\"strings\"\n\n\t\"example.com/own\"\n)\n\nfunc (t *T) run(a, b string, list []any) string {\n\t" + test.body + "\n}\n"
		dir := t.TempDir()
		var packages []counting.Package
		for path, text := range map[string]string{"example.com/p": src, "example.com/own": "package own\n\nfunc Do(string) string { return \"\" }\n"} {
			name := filepath.Join(dir, filepath.Base(path)+".go")
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			packages = append(packages, counting.Package{Path: path, Files: []string{name}, Lines: true})
		}
		if packages[0].Path != "example.com/p" {
			packages[0], packages[1] = packages[1], packages[0]
		}
		s, err := counting.Of(packages, "counts")
		if err != nil {
			t.Fatal(err)
		}
		text := s.Texts[filepath.Join(dir, "p.go")]
		if test.want == "" && strings.Contains(text, ".At(") || !strings.Contains(text, test.want) {
			t.Errorf("%s: %s\nwant %s", test.name, text, test.want)
		}
		if test.want != "" && (len(s.Funcs) != 2 || s.Funcs[1].Caller != "example.com/p.(*T).run" || s.Funcs[1].Line != 15) {
			t.Errorf("%s: %+v", test.name, s.Funcs)
		}
		packages[0].Lines = false
		if plain, err := counting.Of(packages, "counts"); err != nil || strings.Contains(plain.Texts[filepath.Join(dir, "p.go")], ".At(") {
			t.Errorf("%s: without lines: %v, %q", test.name, err, plain.Texts)
		}
	}
}

// TestCuts: of which parts of lists it is counted how large they are.
func TestCuts(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"a page", "return list[i:j]", "if Look(0) { Over(0, func() interface{} { return list }) }; if Look(1) { Over(1, func() interface{} { return list[i:j] }) }; return list[i:j]"},
		{"a page that is handed on", "show(out, list[i:min])", "if Look(0) { Over(0, func() interface{} { return list }) }; if Look(1) { Over(1, func() interface{} { return list[i:min] }) }; show("},
		{"the first of a field", "part := t.items[:n]\n\treturn part", "return t.items[:n] }) }; part := t.items[:n]"},
		{"up to its length", "return list[1 : len(list)-1]", "return list[1 : len(list)-1] }) }; return"},
		{"a branch", "if i > 0 {\n\t\tlist = list[:n]\n\t}\n\treturn list", "return list[:n] }) }; list = list[:n]"},
		{"the rest", "return list[i:]", ""},
		{"emptied", "list = list[:0]\n\treturn list", ""},
		{"its capacity", "return list[i:j:j]", ""},
		{"a bound that is computed", "return list[i:end(i)]", ""},
		{"a call that may change it", "return append(grow(t), list[i:j]...)", ""},
		{"a condition", "if part := list[i:j]; len(part) > 0 {\n\t\treturn part\n\t}\n\treturn nil", ""},
		{"what may not be asked", "ok = i < j && len(list[i:j]) > 1\n\treturn nil", ""},
		{"an array of its own", "var buf [64]int\n\treturn clone(buf[:n])", ""},
		{"a part of a part", "return list[i:j][:n]", "return list[i:j] }) }; return"},
		{"later", "defer func() { show(out, list[i:j]) }()\n\treturn nil", "defer func() { if Look(0)"},
	} {
		src := "package p\n\nfunc (t *T) run(list []int, i, j, n, min int, ok bool, out *out) []int {\n\t" + test.body + "\n}\n"
		name := filepath.Join(t.TempDir(), "p.go")
		if err := os.WriteFile(name, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := counting.Of([]counting.Package{{Path: "example.com/p", Files: []string{name}, Lines: true}}, "counts")
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(s.Texts[name], "zz_loupe_repeats.", "")
		if test.want == "" && strings.Contains(text, "Look(") || !strings.Contains(text, test.want) {
			t.Errorf("%s: %s\nwant %s", test.name, text, test.want)
		}
	}
}

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

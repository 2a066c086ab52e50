package loupe_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	markdownLink = regexp.MustCompile(`\]\(([^)#\s]+)`)
	codeName     = regexp.MustCompile("`([a-z]+)\\.([A-Z][A-Za-z]*)(?:\\.([A-Z][A-Za-z]*))?`")
	codeFile     = regexp.MustCompile("`((?:[a-z]+/)+[a-z_]+\\.(?:go|md))`")
)

// TestDocNames checks what the pages point at: links lead to files, and the
// files and exported names in code spans exist.
func TestDocNames(t *testing.T) {
	names := exportedNames(t)
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range markdownLink.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(path.Join(path.Dir(page), m[1])); err != nil {
				t.Errorf("%s: a link leads nowhere: %s", page, m[1])
			}
		}
		for _, m := range codeFile.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s: there is no file %s", page, m[1])
			}
		}
		for _, m := range codeName.FindAllStringSubmatch(string(text), -1) {
			have, ours := names[m[1]]
			if ours && !slices.Contains(have, m[2]) {
				t.Errorf("%s: package %s has no %s", page, m[1], m[2])
			}
			if ours && m[3] != "" && !slices.Contains(have, m[3]) {
				t.Errorf("%s: %s.%s has no %s", page, m[1], m[2], m[3])
			}
		}
	}
}

func pages(t *testing.T) (out []string) {
	t.Helper()
	err := filepath.WalkDir("docs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".md") {
			out = append(out, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(out, "README.md", "CONTRIBUTING.md")
}

// exportedNames lists what each package of ours exports: its names, and the
// fields and methods of its types.
func exportedNames(t *testing.T) map[string][]string {
	t.Helper()
	names := map[string][]string{}
	eachFile(t, func(dir, file string, f *ast.File, test bool) {
		if test {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				names[f.Name.Name] = append(names[f.Name.Name], n.Name.Name)
			case *ast.TypeSpec:
				names[f.Name.Name] = append(names[f.Name.Name], n.Name.Name)
			case *ast.ValueSpec:
				for _, id := range n.Names {
					names[f.Name.Name] = append(names[f.Name.Name], id.Name)
				}
			case *ast.Field:
				for _, id := range n.Names {
					names[f.Name.Name] = append(names[f.Name.Name], id.Name)
				}
			}
			return true
		})
	})
	return names
}

// TestPrivacyPage wants that the page about what a recording holds speaks of every
// kind of entry.
func TestPrivacyPage(t *testing.T) {
	text, err := os.ReadFile("docs/privacy.md")
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), "recording/recording.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	kinds := 0
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != "Kind" {
			return true
		}
		kinds++
		kind := strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`)
		if !strings.Contains(string(text), "`"+kind+"`") {
			t.Errorf("docs/privacy.md does not say what entries of the kind %s hold", kind)
		}
		return true
	})
	if kinds == 0 {
		t.Error("BUG: found no kinds of entries")
	}
}

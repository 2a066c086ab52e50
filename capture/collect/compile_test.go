package collect

import (
	"os"
	"path/filepath"
	"testing"

	"loupe/format/compiler"
)

// TestCompileLostFile compiles a package whose sort.go shares its name with
// the one of package slices, so that -json keeps only one of them, and one
// that does not compile.
func TestCompileLostFile(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":   "module example.com/lost\n\ngo 1.21\n",
		"sort.go":  "package lost\n\nimport \"slices\"\n\ntype T struct{ a, b int }\n\nfunc New() *T { return &T{} }\n\nfunc Sort(s []*T) {\n\tslices.SortFunc(s, func(a, b *T) int { return a.a - b.a })\n}\n",
		"bad/b.go": "package bad\n\nfunc F() int { return \"x\" }\n",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	opt := CompileOptions{Dir: dir, Packages: []string{"example.com/lost", "example.com/lost/bad"}, Cache: filepath.Join(dir, "cache")}
	for _, cached := range []int{0, 1} {
		c, err := Compile(t.Context(), opt)
		if err != nil {
			t.Fatal(err)
		}
		if c.Cached != cached || c.Failed["example.com/lost/bad"] == "" || len(c.Failed) != 1 {
			t.Errorf("%d cached, want %d; failed: %v", c.Cached, cached, c.Failed)
		}
		found := false
		for _, d := range c.Set.At(filepath.ToSlash(filepath.Join(dir, "sort.go")), 7) {
			found = found || d.Kind == compiler.Escape && d.Text == "&T{}" && len(d.Flow) == 1
		}
		if !found {
			t.Errorf("the escape of the lost file is not found (cached %d)", cached)
		}
	}
}

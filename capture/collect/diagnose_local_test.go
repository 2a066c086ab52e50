package collect

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"loupe/capture/debuginfo"
	"loupe/format/compiler"
	"loupe/format/profile"
)

// TestDiagnoseLocal: packages of a folder that a replace names, or a go.work, are the
// user's own, and the compiler is asked about them.
func TestDiagnoseLocal(t *testing.T) {
	const main = "package main\n\nimport \"example.com/side\"\n\nfunc main() { println(side.New()) }\n"
	for name, files := range map[string]map[string]string{
		"replace": {"shop/go.mod": "module example.com/shop\n\ngo 1.21\n\nrequire example.com/side v1.2.3\n\nreplace example.com/side => ../side\n"},
		"work":    {"shop/go.mod": "module example.com/shop\n\ngo 1.21\n", "go.work": "go 1.21\n\nuse (\n\t./shop\n\t./side\n)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("GOWORK", "off")
			if name == "work" {
				t.Setenv("GOWORK", filepath.Join(dir, "go.work"))
			}
			files["shop/main.go"] = main
			files["side/go.mod"] = "module example.com/side\n\ngo 1.21\n"
			files["side/side.go"] = "package side\n\ntype T struct{ a int }\n\n//go:noinline\nfunc New() *T { return &T{} }\n"
			for name, text := range files {
				name = filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			prog, err := Build(t.Context(), BuildOptions{Target: ".", Dir: filepath.Join(dir, "shop"), Temp: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			own := debuginfo.Packages([]*profile.Profile{{}}, prog.Modules(), func(*profile.Profile) []string { return []string{"main", "example.com/side", "fmt"} })
			if want := []string{"example.com/side", "main"}; !slices.Equal(own, want) {
				t.Fatalf("asked about %q, want %q", own, want)
			}
			opt := *prog.compile
			opt.Packages = own
			c, err := Compile(t.Context(), opt)
			if err != nil || len(c.Failed) > 0 {
				t.Fatalf("%v, failed: %v", err, c.Failed)
			}
			if !slices.ContainsFunc(c.Set.At(filepath.ToSlash(filepath.Join(dir, "side", "side.go")), 6), func(d *compiler.Diagnostic) bool { return d.Kind == compiler.Escape }) {
				t.Error("the compiler has said nothing of example.com/side")
			}
		})
	}
}

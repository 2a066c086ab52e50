package debuginfo

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestOtherFiles: what makes settings, or is of a package that there is a file of already, and is in
// the program is kept; what is in another program of the module, in a test, in vendored code, or
// neither is not.
func TestOtherFiles(t *testing.T) {
	root := t.TempDir()
	const sets = "package x\n\nfunc init() { runtime.GOMAXPROCS(1) }\n"
	for name, text := range map[string]string{
		"limits/limits.go": sets, "other/other.go": sets, "limits/limits_test.go": sets, "vendor/v/v.go": sets,
		"plain/plain.go": "package x\n", "main.go": sets, "janitor.go": "package x\n", "unused.go": "package x\n", "sub/go.mod": "module sub\n", "sub/sub.go": sets,
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(t.TempDir(), "program")
	table := "\x00/src/limits/limits.go\x00/src/plain/plain.go\x00/src/limits/limits_test.go\x00/src/vendor/v/v.go\x00/src/main.go\x00/src/janitor.go\x00/src/sub/sub.go\x00"
	if err := os.WriteFile(program, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(root, "janitor.go"), filepath.Join(root, "limits", "limits.go")}
	if got := otherFiles(root, "example.com/x", program, []string{filepath.Join(root, "main.go")}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	// A package that a file of those imports.
	if err := os.WriteFile(filepath.Join(root, "main.go"), []byte("package main\n\nimport (\n\t\"example.com/x/plain\"\n\t\"example.com/xother/other\"\n)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want = append(want, filepath.Join(root, "plain", "plain.go"))
	if got := otherFiles(root, "example.com/x", program, []string{filepath.Join(root, "main.go")}); !slices.Equal(got, want) {
		t.Errorf("imported: %q, want %q", got, want)
	}
	if got := otherFiles(root, "example.com/x", "", nil); got != nil {
		t.Errorf("without a program: %q", got)
	}
}

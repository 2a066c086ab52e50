package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestDirectives(t *testing.T) {
	for text, want := range map[string][]string{
		"module example.com/a\n\ngo 1.26\n":                            {"example.com/a"},
		"// module no\nmodule \"example.com/a\" // why\n":              {"example.com/a"},
		"module (\n\texample.com/a\n)\n":                               {"example.com/a"},
		"go 1.26\nrequire (\n\tmodule v1.0.0\n)\nmodule example.com/b": {"example.com/b"},
		"": nil,
	} {
		name := filepath.Join(t.TempDir(), "go.mod")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := directives(name, "module"); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestWorkspaceOf: the folders of a go.work, alone, in a block and with blanks.
func TestWorkspaceOf(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.work"), []byte("go 1.26\nuse ./a\nuse (\n\t./b // x\n\t\"./c d\"\n)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{dir, filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c d")}
	if got := workspaceOf(filepath.Join(dir, "a", "main.go")); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAbout: a recording of another module counts for a file that it has kept, and, behind all
// others, for one of a module that was built in; a copy of the module has recordings of its own.
func TestAbout(t *testing.T) {
	dir := t.TempDir()
	for name, module := range map[string]string{"a": "example.com/a", "b": "example.com/b", "copy": "example.com/a"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "go.mod"), []byte("module "+module+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "a", "main.go")
	all := []*shelved{
		{name: "built in", module: "example.com/b", home: filepath.Join(dir, "b"), local: []string{"example.com/a"}},
		{name: "another", module: "example.com/b", home: filepath.Join(dir, "a")},
		{name: "of the copy", module: "example.com/a", home: filepath.Join(dir, "copy")},
		{name: "nameless", home: filepath.Join(dir, "a")},
		{name: "kept", module: "example.com/b", kept: map[string]bool{filepath.ToSlash(file): true}},
		{name: "own", module: "example.com/a", home: filepath.Join(dir, "a")},
		{name: "elsewhere", module: "example.com/a"},
	}
	var got []string
	for _, r := range about(all, file) {
		got = append(got, r.name)
	}
	if want := []string{"kept", "own", "elsewhere", "built in", "nameless"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

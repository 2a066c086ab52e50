package debuginfo

import (
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	"loupe/recording"
)

// TestDependencies: of the packages of other modules that the program's files import, the files are kept that make clients,
// wherever they lie; not others of these packages, what is not compiled in, and what nobody imports.
func TestDependencies(t *testing.T) {
	base := t.TempDir()
	const client = "package x\n\nimport \"net/http\"\n\nfunc New() *http.Client { return &http.Client{} }\n"
	files := map[string]string{
		"app/main.go": "package main\n\nimport (\n\t\"net/http\"\n\n\t\"example.com/App/clean\"\n\t\"example.com/app/own\"\n\t\"example.com/local/web\"\n\t\"example.com/vendored\"\n\t\"example.com/absent\"\n)\n",
		"cache/example.com/!app/clean@v1.2.0/clean.go":    client + "\nfunc tune(t *http.Transport) { t.DisableKeepAlives = true }\n",
		"cache/example.com/!app/clean@v1.2.0/other.go":    "package x\n\nimport \"net/http\"\n\nfunc use(c *http.Client) {}\n",
		"cache/example.com/!app/clean@v1.2.0/notbuilt.go": client,
		"cache/example.com/!app/clean@v1.2.0/far.go":      "package x\n\nimport (\n\t\"net/http\"\n\n\t\"example.com/far\"\n)\n\nvar shared = &http.Client{Transport: far.New()}\n",
		"cache/example.com/far@v0.1.0/far.go":             client,
		"cache/example.com/nobody@v0.1.0/nobody.go":       client,
		"web/web.go":                               client,
		"app/vendor/example.com/vendored/v.go":     "package v\n\nimport \"net/http\"\n\nfunc Wrap(next http.RoundTripper) http.RoundTripper { return next }\n",
		"app/vendor/example.com/vendored/plain.go": "package v\n",
		"app/own/own.go":                           client,
	}
	folders := map[string][]string{}
	for name, text := range files {
		file := filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(file) != "notbuilt.go" {
			dir := filepath.ToSlash(filepath.Dir(file))
			folders[dir] = append(folders[dir], filepath.ToSlash(file))
		}
	}
	root := filepath.Join(base, "app")
	info := &debug.BuildInfo{Deps: []*debug.Module{
		{Path: "example.com/App/clean", Version: "v1.2.0", Sum: "h1:x"}, {Path: "example.com/far", Version: "v0.1.0", Sum: "h1:x"}, {Path: "example.com/nobody", Version: "v0.1.0", Sum: "h1:x"},
		{Path: "example.com/local", Version: "v0.0.0", Replace: &debug.Module{Path: ".."}}, {Path: "example.com/vendored", Version: "v1.0.0"}, {Path: "example.com/absent", Version: "v1.0.0"},
	}}
	w, err := recording.Create(filepath.Join(t.TempDir(), "rec"), recording.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	k := &dependencyKeeper{w: w, root: root, info: info, folders: folders, seen: map[string]bool{}}
	if err := k.all([]string{filepath.Join(root, "main.go")}); err != nil {
		t.Fatal(err)
	}
	m := w.Manifest()
	var got []string
	for _, e := range m.Of(recording.Dependency) {
		pkg, name := e.DependencyName()
		got = append(got, pkg+" "+name)
	}
	want := []string{"example.com/App/clean clean.go", "example.com/App/clean far.go", "example.com/local/web web.go", "example.com/vendored v.go", "example.com/far far.go"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if n := len(m.Of(recording.Source)); n > 0 {
		t.Errorf("%d of them count as sources of the program", n)
	}
}

// TestDependenciesBounded: no more is kept than the bounds allow.
func TestDependenciesBounded(t *testing.T) {
	dir := filepath.ToSlash(t.TempDir())
	k := &dependencyKeeper{root: dir, info: &debug.BuildInfo{Deps: []*debug.Module{{Path: "example.com/big", Replace: &debug.Module{Path: "."}}}}, folders: map[string][]string{}, seen: map[string]bool{}}
	for i := range maxDependencies + 5 {
		file := filepath.Join(dir, string(rune('a'+i))+".go")
		if err := os.WriteFile(file, []byte("package x\n\nimport \"net/http\"\n\nvar c http.Client\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		k.folders[dir] = append(k.folders[dir], filepath.ToSlash(file))
	}
	w, err := recording.Create(filepath.Join(t.TempDir(), "rec"), recording.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	k.w = w
	kept, err := k.keep("example.com/big")
	if err != nil || len(kept) != maxDependencies {
		t.Errorf("%d files, %v", len(kept), err)
	}
}

// TestCompiledFolders: whole paths alone are names of files, each once.
func TestCompiledFolders(t *testing.T) {
	got := compiledFolders([]byte("x\x00/a/b/c.go\x00/a/b/d.go\x00/a/b/c.go\x00rel/e.go\x00/a/f.s\x00/a/g.go"))
	if want := map[string][]string{"/a/b": {"/a/b/c.go", "/a/b/d.go"}}; !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%q, want %q", got, want)
	}
}

package lsp_test

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// recordAs puts the recording into a folder under a name, as one of another module; age is how
// long ago it was made.
func recordAs(t *testing.T, dir, name, module string, age time.Duration) {
	t.Helper()
	z, err := zip.OpenReader("testdata/stream.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	at := filepath.Join(dir, name)
	out, err := os.Create(at)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(out)
	for _, f := range z.File {
		if f.Name != "manifest.json" {
			if err := w.Copy(f); err != nil {
				t.Fatal(err)
			}
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(data), `"module": "loupe"`, `"module": "`+module+`"`, 1)
		if one, err := w.Create(f.Name); err != nil {
			t.Fatal(err)
		} else if _, err := io.WriteString(one, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	when := time.Now().Add(-age)
	if err := os.Chtimes(at, when, when); err != nil {
		t.Fatal(err)
	}
}

// TestModules: of several modules in one workspace, with files of the same names, each shows the
// newest recording of its own; one without a recording shows nothing.
func TestModules(t *testing.T) {
	_, _, text := module(t)
	root := filepath.Join(t.TempDir(), "work")
	file := func(module string) string {
		return filepath.Join(root, module, "labs", "stream", "replace.go")
	}
	put(t, filepath.Join(root, "go.work"), "go 1.26\n\nuse (\n\t./a\n\t./b\n\t./c\n)\n")
	for _, m := range []string{"a", "b", "c"} {
		put(t, filepath.Join(root, m, "go.mod"), "module example.com/"+m+"\n")
		put(t, file(m), text)
	}
	recordAs(t, filepath.Join(root, "a"), "old-a.zip", "example.com/a", 3*time.Hour)
	recordAs(t, filepath.Join(root, "a"), "new-a.zip", "example.com/a", 2*time.Hour)
	recordAs(t, root, "b.zip", "example.com/b", time.Hour) // the newest of all, elsewhere

	e := startEditor(t)
	e.initialize(filepath.Join(root, "c")) // the others are found by the go.work
	for _, m := range []string{"c", "a", "b"} {
		e.open(uriOf(file(m)), text)
	}
	e.wait("the findings of both", func() bool {
		return e.of(uriOf(file("a")), "AL04") != nil && e.of(uriOf(file("b")), "AL04") != nil
	})
	hover := func(m string) string {
		result, _ := e.ask("textDocument/hover", at(uriOf(file(m)), lineOf(t, text, "in := bytes.NewBuffer(data)")))
		return string(result)
	}
	if got := hover("a"); !strings.Contains(got, "new-a.zip") {
		t.Errorf("a shows %s", got)
	}
	if got := hover("b"); !strings.Contains(got, "b.zip") {
		t.Errorf("b shows %s", got)
	}
	if got := hover("c"); got != "null" {
		t.Errorf("c, which was never recorded, shows %s", got)
	}
	if got, _ := e.ask("textDocument/codeLens", at(uriOf(file("c")), 0)); string(got) != "null" && string(got) != "[]" {
		t.Errorf("c, which was never recorded, has lenses: %s", got)
	}
	e.mu.Lock()
	if d := e.of(uriOf(file("c")), "AL04"); d != nil {
		t.Errorf("c, which was never recorded, has a finding: %+v", d)
	}
	e.mu.Unlock()
	e.leave()
}

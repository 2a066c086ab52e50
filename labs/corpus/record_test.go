package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPlaceChanges: a recording that was kept is not taken for one of other sources or
// another load.
func TestPlaceChanges(t *testing.T) {
	r := recorder{dir: t.TempDir(), temp: "kept"}
	truth := Truth{Number: 1, Name: "slow", Load: []string{"-c", "8", "/"}}
	write := func(text string) {
		t.Helper()
		dir := filepath.Join(r.dir, truth.Folder())
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	place := func(truth Truth, form string) string {
		t.Helper()
		at, err := r.place(truth, form)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	write("package main")
	first := place(truth, "slow")
	if again := place(truth, "slow"); again != first {
		t.Errorf("the same is at %s and at %s", first, again)
	}
	seen := map[string]bool{first: true}
	other := func(what, at string) {
		t.Helper()
		if seen[at] {
			t.Errorf("another %s is at the same place", what)
		}
		seen[at] = true
	}
	other("form", place(truth, "fixed"))
	loaded := truth
	loaded.Load = []string{"-c", "9", "/"}
	other("load", place(loaded, "slow"))
	r.busy = 3
	other("number of busy loops", place(truth, "slow"))
	r.busy = 0
	write("package main\n")
	other("source", place(truth, "slow"))
}

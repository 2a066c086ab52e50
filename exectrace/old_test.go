package exectrace_test

import (
	"os"
	"path/filepath"
	"testing"

	"loupe/exectrace"
	"loupe/exectrace/exectracetest"
)

// TestOldTraces compares the events of the traces of Go 1.11 to 1.21 that the
// Go tree has for its own tests, and of those in the folder that
// LOUPE_OLD_TRACES names, with those of the standard library's reader.
func TestOldTraces(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(exectracetest.Tree(t), "internal", "tracev1", "testdata", "*_good"))
	if len(files) < 12 {
		t.Errorf("the Go tree has %d old traces, want 12", len(files))
	}
	if dir := os.Getenv("LOUPE_OLD_TRACES"); dir != "" {
		more, _ := filepath.Glob(filepath.Join(dir, "*.trace"))
		files = append(files, more...)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			want, err := exectracetest.Oracle(t, "events", f)
			if err != nil {
				t.Fatal(err)
			}
			got, err := words(t, data, exectrace.Options{Strict: true})
			if err != nil {
				t.Error(err)
			}
			same(t, f, got, want)
		})
	}
}

package exectrace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loupe/exectrace"
	"loupe/exectrace/exectracetest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	exectracetest.Cleanup()
	os.Exit(code)
}

// words returns the trace as text, up to its first problem.
func words(t *testing.T, data []byte, opts exectrace.Options) (string, error) {
	t.Helper()
	tr, err := exectrace.Open(data, opts)
	if err != nil {
		return "", err
	}
	r := tr.Reader()
	var b []byte
	for r.Next() {
		b = append(r.AppendText(b), '\n')
	}
	return string(b), r.Err()
}

// same fails the test at the first line in which two texts differ.
func same(t *testing.T, name, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			from := max(0, i-3)
			t.Errorf("%s: line %d of %d and %d\n got %s\nwant %s", name, i+1, len(g), len(w),
				strings.Join(g[min(from, len(g)):min(i+2, len(g))], "\n     "), strings.Join(w[min(from, len(w)):min(i+2, len(w))], "\n     "))
			return
		}
	}
}

// TestTraces compares the events of every trace in the folder that
// LOUPE_TRACES names with those of the standard library.
func TestTraces(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(os.Getenv("LOUPE_TRACES"), "*.trace"))
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

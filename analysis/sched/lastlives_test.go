package sched_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/exectrace/exectracetest"
)

// TestReusedGoroutines: threads of C that call Go one after the other have goroutines of
// one id. Each is a life of its own; with Compat there are as many as the standard
// library's summarizer has. The trace is of a program with cgo, built with -race.
func TestReusedGoroutines(t *testing.T) {
	packed, err := os.ReadFile("testdata/reused.trace.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "reused.trace")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	summary, err := exectracetest.Oracle(t, "summary", file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Count(summary, "\n")
	count := func(compat bool) int {
		tr, err := exectrace.Open(data, exectrace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := sched.Analyze(tr, sched.AnalyzeOptions{Compat: compat})
		if err != nil {
			t.Fatal(err)
		}
		inGroups := int64(0)
		for _, g := range a.Groups {
			inGroups += g.Count
		}
		if inGroups != a.Info.Goroutines {
			t.Errorf("%d goroutines in groups, %d in all", inGroups, a.Info.Goroutines)
		}
		return int(a.Info.Goroutines)
	}
	if got := count(true); got != want {
		t.Errorf("with Compat %d goroutines, the standard library has %d", got, want)
	}
	if all := count(false); all <= want {
		t.Errorf("%d lives, no more than %d ids: the trace does not show what it is for", all, want)
	}
}

package exectrace_test

import (
	"os"
	"path/filepath"
	"testing"

	"loupe/format/exectrace"
	"loupe/format/exectrace/exectracetest"
	"loupe/value/timeline"
)

// TestSpan compares the span with what a reader gives.
func TestSpan(t *testing.T) {
	traces := map[string][]byte{"now": exectracetest.Record(t)}
	for _, pattern := range []string{"testdata/old/*.trace", "testdata/recorded/*.trace"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			traces[name] = data
		}
	}
	for name, data := range traces {
		tr, err := exectrace.Open(data, exectrace.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var want timeline.Span
		events := 0
		for r := tr.Reader(); r.Next(); events++ {
			if events == 0 {
				want.Start = r.Event().Time
			}
			want.End = r.Event().Time + 1
		}
		got, err := tr.Span()
		if err != nil || got.Start != want.Start || got.End.Sub(want.End).Abs() > 1000 {
			t.Errorf("%s: %d events in %+v, want %+v, %v", name, events, got, want, err)
		}
	}
}

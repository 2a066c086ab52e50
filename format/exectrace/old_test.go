package exectrace_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loupe/format/exectrace"
	"loupe/format/exectrace/exectracetest"
	"loupe/value/stack"
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

// gist sums up what words has printed: events by kind and transition,
// goroutines, different stacks, and a hash of it all.
func gist(text string) string {
	counts := make(map[string]int)
	goroutines, stacks := make(map[string]bool), make(map[string]bool)
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(line, "M=") {
			continue
		}
		what := f[3]
		if what == "StateTransition" {
			id, _, _ := strings.Cut(f[5], "=")
			what = id + " " + f[6]
			goroutines[f[5]] = true
		}
		counts[what]++
	}
	for _, s := range strings.Split(text, "Stack=\n")[1:] {
		if end := strings.Index(s, "\nM="); end >= 0 {
			s = s[:end]
		}
		stacks[s] = true
	}
	for g := range goroutines {
		if !strings.HasPrefix(g, "GoID=") {
			delete(goroutines, g)
		}
	}
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&b, "%6d %s\n", counts[what], what)
	}
	h := fnv.New64a()
	h.Write([]byte(text))
	fmt.Fprintf(&b, "%6d goroutines\n%6d stacks\nhash %016x\n", len(goroutines), len(stacks), h.Sum64())
	return b.String()
}

// TestOlderTraces holds the traces of Go 1.5 to 1.10, which no tool of today
// reads, against what the readers of that time made of them: the files
// NAME.txt beside them. With LOUPE_OLD_WORDS, a folder of NAME.words as such a
// reader has printed them, it writes these files. See
// docs/formats/exectrace-old.md.
func TestOlderTraces(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("testdata", "old", "*.trace"))
	if len(files) < 7 {
		t.Errorf("there are %d traces, want 7", len(files))
	}
	for _, f := range files {
		golden := strings.TrimSuffix(f, ".trace") + ".txt"
		if dir := os.Getenv("LOUPE_OLD_WORDS"); dir != "" {
			text, err := os.ReadFile(filepath.Join(dir, strings.TrimSuffix(filepath.Base(f), ".trace")+".words"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(golden, []byte(gist(string(text))), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		got, err := words(t, data, exectrace.Options{Strict: true})
		if err != nil {
			t.Errorf("%s: %v", f, err)
		}
		same(t, f, gist(got), string(want))
	}
}

// TestSymbolize gives names to the addresses of Go 1.5.
func TestSymbolize(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "old", "go1.5.trace"))
	if err != nil {
		t.Fatal(err)
	}
	f := func(opts exectrace.Options, want string) {
		t.Helper()
		text, err := words(t, data, opts)
		if err != nil {
			t.Error(err)
		}
		if !strings.Contains(text, want) {
			t.Errorf("no frame %q", want)
		}
	}
	f(exectrace.Options{}, "\t0x4")
	f(exectrace.Options{Symbolize: func(pc uint64) stack.Frame {
		return stack.Frame{Func: fmt.Sprintf("main.f%d", pc%10), File: "main.go", Line: 7}
	}}, "\t\tmain.go:7\n")
}

// TestOldLive reads a trace that is still being written: nothing of it before
// it is whole.
func TestOldLive(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "old", "go1.10.trace"))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := exectrace.OpenReaderAt(strings.NewReader(string(data)), 5000, exectrace.Options{Live: true})
	if err != nil {
		t.Fatal(err)
	}
	if r := tr.Reader(); r.Next() || len(r.Problems()) > 0 {
		t.Errorf("half a trace gives %v, problems %v", r.Event(), r.Problems())
	}
	if err := tr.Extend(int64(len(data))); err != nil {
		t.Fatal(err)
	}
	n, r := 0, tr.Reader()
	for r.Next() {
		n++
	}
	if n < 1800 || len(r.Problems()) > 0 {
		t.Errorf("the whole trace has %d events, problems %v", n, r.Problems())
	}
}

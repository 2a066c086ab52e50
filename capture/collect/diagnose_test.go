package collect

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/format/compiler"
	"loupe/format/profile"
	"loupe/recording"
)

// diagnosed records a program of a module of its own with its reasons.
func diagnosed(t *testing.T, d *Diagnosis, change func(*Program)) *recording.Recording {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs a program")
	}
	temp := t.TempDir()
	prog, err := Build(t.Context(), BuildOptions{Target: "./testdata/server", Temp: temp})
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(prog)
	}
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := recording.Create(dir, recording.Manifest{Title: "diagnosed"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRecorder(w, prog, RecorderOptions{Temp: temp, Interval: 50 * time.Millisecond, Diagnose: d, Launch: LaunchOptions{GODEBUG: RuntimeDebug}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Record(t.Context(), Plan{Phases: phases(t, "allocs")}), r.Diagnose(t.Context()), r.Close()); err != nil {
		t.Fatal(err)
	}
	rec, err := recording.OpenFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rec.Close() })
	return rec
}

// TestDiagnose keeps the words of the compiler and the calls of the binary.
func TestDiagnose(t *testing.T) {
	d := &Diagnosis{
		Packages: func(p *profile.Profile) []string { return []string{"main", "bytes", "example.com/none"} },
		Calls: func(r io.ReaderAt) (func(uint64) string, error) {
			var magic [4]byte
			_, err := r.ReadAt(magic[:], 0)
			return func(uint64) string { return "runtime.makeslice" }, err
		},
	}
	rec := diagnosed(t, d, nil)
	holds(t, rec, recording.Compiler, recording.Calls)
	answers := rec.Of(recording.Compiler)
	if len(answers) != 1 || answers[0].Path != "compiler/main.gz" || answers[0].Source != "main" {
		t.Fatalf("answers = %+v, want that of package main", answers)
	}
	data, err := rec.ReadFile(answers[0].Path, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	a, err := compiler.DecodeAnswer(data, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var set compiler.Set
	if err := a.AddTo(&set, nil); err != nil {
		t.Fatal(err)
	}
	escapes := 0
	set.All(func(d *compiler.Diagnostic) bool {
		if d.Allocates() {
			escapes++
		}
		return true
	})
	if escapes == 0 || a.Package != "main" {
		t.Errorf("package %q with %d escapes", a.Package, escapes)
	}
	calls, err := rec.ReadFile("calls.txt", 1<<20)
	if err != nil || !strings.HasPrefix(string(calls), "0x") || !strings.Contains(string(calls), " runtime.makeslice\n") {
		t.Errorf("calls = %q, %v", calls, err)
	}
}

// TestDiagnoseFails: what cannot be had is a note.
func TestDiagnoseFails(t *testing.T) {
	d := &Diagnosis{
		Packages: func(p *profile.Profile) []string { return []string{"main"} },
		Calls:    func(io.ReaderAt) (func(uint64) string, error) { return nil, errors.New("no\nsymbols") },
	}
	rec := diagnosed(t, d, func(p *Program) { p.compile.Dir = filepath.Join(os.TempDir(), "gone") })
	for _, want := range []string{"not known which do: no symbols", "why lines allocate is not known: "} {
		if !slices.ContainsFunc(rec.Notes, func(n string) bool { return strings.Contains(n, want) }) {
			t.Errorf("notes = %q, want one with %q", rec.Notes, want)
		}
	}
	if n := len(rec.Of(recording.Compiler)) + len(rec.Of(recording.Calls)); n != 0 || len(rec.Of(recording.Allocs)) != 1 || !rec.Complete {
		t.Errorf("%d entries of reasons; the rest is %+v", n, rec.Entries)
	}
}

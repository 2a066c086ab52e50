package exectrace_test

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"loupe/format/exectrace"
	"loupe/format/exectrace/exectracetest"
	"loupe/internal/long"
	"loupe/value/stack"
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

// digest is the oracle's mode of that name for our reader.
func digest(data []byte) (string, error) {
	tr, err := exectrace.Open(data, exectrace.Options{Strict: true})
	if err != nil {
		return "", err
	}
	r := tr.Reader()
	h := fnv.New64a()
	var out strings.Builder
	var b []byte
	var pcs []uint64
	type key struct {
		id stack.ID
		pc uint64 // hash of the addresses
	}
	stacks := map[key]uint64{}
	hashOf := func(id stack.ID, pcs []uint64) uint64 {
		if len(pcs) == 0 {
			return 0
		}
		k := key{id: id}
		for _, pc := range pcs {
			k.pc = k.pc*31 + pc
		}
		v, ok := stacks[k]
		if !ok {
			f := fnv.New64a()
			for i, id := range r.Stacks().Frames(id) {
				frame := r.Stacks().Frame(id)
				fmt.Fprintf(f, "%d %s %s %d\n", pcs[i], frame.Func, frame.File, frame.Line)
			}
			v = f.Sum64()
			stacks[k] = v
		}
		return v
	}
	n := 0
	for r.Next() {
		e := r.Event()
		b = binary.AppendVarint(b[:0], int64(e.Time))
		b = append(b, e.Kind.String()...)
		b = binary.AppendVarint(b, int64(e.G))
		b = binary.AppendVarint(b, int64(e.P))
		b = binary.AppendVarint(b, int64(e.M))
		pcs = r.PCs(pcs[:0])
		b = binary.AppendUvarint(b, hashOf(e.Stack, pcs))
		b = appendDetails(b, r, e)
		if e.Kind == exectrace.KindGoTransition || e.Kind == exectrace.KindProcTransition {
			pcs = r.SubjectPCs(pcs[:0])
			b = binary.AppendUvarint(b, hashOf(e.SubjectStack, pcs))
		}
		h.Write(b)
		if n++; n%1000 == 0 {
			fmt.Fprintf(&out, "%d %016x\n", n, h.Sum64())
		}
	}
	fmt.Fprintf(&out, "%d %016x\n", n, h.Sum64())
	return out.String(), r.Err()
}

// appendDetails appends what is peculiar to the event's kind.
func appendDetails(b []byte, r *exectrace.Reader, e *exectrace.Event) []byte {
	name := r.Name(e.Name)
	switch e.Kind {
	case exectrace.KindMetric:
		return binary.AppendUvarint(append(b, name...), e.Value())
	case exectrace.KindLabel:
		return append(b, name...)
	case exectrace.KindRangeBegin, exectrace.KindRangeActive, exectrace.KindRangeEnd:
		b = append(b, name...)
		switch e.Scope() {
		case exectrace.ScopeGoroutine:
			b = fmt.Appendf(b, "Goroutine(%d)", e.Subject)
		case exectrace.ScopeProc:
			b = fmt.Appendf(b, "Proc(%d)", e.Subject)
		default:
			b = append(b, "None"...)
		}
		if e.Kind == exectrace.KindRangeEnd && e.Name == exectrace.NameSweep {
			b = binary.AppendUvarint(b, e.Swept())
			b = binary.AppendUvarint(b, e.Reclaimed())
		}
	case exectrace.KindTaskBegin, exectrace.KindTaskEnd:
		b = binary.AppendUvarint(b, uint64(e.Task()))
		return append(binary.AppendUvarint(b, uint64(e.Parent())), name...)
	case exectrace.KindRegionBegin, exectrace.KindRegionEnd:
		return append(binary.AppendUvarint(b, uint64(e.Task())), name...)
	case exectrace.KindLog:
		return append(append(binary.AppendUvarint(b, uint64(e.Task())), name...), r.Message()...)
	case exectrace.KindGoTransition, exectrace.KindProcTransition:
		b = binary.AppendVarint(b, e.Subject)
		return append(append(append(b, e.From.String()...), e.To.String()...), name...)
	case exectrace.KindExperimental:
		b = append(b, name...)
		for _, v := range e.Experiment() {
			b = binary.AppendUvarint(b, v)
		}
	case exectrace.KindSync:
		return binary.AppendVarint(b, int64(e.Value()))
	}
	return b
}

// compare holds the events of a trace against those of the standard library:
// hashes of all, and the words where the trace is small.
func compare(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := exectracetest.Oracle(t, "digest", file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := digest(data)
	if err != nil {
		t.Error(err)
	}
	same(t, file, got, want)
	t.Logf("%d bytes, %s events", len(data), strings.Fields(got[strings.LastIndexByte(strings.TrimSpace(got), '\n')+1:])[0])
	if len(data) > 200<<10 {
		return
	}
	if want, err = exectracetest.Oracle(t, "events", file); err != nil {
		t.Fatal(err)
	}
	if got, err = words(t, data, exectrace.Options{Strict: true}); err != nil {
		t.Error(err)
	}
	same(t, file, got, want)
}

// TestTraces compares every trace in the folder that LOUPE_TRACES names.
func TestTraces(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(os.Getenv("LOUPE_TRACES"), "*.trace"))
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) { compare(t, f) })
	}
}

// TestGoTestdata reads the traces that Go ships for its own reader: what that
// accepts we accept with the same events, what it refuses we refuse.
func TestGoTestdata(t *testing.T) {
	dir := t.TempDir()
	if out, err := exectracetest.Oracle(t, "unpack", filepath.Join(exectracetest.Tree(t), "testdata", "tests"), dir); err != nil {
		t.Fatal(out, err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.trace"))
	if len(files) < 20 {
		t.Fatalf("Go has %d test traces, there should be 20 at least", len(files))
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			want, refused := exectracetest.Oracle(t, "events", f)
			got, err := words(t, data, exectrace.Options{Strict: true})
			if (err != nil) != (refused != nil) {
				t.Fatalf("error %v, and the standard library says %v", err, refused)
			}
			if err != nil {
				t.Logf("refused: %v (%v)", err, refused)
				return
			}
			same(t, f, got, want)
		})
	}
}

// TestGoPackages traces the tests of packages of the standard library.
func TestGoPackages(t *testing.T) {
	long.Only(t, "it runs tests of the standard library")
	for _, pkg := range []string{"sync", "context", "net/http/httptest", "runtime/trace", "bufio", "io", "os/exec", "iter", "encoding/json", "log/slog"} {
		t.Run(strings.ReplaceAll(pkg, "/", "_"), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "trace")
			run := exec.Command("go", "test", "-short", "-run", "^Test", "-trace", file, "-o", file+".test", pkg)
			out, err := run.CombinedOutput()
			if _, missing := os.Stat(file); missing != nil {
				t.Fatalf("%v: %v\n%s", run, err, out)
			}
			compare(t, file)
		})
	}
}
